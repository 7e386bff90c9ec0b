//! Redirections.

use super::ast::{Fd, Redirect, RedirectOperator, Target};
use super::cursor::{Parsed, Parser, ends_word};

const OPERATORS: [(&str, RedirectOperator); 12] = [
    ("<", RedirectOperator::Read),
    (">", RedirectOperator::Write),
    (">>", RedirectOperator::Append),
    (">|", RedirectOperator::Clobber),
    ("<>", RedirectOperator::ReadWrite),
    ("<&", RedirectOperator::DuplicateInput),
    (">&", RedirectOperator::DuplicateOutput),
    ("&>", RedirectOperator::WriteBoth),
    ("&>>", RedirectOperator::AppendBoth),
    ("<<<", RedirectOperator::HereString),
    ("<<", RedirectOperator::HereDocument),
    ("<<-", RedirectOperator::HereDocumentStripped),
];

impl RedirectOperator {
    /// As it is written.
    pub fn symbol(self) -> &'static str {
        OPERATORS.iter().find(|(_, operator)| *operator == self).map_or("", |(symbol, _)| symbol)
    }
}

impl Parser<'_> {
    /// Whether a redirection comes next.
    pub(super) fn redirect_ahead(&mut self) -> bool {
        let start = self.pos;
        let found = self.redirect_start().is_some();
        self.pos = start;
        found
    }

    /// A redirection, if one comes next.
    pub(super) fn redirect(&mut self) -> Parsed<Option<Redirect>> {
        let start = self.pos;
        let Some((fd, operator)) = self.redirect_start() else {
            self.pos = start;
            return Ok(None);
        };
        self.skip_blanks();
        let duplicates =
            matches!(operator, RedirectOperator::DuplicateInput | RedirectOperator::DuplicateOutput);
        if !duplicates && self.redirect_start_with_fd() {
            return Err(self.unexpected("a file"));
        }
        let word = self.required_word("a file")?;
        let span = self.span_from(start);
        let target = match operator {
            RedirectOperator::HereDocument | RedirectOperator::HereDocumentStripped => {
                Target::Document(self.announce_document(word, operator))
            }
            _ => Target::Word(word),
        };
        Ok(Some(Redirect { span, fd, operator, target }))
    }

    /// `2>` where a word is wanted is an error to bash, not a file named 2.
    fn redirect_start_with_fd(&mut self) -> bool {
        let start = self.pos;
        let found = matches!(self.redirect_start(), Some((Some(_), _)));
        self.pos = start;
        found
    }

    fn redirect_start(&mut self) -> Option<(Option<Fd>, RedirectOperator)> {
        let fd = self.descriptor();
        if self.at_process_substitution() {
            return None;
        }
        let (symbol, end) = self.operator()?;
        let (_, operator) = OPERATORS.iter().find(|(known, _)| *known == symbol)?;
        if fd.is_some() && symbol.starts_with('&') {
            return None;
        }
        self.pos = end;
        Some((fd, *operator))
    }

    /// `2` or `{name}`; the caller sees whether an operator follows and goes back if not.
    fn descriptor(&mut self) -> Option<Fd> {
        let first = self.peek()?;
        let mut text = String::new();
        if first == b'{' {
            self.pos += 1;
            while let Some(byte) = self.peek().filter(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') {
                text.push(byte as char);
                self.pos += 1;
            }
            let named = !text.starts_with(|c: char| c.is_ascii_digit()) && !text.is_empty();
            return (named && self.eat(b'}')).then_some(Fd::Variable(text));
        }
        while let Some(byte) = self.peek().filter(u8::is_ascii_digit) {
            text.push(byte as char);
            self.pos += 1;
        }
        // A number that does not fit is a word.
        let fits = text.parse::<i32>().is_ok();
        fits.then_some(Fd::Number(text))
    }

    /// `<(` or `>(`
    pub(super) fn at_process_substitution(&mut self) -> bool {
        matches!(self.peek(), Some(b'<' | b'>')) && self.peek_second() == Some(b'(')
    }

    /// Whether a word can start here.
    pub(super) fn at_word(&mut self) -> bool {
        self.peek().is_some_and(|byte| !ends_word(byte)) || self.at_process_substitution()
    }
}
