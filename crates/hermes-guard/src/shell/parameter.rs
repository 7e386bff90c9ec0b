//! `${…}`

use super::ast::{Instead, Operation, Parameter, ParameterForm, When, WordPart};
use super::cursor::{Parsed, Parser};
use super::error::Reason;
use super::word::{Inside, Parts};

impl Parser<'_> {
    /// `${…}`; `$` comes next.
    pub(super) fn braced_parameter(&mut self, start: usize, outer: Inside) -> Parsed<WordPart> {
        self.bump();
        self.bump();
        let quoted = matches!(outer, Inside::Double | Inside::Document | Inside::QuotedBrackets);
        let inside = if quoted { Inside::QuotedBrackets } else { Inside::Brackets };
        let form = self.form();
        let name = self.parameter_name(form);
        let (subscript, operation) = match self.parameter_subscript(&name)? {
            Ok(subscript) => (subscript, None),
            Err(unclosed) => (None, Some(Operation::Unreadable(unclosed))),
        };
        let operation = match operation {
            Some(operation) => operation,
            None => self.operation(form, &name, inside)?,
        };
        if !self.eat(b'}') {
            return Err(self.error_at(start, Reason::NotClosed("'${'")));
        }
        let span = self.span_from(start);
        Ok(WordPart::Parameter(Parameter { span, name, form, subscript, operation }))
    }

    /// `${#name}` and `${!name}`; but `${#}`, `${!}`, `${#-word}` are about the parameters `#` and `!`.
    fn form(&mut self) -> ParameterForm {
        let start = self.pos;
        let form = match self.peek() {
            Some(b'#') => ParameterForm::Length,
            Some(b'!') => ParameterForm::Indirect,
            _ => return ParameterForm::Braced,
        };
        self.pos += 1;
        let named = match self.peek() {
            Some(byte) if byte.is_ascii_alphanumeric() || byte == b'_' => true,
            Some(b'@' | b'*' | b'?' | b'-' | b'$' | b'!' | b'#') => self.peek_second() == Some(b'}'),
            _ => false,
        };
        if named {
            return form;
        }
        self.pos = start;
        ParameterForm::Braced
    }

    /// A name, a number or a special parameter; empty if there is none.
    pub(super) fn parameter_name(&mut self, form: ParameterForm) -> String {
        let mut name = String::new();
        let Some(first) = self.peek() else { return name };
        let belongs: fn(u8) -> bool = match first {
            b'0'..=b'9' => |byte| byte.is_ascii_digit(),
            b'_' | b'a'..=b'z' | b'A'..=b'Z' => |byte| byte.is_ascii_alphanumeric() || byte == b'_',
            b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!' => {
                self.pos += 1;
                return (first as char).to_string();
            }
            _ => return name,
        };
        while let Some(byte) = self.peek().filter(|byte| belongs(*byte)) {
            name.push(byte as char);
            self.pos += 1;
            // `$12` is `$1` and a 2.
            if first.is_ascii_digit() && form == ParameterForm::Plain {
                break;
            }
        }
        name
    }

    /// `[ … ]` after the name. The parts alone if `}` comes before `]`.
    fn parameter_subscript(&mut self, name: &str) -> Parsed<Result<Option<Vec<WordPart>>, Vec<WordPart>>> {
        if !super::word::is_name(name) || !self.eat(b'[') {
            return Ok(Ok(None));
        }
        let mut parts = Parts::default();
        let mut open = 1;
        while let Some(byte) = self.peek().filter(|byte| *byte != b'}') {
            match byte {
                b'[' => open += 1,
                b']' => open -= 1,
                _ => {}
            }
            if open == 0 {
                self.pos += 1;
                return Ok(Ok(Some(parts.into_vec())));
            }
            self.part(Inside::Brackets, &mut parts)?;
        }
        let mut unclosed = Parts::default();
        unclosed.push_char('[');
        parts.into_vec().into_iter().for_each(|part| unclosed.push(part));
        Ok(Err(unclosed.into_vec()))
    }

    fn operation(&mut self, form: ParameterForm, name: &str, inside: Inside) -> Parsed<Operation> {
        let next = self.peek();
        if next == Some(b'}') && !name.is_empty() {
            return Ok(Operation::Value);
        }
        // Between double quotes the patterns of these operators are still quoted on their own.
        let pattern = if inside == Inside::QuotedBrackets { Inside::Arithmetic } else { Inside::Brackets };
        match next {
            _ if name.is_empty() || form == ParameterForm::Length => self.unreadable(inside),
            Some(b'*' | b'@') if form == ParameterForm::Indirect && self.peek_second() == Some(b'}') => {
                Ok(Operation::Names(self.bump().unwrap_or('*')))
            }
            Some(b':') => self.colon(inside),
            Some(byte @ (b'-' | b'=' | b'?' | b'+')) => self.instead(byte, When::Unset, inside),
            Some(byte @ (b'#' | b'%')) => {
                let operator = self.doubled(byte);
                Ok(Operation::Remove(operator, self.parts_until(b"}", pattern)?))
            }
            Some(b'/') => self.replace(pattern),
            Some(byte @ (b'^' | b',' | b'~')) => {
                let operator = self.doubled(byte);
                Ok(Operation::Case(operator, self.parts_until(b"}", pattern)?))
            }
            Some(b'@') if self.peek_second().is_some_and(|byte| byte.is_ascii_alphabetic()) => {
                let before = self.pos;
                self.bump();
                let kind = self.bump().unwrap_or('Q');
                if self.peek() == Some(b'}') {
                    return Ok(Operation::Transform(kind));
                }
                self.pos = before;
                self.unreadable(inside)
            }
            _ => self.unreadable(inside),
        }
    }

    fn unreadable(&mut self, inside: Inside) -> Parsed<Operation> {
        Ok(Operation::Unreadable(self.parts_until(b"}", inside)?))
    }

    fn colon(&mut self, inside: Inside) -> Parsed<Operation> {
        self.pos += 1;
        if let Some(byte @ (b'-' | b'=' | b'?' | b'+')) = self.peek() {
            return self.instead(byte, When::UnsetOrEmpty, inside);
        }
        let offset = self.parts_until(b":}", inside)?;
        let length = if self.eat(b':') { Some(self.parts_until(b"}", inside)?) } else { None };
        Ok(Operation::Slice(offset, length))
    }

    fn instead(&mut self, byte: u8, when: When, inside: Inside) -> Parsed<Operation> {
        self.pos += 1;
        let what = match byte {
            b'-' => Instead::Default,
            b'=' => Instead::AssignDefault,
            b'?' => Instead::Error,
            _ => Instead::Alternative,
        };
        Ok(Operation::Instead(what, when, self.parts_until(b"}", inside)?))
    }

    /// The operator, once or twice.
    fn doubled(&mut self, byte: u8) -> String {
        let mut operator = (byte as char).to_string();
        self.pos += 1;
        if self.eat(byte) {
            operator.push(byte as char);
        }
        operator
    }

    fn replace(&mut self, inside: Inside) -> Parsed<Operation> {
        self.pos += 1;
        let mut operator = "/".to_owned();
        if let Some(byte @ (b'/' | b'#' | b'%')) = self.peek() {
            self.pos += 1;
            operator.push(byte as char);
        }
        let pattern = self.parts_until(b"/}", inside)?;
        let with = if self.eat(b'/') { Some(self.parts_until(b"}", inside)?) } else { None };
        Ok(Operation::Replace(operator, pattern, with))
    }

    /// Parts up to one of `stops`, or to the end; the caller sees which.
    fn parts_until(&mut self, stops: &[u8], inside: Inside) -> Parsed<Vec<WordPart>> {
        let mut parts = Parts::default();
        while self.peek().is_some_and(|byte| !stops.contains(&byte)) {
            self.part(inside, &mut parts)?;
        }
        Ok(parts.into_vec())
    }
}
