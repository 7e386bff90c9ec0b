//! A text seen with plain line ends, and the way back to its own.

use std::borrow::Cow;
use std::ops::Range;

/// The text with `\n` for every `\r\n`.
pub(super) fn fold(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) }
}

/// A text and the same with plain line ends.
pub(super) struct View<'a> {
    folded: Cow<'a, str>,
    /// Where, in the folded text, a `\r` is missing before a `\n`.
    cuts: Vec<usize>,
}

impl<'a> View<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        if !text.contains('\r') {
            return Self { folded: Cow::Borrowed(text), cuts: Vec::new() };
        }
        let cuts = text.match_indices("\r\n").enumerate().map(|(before, (at, _))| at - before).collect();
        Self { folded: fold(text), cuts }
    }

    pub(super) fn folded(&self) -> &str {
        &self.folded
    }

    /// The same place in the text as it is. A `\r` belongs to the line end behind it.
    pub(super) fn original(&self, place: &Range<usize>) -> Range<usize> {
        let back = |at: usize| at + self.cuts.partition_point(|cut| *cut < at);
        back(place.start)..back(place.end)
    }

    /// A new piece with the line ends of the region it replaces, else of the text, else those it came with.
    pub(super) fn with_ends(&self, piece: &str, region: &str, written: &str) -> String {
        let (crlf, all) = if region.contains('\n') {
            count(region)
        } else if self.folded.contains('\n') {
            (self.cuts.len(), memchr::memchr_iter(b'\n', self.folded.as_bytes()).count())
        } else {
            count(written)
        };
        if crlf * 2 > all { fold(piece).replace('\n', "\r\n") } else { piece.to_owned() }
    }
}

/// How many line ends are `\r\n`, and how many there are.
fn count(text: &str) -> (usize, usize) {
    (text.matches("\r\n").count(), text.matches('\n').count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_lead_back_to_the_text() {
        let text = "a\r\nb\nc\r\nd";
        let view = View::new(text);
        assert_eq!(view.folded(), "a\nb\nc\nd");
        assert_eq!(&text[view.original(&(2..3))], "b");
        assert_eq!(&text[view.original(&(4..5))], "c");
        assert_eq!(&text[view.original(&(4..6))], "c\r\n");
        assert_eq!(&text[view.original(&(1..2))], "\r\n");
    }
}
