//! What starts with `$`, a backquote, `<(` or `>(`.

use super::ast::{
    Arithmetic, ArithmeticForm, Direction, List, Operation, Parameter, ParameterForm, ProcessSubstitution,
    Substitution, SubstitutionForm, WordPart,
};
use super::cursor::{Origin, Parsed, Parser};
use super::error::Reason;
use super::heredoc::Documents;
use super::word::{Inside, Parts};

impl Parser<'_> {
    /// The part that starts with `$`; a lone `$` is text.
    pub(super) fn dollar(&mut self, inside: Inside) -> Parsed<WordPart> {
        let start = self.pos;
        let quoted = matches!(inside, Inside::Double | Inside::Document);
        match self.peek_second() {
            Some(b'(') => self.nested(|p| p.dollar_parenthesis(start)),
            Some(b'{') => self.nested(|p| p.braced_parameter(start, inside)),
            Some(b'[') => self.nested(|p| p.dollar_bracket(start)),
            Some(b'\'') if !quoted => self.ansi_c(start),
            Some(b'"') if !quoted => {
                self.bump();
                self.peek();
                self.nested(Self::double_quotes).map(WordPart::Translated)
            }
            Some(byte) if is_parameter_start(byte) => {
                self.bump();
                let name = self.parameter_name(ParameterForm::Plain);
                Ok(WordPart::Parameter(Parameter {
                    span: self.span_from(start),
                    name,
                    form: ParameterForm::Plain,
                    subscript: None,
                    operation: Operation::Value,
                }))
            }
            _ => {
                self.bump();
                Ok(WordPart::Literal("$".to_owned()))
            }
        }
    }

    fn ansi_c(&mut self, start: usize) -> Parsed<WordPart> {
        self.bump();
        self.bump();
        let text_start = self.pos;
        loop {
            match self.bump_raw() {
                None => return Err(self.error_at(start, Reason::NotClosed("\"$'\""))),
                Some('\\') => {
                    self.bump_raw();
                }
                Some('\'') => return Ok(WordPart::AnsiC(self.text[text_start..self.pos - 1].to_owned())),
                Some(_) => {}
            }
        }
    }

    fn dollar_parenthesis(&mut self, start: usize) -> Parsed<WordPart> {
        self.bump();
        self.bump();
        if self.peek() == Some(b'(') && !self.not_arithmetic.contains(&start) {
            self.bump();
            if let Some(parts) = self.try_arithmetic(start)? {
                return Ok(WordPart::Arithmetic(Arithmetic { form: ArithmeticForm::Parentheses, parts }));
            }
            self.bump();
            self.bump();
        }
        let list = self.substituted_list(start, "'$('")?;
        Ok(WordPart::Substitution(Substitution {
            span: self.span_from(start),
            form: SubstitutionForm::Dollar,
            list,
        }))
    }

    /// Commands up to `)`. Here-documents inside are apart from those of the line around it.
    fn substituted_list(&mut self, start: usize, opened: &'static str) -> Parsed<List> {
        let outer = std::mem::take(&mut self.documents.pending);
        let after_compound = self.after_compound;
        self.documents.substitutions += 1;
        let list = self.list()?;
        self.no_pending_documents()?;
        if self.peek().is_none() {
            return Err(self.error_at(start, Reason::NotClosed(opened)));
        }
        if !self.eat(b')') {
            return Err(self.unexpected("')'"));
        }
        self.documents.substitutions -= 1;
        self.documents.pending = outer;
        self.after_compound = after_compound;
        Ok(list)
    }

    pub(super) fn process_substitution(&mut self) -> Parsed<WordPart> {
        let start = self.pos;
        let direction = if self.bump() == Some('<') { Direction::FromProcess } else { Direction::ToProcess };
        self.bump();
        let list = self.substituted_list(start, "'<(' or '>('")?;
        Ok(WordPart::Process(ProcessSubstitution { span: self.span_from(start), direction, list }))
    }

    /// What follows `((`, if it is arithmetic: its inner bracket must be closed by `))`. Otherwise goes back to
    /// `start` and remembers the answer, so that nested attempts do not multiply.
    pub(super) fn try_arithmetic(&mut self, start: usize) -> Parsed<Option<Vec<WordPart>>> {
        let documents = self.documents.mark();
        let parts = self.nested(|p| p.arithmetic_parts(b")"));
        match parts {
            Ok(parts) if self.eat(b')') && self.text.as_bytes().get(self.pos) == Some(&b')') => {
                self.pos += 1;
                return Ok(Some(parts));
            }
            Err(error) if error.reason == Reason::TooDeep => return Err(error),
            _ => {}
        }
        self.documents.back_to(documents);
        self.not_arithmetic.insert(start);
        self.pos = start;
        Ok(None)
    }

    /// Parts up to one of `stops` outside brackets, or to the end.
    pub(super) fn arithmetic_parts(&mut self, stops: &[u8]) -> Parsed<Vec<WordPart>> {
        let mut parts = Parts::default();
        let mut open = 0;
        while let Some(byte) = self.peek() {
            if stops.contains(&byte) && (open == 0 || byte == b';') {
                if open > 0 {
                    return Err(self.error_at(self.pos, Reason::NotClosed("'('")));
                }
                break;
            }
            match byte {
                b'(' => open += 1,
                b')' => open -= 1,
                _ => {}
            }
            self.part(Inside::Arithmetic, &mut parts)?;
        }
        Ok(parts.into_vec())
    }

    fn dollar_bracket(&mut self, start: usize) -> Parsed<WordPart> {
        self.bump();
        self.peek();
        let parts = self.subscript().map_err(|error| match error.reason {
            Reason::NotClosed("'['") => self.error_at(start, Reason::NotClosed("'$['")),
            _ => error,
        })?;
        Ok(WordPart::Arithmetic(Arithmetic { form: ArithmeticForm::Brackets, parts }))
    }

    /// A command between backquotes. Its text is unescaped first, then read like a script of its own.
    pub(super) fn backquotes(&mut self, inside: Inside) -> Parsed<WordPart> {
        let start = self.pos;
        self.pos += 1;
        let text_start = self.pos;
        loop {
            match self.bump_raw() {
                None => return Err(self.error_at(start, Reason::NotClosed("'`'"))),
                Some('\\') => {
                    self.bump_raw();
                }
                Some('`') => break,
                Some(_) => {}
            }
        }
        let written = &self.text[text_start..self.pos - 1];
        let quoted = matches!(inside, Inside::Double | Inside::QuotedBrackets);
        let span = self.span_from(start);
        let list = self.read_inner(&unescape(written, quoted), Origin::Inside(span), Parser::script)?;
        Ok(WordPart::Substitution(Substitution {
            span,
            form: SubstitutionForm::Backquotes(written.to_owned()),
            list,
        }))
    }

    /// Reads a piece of text of its own, twice if it holds here-documents.
    pub(super) fn read_inner<'t, T>(
        &self,
        text: &'t str,
        origin: Origin,
        read: impl Fn(&mut Parser<'t>) -> Parsed<T>,
    ) -> Parsed<T> {
        let mut first = self.inner(text, origin);
        let result = read(&mut first)?;
        if first.documents.found.is_empty() {
            return Ok(result);
        }
        let mut second = self.inner(text, origin);
        second.documents = Documents::known(first.documents.found);
        second.not_arithmetic = first.not_arithmetic;
        read(&mut second)
    }
}

/// What the backslashes of a command between backquotes leave.
fn unescape(written: &str, quoted: bool) -> String {
    let mut text = String::with_capacity(written.len());
    let mut chars = written.chars().peekable();
    while let Some(c) = chars.next() {
        let escapes = |next: &char| matches!(next, '$' | '`' | '\\') || (quoted && *next == '"');
        match (c, chars.peek()) {
            ('\\', Some(next)) if escapes(next) => text.extend(chars.next()),
            // What is not unescaped here must not be taken for the start of an escape one character later.
            ('\\', Some(_)) => {
                text.push('\\');
                text.extend(chars.next());
            }
            _ => text.push(c),
        }
    }
    text
}

/// Whether a parameter without braces starts with this byte.
fn is_parameter_start(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')
}
