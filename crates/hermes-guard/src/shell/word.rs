//! Words: quoting, and what stands between quotes and brackets.

use super::ast::{Assign, AssignedValue, Assignment, Element, Word, WordPart};
use super::cursor::{Origin, Parsed, Parser, Patterns, ends_word};
use super::error::Reason;
use super::marks::{Marks, mark};

/// Where parts of a word are read, which decides what quotes and brackets mean.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Inside {
    /// A word that is not quoted.
    Bare,
    /// The right side of `==` in `[[ ]]`.
    Pattern,
    /// The right side of `=~` in `[[ ]]`.
    Regex,
    /// `"…"`
    Double,
    /// The body of a here-document: as between double quotes, but `"` is a character.
    Document,
    /// `${…}` or a subscript, not between double quotes.
    Brackets,
    /// Arithmetic: as in `Brackets`, but `<(` is a comparison.
    Arithmetic,
    /// The same between double quotes.
    QuotedBrackets,
}

/// Collects parts; characters in a row become one literal.
#[derive(Default)]
pub(super) struct Parts {
    parts: Vec<WordPart>,
}

impl Parts {
    pub(super) fn push_char(&mut self, c: char) {
        match self.parts.last_mut() {
            Some(WordPart::Literal(text)) => text.push(c),
            _ => self.parts.push(WordPart::Literal(c.to_string())),
        }
    }

    pub(super) fn push(&mut self, part: WordPart) {
        match (part, self.parts.last_mut()) {
            (WordPart::Literal(more), Some(WordPart::Literal(text))) => text.push_str(&more),
            (part, _) => self.parts.push(part),
        }
    }

    pub(super) fn into_vec(self) -> Vec<WordPart> {
        self.parts
    }

    /// The only part, if it is a literal.
    fn plain(&self) -> Option<&str> {
        match &self.parts[..] {
            [WordPart::Literal(text)] => Some(text),
            _ => None,
        }
    }
}

impl Parser<'_> {
    /// A word, if one starts here.
    pub(super) fn word(&mut self) -> Parsed<Option<Word>> {
        self.word_inside(Inside::Bare, Marks::All)
    }

    pub(super) fn word_inside(&mut self, inside: Inside, marks: Marks) -> Parsed<Option<Word>> {
        let start = self.pos;
        let mut parts = Parts::default();
        while self.part(inside, &mut parts)? {}
        self.finish_word(start, parts, marks)
    }

    fn finish_word(&mut self, start: usize, parts: Parts, marks: Marks) -> Parsed<Option<Word>> {
        let parts = parts.into_vec();
        if parts.is_empty() {
            return Ok(None);
        }
        let parts = mark(parts, marks).map_err(|()| self.error_at(start, Reason::TooDeep))?;
        Ok(Some(Word { span: self.span_from(start), parts }))
    }

    /// An argument of a command; `name=( … )` is an array where the command takes them.
    pub(super) fn argument(&mut self, takes_arrays: bool) -> Parsed<Word> {
        let start = self.pos;
        let mut parts = Parts::default();
        loop {
            let array = takes_arrays
                && self.peek() == Some(b'(')
                && parts.plain().is_some_and(|text| assigned_name(text).is_some());
            if array {
                let elements = self.nested(Self::array)?;
                parts.push(WordPart::Array(elements));
            }
            if !self.part(Inside::Bare, &mut parts)? {
                break;
            }
        }
        match self.finish_word(start, parts, Marks::All)? {
            Some(word) => Ok(word),
            None => Err(self.unexpected("a word")),
        }
    }

    /// What stands where a command starts: `name=value` or a word.
    pub(super) fn assignment_or_word(&mut self) -> Parsed<Result<Assignment, Word>> {
        let start = self.pos;
        let mut parts = Parts::default();
        while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            if let Some(c) = self.bump() {
                parts.push_char(c);
            }
        }
        let name = parts.plain().filter(|name| is_name(name)).map(str::to_owned);
        let Some(name) = name else { return self.rest_of_word(start, parts).map(Err) };
        let mut subscript = None;
        if self.peek() == Some(b'[') {
            let inner = self.nested(Self::subscript)?;
            subscript = Some(inner);
        }
        let how = match (self.peek(), self.peek_second()) {
            (Some(b'='), _) => Some(Assign::Set),
            (Some(b'+'), Some(b'=')) => Some(Assign::Append),
            _ => None,
        };
        let Some(how) = how else {
            if let Some(inner) = subscript {
                parts.push_char('[');
                for part in inner {
                    parts.push(part);
                }
                parts.push_char(']');
            }
            return self.rest_of_word(start, parts).map(Err);
        };
        if how == Assign::Append {
            self.bump();
        }
        self.bump();
        let value = self.assigned_value()?;
        Ok(Ok(Assignment { span: self.span_from(start), name, subscript, how, value }))
    }

    fn rest_of_word(&mut self, start: usize, mut parts: Parts) -> Parsed<Word> {
        while self.part(Inside::Bare, &mut parts)? {}
        match self.finish_word(start, parts, Marks::All)? {
            Some(word) => Ok(word),
            None => Err(self.unexpected("a word")),
        }
    }

    fn assigned_value(&mut self) -> Parsed<AssignedValue> {
        if self.peek() == Some(b'(') {
            let start = self.pos;
            let elements = self.nested(Self::array)?;
            if !self.at_word() {
                return Ok(AssignedValue::Array(elements));
            }
            // Bash reads on, and takes the whole for one odd value.
            let mut parts = Parts::default();
            parts.push(WordPart::Array(elements));
            return self.rest_of_word(start, parts).map(AssignedValue::Word);
        }
        let start = self.pos;
        let span = self.span_from(start);
        let word = self.word_inside(Inside::Bare, Marks::Assigned)?;
        Ok(AssignedValue::Word(word.unwrap_or(Word { span, parts: Vec::new() })))
    }

    /// `( … )` after `name=`.
    fn array(&mut self) -> Parsed<Vec<Element>> {
        let start = self.pos;
        self.pos += 1;
        let mut elements = Vec::new();
        loop {
            self.skip_newlines()?;
            if self.eat(b')') {
                return Ok(elements);
            }
            if self.peek().is_none() {
                return Err(self.error_at(start, Reason::NotClosed("'('")));
            }
            if self.redirect_ahead() {
                return Err(self.unexpected("a word"));
            }
            elements.push(self.element()?);
        }
    }

    fn element(&mut self) -> Parsed<Element> {
        let start = self.pos;
        let mut parts = Parts::default();
        if self.peek() == Some(b'[') {
            let inner = self.nested(Self::subscript)?;
            let how = match (self.peek(), self.peek_second()) {
                (Some(b'='), _) => Some(Assign::Set),
                (Some(b'+'), Some(b'=')) => Some(Assign::Append),
                _ => None,
            };
            if let Some(how) = how {
                self.bump();
                if how == Assign::Append {
                    self.bump();
                }
                let value = self.word_inside(Inside::Bare, Marks::Assigned)?;
                let value = value.unwrap_or(Word { span: self.span_from(self.pos), parts: Vec::new() });
                return Ok(Element { key: Some((inner, how)), value });
            }
            parts.push_char('[');
            for part in inner {
                parts.push(part);
            }
            parts.push_char(']');
        }
        Ok(Element { key: None, value: self.rest_of_word(start, parts)? })
    }

    /// `[ … ]` with the parts between.
    pub(super) fn subscript(&mut self) -> Parsed<Vec<WordPart>> {
        let start = self.pos;
        self.pos += 1;
        let mut parts = Parts::default();
        let mut open = 1;
        loop {
            match self.peek() {
                None => return Err(self.error_at(start, Reason::NotClosed("'['"))),
                Some(b'[') => open += 1,
                Some(b']') => open -= 1,
                _ => {}
            }
            if open == 0 {
                self.pos += 1;
                return Ok(parts.into_vec());
            }
            self.part(Inside::Brackets, &mut parts)?;
        }
    }

    /// One part of a word. Says `false` at its end.
    pub(super) fn part(&mut self, inside: Inside, parts: &mut Parts) -> Parsed<bool> {
        let Some(byte) = self.peek() else { return Ok(false) };
        match byte {
            b'\\' => self.backslash(inside, parts),
            b'`' => {
                let part = self.nested(|p| p.backquotes(inside))?;
                parts.push(part);
            }
            b'$' => {
                let part = self.dollar(inside)?;
                parts.push(part);
            }
            b'"' if inside == Inside::Double => return Ok(false),
            b'"' if inside != Inside::Document => {
                let part = self.nested(Self::double_quotes)?;
                parts.push(WordPart::Double(part));
            }
            b'\'' if inside == Inside::QuotedBrackets => self.quotes_that_do_not_quote(parts)?,
            b'\'' if !matches!(inside, Inside::Double | Inside::Document) => {
                self.pos += 1;
                let text = self.single_quotes()?;
                parts.push(WordPart::Single(text));
            }
            b'<' | b'>'
                if matches!(inside, Inside::Bare | Inside::Pattern | Inside::Brackets)
                    && self.at_process_substitution() =>
            {
                let part = self.nested(Self::process_substitution)?;
                parts.push(part);
            }
            b'(' if inside == Inside::Regex => {
                let group = self.nested(Self::regex_group)?;
                for part in group {
                    parts.push(part);
                }
            }
            b'|' if inside == Inside::Regex => parts.push_char(self.bump().unwrap_or('|')),
            b'@' | b'?' | b'*' | b'+' | b'!'
                if (inside == Inside::Pattern
                    || inside == Inside::Bare && self.patterns == Patterns::Extended)
                    && self.peek_second() == Some(b'(') =>
            {
                let glob = self.nested(Self::extended_glob)?;
                parts.push(glob);
            }
            _ if matches!(inside, Inside::Bare | Inside::Pattern | Inside::Regex) && ends_word(byte) => {
                return Ok(false);
            }
            _ => {
                if let Some(c) = self.bump() {
                    parts.push_char(c);
                }
            }
        }
        Ok(true)
    }

    fn backslash(&mut self, inside: Inside, parts: &mut Parts) {
        self.pos += 1;
        // At the very end it stands for itself.
        let Some(c) = self.bump_raw() else { return parts.push(WordPart::Escaped('\\')) };
        let special = match inside {
            Inside::Double => matches!(c, '$' | '`' | '"' | '\\'),
            Inside::Document => matches!(c, '$' | '`' | '\\'),
            Inside::QuotedBrackets => matches!(c, '$' | '`' | '"' | '\\' | '}'),
            _ => true,
        };
        if special {
            parts.push(WordPart::Escaped(c));
        } else {
            parts.push_char('\\');
            parts.push_char(c);
        }
    }

    /// Up to the closing quote; the opening one is taken.
    pub(super) fn single_quotes(&mut self) -> Parsed<String> {
        let rest = &self.text[self.pos..];
        let Some(end) = rest.find('\'') else {
            return Err(self.error_at(self.pos - 1, Reason::NotClosed("\"'\"")));
        };
        self.pos += end + 1;
        Ok(rest[..end].to_owned())
    }

    /// Between double quotes `${x:-'a'}` keeps the quotes, and what stands between them is expanded;
    /// only the search for the closing brace skips it.
    fn quotes_that_do_not_quote(&mut self, parts: &mut Parts) -> Parsed<()> {
        self.pos += 1;
        let start = self.pos;
        let text = self.single_quotes()?;
        let origin = match self.origin {
            Origin::Offset(offset) => Origin::Offset(offset + start),
            inside @ Origin::Inside(_) => inside,
        };
        let inner = self.nested(|p| p.read_inner(&text, origin, Parser::quoted_bracket_parts))?;
        parts.push_char('\'');
        for part in inner {
            parts.push(part);
        }
        parts.push_char('\'');
        Ok(())
    }

    fn quoted_bracket_parts(&mut self) -> Parsed<Vec<WordPart>> {
        let mut parts = Parts::default();
        while self.part(Inside::QuotedBrackets, &mut parts)? {}
        Ok(parts.into_vec())
    }

    /// `"…"`
    pub(super) fn double_quotes(&mut self) -> Parsed<Vec<WordPart>> {
        let start = self.pos;
        self.pos += 1;
        let mut parts = Parts::default();
        while self.part(Inside::Double, &mut parts)? {}
        if self.eat(b'"') {
            Ok(parts.into_vec())
        } else {
            Err(self.error_at(start, Reason::NotClosed("'\"'")))
        }
    }

    /// The body of a here-document, to the end of the text.
    pub(super) fn document_parts(&mut self) -> Parsed<Vec<WordPart>> {
        let mut parts = Parts::default();
        while self.part(Inside::Document, &mut parts)? {}
        Ok(parts.into_vec())
    }

    /// `( … )` in a regular expression, brackets included.
    fn regex_group(&mut self) -> Parsed<Vec<WordPart>> {
        let mut parts = Parts::default();
        self.round_brackets(&mut parts)?;
        Ok(parts.into_vec())
    }

    fn extended_glob(&mut self) -> Parsed<WordPart> {
        let kind = self.bump().unwrap_or('@');
        let mut parts = Parts::default();
        self.round_brackets(&mut parts)?;
        Ok(WordPart::ExtendedGlob(kind, parts.into_vec()))
    }

    fn round_brackets(&mut self, parts: &mut Parts) -> Parsed<()> {
        let start = self.pos;
        let mut open = 0;
        loop {
            match self.peek() {
                None => return Err(self.error_at(start, Reason::NotClosed("'('"))),
                Some(b'(') => open += 1,
                Some(b')') => open -= 1,
                _ => {}
            }
            self.part(Inside::Brackets, parts)?;
            if open == 0 {
                return Ok(());
            }
        }
    }
}

/// Whether this can be the name of a variable.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The name in `name=` or `name+=`.
fn assigned_name(text: &str) -> Option<&str> {
    let name = text.strip_suffix('=')?;
    let name = name.strip_suffix('+').unwrap_or(name);
    let bare = name.split_once('[').filter(|_| name.ends_with(']')).map_or(name, |(name, _)| name);
    is_name(bare).then_some(bare)
}
