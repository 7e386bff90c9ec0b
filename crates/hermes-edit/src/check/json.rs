//! A strict reader of JSON that keeps nothing: it only says where a text stops being JSON.

use super::Problem;

/// What may be in a text besides JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Nothing. (`NaN` and `Infinity` are let through: notebooks have them.)
    Strict,
    /// Comments, and a comma after the last element.
    WithComments,
}

pub(super) fn problem(text: &str, dialect: Dialect) -> Option<Problem> {
    let mut reader = Reader { text, at: 0, dialect };
    reader.document().err().map(|message| Problem::at(text, reader.at, message))
}

type Wrong = &'static str;

/// What is open around the place that is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Array,
    Object,
}

impl Open {
    const fn close(self) -> u8 {
        match self {
            Self::Array => b']',
            Self::Object => b'}',
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    /// Where it is; where the problem is once something was wrong.
    at: usize,
    dialect: Dialect,
}

impl Reader<'_> {
    /// One value and nothing after it. What is open is kept in a list, so depth is no danger.
    fn document(&mut self) -> Result<(), Wrong> {
        let mut open: Vec<Open> = Vec::new();
        self.blanks()?;
        loop {
            let opened = self.value_or_opening()?;
            if let Some(kind) = opened {
                open.push(kind);
                self.blanks()?;
                if self.peek() != Some(kind.close()) {
                    self.key_if(kind)?;
                    continue;
                }
            }
            loop {
                self.blanks()?;
                let Some(kind) = open.last().copied() else { return self.end() };
                if self.take(kind.close()) {
                    open.pop();
                    continue;
                }
                if !self.take(b',') {
                    return Err(match kind {
                        Open::Array => "expected ',' or ']'",
                        Open::Object => "expected ',' or '}'",
                    });
                }
                self.blanks()?;
                if self.dialect == Dialect::WithComments && self.peek() == Some(kind.close()) {
                    continue;
                }
                if self.peek() == Some(kind.close()) {
                    return Err("a comma before the closing bracket is not allowed");
                }
                self.key_if(kind)?;
                break;
            }
        }
    }

    fn end(&self) -> Result<(), Wrong> {
        if self.at == self.text.len() { Ok(()) } else { Err("nothing may follow the value") }
    }

    fn key_if(&mut self, kind: Open) -> Result<(), Wrong> {
        if kind == Open::Array {
            return Ok(());
        }
        if self.peek() != Some(b'"') {
            return Err("expected a key in double quotes");
        }
        self.string()?;
        self.blanks()?;
        if !self.take(b':') {
            return Err("expected ':' after the key");
        }
        self.blanks()
    }

    /// Reads a plain value, or the bracket that opens a list or an object.
    fn value_or_opening(&mut self) -> Result<Option<Open>, Wrong> {
        match self.peek() {
            None => Err("expected a value, found the end of the text"),
            Some(b'[') => {
                self.at += 1;
                Ok(Some(Open::Array))
            }
            Some(b'{') => {
                self.at += 1;
                Ok(Some(Open::Object))
            }
            Some(b'"') => self.string().map(|()| None),
            Some(_) => self.word_or_number().map(|()| None),
        }
    }

    fn word_or_number(&mut self) -> Result<(), Wrong> {
        for word in ["true", "false", "null", "NaN", "Infinity", "-Infinity"] {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(());
            }
        }
        let start = self.at;
        self.take(b'-');
        if self.take(b'0') {
            if self.peek().is_some_and(|c| c.is_ascii_digit()) {
                return Err("a number must not begin with 0");
            }
        } else if self.digits() == 0 {
            self.at = start;
            return Err("expected a value");
        }
        if self.take(b'.') && self.digits() == 0 {
            return Err("expected digits after the decimal point");
        }
        if self.take(b'e') || self.take(b'E') {
            let _ = self.take(b'+') || self.take(b'-');
            if self.digits() == 0 {
                return Err("expected digits in the exponent");
            }
        }
        Ok(())
    }

    fn string(&mut self) -> Result<(), Wrong> {
        self.at += 1;
        loop {
            match self.peek() {
                None => return Err("this string has no end"),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\n') => return Err("a string must not contain a line end: write \\n"),
                Some(0..0x20) => return Err("a string must not contain a control character"),
                Some(b'\\') => self.escape()?,
                Some(_) => self.at += 1,
            }
        }
    }

    fn escape(&mut self) -> Result<(), Wrong> {
        const WRONG: Wrong = "this escape is not known";
        match self.text.as_bytes().get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
            Some(b'u') => {
                let digits = self.text.as_bytes().get(self.at + 2..self.at + 6).ok_or(WRONG)?;
                if !digits.iter().all(u8::is_ascii_hexdigit) {
                    return Err("expected four hexadecimal digits after \\u");
                }
                self.at += 6;
            }
            _ => return Err(WRONG),
        }
        Ok(())
    }

    /// Skips blanks and, where they are allowed, comments.
    fn blanks(&mut self) -> Result<(), Wrong> {
        loop {
            while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
                self.at += 1;
            }
            let rest = &self.text[self.at..];
            if self.dialect == Dialect::Strict || !rest.starts_with('/') {
                return Ok(());
            }
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if let Some(comment) = rest.strip_prefix("/*") {
                self.at += 4 + comment.find("*/").ok_or("this comment has no end")?;
            } else {
                return Ok(());
            }
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        self.at - start
    }
}
