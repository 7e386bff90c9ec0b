//! Where the cursor goes: by character, word, line, never into the middle of an atom.

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

use super::Editor;
use crate::chat::text::cells;

/// To which side a place inside an atom is moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

impl Editor {
    /// The place itself, or the edge of the atom it falls into.
    pub(super) fn snap(&self, place: usize, side: Side) -> usize {
        let inside = |(start, end): &(usize, usize)| *start < place && place < *end;
        let spans = self.atoms.iter().flat_map(|atom| {
            self.text.match_indices(atom.as_str()).map(|(at, found)| (at, at + found.len()))
        });
        match spans.into_iter().find(inside) {
            Some((start, _)) if side == Side::Left => start,
            Some((_, end)) => end,
            None => place,
        }
    }

    pub(super) fn before(&self) -> usize {
        let mut cursor = GraphemeCursor::new(self.cursor, self.text.len(), true);
        let place = cursor.prev_boundary(&self.text, 0).ok().flatten().unwrap_or(0);
        self.snap(place, Side::Left)
    }

    pub(super) fn after(&self) -> usize {
        let mut cursor = GraphemeCursor::new(self.cursor, self.text.len(), true);
        let place = cursor.next_boundary(&self.text, 0).ok().flatten().unwrap_or(self.text.len());
        self.snap(place, Side::Right)
    }

    /// The start of the word before the cursor.
    pub(super) fn word_before(&self) -> usize {
        let mut words = self.text[..self.cursor].split_word_bound_indices();
        let word = words.rfind(|(_, w)| w.contains(char::is_alphanumeric));
        self.snap(word.map_or(0, |(at, _)| at), Side::Left)
    }

    /// The end of the word after the cursor.
    pub(super) fn word_after(&self) -> usize {
        let mut words = self.text[self.cursor..].split_word_bound_indices();
        let word = words.find(|(_, w)| w.contains(char::is_alphanumeric));
        let place = word.map_or(self.text.len(), |(at, w)| self.cursor + at + w.len());
        self.snap(place, Side::Right)
    }

    /// The start of the stretch without blanks before the cursor, as shells delete it.
    pub(super) fn blank_before(&self) -> usize {
        let head = self.text[..self.cursor].trim_end();
        let place = head
            .rfind(char::is_whitespace)
            .map_or(0, |at| at + head[at..].chars().next().map_or(1, char::len_utf8));
        self.snap(place, Side::Left)
    }

    pub(super) fn line_start(&self) -> usize {
        self.text[..self.cursor].rfind('\n').map_or(0, |at| at + 1)
    }

    pub(super) fn line_end(&self) -> usize {
        self.text[self.cursor..].find('\n').map_or(self.text.len(), |at| self.cursor + at)
    }

    /// Whether the cursor is on the first line.
    pub fn on_first_line(&self) -> bool {
        self.line_start() == 0
    }

    /// Whether the cursor is on the last line.
    pub fn on_last_line(&self) -> bool {
        self.line_end() == self.text.len()
    }

    /// Goes a line up; false on the first.
    pub(super) fn up(&mut self) -> bool {
        if self.on_first_line() {
            return false;
        }
        let column = self.wanted_column();
        let end = self.line_start() - 1;
        let start = self.text[..end].rfind('\n').map_or(0, |at| at + 1);
        self.go_to_column(start, end, column);
        true
    }

    /// Goes a line down; false on the last.
    pub(super) fn down(&mut self) -> bool {
        if self.on_last_line() {
            return false;
        }
        let column = self.wanted_column();
        let start = self.line_end() + 1;
        let end = self.text[start..].find('\n').map_or(self.text.len(), |at| start + at);
        self.go_to_column(start, end, column);
        true
    }

    fn wanted_column(&self) -> usize {
        self.column.unwrap_or_else(|| cells(&self.text[self.line_start()..self.cursor]))
    }

    fn go_to_column(&mut self, start: usize, end: usize, column: usize) {
        let mut at = start;
        let mut used = 0;
        for grapheme in self.text[start..end].graphemes(true) {
            used += cells(grapheme);
            if used > column {
                break;
            }
            at += grapheme.len();
        }
        self.go_to(at, Side::Left);
        self.column = Some(column);
    }
}
