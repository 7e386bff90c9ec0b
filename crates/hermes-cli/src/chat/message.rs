//! Everything the chat reacts to, in one stream.

use hermes_agent::AgentEvent;

use super::conversation::UiRequest;
use super::term::Input;

/// One thing that happened.
#[derive(Debug)]
pub enum Message {
    /// The user pressed a key or pasted.
    Input(Input),
    /// The user wrote a line, on a terminal that cannot do more.
    Line(String),
    /// The terminal is gone, or its input has ended.
    InputEnded,
    /// A turn reports.
    Agent(AgentEvent),
    /// Something in the background is over: the conversation may want to go on.
    News,
    /// Somebody asks the user.
    Ask(UiRequest),
    /// The system wants something.
    Signal(Signal),
    /// A shell command of the user's settings is done.
    QuickDone {
        /// Its name.
        name: String,
        /// What it printed, or why it failed.
        output: Result<String, String>,
    },
}

/// What the system can want.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// The window has another size.
    Resized,
    /// Ctrl-C on a terminal that is not raw.
    Interrupt,
    /// We were stopped and go on.
    Continued,
    /// We should end.
    Terminate,
}
