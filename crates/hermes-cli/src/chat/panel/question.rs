//! A question to the user. Nothing is selected at first, so that Enter alone never agrees to anything.

use std::time::{Duration, Instant};

use hermes_tools::gate::{Question, Reply, Words};

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
    /// Whether the last line that was entered meant nothing.
    unclear: Unclear,
    /// When keys are for the question; before it they are still for the input.
    takes_keys_at: Instant,
}

/// Whether a line meant nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unclear {
    Yes,
    No,
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
        Self { question, selected: None, input: Editor::new(), unclear: Unclear::No, takes_keys_at }
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
            (KeyCode::Enter, Mods::NONE) => self.entered(),
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

    /// With choices everything that is typed is a line too, so that a digit inside of words is never taken for a choice.
    fn choice_key(&mut self, key: Key) -> Answered {
        self.unclear = Unclear::No;
        let count = self.question.choices.len();
        match key.code {
            KeyCode::Up | KeyCode::BackTab => {
                self.select(|at| at.map_or(count - 1, |at| (at + count - 1) % count));
            }
            KeyCode::Down | KeyCode::Tab => self.select(|at| at.map_or(0, |at| (at + 1) % count)),
            _ => return self.text_key(key),
        }
        Answered::NotYet
    }

    /// Moves the selection from where it is; words that were typed are let go of.
    fn select(&mut self, step: impl FnOnce(Option<usize>) -> usize) {
        let from = self.chosen();
        self.input.take();
        self.selected = Some(step(from));
    }

    /// What Enter would take: what the typed line picks, or else what the arrows went to.
    fn chosen(&self) -> Option<usize> {
        if self.input.is_empty() { self.selected } else { self.question.picked(self.input.text()) }
    }

    fn entered(&mut self) -> Answered {
        if let Some(choice) = self.chosen() {
            return Answered::With(Reply::Choice(choice));
        }
        if self.input.text().trim().is_empty() {
            return Answered::NotYet;
        }
        if let Some(reply) = self.question.read(self.input.text()) {
            return Answered::With(reply);
        }
        self.input.take();
        self.selected = None;
        self.unclear = Unclear::Yes;
        Answered::NotYet
    }

    /// Takes pasted text.
    pub fn paste(&mut self, text: &str) {
        self.input.insert(text);
    }

    /// Reads a line from a terminal that has no keys; one that means nothing is a no.
    pub fn line(&self, line: &str) -> Answered {
        Answered::With(self.question.read(line).unwrap_or(Reply::Nobody))
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
        let below = hint(self.advice(None), width).len();
        lines.truncate(lines.len().saturating_sub(below));
        let advice = match self.question.words {
            Words::Refusal if !self.question.choices.is_empty() => {
                "  answer with a number; words refuse and say why, an empty line refuses"
            }
            Words::Refusal | Words::Answer => "  answer with a line; an empty one refuses",
        };
        lines.push(Line::styled(advice, Style::FAINT));
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
        let chosen = self.chosen();
        for (i, offer) in self.question.choices.iter().enumerate() {
            let is_chosen = chosen == Some(i);
            let style = if is_chosen { Style::STRONG.reverse() } else { Style::PLAIN };
            let mark = if is_chosen { glyphs.prompt() } else { " " };
            let line = Line::styled(mark, Style::color(Color::Yellow))
                .with(&format!(" {}. ", offer.key), Style::color(Color::Yellow))
                .with(&offer.text, style);
            lines.extend(wrap(&line, width, &Line::plain("     ")));
        }
        let mut cursor = None;
        if self.question.choices.is_empty() || !self.input.is_empty() && chosen.is_none() {
            let view = self.input.view(width.saturating_sub(4));
            cursor = Some((lines.len() + view.row, 4 + view.column));
            let mark = format!("  {} ", glyphs.prompt());
            lines.extend(view.rows.iter().enumerate().map(|(i, row)| {
                Line::styled(if i == 0 { &mark } else { "    " }, Style::color(Color::Yellow))
                    .with(row, Style::PLAIN)
            }));
        }
        lines.extend(hint(self.advice(chosen), width));
        (lines, cursor)
    }

    /// What can be done next.
    fn advice(&self, chosen: Option<usize>) -> &'static str {
        let typed = !self.input.is_empty();
        match (self.question.words, chosen) {
            _ if self.question.choices.is_empty() => "Enter answers, Esc leaves it unanswered",
            (_, Some(_)) => "Enter takes it; Esc refuses",
            (Words::Answer, None) if typed => "Enter answers with these words, Esc leaves it unanswered",
            (Words::Refusal, None) if typed => {
                "Enter refuses and passes these words on; Esc refuses without them"
            }
            (_, None) if self.unclear == Unclear::Yes => {
                "that is no answer: to agree type a number and Enter; Esc refuses"
            }
            (Words::Answer, None) => {
                "a number or arrows, and Enter; or your own words; Esc leaves it unanswered"
            }
            (Words::Refusal, None) => "a number or arrows, and Enter; words refuse and say why; Esc refuses",
        }
    }
}

fn hint(text: &str, width: usize) -> Vec<Line> {
    wrap(&Line::styled(&format!("  {text}"), Style::FAINT), width, &Line::plain("  "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_tools::gate::Offer;

    fn approval() -> Question {
        Question {
            subject: "rm -rf build".into(),
            text: "Run this command?".into(),
            choices: vec![Offer::new('1', "Once"), Offer::new('4', "Always"), Offer::new('0', "No")],
            words: Words::Refusal,
        }
    }

    fn panel(question: Question) -> QuestionPanel {
        QuestionPanel::new(question, Instant::now(), None)
    }

    fn typed(panel: &mut QuestionPanel, text: &str) -> Answered {
        text.chars()
            .map(|c| panel.key(Key::char(c)))
            .find(|a| *a != Answered::NotYet)
            .unwrap_or(Answered::NotYet)
    }

    fn enter(panel: &mut QuestionPanel) -> Answered {
        panel.key(Key::plain(KeyCode::Enter))
    }

    #[test]
    fn enter_alone_never_agrees() {
        let mut panel = panel(approval());
        assert_eq!(enter(&mut panel), Answered::NotYet);
        for unclear in ["y", " ", "9", "yes", "2"] {
            assert_eq!(typed(&mut panel, unclear), Answered::NotYet);
            assert_eq!(enter(&mut panel), Answered::NotYet, "{unclear}");
            panel.input.take();
        }
        panel.key(Key::plain(KeyCode::Up));
        assert_eq!(enter(&mut panel), Answered::With(Reply::Choice(2)), "up starts at the last");
    }

    #[test]
    fn words_never_agree_whatever_digits_they_hold() {
        for words in ["no, keep 3 files", "4 files have to stay", "1) no 4) never", "41"] {
            let mut panel = panel(approval());
            assert_eq!(typed(&mut panel, words), Answered::NotYet, "{words}");
            let answered = enter(&mut panel);
            let refused = [Answered::NotYet, Answered::With(Reply::Text(words.into()))];
            assert!(refused.contains(&answered), "{words}: {answered:?}");
        }
    }

    #[test]
    fn a_number_is_shown_before_it_is_taken() {
        let mut panel = panel(approval());
        assert_eq!(typed(&mut panel, "4"), Answered::NotYet);
        assert_eq!(panel.chosen(), Some(1));
        panel.key(Key::plain(KeyCode::Backspace));
        assert_eq!(enter(&mut panel), Answered::NotYet);
        typed(&mut panel, "4");
        panel.key(Key::plain(KeyCode::Down));
        assert_eq!(enter(&mut panel), Answered::With(Reply::Choice(2)), "arrows go on from it");
    }

    #[test]
    fn digits_pick_and_escape_refuses() {
        let mut once = panel(approval());
        typed(&mut once, "1");
        assert_eq!(enter(&mut once), Answered::With(Reply::Choice(0)));
        for refusal in [Key::plain(KeyCode::Esc), Key::ctrl('c')] {
            assert_eq!(panel(approval()).key(refusal), Answered::With(Reply::Nobody));
        }
        assert_eq!(panel(approval()).line(""), Answered::With(Reply::Nobody));
        assert_eq!(panel(approval()).line("4"), Answered::With(Reply::Choice(1)));
        assert_eq!(panel(approval()).line("yes"), Answered::With(Reply::Nobody));
        assert_eq!(panel(approval()).line("keep 1"), Answered::With(Reply::Text("keep 1".into())));
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
