//! Slash commands, carried out.

use std::time::Instant;

use hermes_agent::Control;

use super::questions::Then;
use super::{Chat, Effect, Ending};
use crate::chat::conversation::{CommandOutcome, Request, UserInput};
use crate::chat::options::{Reasoning, ToolDetail};
use crate::chat::panel::Picker;
use crate::chat::slash::{ChatCommand, Command, Leaving, Parsed, QuickAction, QuickCommand, Switch, When};

/// A shortcut that stands for a shortcut that stands for ... ends here.
const DEEPEST_ALIAS: usize = 4;

impl Chat {
    pub(super) fn run_command(&mut self, parsed: Parsed, now: Instant) {
        self.run_at(parsed, now, 0);
    }

    fn run_at(&mut self, parsed: Parsed, now: Instant, depth: usize) {
        match parsed {
            Parsed::Message => {}
            Parsed::Wrong(text) => self.transcript.say(&text),
            Parsed::Quick(quick, args) => self.quick(&quick, &args, now, depth),
            Parsed::Conversation(command, request) => {
                if self.allows(command) {
                    self.request(request, now);
                }
            }
            Parsed::Chat(command, chat) => {
                if self.allows(command) {
                    self.own_command(chat, now);
                }
            }
        }
    }

    fn allows(&mut self, command: &Command) -> bool {
        if command.when == When::Always || self.turn.is_none() {
            return true;
        }
        let text = format!("`/{}` works between turns: Ctrl-C interrupts this one first.", command.name);
        self.transcript.say(&text);
        false
    }

    /// Asks the conversation and shows what came of it.
    pub(super) fn request(&mut self, request: Request, now: Instant) {
        let outcome = self.conversation.command(request, self.events.clone());
        self.facts = self.conversation.status();
        match outcome {
            CommandOutcome::Said(text) => self.transcript.say(&text),
            CommandOutcome::Failed(text) => self.transcript.fail(&text),
            CommandOutcome::Started(control) => self.started_by_command(control, now),
            CommandOutcome::Choose { title, choices } if choices.is_empty() => {
                self.transcript.say(&format!("{title}: there is nothing to choose from."));
            }
            CommandOutcome::Choose { title, choices } => self.choose(Picker::new(title, choices)),
            CommandOutcome::Confirm { question, then } => self.confirm(question, Then::Request(*then), now),
            CommandOutcome::Switched { said, recent } => {
                self.answers.clear();
                for exchange in recent {
                    self.transcript.user(&exchange.user, &[]);
                    self.transcript.answered(&exchange.answer);
                    self.answers.push(exchange.answer);
                }
                self.transcript.say(&said);
            }
            CommandOutcome::TakenBack { said, text } => {
                self.transcript.say(&said);
                self.editor.set(text);
            }
        }
    }

    fn started_by_command(&mut self, control: Control, now: Instant) {
        // A conversation that runs two things at once would confuse their events.
        if self.turn.is_none() {
            self.running(control, now);
        }
    }

    fn own_command(&mut self, command: ChatCommand, now: Instant) {
        match command {
            ChatCommand::Clear => {
                self.effects.push(Effect::ClearScreen);
                self.request(Request::New { title: None }, now);
            }
            ChatCommand::Stop => self.stop(now),
            ChatCommand::Queue(text) => self.queue_or_send(&text, now),
            ChatCommand::Steer(text) => match &self.turn {
                Some(turn) => turn.control.steer(text),
                None => self.start_turn(&text.clone(), UserInput::text(text), now),
            },
            ChatCommand::Kanban(words) => self.kanban(words),
            ChatCommand::Busy(mode) => {
                self.options.busy_input = mode.unwrap_or(self.options.busy_input);
                self.transcript.say(self.options.busy_input.describe());
            }
            ChatCommand::Reasoning(switch) => self.show_reasoning(switch),
            ChatCommand::Verbose(switch) => self.verbose(switch),
            ChatCommand::StatusBar(switch) => {
                self.status_bar = switch.unwrap_or(match self.status_bar {
                    Switch::On => Switch::Off,
                    Switch::Off => Switch::On,
                });
            }
            ChatCommand::Copy(place) => self.copy(place),
            ChatCommand::Image(path) => self.attach_named(&path),
            ChatCommand::Paste => self.effects.push(Effect::PasteImage),
            ChatCommand::Redraw => self.effects.push(Effect::Repaint),
            ChatCommand::Help(about) => {
                let help = self.options.commands.help(about.as_deref());
                self.transcript.say(&help);
            }
            ChatCommand::Quit(Leaving::Keeping) => self.leave(),
            ChatCommand::Quit(Leaving::Deleting) => {
                let title = self.facts.title.clone().unwrap_or_else(|| self.facts.session_id.clone());
                self.confirm(format!("Delete the session '{title}' and leave?"), Then::Discard, now);
            }
        }
    }

    /// Deletes the session and leaves; stays when it could not be deleted.
    pub(super) fn discard(&mut self) {
        match self.conversation.command(Request::Discard, self.events.clone()) {
            CommandOutcome::Failed(text) => self.transcript.fail(&text),
            CommandOutcome::Said(text) => {
                self.transcript.say(&text);
                self.leave();
            }
            _ => self.leave(),
        }
    }

    /// Shows what `hermes kanban` says. What never ends by itself is for a terminal of its own.
    fn kanban(&mut self, mut words: Vec<String>) {
        const ENDLESS: [&str; 5] = ["tail", "watch", "top", "daemon", "attend"];
        let endless = words.iter().map(String::as_str).find(|word| ENDLESS.contains(word));
        match (words.first().map(String::as_str), endless) {
            (None | Some("help" | "?" | "-h"), _) => words = vec!["--help".to_owned()],
            (Some(first), Some(command)) if first == command || first.starts_with('-') => {
                let text = format!(
                    "`hermes kanban {command}` goes on until it is ended: run it in a terminal of its own."
                );
                self.transcript.say(&text);
                return;
            }
            (Some(_), _) => {}
        }
        self.effects.push(Effect::RunOwn(["kanban".to_owned()].into_iter().chain(words).collect()));
    }

    fn stop(&mut self, now: Instant) {
        if let Some(turn) = &mut self.turn {
            turn.ending = Ending::Stopped;
            turn.control.interrupt();
        }
        self.request(Request::Stop, now);
    }

    fn queue_or_send(&mut self, text: &str, now: Instant) {
        if self.turn.is_some() {
            self.enqueue(text, UserInput::text(text));
        } else {
            self.start_turn(text, UserInput::text(text), now);
        }
    }

    fn show_reasoning(&mut self, switch: Option<Switch>) {
        let on = match switch {
            Some(switch) => switch == Switch::On,
            None => self.transcript.reasoning == Reasoning::Hidden,
        };
        self.transcript.reasoning = if on { Reasoning::Brief } else { Reasoning::Hidden };
        self.transcript.say(if on { "Thoughts are shown." } else { "Thoughts are hidden." });
    }

    fn verbose(&mut self, switch: Option<Switch>) {
        let on = match switch {
            Some(switch) => switch == Switch::On,
            None => self.transcript.detail == ToolDetail::Compact,
        };
        self.transcript.detail = if on { ToolDetail::Output } else { ToolDetail::Compact };
        let said = if on {
            "The last lines of what tools print are shown."
        } else {
            "Tool calls are shown in short."
        };
        self.transcript.say(said);
    }

    fn copy(&mut self, place: usize) {
        match self.answers.len().checked_sub(place).and_then(|i| self.answers.get(i)) {
            Some(answer) => self.effects.push(Effect::Copy(answer.clone())),
            None if self.answers.is_empty() => self.transcript.say("There is no answer to copy yet."),
            None => {
                self.transcript.say(&format!("There are only {} answers in this chat.", self.answers.len()));
            }
        }
    }

    fn quick(&mut self, quick: &QuickCommand, args: &str, now: Instant, depth: usize) {
        match &quick.action {
            QuickAction::Run(command) => {
                self.effects.push(Effect::RunQuick { name: quick.name.clone(), command: command.clone() });
            }
            QuickAction::Alias(_) if depth >= DEEPEST_ALIAS => {
                self.transcript.fail(&format!("the shortcut '/{}' leads back to itself", quick.name));
            }
            QuickAction::Alias(target) => {
                let text = if args.is_empty() { target.clone() } else { format!("{target} {args}") };
                match self.options.commands.parse(&text) {
                    Parsed::Message => self.queue_or_send(&text, now),
                    parsed => self.run_at(parsed, now, depth + 1),
                }
            }
        }
    }

    pub(super) fn quick_done(&mut self, name: &str, output: Result<String, String>) {
        match output {
            Ok(text) if text.trim().is_empty() => self.transcript.remark(&format!("/{name} printed nothing")),
            Ok(text) => {
                let lines = text.lines().map(crate::chat::text::Line::plain).collect();
                self.transcript.show(lines);
            }
            Err(problem) => self.transcript.fail(&format!("/{name}: {problem}")),
        }
    }
}
