//! Which key does what to the text.

use unicode_segmentation::UnicodeSegmentation;

use super::Editor;
use super::kill::End;
use super::moves::Side;
use super::undo::Change;
use crate::chat::term::{Key, KeyCode, Mods};

/// Whether the editor had a use for a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handled {
    /// It changed the text or moved the cursor.
    Yes,
    /// It means nothing here.
    No,
}

impl Editor {
    /// Handles an editing key. Enter, Tab, Escape and history are for the caller.
    pub fn key(&mut self, key: Key) -> Handled {
        let rotates = key == Key::alt('y');
        let kills = self.kill(key);
        if kills == Handled::Yes {
            return Handled::Yes;
        }
        if rotates {
            self.rotate();
            return Handled::Yes;
        }
        let handled = match self.movement(key) {
            Handled::Yes => Handled::Yes,
            Handled::No => self.change(key),
        };
        if handled == Handled::Yes && key != Key::ctrl('y') {
            self.kills.part();
        }
        handled
    }

    fn movement(&mut self, key: Key) -> Handled {
        use KeyCode::{Char, Down, End, Home, Left, Right, Up};
        let by_word = key.mods == Mods::CTRL || key.mods == Mods::ALT;
        let (place, side) = match (key.code, key.mods) {
            (Up, _) => return self.vertical(Self::up),
            (Down, _) => return self.vertical(Self::down),
            (Left, _) if by_word => (self.word_before(), Side::Left),
            (Right, _) if by_word => (self.word_after(), Side::Right),
            (Char('b'), Mods::ALT) => (self.word_before(), Side::Left),
            (Char('f'), Mods::ALT) => (self.word_after(), Side::Right),
            (Left, _) | (Char('b'), Mods::CTRL) => (self.before(), Side::Left),
            (Right, _) | (Char('f'), Mods::CTRL) => (self.after(), Side::Right),
            (Home, Mods::CTRL) | (Char('<'), Mods::ALT) => (0, Side::Left),
            (End, Mods::CTRL) | (Char('>'), Mods::ALT) => (self.text.len(), Side::Right),
            (Home, _) | (Char('a'), Mods::CTRL) => (self.line_start(), Side::Left),
            (End, _) | (Char('e'), Mods::CTRL) => (self.line_end(), Side::Right),
            _ => return Handled::No,
        };
        self.go_to(place, side);
        self.column = None;
        Handled::Yes
    }

    fn vertical(&mut self, go: fn(&mut Self) -> bool) -> Handled {
        if go(self) { Handled::Yes } else { Handled::No }
    }

    fn kill(&mut self, key: Key) -> Handled {
        use KeyCode::{Backspace, Char, Delete};
        let (place, end) = match (key.code, key.mods) {
            (Char('k'), Mods::CTRL) => (self.kill_line_end(), End::Back),
            (Char('u'), Mods::CTRL) => (self.kill_line_start(), End::Front),
            (Char('w'), Mods::CTRL) => (self.blank_before(), End::Front),
            (Backspace, Mods::ALT | Mods::CTRL) => (self.word_before(), End::Front),
            (Char('d'), Mods::ALT) | (Delete, Mods::CTRL | Mods::ALT) => (self.word_after(), End::Back),
            _ => return Handled::No,
        };
        self.remember(Change::Other);
        let gone = self.delete_to(place);
        self.kills.push(gone, end);
        Handled::Yes
    }

    /// The end of the line, or the line break when the cursor is there already.
    fn kill_line_end(&self) -> usize {
        let end = self.line_end();
        if end == self.cursor { self.after() } else { end }
    }

    fn kill_line_start(&self) -> usize {
        let start = self.line_start();
        if start == self.cursor { self.before() } else { start }
    }

    fn change(&mut self, key: Key) -> Handled {
        use KeyCode::{Backspace, Char, Delete};
        match (key.code, key.mods) {
            (Char(c), Mods::NONE | Mods::SHIFT) => self.insert(c.encode_utf8(&mut [0; 4])),
            (Backspace, _) => {
                self.remember(Change::Deletion);
                self.delete_to(self.before());
            }
            (Delete, _) | (Char('d'), Mods::CTRL) => {
                self.remember(Change::Deletion);
                self.delete_to(self.after());
            }
            (Char('y'), Mods::CTRL) => self.yank(),
            (Char('t'), Mods::CTRL) => self.transpose(),
            (Char('7' | '_' | '/'), Mods::CTRL) => {
                let before = self.undo.back(&self.text, self.cursor);
                self.restore(before);
            }
            (Char('_' | '/'), Mods::ALT) => {
                let after = self.undo.forward(&self.text, self.cursor);
                self.restore(after);
            }
            (Char('u'), Mods::ALT) => self.word_case(str::to_uppercase),
            (Char('l'), Mods::ALT) => self.word_case(str::to_lowercase),
            (Char('c'), Mods::ALT) => self.word_case(capitalised),
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn restore(&mut self, state: Option<(String, usize)>) {
        if let Some((text, cursor)) = state {
            self.text = text;
            self.cursor = cursor;
            self.column = None;
        }
    }

    fn yank(&mut self) {
        if let Some(text) = self.kills.newest() {
            let start = self.cursor;
            self.remember(Change::Other);
            self.text.insert_str(start, &text);
            self.cursor += text.len();
            self.kills.note_yank(start, self.cursor);
        }
    }

    fn rotate(&mut self) {
        if let Some((range, text)) = self.kills.rotate() {
            let yanked = self.kills.yanked.clone();
            self.replace(range, &text);
            self.kills.yanked = yanked;
        }
    }

    /// Swaps the characters around the cursor; at the end of a line the two before it.
    fn transpose(&mut self) {
        if self.cursor == self.line_end() && self.cursor > self.line_start() {
            self.cursor = self.before();
        }
        if self.cursor == self.line_start() || self.cursor == self.line_end() {
            return;
        }
        let (from, to) = (self.before(), self.after());
        let swapped = format!("{}{}", &self.text[self.cursor..to], &self.text[from..self.cursor]);
        self.replace(from..to, &swapped);
    }

    fn word_case(&mut self, case: fn(&str) -> String) {
        let end = self.word_after();
        let word = case(&self.text[self.cursor..end]);
        self.replace(self.cursor..end, &word);
    }
}

fn capitalised(text: &str) -> String {
    let mut begun = false;
    let letter = |g: &str| {
        let first = !begun && g.contains(char::is_alphanumeric);
        begun |= first;
        if first { g.to_uppercase() } else { g.to_lowercase() }
    };
    text.graphemes(true).map(letter).collect()
}
