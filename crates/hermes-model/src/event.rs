//! What a stream of a model consists of, whatever the wire format.

use crate::message::{Replay, ToolCall};
use crate::usage::Usage;

/// One thing that happened in an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// More text for the user.
    TextDelta(String),
    /// More of the model's thoughts.
    ReasoningDelta(String),
    /// A run of thoughts is over; the provider wants this back with them.
    ReasoningDone(Option<Replay>),
    /// A tool call begins. `slot` counts the calls of this answer from 0.
    ToolCallStarted {
        /// Which call.
        slot: usize,
        /// The tool.
        name: String,
    },
    /// More of a call's arguments.
    ToolCallArgs {
        /// Which call.
        slot: usize,
        /// The next piece of the JSON text.
        delta: String,
    },
    /// A tool call is complete.
    ToolCallDone {
        /// Which call.
        slot: usize,
        /// All of it.
        call: ToolCall,
    },
    /// Token counts so far; a later one replaces an earlier one.
    Usage(Usage),
    /// The answer is over. The last event of an answer that ended.
    Finished(Finish),
    /// The provider reported an error, or the stream made no sense. Nothing follows.
    ProviderError(StreamError),
}

/// Why an answer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finish {
    /// The model was done.
    Stop,
    /// The model waits for its tools.
    ToolCalls,
    /// The limit for the output was reached.
    Length,
    /// A filter of the provider stepped in, or the model refused.
    ContentFilter,
    /// The connection broke after text had arrived: what there is, is only the beginning.
    Interrupted,
    /// A reason of the provider that we do not know.
    Other(String),
}

/// An error that came inside a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamError {
    /// The provider said what went wrong.
    Reported {
        /// Its word for it (`overloaded_error`, `rate_limit_exceeded`, …), if any.
        code: Option<String>,
        /// An HTTP status it quoted, if any.
        status: Option<u16>,
        /// Its sentence.
        message: String,
    },
    /// Something came that is no event of the protocol: what else is missing cannot be known.
    Malformed(String),
    /// The stream ended before the answer did.
    Cut,
    /// The answer grew beyond every bound.
    TooLarge,
}
