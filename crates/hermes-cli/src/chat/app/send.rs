//! Sending: what Enter does, what waits, what is passed on to a running turn.

use std::path::{Path, PathBuf};
use std::time::Instant;

use super::{Chat, Effect, Ending, Queued, Turn};
use crate::chat::completer::resolve;
use crate::chat::conversation::UserInput;
use crate::chat::options::BusyInput;
use crate::chat::paste::{Pasted, is_image_name};
use crate::chat::slash::Parsed;

/// A larger picture is not sent by anybody.
const LARGEST_IMAGE: u64 = 20 << 20;

impl Chat {
    /// Enter: sends what was written.
    pub(super) fn submit(&mut self, now: Instant) {
        if self.continues() {
            return;
        }
        if self.editor.text().trim().is_empty() && self.images.is_empty() {
            return;
        }
        let shown = self.editor.take();
        let text = self.pastes.expand(&shown);
        self.pastes.forget();
        self.menu = None;
        self.remember(text.trim_end());
        self.dispatch(&shown, &text, now);
    }

    /// A line from a terminal that has no keys.
    pub(super) fn line(&mut self, line: &str, now: Instant) {
        if self.panel.is_some() {
            return self.panel_line(line, now);
        }
        if line.trim().is_empty() {
            return;
        }
        self.dispatch(line, line, now);
    }

    /// A trailing backslash means that the message goes on in the next line.
    fn continues(&mut self) -> bool {
        let text = self.editor.text();
        let slashes = text.len() - text.trim_end_matches('\\').len();
        if slashes.is_multiple_of(2) || self.editor.cursor() != text.len() {
            return false;
        }
        let end = text.len();
        self.editor.replace(end - 1..end, "\n");
        true
    }

    fn remember(&mut self, text: &str) {
        if self.history.add(text) == crate::chat::editor::Added::Yes {
            self.effects.push(Effect::Remember(text.to_owned()));
        }
    }

    /// Does what a text means: a command or a message.
    pub(super) fn dispatch(&mut self, shown: &str, text: &str, now: Instant) {
        match self.options.commands.parse(text) {
            Parsed::Message => self.message(shown, text, now),
            command => {
                self.show_sent(shown, &[]);
                self.run_command(command, now);
            }
        }
    }

    fn message(&mut self, shown: &str, text: &str, now: Instant) {
        let images = std::mem::take(&mut self.images);
        let input = UserInput { text: text.trim_end().to_owned(), images };
        let Some(turn) = &mut self.turn else {
            return self.start_turn(shown, input, now);
        };
        match self.options.busy_input {
            BusyInput::Steer if input.images.is_empty() => turn.control.steer(input.text),
            BusyInput::Steer | BusyInput::Queue => self.enqueue(shown, input),
            BusyInput::Interrupt => {
                turn.ending = Ending::Replaced;
                turn.control.interrupt();
                self.enqueue(shown, input);
            }
        }
    }

    pub(super) fn enqueue(&mut self, shown: &str, input: UserInput) {
        self.queue.push_back(Queued { shown: shown.to_owned(), input });
    }

    pub(super) fn start_turn(&mut self, shown: &str, input: UserInput, now: Instant) {
        let names: Vec<String> = input.images.iter().map(|p| image_name(p)).collect();
        self.show_sent(shown, &names);
        let control = self.conversation.start_turn(input, self.events.clone());
        self.running(control, now);
    }

    /// A terminal without keys has shown the line when it was typed.
    fn show_sent(&mut self, shown: &str, images: &[String]) {
        if self.is_screen() {
            self.transcript.user(shown, images);
        }
    }

    /// Something runs now, as a turn.
    pub(super) fn running(&mut self, control: hermes_agent::Control, now: Instant) {
        self.spent_before = self.facts.spent;
        self.transcript.begin();
        self.turn = Some(Turn { control, since: now, ending: Ending::Natural });
    }

    pub(super) fn send_queued(&mut self, now: Instant) {
        if let Some(next) = self.queue.pop_front() {
            self.start_turn(&next.shown, next.input, now);
        }
    }

    /// The turn did not end well: what waited goes back into the input, to be changed or sent.
    pub(super) fn give_back_queued(&mut self) {
        if self.queue.is_empty() {
            return;
        }
        let mut texts: Vec<String> = Vec::new();
        for queued in std::mem::take(&mut self.queue) {
            texts.push(queued.input.text);
            self.images.extend(queued.input.images);
        }
        if !self.editor.is_empty() {
            texts.push(self.editor.text().to_owned());
        }
        self.editor.set(texts.join("\n"));
    }

    /// Pasted text: into the input, as a placeholder, or as pictures.
    pub(super) fn paste(&mut self, text: &str, now: Instant) {
        if self.panel_takes_paste(text, now) {
            return;
        }
        self.last_key = Some(now);
        self.history.stop();
        match self.pastes.add(text, &self.places) {
            Pasted::Text(text) => self.editor.insert(&text),
            Pasted::Placeholder(placeholder) => self.editor.insert_atom(&placeholder),
            Pasted::Images(paths) => {
                for path in paths {
                    self.attach(&path);
                }
            }
        }
        self.refresh_menu();
    }

    /// Attaches the picture a command names.
    pub(super) fn attach_named(&mut self, name: &str) {
        let name = name.trim_matches(['"', '\'']).replace("\\ ", " ");
        let path = resolve(&name, &self.places);
        self.attach(&path);
    }

    /// Attaches a picture to the next message, or says why not.
    pub fn attach(&mut self, path: &Path) {
        let problem = match std::fs::metadata(path) {
            Err(e) => Some(format!("cannot attach '{}': {e}", path.display())),
            Ok(found) if !found.is_file() => {
                Some(format!("cannot attach '{}': it is not a file", path.display()))
            }
            Ok(_) if !is_image_name(path) => Some(format!(
                "cannot attach '{}': only png, jpg, gif, webp and bmp pictures; write its path to let the agent read it",
                path.display()
            )),
            Ok(found) if found.len() > LARGEST_IMAGE => {
                Some(format!("cannot attach '{}': it is larger than 20 MB", path.display()))
            }
            Ok(_) => None,
        };
        match problem {
            Some(problem) => self.transcript.fail(&problem),
            None => self.images.push(PathBuf::from(path)),
        }
    }
}

/// The name of a picture, for the screen.
pub(super) fn image_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |n| n.to_string_lossy().into_owned())
}
