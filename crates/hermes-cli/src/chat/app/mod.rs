//! The chat as a state machine: messages in, lines and effects out. It never touches the terminal.

mod commands;
mod frame;
mod keys;
mod questions;
mod send;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use hermes_agent::{AgentEvent, Control, Outcome, Spending, TurnReport};

use self::questions::Panel;
use super::completer::Places;
use super::conversation::{Conversation, Events, StatusFacts, UiRequest, UserInput};
use super::editor::{Editor, History};
use super::live::{Frame, Size};
use super::message::{Message, Signal};
use super::options::{Abilities, Bell, ChatOptions, TerminalKind};
use super::panel::Menu;
use super::paste::Pastes;
use super::slash::Switch;
use super::term::Input;
use super::text::Line;
use super::transcript::Transcript;

/// Two presses of Ctrl-C within this leave.
const TWICE: Duration = Duration::from_secs(2);

/// What the loop around the state machine has to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Clear the screen.
    ClearScreen,
    /// Draw everything anew.
    Repaint,
    /// Stop this process until the user brings it back.
    Suspend,
    /// Let the user write in an editor of theirs; the text comes back through [`Chat::edited`].
    OpenEditor(String),
    /// Put text into the clipboard.
    Copy(String),
    /// Look for a picture in the clipboard; it comes back through [`Chat::attach`].
    PasteImage,
    /// Run a shell command of the settings.
    RunQuick {
        /// Its name.
        name: String,
        /// The command line.
        command: String,
    },
    /// Run this program itself with these arguments, and show what it prints.
    RunOwn(Vec<String>),
    /// Keep a line in the history file.
    Remember(String),
    /// Ring the bell.
    Bell,
    /// End.
    Leave,
}

/// A turn that runs.
#[derive(Debug)]
struct Turn {
    control: Control,
    since: Instant,
    ending: Ending,
}

/// Why a turn is coming to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// On its own.
    Natural,
    /// The user wants it to stop.
    Stopped,
    /// A new message takes its place.
    Replaced,
}

/// A message that waits for the running turn.
#[derive(Debug, Clone)]
struct Queued {
    /// As it was written, long pastes in short.
    shown: String,
    input: UserInput,
}

/// What happened in this chat, for the end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Turns that ended.
    pub turns: usize,
    /// Tool calls in them.
    pub tool_calls: u32,
    /// What they took.
    pub spent: Spending,
}

/// A chat.
pub struct Chat {
    conversation: Box<dyn Conversation>,
    events: Events,
    options: ChatOptions,
    places: Places,
    abilities: Abilities,
    size: Size,
    transcript: Transcript,
    editor: Editor,
    history: History,
    pastes: Pastes,
    images: Vec<PathBuf>,
    menu: Option<Menu>,
    panel: Option<Panel>,
    questions: VecDeque<UiRequest>,
    turn: Option<Turn>,
    queue: VecDeque<Queued>,
    facts: StatusFacts,
    /// What the session had taken when the running turn began.
    spent_before: Spending,
    started: Instant,
    last_turn: Option<Duration>,
    last_key: Option<Instant>,
    /// When Ctrl-C last did something, or a turn ended: a press that comes right after it should not leave.
    settled: Option<Instant>,
    ctrl_c: Option<Instant>,
    hint: Option<&'static str>,
    answers: Vec<String>,
    tally: Tally,
    status_bar: Switch,
    effects: Vec<Effect>,
}

impl Chat {
    /// A chat with a conversation, on a screen of that size.
    pub fn new(
        conversation: Box<dyn Conversation>,
        events: Events,
        options: ChatOptions,
        abilities: Abilities,
        size: Size,
        history: History,
        now: Instant,
    ) -> Self {
        let transcript =
            Transcript::new(size.columns, abilities.glyphs, options.reasoning, options.tool_detail);
        let facts = conversation.status();
        let places = Places { cwd: options.cwd.clone(), user_home: options.user_home.clone() };
        let mut chat = Self {
            conversation,
            events,
            places,
            abilities,
            size,
            transcript,
            editor: Editor::new(),
            history,
            pastes: Pastes::default(),
            images: Vec::new(),
            menu: None,
            panel: None,
            questions: VecDeque::new(),
            turn: None,
            queue: VecDeque::new(),
            facts,
            spent_before: Spending::default(),
            started: now,
            last_turn: None,
            last_key: None,
            settled: None,
            ctrl_c: None,
            hint: None,
            answers: Vec::new(),
            tally: Tally::default(),
            status_bar: Switch::On,
            effects: Vec::new(),
            options,
        };
        chat.begin(now);
        chat
    }

    fn begin(&mut self, now: Instant) {
        if !self.options.greeting.is_empty() {
            self.transcript.say(&self.options.greeting);
        }
        if let Some(first) = self.options.first.take() {
            self.start_turn(&first.text.clone(), first, now);
        }
    }

    /// Takes in one thing that happened.
    pub fn handle(&mut self, message: Message, now: Instant) {
        self.drop_abandoned_questions();
        match message {
            Message::Input(Input::Key(key)) => self.key(key, now),
            Message::Input(Input::Paste(text)) => self.paste(&text, now),
            Message::Line(line) => self.line(&line, now),
            Message::Agent(event) => self.agent(event, now),
            Message::News => self.take_up_news(now),
            Message::Ask(request) => {
                self.questions.push_back(request);
                self.next_question(now);
            }
            Message::Signal(Signal::Interrupt) => self.ctrl_c(now),
            Message::Signal(Signal::Terminate) | Message::InputEnded => self.leave(),
            Message::Signal(Signal::Resized | Signal::Continued) => self.effects.push(Effect::Repaint),
            Message::QuickDone { name, output } => self.quick_done(&name, output),
        }
    }

    fn agent(&mut self, event: AgentEvent, now: Instant) {
        match &event {
            AgentEvent::Usage { turn, context, window } => {
                self.facts.context = *context;
                self.facts.window = window.or(self.facts.window);
                self.facts.spent = self.spent_before + *turn;
            }
            AgentEvent::Switched { provider, model, .. } => {
                self.facts.provider.clone_from(provider);
                self.facts.model.clone_from(model);
            }
            AgentEvent::TurnEnded { report } => {
                let report = report.clone();
                self.transcript.event(event, now);
                return self.turn_ended(report, now);
            }
            _ => {}
        }
        self.transcript.event(event, now);
    }

    fn turn_ended(&mut self, report: TurnReport, now: Instant) {
        let turn = self.turn.take();
        let ending = turn.as_ref().map_or(Ending::Natural, |t| t.ending);
        self.last_turn = turn.map(|t| now.saturating_duration_since(t.since));
        self.settled = Some(now);
        self.facts = self.conversation.status();
        self.tally.turns += 1;
        self.tally.tool_calls += report.tool_calls;
        self.tally.spent = self.tally.spent + report.spending;
        if !report.text.trim().is_empty() {
            self.answers.push(report.text);
        }
        if let Some(text) = report.left_over {
            self.queue.push_front(Queued { shown: text.clone(), input: UserInput::text(text) });
        }
        if self.options.bell == Bell::Rings && self.queue.is_empty() {
            self.effects.push(Effect::Bell);
        }
        let goes_on = match report.outcome {
            Outcome::Failed | Outcome::OutOfBudget => false,
            Outcome::Interrupted => ending != Ending::Stopped,
            Outcome::Completed | Outcome::Partial | Outcome::OutOfCalls => true,
        };
        if goes_on {
            self.send_queued(now);
            self.take_up_news(now);
        } else {
            self.give_back_queued();
        }
    }

    /// What ended in the background is worth a turn of its own, once nothing else runs.
    fn take_up_news(&mut self, now: Instant) {
        if self.turn.is_none()
            && let Some(control) = self.conversation.take_up_news(self.events.clone())
        {
            self.running(control, now);
        }
    }

    /// The size of the screen changed.
    pub fn resize(&mut self, size: Size) {
        self.size = size;
        self.transcript.resize(size.columns);
    }

    /// What has to be done since the last time.
    pub fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// The lines that were finished since the last time.
    pub fn take_printed(&mut self) -> Vec<Line> {
        self.transcript.take_printed()
    }

    /// What the live area shows.
    pub fn frame(&self, now: Instant) -> Frame {
        frame::render(self, now)
    }

    /// Whether something moves on the screen without anything happening: a spinner, a clock.
    pub fn is_busy(&self) -> bool {
        self.turn.is_some()
    }

    /// Whether a line is waited for, on a terminal that has no keys.
    pub fn wants_line(&self) -> bool {
        self.turn.is_none() || self.panel.is_some()
    }

    /// Ends the running turn because the chat ends.
    pub fn interrupt(&mut self) {
        self.panel = None;
        self.questions.clear();
        if let Some(turn) = &mut self.turn {
            turn.ending = Ending::Stopped;
            turn.control.interrupt();
        }
    }

    /// The text that came back from the user's editor.
    pub fn edited(&mut self, text: &str) {
        self.editor.set(text.trim_end_matches('\n'));
    }

    /// Shows that something failed outside.
    pub fn fail(&mut self, text: &str) {
        self.transcript.fail(text);
    }

    /// Shows a remark from outside.
    pub fn remark(&mut self, text: &str) {
        self.transcript.remark(text);
    }

    /// What happened in this chat.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// The conversation at the end.
    pub fn status(&self) -> StatusFacts {
        self.conversation.status()
    }

    /// Since when it runs.
    pub fn started(&self) -> Instant {
        self.started
    }

    fn leave(&mut self) {
        self.effects.push(Effect::Leave);
    }

    fn is_screen(&self) -> bool {
        self.abilities.kind == TerminalKind::Screen
    }
}

#[cfg(test)]
mod tests;
