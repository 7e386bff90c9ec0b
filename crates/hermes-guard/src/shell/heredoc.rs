//! Here-documents: their bodies come after the line that asks for them.
//!
//! The tree is built from start to end, so a text with here-documents is read twice: the first time finds the
//! bodies, the second time puts them where they belong.

use super::ansi::{Dialect, decode};
use super::ast::{Expands, HereDocument, RedirectOperator, Span, Word, WordPart};
use super::cursor::{Origin, Parsed, Parser};
use super::error::Reason;
use super::print::print_parts;

/// The here-documents of a text.
#[derive(Default)]
pub(super) struct Documents {
    /// Those whose body was found, by number.
    pub(super) found: Vec<Option<Body>>,
    /// How many were announced.
    announced: usize,
    /// Announced on this line; the bodies are still to come.
    pub(super) pending: Vec<Pending>,
    /// How many command substitutions surround this place.
    pub(super) substitutions: usize,
}

/// A body with where the text goes on behind it.
#[derive(Clone)]
pub(super) struct Body {
    parts: Vec<WordPart>,
    span: Span,
    end: usize,
}

/// A here-document whose body is still to come.
#[derive(Clone)]
pub(super) struct Pending {
    number: usize,
    delimiter: String,
    strip: bool,
    expands: Expands,
}

/// What [`Documents::back_to`] goes back to.
pub(super) struct Mark {
    announced: usize,
    pending: Vec<Pending>,
    substitutions: usize,
}

impl Documents {
    /// For the second reading: the bodies that the first one found.
    pub(super) fn known(found: Vec<Option<Body>>) -> Self {
        Documents { found, ..Documents::default() }
    }

    /// For an attempt that may have to be undone.
    pub(super) fn mark(&self) -> Mark {
        Mark { announced: self.announced, pending: self.pending.clone(), substitutions: self.substitutions }
    }

    /// Undoes what came after `mark`.
    pub(super) fn back_to(&mut self, mark: Mark) {
        self.found.truncate(mark.announced);
        self.announced = mark.announced;
        self.pending = mark.pending;
        self.substitutions = mark.substitutions;
    }
}

impl<'a> Parser<'a> {
    /// Notes that a body follows, and gives what is known of it.
    pub(super) fn announce_document(&mut self, word: Word, operator: RedirectOperator) -> HereDocument {
        let (delimiter, expands) = delimiter(&word);
        let number = self.documents.announced;
        self.documents.announced += 1;
        let strip = operator == RedirectOperator::HereDocumentStripped;
        self.documents.pending.push(Pending { number, delimiter, strip, expands });
        let known = self.documents.found.get(number).cloned().flatten();
        let (body, span) = known.map_or((Vec::new(), word.span), |body| (body.parts, body.span));
        HereDocument { delimiter: word, span, body, expands }
    }

    /// Reads the bodies that were announced on the line that just ended.
    pub(super) fn read_documents(&mut self) -> Parsed<()> {
        for pending in std::mem::take(&mut self.documents.pending) {
            if let Some(Some(body)) = self.documents.found.get(pending.number) {
                self.pos = body.end;
                continue;
            }
            let body = self.read_body(&pending)?;
            let found = &mut self.documents.found;
            found.resize_with(found.len().max(pending.number + 1), || None);
            found[pending.number] = Some(body);
        }
        Ok(())
    }

    /// At the end of the text: a body that never came is empty, as in bash.
    pub(super) fn finish_documents(&mut self) -> Parsed<()> {
        self.read_documents()
    }

    fn read_body(&mut self, pending: &Pending) -> Parsed<Body> {
        let start = self.pos;
        let mut text = String::new();
        loop {
            let line_start = self.pos;
            let line = self.logical_line(pending.expands);
            if line.is_empty() {
                break;
            }
            let line = if pending.strip { line.trim_start_matches('\t') } else { line };
            let joined =
                if pending.expands == Expands::Yes { line.replace("\\\n", "") } else { line.to_owned() };
            if joined.strip_suffix('\n').unwrap_or(&joined) == pending.delimiter {
                return self.finish_body(pending, &text, start, line_start);
            }
            // Inside `$( )` bash takes `EOF)` for the end of both.
            if self.documents.substitutions > 0
                && let Some(rest) = joined.strip_prefix(pending.delimiter.as_str())
                && rest.contains(')')
                && line.ends_with(rest)
            {
                self.pos -= rest.len();
                return self.finish_body(pending, &text, start, line_start);
            }
            text.push_str(line);
        }
        self.finish_body(pending, &text, start, self.pos)
    }

    /// A line with its end; where expansions are done, a backslash at the end joins the next one to it.
    fn logical_line(&mut self, expands: Expands) -> &'a str {
        let start = self.pos;
        loop {
            let rest = &self.text[self.pos..];
            let Some(end) = rest.find('\n') else {
                self.pos = self.text.len();
                break;
            };
            self.pos += end + 1;
            let line = &rest[..end];
            let backslashes = line.len() - line.trim_end_matches('\\').len();
            if expands == Expands::No || backslashes.is_multiple_of(2) {
                break;
            }
        }
        &self.text[start..self.pos]
    }

    fn finish_body(&mut self, pending: &Pending, text: &str, start: usize, body_end: usize) -> Parsed<Body> {
        let end = std::mem::replace(&mut self.pos, body_end);
        let span = self.span_from(start);
        self.pos = end;
        if pending.expands == Expands::No {
            return Ok(Body { parts: vec![WordPart::Literal(text.to_owned())], span, end });
        }
        let origin = match self.origin {
            Origin::Offset(offset) if !pending.strip => Origin::Offset(offset + start),
            _ => Origin::Inside(span),
        };
        let parts = self.nested(|p| p.read_inner(text, origin, Parser::document_parts))?;
        Ok(Body { parts, span, end })
    }

    /// Inside `$( )` every announced body must come before the closing bracket.
    pub(super) fn no_pending_documents(&self) -> Parsed<()> {
        if self.documents.pending.is_empty() { Ok(()) } else { Err(self.error(Reason::NotClosed("'<<'"))) }
    }
}

/// What ends the body, and whether expansions are done in it: not if any of it is quoted.
pub(super) fn delimiter(word: &Word) -> (String, Expands) {
    let mut expands = Expands::Yes;
    let mut text = String::new();
    for part in &word.parts {
        match part {
            WordPart::Single(part) => {
                expands = Expands::No;
                text.push_str(part);
            }
            WordPart::AnsiC(part) => {
                expands = Expands::No;
                text.push_str(&decode(part, Dialect::Quotes).unwrap_or_else(|| part.clone()));
            }
            WordPart::Escaped(c) => {
                expands = Expands::No;
                text.push(*c);
            }
            WordPart::Double(parts) | WordPart::Translated(parts) => {
                expands = Expands::No;
                for part in parts {
                    match part {
                        WordPart::Escaped(c) => text.push(*c),
                        other => text.push_str(&print_parts(std::slice::from_ref(other))),
                    }
                }
            }
            other => text.push_str(&print_parts(std::slice::from_ref(other))),
        }
    }
    (text, expands)
}
