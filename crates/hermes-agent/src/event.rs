//! Everything that happens in a turn, as front doors get it. `hermes -z --json` prints these as lines.

use serde::Serialize;
use serde_json::Value;

use crate::report::{Spending, TurnReport};

/// Where events go.
pub type OnAgentEvent<'a> = dyn FnMut(AgentEvent) + Send + 'a;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum AgentEvent {
    /// A turn begins; the user's message is stored.
    TurnStarted {
        /// The conversation.
        session_id: String,
    },
    /// A model is asked.
    Asking {
        /// Its provider.
        provider: String,
        /// Its name.
        model: String,
        /// Which call of the turn, from 1.
        call: u32,
        /// Most calls the turn may make.
        of: u32,
    },
    /// More text of the answer.
    Text {
        /// The next piece.
        delta: String,
    },
    /// More of the model's thoughts.
    Reasoning {
        /// The next piece.
        delta: String,
    },
    /// What came of the answer since [`Asking`](Self::Asking) is void: it broke off and is begun again.
    StartOver,
    /// The model begins to write a tool call.
    WritingCall {
        /// The tool.
        name: String,
    },
    /// A tool starts.
    ToolStarted {
        /// The call.
        id: String,
        /// The tool.
        name: String,
        /// What it does, in one line.
        brief: String,
        /// Its arguments.
        arguments: Value,
    },
    /// More of what a running tool prints.
    ToolOutput {
        /// The call.
        id: String,
        /// The next piece.
        text: String,
    },
    /// A tool is done.
    ToolFinished {
        /// The call.
        id: String,
        /// The tool.
        name: String,
        /// How it went.
        status: CallStatus,
        /// How long it took.
        elapsed_ms: u64,
        /// The result as the model sees it.
        result: String,
    },
    /// A call to the model failed and is made again after a pause.
    Waiting {
        /// Why.
        reason: String,
        /// The pause.
        seconds: f64,
    },
    /// Another model takes over.
    Switched {
        /// Why.
        reason: String,
        /// Its provider.
        provider: String,
        /// Its name.
        model: String,
    },
    /// The conversation is being made shorter.
    Compacting {
        /// How long it is, in tokens.
        tokens: u64,
    },
    /// The conversation was made shorter.
    Compacted {
        /// How long it was, in tokens.
        before: u64,
        /// How long it is.
        after: u64,
        /// How many messages the summary stands for.
        messages: usize,
    },
    /// Guidance of the user reached the model.
    Steered {
        /// The words.
        text: String,
    },
    /// A call to the model was counted.
    Usage {
        /// What this turn took so far.
        turn: Spending,
        /// Tokens of the newest prompt and answer: what fills the window.
        context: u64,
        /// The size of the window, when it is known.
        window: Option<u64>,
    },
    /// Something the user should know.
    Notice {
        /// How much it matters.
        level: Level,
        /// A sentence.
        text: String,
    },
    /// The turn is over. Always the last event.
    TurnEnded {
        /// What came of it.
        report: TurnReport,
    },
}

/// How a tool call went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    /// It did what it should.
    Ok,
    /// It failed; the result says why.
    Failed,
    /// It was ended or not begun because the turn was interrupted.
    Cancelled,
}

/// How much a notice matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Good to know.
    Info,
    /// Something is not as it should be.
    Warning,
}
