//! What the chat needs from a conversation, and how a conversation reaches the chat.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};

use hermes_agent::{AgentEvent, Control, Spending};
use hermes_checkpoint::Mine;
use hermes_tools::gate::{Answerer, Question, Reply, Waiting};
use tokio::sync::oneshot;

use super::message::Message;

/// A conversation as the chat drives it. Calls return at once; what takes time runs on threads of its own and is
/// heard of through [`Events`].
pub trait Conversation: Send {
    /// Begins a turn. Its events end with [`AgentEvent::TurnEnded`].
    fn start_turn(&mut self, input: UserInput, events: Events) -> Control;

    /// Goes on by itself because something in the background is over; nothing when there is no reason to. Runs like a
    /// turn.
    fn take_up_news(&mut self, events: Events) -> Option<Control> {
        let _ = events;
        None
    }

    /// What the status line and `/status` show.
    fn status(&self) -> StatusFacts;

    /// Does what a slash command asks. Commands that are allowed at any time ([`super::slash::When::Always`]) come
    /// while a turn runs too and must not wait for it.
    fn command(&mut self, request: Request, events: Events) -> CommandOutcome;

    /// Words that can follow a command, such as names of models after `model`; for completion.
    fn suggest(&self, command: &str) -> Vec<String> {
        let _ = command;
        Vec::new()
    }
}

/// What the user sends.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UserInput {
    /// The words.
    pub text: String,
    /// Pictures to look at.
    pub images: Vec<PathBuf>,
}

impl UserInput {
    /// Words alone.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), images: Vec::new() }
    }
}

/// The state of a conversation, for people.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StatusFacts {
    /// The model.
    pub model: String,
    /// Its provider.
    pub provider: String,
    /// The session.
    pub session_id: String,
    /// Its title, when it has one.
    pub title: Option<String>,
    /// Messages in it.
    pub messages: usize,
    /// Tokens in the window now.
    pub context: u64,
    /// The size of the window, when it is known.
    pub window: Option<u64>,
    /// What the session took so far.
    pub spent: Spending,
    /// How often it was made shorter.
    pub compactions: u32,
    /// Prompts that run beside this one.
    pub background_tasks: usize,
    /// Background processes that run.
    pub background_jobs: usize,
    /// Whether commands are run without asking.
    pub approvals: Approvals,
}

/// Whether dangerous commands need a word of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Approvals {
    /// They do.
    #[default]
    Asked,
    /// They do not (`--yolo`).
    Skipped,
}

/// What a slash command asks of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// A new session.
    New {
        /// Its title.
        title: Option<String>,
    },
    /// Takes back exchanges.
    Undo {
        /// How many.
        turns: usize,
    },
    /// Sends the last message again.
    Retry,
    /// Goes on in a copy.
    Branch {
        /// Its title.
        title: Option<String>,
    },
    /// Goes on with another session; without a name, a choice of them.
    Resume {
        /// An id or a title.
        which: Option<String>,
    },
    /// Makes the conversation shorter.
    Compress(Compress),
    /// Takes the last compaction back.
    Uncompact,
    /// Ends background processes.
    Stop,
    /// Runs a prompt beside this conversation.
    Background {
        /// The prompt.
        prompt: String,
    },
    /// What runs beside this conversation.
    Agents,
    /// Another model; without a name, a choice of them.
    Model {
        /// Its name.
        wanted: Option<String>,
    },
    /// How hard the model thinks.
    Effort {
        /// The level.
        level: String,
    },
    /// Switches approvals off or on again.
    Yolo,
    /// Shows or sets the title.
    Title {
        /// The new one.
        title: Option<String>,
    },
    /// Writes the conversation to a file.
    Save {
        /// Where to.
        path: Option<String>,
    },
    /// The conversation so far.
    History,
    /// The session, the model, what it took.
    Status,
    /// Tools that are on.
    Tools,
    /// Groups of tools.
    Toolsets,
    /// Settings in force.
    Config,
    /// Tokens and money.
    Usage,
    /// What fills the window.
    Context,
    /// Figures over days.
    Insights {
        /// How many.
        days: Option<u32>,
    },
    /// The profile in use.
    Profile,
    /// Snapshots of the files.
    Rollback(Rollback),
    /// Deletes this session; the chat ends after it.
    Discard,
}

/// What about snapshots of the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rollback {
    /// Lists them.
    List,
    /// Shows what is different since one.
    Diff {
        /// Its number or the beginning of its name.
        which: String,
    },
    /// Goes back to one.
    Restore {
        /// Its number or the beginning of its name.
        which: String,
        /// One file; everything without.
        file: Option<String>,
        /// What happens to files the user changed.
        mine: Mine,
    },
}

/// How to make a conversation shorter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Compress {
    /// Everything but the newest.
    Now {
        /// What matters most.
        focus: Option<String>,
    },
    /// All but the newest exchanges.
    Keeping {
        /// How many stay.
        exchanges: usize,
    },
    /// Says what it would do.
    Preview,
}

/// What came of a command.
#[derive(Debug, Clone)]
pub enum CommandOutcome {
    /// It is done; markdown to show.
    Said(String),
    /// It could not be done; why and what to do.
    Failed(String),
    /// It runs like a turn: events follow, [`AgentEvent::TurnEnded`] last.
    Started(Control),
    /// Something to choose from; the choice comes back as a request.
    Choose {
        /// What is chosen.
        title: String,
        /// What there is.
        choices: Vec<Choice>,
    },
    /// It needs a word of the user; saying no changes nothing.
    Confirm {
        /// The question.
        question: String,
        /// What is done after a yes.
        then: Box<Request>,
    },
    /// Another conversation is here now.
    Switched {
        /// A sentence about it.
        said: String,
        /// Its newest exchanges, oldest first.
        recent: Vec<Exchange>,
    },
    /// Messages were taken back; the text of the oldest is there to be written anew.
    TakenBack {
        /// A sentence about it.
        said: String,
        /// For the input.
        text: String,
    },
}

/// One of several things.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// Its name.
    pub label: String,
    /// More about it.
    pub detail: String,
    /// What choosing it means.
    pub request: Request,
}

/// A message of the past and what was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// What the user said.
    pub user: String,
    /// What the model said.
    pub answer: String,
}

/// A question that waits for the user.
#[derive(Debug)]
pub struct UiRequest {
    /// The question.
    pub question: Question,
    /// Where the answer goes. Closed when nobody waits for it any more.
    pub reply: oneshot::Sender<Reply>,
}

/// Where a running turn reports. Cheap to clone, callable from any thread.
#[derive(Debug, Clone)]
pub struct Events {
    sender: Sender<Message>,
}

impl Events {
    /// Reports; lost when the chat is over.
    pub fn send(&self, event: AgentEvent) {
        let _ = self.sender.send(Message::Agent(event));
    }

    /// Says that something in the background is over.
    pub fn wake(&self) {
        let _ = self.sender.send(Message::News);
    }
}

/// The way to a chat, made before the conversation, so that its gate can ask through it.
#[derive(Debug, Clone)]
pub struct Link {
    sender: Sender<Message>,
}

/// The chat's end of the [`Link`].
#[derive(Debug)]
pub struct Inbox {
    pub(super) sender: Sender<Message>,
    pub(super) receiver: Receiver<Message>,
}

/// A link and its other end.
pub fn link() -> (Link, Inbox) {
    let (sender, receiver) = channel();
    (Link { sender: sender.clone() }, Inbox { sender, receiver })
}

impl Link {
    /// Where turns report.
    pub fn events(&self) -> Events {
        Events { sender: self.sender.clone() }
    }
}

impl Inbox {
    /// Where turns report.
    pub fn events(&self) -> Events {
        Events { sender: self.sender.clone() }
    }
}

impl Answerer for Link {
    fn ask<'a>(&'a self, question: &'a Question) -> Waiting<'a, Reply> {
        let (reply, answer) = oneshot::channel();
        let request = UiRequest { question: question.clone(), reply };
        let sent = self.sender.send(Message::Ask(request)).is_ok();
        Box::pin(async move {
            if !sent {
                return Reply::Nobody;
            }
            answer.await.unwrap_or(Reply::Nobody)
        })
    }
}
