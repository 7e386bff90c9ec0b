//! A question to the user. Nothing is selected at first, so that Enter alone never agrees to anything.

use std::time::{Duration, Instant};

use hermes_tools::gate::{Question, Reply};

use crate::chat::editor::Editor;
use crate::chat::options::Glyphs;
use crate::chat::term::{Key, KeyCode, Mods};
use crate::chat::text::{Color, Line, Style, wrap};

/// Keys that come sooner than this after others were meant for the input: the question takes none until a pause.
const PAUSE: Duration = Duration::from_millis(700);
/// A longer subject is printed above, whole, instead of in the panel.
const SUBJECT_ROWS: usize = 8;

/// A question and what was picked so far.
#[derive(Debug)]
pub struct QuestionPanel {
    question: Question,
    selected: Option<usize>,
    input: Editor,
    /// When keys are for the question; before it they are still for the input.
    takes_keys_at: Instant,
}

/// What a key did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answered {
    /// Still waiting.
    NotYet,
    /// This.
    With(Reply),
}

impl QuestionPanel {
    /// A question asked at `now`; `last_key` is when the user last typed.
    pub fn new(question: Question, now: Instant, last_key: Option<Instant>) -> Self {
        let takes_keys_at = match last_key {
            Some(last) if now.saturating_duration_since(last) < PAUSE => now + PAUSE,
            _ => now,
        };
        Self { question, selected: None, input: Editor::new(), takes_keys_at }
    }

    /// The question.
    pub fn question(&self) -> &Question {
        &self.question
    }

    /// Whether a key that comes now is for the question. One that is not delays it further.
    pub fn takes_key(&mut self, now: Instant) -> bool {
        if now >= self.takes_keys_at {
            return true;
        }
        self.takes_keys_at = now + PAUSE;
        false
    }

    /// Handles a key.
    pub fn key(&mut self, key: Key) -> Answered {
        if matches!(key.code, KeyCode::Esc) || key == Key::ctrl('c') || key == Key::ctrl('d') {
            return Answered::With(Reply::Nobody);
        }
        if self.question.choices.is_empty() { self.text_key(key) } else { self.choice_key(key) }
    }

    fn text_key(&mut self, key: Key) -> Answered {
        match (key.code, key.mods) {
            (KeyCode::Enter, Mods::NONE) => {
                let text = self.input.text().trim().to_owned();
                if text.is_empty() { Answered::NotYet } else { Answered::With(Reply::Text(text)) }
            }
            (KeyCode::Enter, _) | (KeyCode::Char('j'), Mods::CTRL) => {
                self.input.insert("\n");
                Answered::NotYet
            }
            _ => {
                self.input.key(key);
                Answered::NotYet
            }
        }
    }

    fn choice_key(&mut self, key: Key) -> Answered {
        let count = self.question.choices.len();
        match key.code {
            KeyCode::Char(c @ '1'..='9') if key.mods == Mods::NONE => {
                let place = c as usize - '1' as usize;
                if place < count {
                    return Answered::With(Reply::Choice(place));
                }
            }
            KeyCode::Up | KeyCode::BackTab => {
                self.selected = Some(self.selected.map_or(count - 1, |s| (s + count - 1) % count));
            }
            KeyCode::Down | KeyCode::Tab => {
                self.selected = Some(self.selected.map_or(0, |s| (s + 1) % count));
            }
            KeyCode::Enter => {
                if let Some(selected) = self.selected {
                    return Answered::With(Reply::Choice(selected));
                }
            }
            _ => {}
        }
        Answered::NotYet
    }

    /// Takes pasted text into a free answer.
    pub fn paste(&mut self, text: &str) {
        if self.question.choices.is_empty() {
            self.input.insert(text);
        }
    }

    /// Reads a line from a terminal that has no keys.
    pub fn line(&self, line: &str) -> Answered {
        let line = line.trim();
        if self.question.choices.is_empty() {
            return Answered::With(if line.is_empty() {
                Reply::Nobody
            } else {
                Reply::Text(line.to_owned())
            });
        }
        match line.parse::<usize>() {
            Ok(number) if (1..=self.question.choices.len()).contains(&number) => {
                Answered::With(Reply::Choice(number - 1))
            }
            _ => Answered::With(Reply::Nobody),
        }
    }

    fn subject(&self, glyphs: Glyphs, width: usize) -> Vec<Line> {
        let bar = Line::styled(&format!("  {} ", glyphs.bar()), Style::color(Color::Yellow));
        let lines = self.question.subject.lines();
        lines.flat_map(|text| wrap(&bar.clone().with(text, Style::PLAIN), width, &bar)).collect()
    }

    /// What has to be printed above because it would not fit into the panel: nobody agrees to what they cannot see.
    pub fn printed(&self, glyphs: Glyphs, width: usize) -> Vec<Line> {
        let subject = self.subject(glyphs, width);
        if subject.len() > SUBJECT_ROWS { subject } else { Vec::new() }
    }

    /// The question for a terminal without keys.
    pub fn listed(&self, glyphs: Glyphs, width: usize) -> Vec<Line> {
        let (mut lines, _) = self.render(glyphs, width);
        lines.pop();
        lines.push(Line::styled("  answer with a line; an empty one refuses", Style::FAINT));
        lines
    }

    /// The panel, and where the cursor is when text is written: row and column.
    pub fn render(&self, glyphs: Glyphs, width: usize) -> (Vec<Line>, Option<(usize, usize)>) {
        let title =
            Line::styled("? ", Style::color(Color::Yellow).bold()).with(&self.question.text, Style::STRONG);
        let mut lines = wrap(&title, width, &Line::plain("  "));
        let subject = self.subject(glyphs, width);
        if subject.len() <= SUBJECT_ROWS {
            lines.extend(subject);
        } else {
            lines.push(Line::styled("  (printed in full above)", Style::FAINT));
        }
        if self.question.choices.is_empty() {
            let view = self.input.view(width.saturating_sub(4));
            let cursor = (lines.len() + view.row, 4 + view.column);
            let mark = format!("  {} ", glyphs.prompt());
            lines.extend(view.rows.iter().enumerate().map(|(i, row)| {
                Line::styled(if i == 0 { &mark } else { "    " }, Style::color(Color::Yellow))
                    .with(row, Style::PLAIN)
            }));
            lines.extend(hint("Enter answers, Esc leaves it unanswered", width));
            return (lines, Some(cursor));
        }
        for (i, choice) in self.question.choices.iter().enumerate() {
            let chosen = self.selected == Some(i);
            let style = if chosen { Style::STRONG.reverse() } else { Style::PLAIN };
            let mark = if chosen { glyphs.prompt() } else { " " };
            let line = Line::styled(mark, Style::color(Color::Yellow))
                .with(&format!(" {}. ", i + 1), Style::color(Color::Yellow))
                .with(choice, style);
            lines.extend(wrap(&line, width, &Line::plain("     ")));
        }
        lines.extend(hint("a number picks, or arrows and Enter; Esc refuses", width));
        (lines, None)
    }
}

fn hint(text: &str, width: usize) -> Vec<Line> {
    wrap(&Line::styled(&format!("  {text}"), Style::FAINT), width, &Line::plain("  "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn approval() -> Question {
        Question {
            subject: "rm -rf build".into(),
            text: "Run this command?".into(),
            choices: vec!["Once".into(), "Always".into(), "No".into()],
        }
    }

    fn panel(question: Question) -> QuestionPanel {
        QuestionPanel::new(question, Instant::now(), None)
    }

    #[test]
    fn enter_alone_never_agrees() {
        let mut panel = panel(approval());
        assert_eq!(panel.key(Key::plain(KeyCode::Enter)), Answered::NotYet);
        assert_eq!(panel.key(Key::char('y')), Answered::NotYet);
        assert_eq!(panel.key(Key::char(' ')), Answered::NotYet);
        assert_eq!(panel.key(Key::char('9')), Answered::NotYet);
        panel.key(Key::plain(KeyCode::Up));
        assert_eq!(
            panel.key(Key::plain(KeyCode::Enter)),
            Answered::With(Reply::Choice(2)),
            "up starts at the last"
        );
    }

    #[test]
    fn digits_pick_and_escape_refuses() {
        assert_eq!(panel(approval()).key(Key::char('1')), Answered::With(Reply::Choice(0)));
        for refusal in [Key::plain(KeyCode::Esc), Key::ctrl('c')] {
            assert_eq!(panel(approval()).key(refusal), Answered::With(Reply::Nobody));
        }
        assert_eq!(panel(approval()).line(""), Answered::With(Reply::Nobody));
        assert_eq!(panel(approval()).line("2"), Answered::With(Reply::Choice(1)));
        assert_eq!(panel(approval()).line("yes"), Answered::With(Reply::Nobody));
    }

    #[test]
    fn keys_in_the_middle_of_typing_are_not_answers() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut panel = QuestionPanel::new(approval(), at(100), Some(start));
        assert!(!panel.takes_key(at(300)));
        assert!(!panel.takes_key(at(900)), "typing went on");
        assert!(panel.takes_key(at(1700)));
        assert!(QuestionPanel::new(approval(), at(5000), Some(start)).takes_key(at(5000)));
    }

    #[test]
    fn free_text_needs_words() {
        let mut panel = panel(Question { choices: Vec::new(), ..approval() });
        assert_eq!(panel.key(Key::plain(KeyCode::Enter)), Answered::NotYet);
        panel.key(Key::char('1'));
        assert_eq!(panel.key(Key::plain(KeyCode::Enter)), Answered::With(Reply::Text("1".into())));
    }

    #[test]
    fn long_subjects_are_printed_whole() {
        let long = Question { subject: "line\n".repeat(30), ..approval() };
        let panel = panel(long);
        assert_eq!(panel.printed(Glyphs::Rich, 40).len(), 30);
        let (lines, _) = panel.render(Glyphs::Rich, 40);
        assert!(lines.len() < 10);
    }
}
