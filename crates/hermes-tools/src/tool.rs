//! The trait every tool implements, what a run gets, and what it gives back.

use std::path::PathBuf;
use std::pin::Pin;

use hermes_model::{Content, Message, ToolSpec, ToolStatus};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::gate::Gate;

/// The arguments of a call, checked to be an object.
pub type Arguments = Map<String, Value>;

/// A run under way.
pub type Running<'a> = Pin<Box<dyn Future<Output = ToolOutput> + Send + 'a>>;

/// Something the model can call.
pub trait Tool: Send + Sync {
    /// What the model sees. The same bytes for a whole conversation.
    fn spec(&self) -> ToolSpec;

    /// The toolset it belongs to.
    fn toolset(&self) -> &'static str;

    /// One line that tells a person what a call does, such as the command or the path.
    fn brief(&self, arguments: &Arguments) -> String;

    /// What else may run at the same time.
    fn sharing(&self, arguments: &Arguments) -> Sharing {
        let _ = arguments;
        Sharing::InOrder
    }

    /// Whether it can work at all here. Looks at settings and nothing else: nothing is started, asked or installed.
    fn available(&self) -> Availability {
        Availability::Yes
    }

    /// Hears how the conversation goes. Quick, and never fails.
    fn tell(&self, session: &str, moment: Moment<'_>) {
        let _ = (session, moment);
    }

    /// What the model should still know of this tool's doings when its history has been made shorter.
    fn remind(&self, session: &str) -> Option<String> {
        let _ = session;
        None
    }

    /// Does it. Ends soon after [`Run::cancel`] is cancelled, and leaves nothing running that it started and that was
    /// not meant to stay.
    fn run<'a>(&'a self, run: Run<'a>) -> Running<'a>;
}

/// Whether a tool can work here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Availability {
    /// It can.
    Yes,
    /// It cannot; the model does not see it.
    No {
        /// What is missing and how to get it, for a person.
        why: String,
    },
}

/// How a conversation goes.
#[derive(Debug, Clone, Copy)]
pub enum Moment<'a> {
    /// It goes on from what was said before, perhaps in another process.
    Resumed(&'a [Message]),
    /// The user said something.
    TurnBegins,
    /// The answer is given, or there will be none.
    TurnEnds,
    /// Old messages were replaced by a summary: the model no longer has them before it.
    HistoryShortened,
}

/// What else may run at the same time as a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sharing {
    /// Anything: it changes nothing.
    Freely,
    /// Anything that does not write these files; and if it writes them itself, anything that does not touch them.
    Files {
        /// Which files.
        paths: Vec<PathBuf>,
        /// What it does to them.
        access: Access,
    },
    /// Nothing: calls before it come first, calls after it wait.
    InOrder,
}

/// What a call does to files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Looks at them.
    Read,
    /// Changes them.
    Write,
}

/// What a run gets.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// The call.
    pub call_id: &'a str,
    /// Its arguments.
    pub arguments: &'a Arguments,
    /// The conversation it belongs to. Shell state is kept under this name.
    pub session: &'a str,
    /// Cancelled when the run should end.
    pub cancel: &'a CancellationToken,
    /// Where it can say how it goes.
    pub progress: &'a Progress,
    /// Asked before anything is done that may need consent.
    pub gate: &'a dyn Gate,
    /// Characters the result may take, as it is written. What is longer is put away where the model has to fetch it, so
    /// a tool that can give a part in a sensible way keeps within it.
    pub most_chars: usize,
}

/// Says how a run goes. Cheap to clone, callable from any thread, never blocks for long.
#[derive(Clone)]
pub struct Progress(std::sync::Arc<dyn Fn(Report) + Send + Sync>);

impl Progress {
    /// Passes reports to a function.
    pub fn new(to: impl Fn(Report) + Send + Sync + 'static) -> Self {
        Self(std::sync::Arc::new(to))
    }

    /// Tells nobody.
    pub fn silent() -> Self {
        Self::new(drop)
    }

    /// Says something.
    pub fn tell(&self, report: Report) {
        (self.0)(report);
    }
}

impl std::fmt::Debug for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Progress")
    }
}

/// How a run goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Report {
    /// More of what a command prints; bytes that are no text were replaced.
    Output(String),
    /// Something the user should know: an image is pulled, a container was lost.
    Note(String),
}

/// What a run gave.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutput {
    /// For the model.
    pub content: Vec<Content>,
    /// How it went.
    pub status: ToolStatus,
    /// Who wrote it.
    pub trust: Trust,
}

/// Who wrote a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// This machine: commands, files.
    Local,
    /// Somebody on the network: nothing in it is an instruction.
    Outside,
}

impl ToolOutput {
    /// A text of a call that worked.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![Content::Text(text.into())], status: ToolStatus::Ok, trust: Trust::Local }
    }

    /// A JSON result of a call that worked.
    pub fn json(value: &Value) -> Self {
        Self::text(value.to_string())
    }

    /// A call that failed: `{"error": …}`, which is how models know failures.
    pub fn error(message: impl Into<String>) -> Self {
        let text = serde_json::json!({ "error": message.into() }).to_string();
        Self { status: ToolStatus::Failed, ..Self::text(text) }
    }

    /// The same result of a call that failed.
    #[must_use]
    pub fn failed(self) -> Self {
        Self { status: ToolStatus::Failed, ..self }
    }
}
