//! Where the parser stands in the text: characters, blanks, comments, operators.

use std::collections::BTreeSet;

use super::MAX_DEPTH;
use super::ast::Span;
use super::error::{ParseError, Reason};
use super::heredoc::Documents;

/// Reads a text from start to end. The grammar is spread over the files of this module:
/// `command`, `compound`, `test`, `redirect`, `heredoc`, `word`, `dollar`, `parameter`.
pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    pub(super) pos: usize,
    pub(super) origin: Origin,
    pub(super) depth: usize,
    /// Whether bash would see a reserved word here although no separator came before: after `)`, `fi`, `}`.
    pub(super) after_compound: bool,
    /// Places with `((` that turned out not to be arithmetic, so that nobody tries twice.
    pub(super) not_arithmetic: BTreeSet<usize>,
    pub(super) documents: Documents,
    /// Which patterns are known outside of `[[ ]]`.
    pub(super) patterns: Patterns,
}

/// Which patterns words may hold.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Patterns {
    /// `*`, `?`, `[…]`
    Plain,
    /// `!(…)` and its kin too, as after `shopt -s extglob`.
    Extended,
}

/// How positions relate to the text that the caller gave.
#[derive(Clone, Copy)]
pub(super) enum Origin {
    /// The text is a piece of it that starts here.
    Offset(usize),
    /// The text was unescaped from this piece.
    Inside(Span),
}

pub(super) type Parsed<T> = Result<T, ParseError>;

/// Operators, longest first.
const OPERATORS: [&str; 22] = [
    ";;&", "&>>", "<<<", "<<-", "&&", "||", ";;", ";&", "|&", "&>", "<<", "<&", "<>", ">>", ">&", ">|", "(",
    ")", ";", "&", "|", "<",
];

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Parser {
            text,
            pos: 0,
            origin: Origin::Offset(0),
            depth: 0,
            after_compound: false,
            not_arithmetic: BTreeSet::new(),
            documents: Documents::default(),
            patterns: Patterns::Plain,
        }
    }

    /// A parser for a piece of text inside this one.
    pub(super) fn inner<'b>(&self, text: &'b str, origin: Origin) -> Parser<'b> {
        Parser { origin, depth: self.depth, patterns: self.patterns, ..Parser::new(text) }
    }

    /// The next byte, after line continuations.
    pub(super) fn peek(&mut self) -> Option<u8> {
        self.pos = self.skip_continuations(self.pos);
        self.text.as_bytes().get(self.pos).copied()
    }

    /// The byte after the next one, after line continuations.
    pub(super) fn peek_second(&mut self) -> Option<u8> {
        self.peek()?;
        let next = self.skip_continuations(self.pos + 1);
        self.text.as_bytes().get(next).copied()
    }

    /// Takes one character.
    pub(super) fn bump(&mut self) -> Option<char> {
        self.peek()?;
        self.bump_raw()
    }

    /// Takes one character as it stands: between single quotes a backslash does not continue a line.
    pub(super) fn bump_raw(&mut self) -> Option<char> {
        let c = self.text.get(self.pos..)?.chars().next()?;
        self.pos += c.len_utf8();
        Some(c)
    }

    fn skip_continuations(&self, mut pos: usize) -> usize {
        while self.text.as_bytes()[pos.min(self.text.len())..].starts_with(b"\\\n") {
            pos += 2;
        }
        pos
    }

    /// Takes `wanted` if it comes next.
    pub(super) fn eat(&mut self, wanted: u8) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.pos += 1;
        }
        found
    }

    /// Skips blanks and a comment, not the end of the line.
    pub(super) fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\t') = self.peek() {
            self.pos += 1;
        }
        if self.peek() == Some(b'#') {
            let rest = &self.text[self.pos..];
            self.pos += rest.find('\n').unwrap_or(rest.len());
        }
    }

    /// Skips blanks, comments and ends of lines.
    pub(super) fn skip_newlines(&mut self) -> Parsed<()> {
        loop {
            self.skip_blanks();
            if self.peek() != Some(b'\n') {
                return Ok(());
            }
            self.newline()?;
        }
    }

    /// Takes the end of a line and the here-documents that follow it.
    pub(super) fn newline(&mut self) -> Parsed<()> {
        self.pos += 1;
        self.read_documents()
    }

    /// The operator that comes next, with where it ends.
    pub(super) fn operator(&mut self) -> Option<(&'static str, usize)> {
        let first = self.peek()?;
        if first == b'>' || matches!(first, b'\n') {
            return self.operator_from(if first == b'\n' { &["\n"] } else { &[">>", ">&", ">|", ">"] });
        }
        self.operator_from(&OPERATORS)
    }

    fn operator_from(&self, table: &[&'static str]) -> Option<(&'static str, usize)> {
        table.iter().find_map(|operator| {
            let mut pos = self.pos;
            for wanted in operator.bytes() {
                pos = self.skip_continuations(pos);
                if self.text.as_bytes().get(pos) != Some(&wanted) {
                    return None;
                }
                pos += 1;
            }
            Some((*operator, pos))
        })
    }

    /// The operator that comes next, by name.
    pub(super) fn next_operator(&mut self) -> Option<&'static str> {
        self.operator().map(|(operator, _)| operator)
    }

    /// Takes this operator if it comes next.
    pub(super) fn eat_operator(&mut self, wanted: &str) -> bool {
        match self.operator() {
            Some((operator, end)) if operator == wanted => {
                self.pos = end;
                true
            }
            _ => false,
        }
    }

    /// The unquoted word that comes next if it is one of `wanted`, with where it ends.
    pub(super) fn plain_word(&mut self, wanted: &[&'static str]) -> Option<(&'static str, usize)> {
        let first = self.peek()?;
        wanted.iter().filter(|word| word.as_bytes()[0] == first).find_map(|word| {
            let mut pos = self.pos;
            for byte in word.bytes() {
                pos = self.skip_continuations(pos);
                if self.text.as_bytes().get(pos) != Some(&byte) {
                    return None;
                }
                pos += 1;
            }
            let after = self.skip_continuations(pos);
            let bytes = self.text.as_bytes();
            let process = matches!(bytes.get(after), Some(b'<' | b'>'))
                && bytes.get(self.skip_continuations(after + 1)) == Some(&b'(');
            let ends = bytes.get(after).is_none_or(|byte| ends_word(*byte)) && !process;
            ends.then_some((*word, pos))
        })
    }

    /// Takes this unquoted word if it comes next.
    pub(super) fn eat_plain(&mut self, wanted: &'static str) -> bool {
        match self.plain_word(&[wanted]) {
            Some((_, end)) => {
                self.pos = end;
                true
            }
            None => false,
        }
    }

    /// Runs `read` one level deeper.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return Err(self.error(Reason::TooDeep));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// The span from `start` to here.
    pub(super) fn span_from(&self, start: usize) -> Span {
        match self.origin {
            Origin::Offset(offset) => Span { start: start + offset, end: self.pos + offset },
            Origin::Inside(span) => span,
        }
    }

    fn position(&self, pos: usize) -> usize {
        match self.origin {
            Origin::Offset(offset) => pos + offset,
            Origin::Inside(span) => span.start,
        }
    }

    pub(super) fn error(&self, reason: Reason) -> ParseError {
        self.error_at(self.pos, reason)
    }

    pub(super) fn error_at(&self, pos: usize, reason: Reason) -> ParseError {
        ParseError { at: self.position(pos), reason }
    }

    /// What comes next cannot stand here.
    pub(super) fn unexpected(&mut self, expected: &'static str) -> ParseError {
        if self.peek().is_none() {
            return self.error(Reason::UnexpectedEnd(expected));
        }
        let found = match self.operator() {
            Some(("\n", _)) => "end of line".to_owned(),
            Some((operator, _)) => format!("'{operator}'"),
            None => {
                let rest = &self.text[self.pos..];
                let end = rest.find(|c: char| c.is_ascii() && ends_word(c as u8)).unwrap_or(rest.len());
                format!("'{}'", rest[..end].chars().take(40).collect::<String>())
            }
        };
        self.error(Reason::Unexpected(format!("{found}, expected {expected}")))
    }
}

/// Whether this byte ends a word that is not quoted.
pub(super) fn ends_word(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'|' | b'&' | b';' | b'(' | b')' | b'<' | b'>')
}
