//! Ctrl-R: the search through what was sent before.

use crate::chat::editor::History;
use crate::chat::term::{Key, KeyCode, Mods};
use crate::chat::text::{Color, Line, Style, cut};

/// The words looked for and how many matches were passed.
#[derive(Debug, Default)]
pub struct Search {
    words: String,
    passed: usize,
}

/// What a key did.
#[derive(Debug, PartialEq, Eq)]
pub enum Found {
    /// Still looking.
    NotYet,
    /// This is put into the input; the key that ended the search still counts unless it was Enter or Tab.
    This(String),
    /// The input stays as it was.
    Nothing,
}

impl Search {
    /// Handles a key.
    pub fn key(&mut self, key: Key, history: &History) -> Found {
        let found = history.search(&self.words, self.passed);
        match (key.code, key.mods) {
            (KeyCode::Esc, _) | (KeyCode::Char('c' | 'g'), Mods::CTRL) => return Found::Nothing,
            (KeyCode::Char('r'), Mods::CTRL) => {
                if history.search(&self.words, self.passed + 1).is_some() {
                    self.passed += 1;
                }
            }
            (KeyCode::Char('s'), Mods::CTRL) => self.passed = self.passed.saturating_sub(1),
            (KeyCode::Backspace, _) => {
                self.words.pop();
                self.passed = 0;
            }
            (KeyCode::Char(c), Mods::NONE | Mods::SHIFT) => {
                self.words.push(c);
                self.passed = 0;
            }
            _ => return found.map_or(Found::Nothing, |text| Found::This(text.to_owned())),
        }
        Found::NotYet
    }

    /// The panel.
    pub fn render(&self, history: &History, width: usize) -> Vec<Line> {
        let mut line = Line::styled("search: ", Style::color(Color::Yellow));
        line.push(&self.words, Style::STRONG);
        match history.search(&self.words, self.passed) {
            Some(text) => {
                line.push("  ", Style::PLAIN);
                line.push(&text.replace('\n', " ⏎ "), Style::PLAIN);
            }
            None => line.push("  nothing found", Style::FAINT),
        }
        vec![cut(&line, width)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_match_is_taken_and_older_ones_are_a_key_away() {
        let history = History::new(["git push", "ls", "git pull"].map(str::to_owned).to_vec());
        let mut search = Search::default();
        for c in "git".chars() {
            search.key(Key::char(c), &history);
        }
        search.key(Key::ctrl('r'), &history);
        search.key(Key::ctrl('r'), &history);
        assert_eq!(search.key(Key::plain(KeyCode::Enter), &history), Found::This("git push".into()));
        assert_eq!(search.key(Key::plain(KeyCode::Esc), &history), Found::Nothing);
    }
}
