//! A list to choose from: arrows, or letters that narrow it down.

use crate::chat::conversation::{Choice, Request};
use crate::chat::options::Glyphs;
use crate::chat::term::{Key, KeyCode, Mods};
use crate::chat::text::{Color, Line, Style, cut};

/// Rows of the list that are shown at once.
const ROWS: usize = 8;

/// A list and what is selected in it.
#[derive(Debug)]
pub struct Picker {
    title: String,
    choices: Vec<Choice>,
    filter: String,
    selected: usize,
}

/// What a key did.
#[derive(Debug, PartialEq, Eq)]
pub enum Picked {
    /// Still choosing.
    NotYet,
    /// This.
    This(Request),
    /// None of them.
    Nothing,
}

impl Picker {
    /// A list with its first entry selected.
    pub fn new(title: String, choices: Vec<Choice>) -> Self {
        Self { title, choices, filter: String::new(), selected: 0 }
    }

    fn shown(&self) -> Vec<&Choice> {
        let words: Vec<String> = self.filter.to_lowercase().split_whitespace().map(str::to_owned).collect();
        let fits = |c: &&Choice| {
            let text = format!("{} {}", c.label, c.detail).to_lowercase();
            words.iter().all(|w| text.contains(w))
        };
        self.choices.iter().filter(fits).collect()
    }

    /// Handles a key.
    pub fn key(&mut self, key: Key) -> Picked {
        let count = self.shown().len();
        match (key.code, key.mods) {
            (KeyCode::Esc, _) | (KeyCode::Char('c' | 'd'), Mods::CTRL) => return Picked::Nothing,
            (KeyCode::Enter, _) => {
                if let Some(choice) = self.shown().get(self.selected) {
                    return Picked::This(choice.request.clone());
                }
            }
            (KeyCode::Up | KeyCode::BackTab, _) | (KeyCode::Char('p'), Mods::CTRL) => {
                self.selected = self.selected.checked_sub(1).unwrap_or(count.saturating_sub(1));
            }
            (KeyCode::Down | KeyCode::Tab, _) | (KeyCode::Char('n'), Mods::CTRL) => {
                self.selected = if self.selected + 1 < count { self.selected + 1 } else { 0 };
            }
            (KeyCode::PageUp, _) => self.selected = self.selected.saturating_sub(ROWS),
            (KeyCode::PageDown, _) => self.selected = (self.selected + ROWS).min(count.saturating_sub(1)),
            (KeyCode::Backspace, _) => {
                self.filter.pop();
                self.selected = 0;
            }
            (KeyCode::Char(c), Mods::NONE | Mods::SHIFT) => {
                self.filter.push(c);
                self.selected = 0;
            }
            _ => {}
        }
        Picked::NotYet
    }

    /// Reads a line from a terminal that has no keys: a number of the whole list.
    pub fn line(&self, line: &str) -> Picked {
        let number = line.trim().parse::<usize>().ok();
        let choice = number.and_then(|n| n.checked_sub(1)).and_then(|n| self.choices.get(n));
        choice.map_or(Picked::Nothing, |c| Picked::This(c.request.clone()))
    }

    /// The whole list with numbers, for such a terminal.
    pub fn listed(&self) -> Vec<Line> {
        let entry =
            |(i, c): (usize, &Choice)| Line::plain(&format!("  {}. {}  {}", i + 1, c.label, c.detail));
        let title = std::iter::once(Line::plain(&self.title));
        title.chain(self.choices.iter().enumerate().map(entry)).collect()
    }

    /// The panel.
    pub fn render(&self, glyphs: Glyphs, width: usize) -> Vec<Line> {
        let shown = self.shown();
        let first = self.selected.saturating_sub(ROWS / 2).min(shown.len().saturating_sub(ROWS));
        let mut title = Line::styled(&self.title, Style::STRONG);
        if !self.filter.is_empty() {
            title.push(&format!("  matching '{}'", self.filter), Style::color(Color::Yellow));
        }
        let mut lines = vec![cut(&title, width)];
        let label_width =
            shown.iter().map(|c| super::super::text::cells(&c.label)).max().unwrap_or(0).min(40);
        for (i, choice) in shown.iter().enumerate().skip(first).take(ROWS) {
            let chosen = i == self.selected;
            let (mark, style) = if chosen {
                (glyphs.prompt(), Style::STRONG.colored(Color::Cyan))
            } else {
                (" ", Style::PLAIN)
            };
            let mut line = Line::styled(mark, Style::color(Color::Cyan)).with(" ", Style::PLAIN);
            line.push(&choice.label, style);
            let pad = (label_width + 2).saturating_sub(line.width().saturating_sub(2)).max(2);
            line.push(&" ".repeat(pad), Style::PLAIN);
            line.push(&choice.detail, Style::FAINT);
            lines.push(cut(&line, width));
        }
        let hint = match shown.len() {
            0 => "  nothing matches; Backspace or Esc".to_owned(),
            n if n > ROWS => format!("  {} of {n}; arrows, letters to filter, Enter, Esc", self.selected + 1),
            _ => "  arrows, letters to filter, Enter, Esc".to_owned(),
        };
        lines.push(cut(&Line::styled(&hint, Style::FAINT), width));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picker() -> Picker {
        let choice = |name: &str| Choice {
            label: name.into(),
            detail: String::new(),
            request: Request::Resume { which: Some(name.into()) },
        };
        Picker::new("Which?".into(), ["alpha", "beta", "gamma"].map(choice).to_vec())
    }

    fn wanted(name: &str) -> Picked {
        Picked::This(Request::Resume { which: Some(name.into()) })
    }

    #[test]
    fn letters_narrow_the_list() {
        let mut picker = picker();
        picker.key(Key::char('m'));
        assert_eq!(picker.key(Key::plain(KeyCode::Enter)), wanted("gamma"));
        picker.key(Key::char('x'));
        assert_eq!(picker.key(Key::plain(KeyCode::Enter)), Picked::NotYet);
        assert_eq!(picker.key(Key::plain(KeyCode::Esc)), Picked::Nothing);
    }

    #[test]
    fn arrows_go_round() {
        let mut picker = picker();
        picker.key(Key::plain(KeyCode::Up));
        assert_eq!(picker.key(Key::plain(KeyCode::Enter)), wanted("gamma"));
        picker.key(Key::plain(KeyCode::Down));
        assert_eq!(picker.key(Key::plain(KeyCode::Enter)), wanted("alpha"));
        assert_eq!(picker.line("2"), wanted("beta"));
        assert_eq!(picker.line("0"), Picked::Nothing);
    }
}
