//! Panels in the chat: who asks, and where the answer goes.

use std::time::Instant;

use hermes_tools::gate::{Offer, Question, Reply, Words};
use tokio::sync::oneshot;

use super::Chat;
use crate::chat::conversation::Request;
use crate::chat::panel::{Answered, Found, Picked, Picker, QuestionPanel, Search};
use crate::chat::term::{Key, KeyCode};
use crate::chat::text::{Line, Style};

/// What has the keys.
#[derive(Debug)]
pub(super) enum Panel {
    /// A question.
    Question(Box<QuestionPanel>, Then),
    /// A list.
    Pick(Picker),
    /// The search through history.
    Search(Search),
}

/// What becomes of the answer to a question.
#[derive(Debug)]
pub(super) enum Then {
    /// Somebody waits for it.
    Reply(oneshot::Sender<Reply>),
    /// A yes makes this happen.
    Request(Request),
    /// A yes deletes the session and leaves.
    Discard,
}

impl Chat {
    /// Shows the next question, when nothing else has the keys.
    pub(super) fn next_question(&mut self, now: Instant) {
        let waits = !matches!(self.panel, None | Some(Panel::Search(_)));
        if waits {
            return;
        }
        if let Some(request) = self.questions.pop_front() {
            self.ask(request.question, Then::Reply(request.reply), now);
        }
    }

    /// Asks for a yes. Anything else changes nothing.
    pub(super) fn confirm(&mut self, question: String, then: Then, now: Instant) {
        let (subject, choices) = (String::new(), Offer::yes_or_no());
        self.ask(Question { subject, text: question, choices, words: Words::Refusal }, then, now);
    }

    fn ask(&mut self, question: Question, then: Then, now: Instant) {
        let panel = QuestionPanel::new(question, now, self.last_key);
        let (glyphs, width) = (self.abilities.glyphs, self.size.columns);
        let above = panel.printed(glyphs, width);
        self.transcript.show(above);
        if !self.is_screen() {
            self.transcript.show(panel.listed(glyphs, width));
        }
        self.panel = Some(Panel::Question(Box::new(panel), then));
    }

    pub(super) fn choose(&mut self, picker: Picker) {
        if !self.is_screen() {
            let lines = picker.listed();
            self.transcript.show(lines);
        }
        self.panel = Some(Panel::Pick(picker));
    }

    /// Gives a key to the panel; false when there is none or it does not take keys yet.
    pub(super) fn panel_takes_key(&mut self, key: Key, now: Instant) -> bool {
        match &mut self.panel {
            None => false,
            Some(Panel::Question(panel, _)) => {
                if !panel.takes_key(now) {
                    return false;
                }
                let answered = panel.key(key);
                self.answered(answered, now);
                true
            }
            Some(Panel::Pick(picker)) => {
                let outcome = picker.key(key);
                self.picked(outcome, now);
                true
            }
            Some(Panel::Search(search)) => {
                let found = search.key(key, &self.history);
                self.found(found, key, now)
            }
        }
    }

    /// A line for the panel, on a terminal that has no keys.
    pub(super) fn panel_line(&mut self, line: &str, now: Instant) {
        match &self.panel {
            Some(Panel::Question(panel, _)) => {
                let answered = panel.line(line);
                self.answered(answered, now);
            }
            Some(Panel::Pick(picker)) => {
                let outcome = picker.line(line);
                self.picked(outcome, now);
            }
            Some(Panel::Search(_)) | None => self.panel = None,
        }
    }

    pub(super) fn panel_takes_paste(&mut self, text: &str, now: Instant) -> bool {
        match &mut self.panel {
            Some(Panel::Question(panel, _)) => {
                if panel.takes_key(now) {
                    panel.paste(text);
                    return true;
                }
                false
            }
            Some(Panel::Pick(_)) => true,
            Some(Panel::Search(_)) | None => false,
        }
    }

    fn answered(&mut self, answered: Answered, now: Instant) {
        let Answered::With(reply) = answered else { return };
        let Some(Panel::Question(panel, then)) = self.panel.take() else { return };
        self.show_answer(panel.question(), &reply);
        let is_yes = reply == Reply::Choice(0);
        match then {
            // Nobody waits any more when the turn was interrupted.
            Then::Reply(sender) => drop(sender.send(reply)),
            Then::Request(request) if is_yes => self.request(request, now),
            Then::Discard if is_yes => self.discard(),
            Then::Request(_) | Then::Discard => {}
        }
        self.next_question(now);
    }

    /// The question and its answer stay on the screen.
    fn show_answer(&mut self, question: &Question, reply: &Reply) {
        let answer = match reply {
            Reply::Choice(place) => {
                question.choices.get(*place).map(|offer| offer.text.clone()).unwrap_or_default()
            }
            Reply::Text(text) => text.clone(),
            Reply::Nobody => "no answer".to_owned(),
        };
        let subject = question.subject.lines().next().unwrap_or_default();
        let about = if subject.is_empty() { String::new() } else { format!(" {subject}") };
        let line = Line::styled(&format!("? {}{about}", question.text), Style::FAINT)
            .with(" → ", Style::FAINT)
            .with(&answer, Style::STRONG);
        let lines = crate::chat::text::wrap(&line, self.size.columns, &Line::plain("  "));
        self.transcript.show(lines);
    }

    fn picked(&mut self, picked: Picked, now: Instant) {
        match picked {
            Picked::NotYet => return,
            Picked::Nothing => self.panel = None,
            Picked::This(request) => {
                self.panel = None;
                self.request(request, now);
            }
        }
        self.next_question(now);
    }

    fn found(&mut self, found: Found, key: Key, now: Instant) -> bool {
        match found {
            Found::NotYet => return true,
            Found::Nothing => {}
            Found::This(text) => {
                self.editor.set(text);
                self.history.stop();
            }
        }
        self.panel = None;
        self.next_question(now);
        // Moves and Ctrl keys that ended the search are still carried out.
        matches!(key.code, KeyCode::Enter | KeyCode::Tab | KeyCode::Esc | KeyCode::Char(_))
    }

    /// Questions whose asker went away (an interrupted turn) disappear.
    pub(super) fn drop_abandoned_questions(&mut self) {
        self.questions.retain(|q| !q.reply.is_closed());
        if matches!(&self.panel, Some(Panel::Question(_, Then::Reply(reply))) if reply.is_closed()) {
            self.panel = None;
        }
    }
}
