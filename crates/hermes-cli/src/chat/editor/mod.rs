//! The input: a small multi-line editor with Emacs keys. Pure: keys in, text and cursor out.

mod history;
mod keymap;
mod kill;
mod moves;
mod undo;
mod view;

pub use history::{Added, History, HistoryError, HistoryFile};
pub use keymap::Handled;
pub use view::View;

use self::kill::KillRing;
use self::moves::Side;
use self::undo::Undo;

/// The text being written and where the cursor is in it.
#[derive(Debug, Clone, Default)]
pub struct Editor {
    text: String,
    /// Always at the edge of a character as people see it, never inside an atom.
    cursor: usize,
    /// Stretches that are moved over and deleted as one, such as `[pasted #1: 30 lines]`.
    atoms: Vec<String>,
    kills: KillRing,
    undo: Undo,
    /// The column that moves up and down try to keep.
    column: Option<usize>,
}

impl Editor {
    /// An empty input.
    pub fn new() -> Self {
        Self::default()
    }

    /// What was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where the cursor is, in bytes.
    pub fn cursor(&self) -> usize {
        self.cursor
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Replaces the text; the cursor goes to its end.
    pub fn set(&mut self, text: impl Into<String>) {
        self.remember(undo::Change::Other);
        self.text = text.into();
        self.cursor = self.text.len();
        self.column = None;
    }

    /// Takes the text out; what was done to it cannot be undone any more.
    pub fn take(&mut self) -> String {
        let text = std::mem::take(&mut self.text);
        let mut kills = std::mem::take(&mut self.kills);
        kills.part();
        *self = Self { kills, ..Self::default() };
        text
    }

    /// Inserts text at the cursor.
    pub fn insert(&mut self, text: &str) {
        self.remember(undo::Change::of_insert(text));
        self.text.insert_str(self.cursor, text);
        self.cursor += text.len();
        self.column = None;
    }

    /// Inserts a stretch that stays in one piece.
    pub fn insert_atom(&mut self, atom: &str) {
        self.remember(undo::Change::Other);
        self.atoms.push(atom.to_owned());
        self.text.insert_str(self.cursor, atom);
        self.cursor += atom.len();
        self.column = None;
    }

    /// Replaces a stretch of the text, as completion does; the cursor goes behind it.
    pub fn replace(&mut self, range: std::ops::Range<usize>, with: &str) {
        self.remember(undo::Change::Other);
        self.text.replace_range(range.clone(), with);
        self.cursor = range.start + with.len();
        self.column = None;
    }

    /// Deletes up to another place and gives what was deleted.
    fn delete_to(&mut self, place: usize) -> String {
        let (from, to) = (self.cursor.min(place), self.cursor.max(place));
        let gone: String = self.text.drain(from..to).collect();
        self.cursor = from;
        self.column = None;
        gone
    }

    fn remember(&mut self, change: undo::Change) {
        // After any change the place of the newest yank is no longer known.
        self.kills.yanked = None;
        self.undo.remember(change, &self.text, self.cursor);
    }

    fn go_to(&mut self, place: usize, side: Side) {
        self.cursor = self.snap(place, side);
        self.undo.pause();
    }
}

#[cfg(test)]
mod tests;
