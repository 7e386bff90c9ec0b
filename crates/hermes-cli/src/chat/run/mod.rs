//! The loop around the chat: keys and events in, the screen out, and the few things that touch the system.

mod farewell;
mod keyboard;
mod outside;
mod program;
mod signals;

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use rustix::termios::tcgetwinsize;

use self::keyboard::{Keyboard, Reading};
use self::outside::Outside;
use self::signals::SignalWatch;
use super::app::{Chat, Effect, Tally};
use super::conversation::{Conversation, Inbox, StatusFacts};
use super::editor::{History, HistoryFile};
use super::live::{Painter, Size};
use super::message::{Message, Signal};
use super::options::{Abilities, ChatOptions, TerminalKind};
use super::term::RawMode;
use super::text::Palette;

/// How long a running turn may take to end when the chat ends.
const FAREWELL_PATIENCE: Duration = Duration::from_millis(1500);
/// Between two pictures of a spinner.
const TICK: Duration = Duration::from_millis(100);
/// Between two drawings, however fast events come.
const FRAME: Duration = Duration::from_millis(25);
/// Idle, nothing is drawn: selections and the place one has scrolled to stay.
const IDLE: Duration = Duration::from_hours(1);

/// Where a chat is shown.
#[derive(Debug)]
pub struct Terminal {
    /// Keys come from here.
    pub input: OwnedFd,
    /// The screen.
    pub output: OwnedFd,
    /// Whether signals of the process are for the chat.
    pub signals: Signals,
}

/// Whether signals of the process are for the chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signals {
    /// They are.
    Watched,
    /// Somebody else handles them.
    Left,
}

impl Terminal {
    /// The terminal the program was started on.
    pub fn standard() -> io::Result<Self> {
        Ok(Self {
            input: io::stdin().as_fd().try_clone_to_owned()?,
            output: io::stdout().as_fd().try_clone_to_owned()?,
            signals: Signals::Watched,
        })
    }
}

/// Why a chat could not go on.
#[derive(Debug, thiserror::Error)]
pub enum ChatError {
    /// The terminal could not be prepared.
    #[error("cannot prepare the terminal for a chat: {0}; with `hermes -z PROMPT` no terminal is needed")]
    Terminal(io::Error),
    /// The screen could not be written.
    #[error("cannot write to the terminal: {0}")]
    Screen(io::Error),
}

/// How a chat ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// The conversation at the end.
    pub facts: StatusFacts,
    /// What happened in this chat.
    pub tally: Tally,
    /// How long it lasted.
    pub lasted: Duration,
    /// Who ended it.
    pub by: EndedBy,
}

/// Who ended a chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndedBy {
    /// The user.
    User,
    /// The system: a signal, or the terminal is gone.
    System,
}

/// Runs a chat until the user leaves, and says how to come back.
pub fn run(
    conversation: Box<dyn Conversation>,
    inbox: Inbox,
    options: ChatOptions,
    abilities: Abilities,
    terminal: Terminal,
) -> Result<Ended, ChatError> {
    let history_file = options.history_file.as_ref().map(HistoryFile::new);
    // A history that cannot be read must not keep anybody from chatting.
    let history = history_file.as_ref().and_then(|f| f.load().ok()).unwrap_or_default();
    let size = size_of(&terminal.output);
    let outside = Outside::new(&options, history_file);
    let events = inbox.events();
    let now = Instant::now();
    let chat = Chat::new(conversation, events, options, abilities, size, History::new(history), now);
    let raw = match abilities.kind {
        TerminalKind::Screen => {
            Some(RawMode::enter(&terminal.input, &terminal.output).map_err(ChatError::Terminal)?)
        }
        TerminalKind::Lines => None,
    };
    let signals = match terminal.signals {
        Signals::Watched => Some(SignalWatch::start(inbox.sender.clone()).map_err(ChatError::Terminal)?),
        Signals::Left => None,
    };
    let reading = if raw.is_some() { Reading::Keys } else { Reading::Lines };
    let keyboard =
        Keyboard::start(terminal.input, reading, inbox.sender.clone()).map_err(ChatError::Terminal)?;
    let mut session = Session {
        chat,
        painter: Painter::new(abilities.palette, size),
        out: File::from(terminal.output),
        raw,
        keyboard,
        outside,
        sender: inbox.sender,
        palette: abilities.palette,
        prompted: Prompted::No,
        suspended: None,
        ended: None,
    };
    let result = session.live(&inbox.receiver);
    let ended = session.end(&inbox.receiver);
    drop(signals);
    result?;
    ended
}

fn size_of(output: impl AsFd) -> Size {
    let size = tcgetwinsize(output).ok().filter(|s| s.ws_col > 0 && s.ws_row > 0);
    size.map_or(Size { columns: 80, rows: 24 }, |s| Size { columns: s.ws_col.into(), rows: s.ws_row.into() })
}

/// Whether the prompt of a terminal without keys stands there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Prompted {
    Yes,
    No,
}

/// A chat on a terminal.
struct Session {
    chat: Chat,
    painter: Painter,
    out: File,
    raw: Option<RawMode>,
    keyboard: Keyboard,
    outside: Outside,
    sender: Sender<Message>,
    palette: Palette,
    prompted: Prompted,
    /// Since when the process is stopped, or about to be.
    suspended: Option<Instant>,
    ended: Option<EndedBy>,
}

impl Session {
    fn live(&mut self, receiver: &Receiver<Message>) -> Result<(), ChatError> {
        self.draw().map_err(ChatError::Screen)?;
        let mut drawn = Instant::now();
        while self.ended.is_none() {
            let wait = if self.suspended.is_some() || self.chat.is_busy() { TICK } else { IDLE };
            let first = match receiver.recv_timeout(wait) {
                Ok(message) => Some(message),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            if let Some(message) = first {
                let mut hurry = self.take(message);
                // What else came in the meantime belongs to the same picture.
                while !hurry && drawn.elapsed() < FRAME {
                    match receiver.recv_timeout(FRAME.saturating_sub(drawn.elapsed())) {
                        Ok(message) => hurry = self.take(message),
                        Err(_) => break,
                    }
                }
                while let Ok(message) = receiver.try_recv() {
                    self.take(message);
                    if drawn.elapsed() > FRAME * 4 {
                        break;
                    }
                }
            }
            self.come_back_if_never_stopped();
            self.do_effects().map_err(ChatError::Screen)?;
            self.draw().map_err(ChatError::Screen)?;
            drawn = Instant::now();
        }
        Ok(())
    }

    /// Takes a message in; says whether the user should see its effect at once.
    fn take(&mut self, message: Message) -> bool {
        let hurry = !matches!(message, Message::Agent(_));
        match &message {
            Message::Signal(Signal::Continued) => self.come_back(),
            Message::Signal(Signal::Terminate) | Message::InputEnded => self.ended = Some(EndedBy::System),
            Message::Line(_) => self.prompted = Prompted::No,
            _ => {}
        }
        self.chat.handle(message, Instant::now());
        hurry
    }

    fn draw(&mut self) -> io::Result<()> {
        if self.suspended.is_some() {
            return Ok(());
        }
        if self.raw.is_none() {
            return self.draw_lines();
        }
        let size = size_of(&self.out);
        if size != self.painter.size() {
            self.painter.resize(size, &mut self.out)?;
            self.chat.resize(size);
        }
        let printed = self.chat.take_printed();
        let frame = self.chat.frame(Instant::now());
        self.painter.draw(&printed, &frame, &mut self.out)
    }

    /// A terminal that cannot move its cursor gets lines.
    fn draw_lines(&mut self) -> io::Result<()> {
        let mut text = String::new();
        for line in self.chat.take_printed() {
            text.push_str(&line.paint(self.palette));
            text.push('\n');
        }
        if !text.is_empty() && self.prompted == Prompted::Yes {
            text.insert(0, '\n');
            self.prompted = Prompted::No;
        }
        if self.chat.wants_line() && self.prompted == Prompted::No && self.ended.is_none() {
            text.push_str("> ");
            self.prompted = Prompted::Yes;
        }
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }

    fn do_effects(&mut self) -> io::Result<()> {
        for effect in self.chat.take_effects() {
            match effect {
                Effect::Leave => self.ended = self.ended.or(Some(EndedBy::User)),
                Effect::ClearScreen if self.raw.is_some() => self.painter.clear_screen(&mut self.out)?,
                Effect::Repaint if self.raw.is_some() => self.painter.erase(&mut self.out)?,
                Effect::ClearScreen | Effect::Repaint => {}
                Effect::Suspend => self.suspend()?,
                Effect::OpenEditor(text) => self.open_editor(&text)?,
                Effect::Copy(text) => {
                    let said = self.outside.copy(&text, &mut self.out)?;
                    self.chat.remark(said);
                }
                Effect::PasteImage => match self.outside.clipboard_image() {
                    Ok(path) => self.chat.attach(&path),
                    Err(problem) => self.chat.fail(&problem),
                },
                Effect::RunQuick { name, command } => {
                    self.outside.run_quick(name, command, self.sender.clone());
                }
                Effect::RunOwn(arguments) => self.outside.run_own(arguments, self.sender.clone()),
                Effect::Remember(text) => {
                    if let Err(problem) = self.outside.remember(&text) {
                        self.chat.fail(&problem);
                    }
                }
                Effect::Bell => self.out.write_all(b"\x07")?,
            }
        }
        Ok(())
    }

    fn suspend(&mut self) -> io::Result<()> {
        let Some(raw) = &self.raw else { return Ok(()) };
        self.painter.erase(&mut self.out)?;
        raw.suspend()?;
        self.suspended = Some(Instant::now());
        // The whole group, as the terminal itself would do it: `hermes | tee` stops as one job.
        rustix::process::kill_current_process_group(rustix::process::Signal::TSTP)?;
        Ok(())
    }

    fn come_back(&mut self) {
        self.suspended = None;
        if let Some(raw) = &self.raw {
            // A terminal that is gone is noticed by the next read.
            let _ = raw.resume();
        }
    }

    /// Without job control the request to stop is ignored by the system.
    fn come_back_if_never_stopped(&mut self) {
        if self.suspended.is_some_and(|since| since.elapsed() > TICK * 5) {
            self.come_back();
        }
    }

    fn open_editor(&mut self, text: &str) -> io::Result<()> {
        let Some(raw) = self.raw.clone() else { return Ok(()) };
        self.painter.erase(&mut self.out)?;
        self.keyboard.pause();
        raw.suspend()?;
        let edited = self.outside.edit(text);
        raw.resume()?;
        self.keyboard.resume();
        match edited {
            Ok(text) => self.chat.edited(&text),
            Err(problem) => self.chat.fail(&problem),
        }
        Ok(())
    }

    /// Ends a running turn, puts the terminal back and says how to come back.
    fn end(mut self, receiver: &Receiver<Message>) -> Result<Ended, ChatError> {
        self.chat.interrupt();
        let deadline = Instant::now() + FAREWELL_PATIENCE;
        while self.chat.is_busy() {
            match receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(Message::Agent(event)) => self.chat.handle(Message::Agent(event), Instant::now()),
                // Questions are refused by dropping them.
                Ok(_) => {}
                Err(_) => break,
            }
        }
        let by = self.ended.unwrap_or(EndedBy::System);
        let ended = Ended {
            facts: self.chat.status(),
            tally: self.chat.tally(),
            lasted: self.chat.started().elapsed(),
            by,
        };
        let lines = farewell::lines(&ended);
        let mut printed = self.chat.take_printed();
        printed.extend(lines);
        self.keyboard.stop();
        let shown = self.show_last(&printed);
        drop(self.raw);
        // A terminal that is gone cannot show a farewell; that is no failure of the chat.
        match shown {
            Err(e) if by == EndedBy::User => Err(ChatError::Screen(e)),
            _ => Ok(ended),
        }
    }

    fn show_last(&mut self, lines: &[super::text::Line]) -> io::Result<()> {
        if self.raw.is_some() {
            self.painter.erase(&mut self.out)?;
        }
        let end = if self.raw.is_some() { "\r\n" } else { "\n" };
        let text: String = lines.iter().map(|l| l.paint(self.palette) + end).collect();
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }
}
