//! What went wrong with a call: observed once, classified once, and one table that says what to do about it.

mod action;
mod body;
mod classify;
mod limits;
mod retry_after;
mod words;

use std::fmt;
use std::time::Duration;

use crate::adjust::Adjustment;
use crate::event::StreamError;
pub use action::{Action, Again, Change, Elsewhere, KeyMove, action_for};
pub use body::read_error_body;
pub use classify::{classify, failure_of};
pub use retry_after::retry_after;

/// Everything seen of a failed call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Observed {
    /// The HTTP status, when an answer came.
    pub status: Option<u16>,
    /// The provider's word for the error.
    pub code: Option<String>,
    /// The field of the request it names.
    pub param: Option<String>,
    /// What it says.
    pub message: String,
    /// How long it asks to wait.
    pub retry_after: Option<Duration>,
    /// Its name for the request, for its support.
    pub request_id: Option<String>,
    /// What broke, when it was not the provider that said no.
    pub transport: Option<Transport>,
}

impl Observed {
    /// An error inside a stream.
    pub fn in_stream(error: &StreamError) -> Self {
        let broken = |transport, message: &str| Self {
            transport: Some(transport),
            message: message.to_owned(),
            ..Self::default()
        };
        match error {
            StreamError::Reported { code, status, message } => {
                Self { status: *status, code: code.clone(), message: message.clone(), ..Self::default() }
            }
            StreamError::Malformed(excerpt) => {
                broken(Transport::Garbage, &format!("the answer holds something that is no event: {excerpt}"))
            }
            StreamError::Cut => {
                broken(Transport::CutOff, "the connection closed before the answer was complete")
            }
            StreamError::TooLarge => {
                broken(Transport::Garbage, "the answer is larger than any answer can be")
            }
        }
    }

    /// A connection that failed.
    pub fn broken(transport: Transport, message: impl Into<String>) -> Self {
        Self { transport: Some(transport), message: message.into(), ..Self::default() }
    }
}

/// What broke between us and the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// No connection came about.
    Connect,
    /// The other side's certificate is not trusted.
    Certificate,
    /// The connection broke before the answer began.
    NoAnswer,
    /// The connection broke while the answer came.
    CutOff,
    /// Nothing came for too long.
    Silent,
    /// The whole took too long.
    TooLong,
    /// What came makes no sense.
    Garbage,
}

/// How large the call was: some servers say nothing useful when a conversation is too long for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CallSize {
    /// Tokens of the prompt, guessed.
    pub tokens: u64,
    /// How many messages.
    pub messages: usize,
    /// The model's window, when it is known.
    pub window: Option<u64>,
}

/// The kinds of failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// A safety filter refused the content.
    ContentPolicy,
    /// Thoughts sent back are not accepted.
    ThinkingSignature,
    /// Encrypted thoughts sent back are not accepted.
    EncryptedThoughts,
    /// The plan does not cover such a long prompt.
    LongContextTier,
    /// The server cannot compile the tools' schemas.
    GrammarPattern,
    /// The key is wrong or may not do this.
    Auth,
    /// No money.
    Billing,
    /// Too many requests.
    RateLimit,
    /// The account's rules exclude every server of this model.
    ProviderPolicy,
    /// There is no such model.
    ModelNotFound,
    /// The request has too many bytes.
    PayloadTooLarge,
    /// Pictures in tool results are not accepted.
    ToolImages,
    /// A picture is too large.
    ImageTooLarge,
    /// The model takes no pictures.
    Images,
    /// The conversation does not fit into the model's window.
    ContextOverflow,
    /// More output was asked for than the model gives.
    OutputCap,
    /// A field of the request is not accepted, and it can be left out.
    Parameter(Adjustment),
    /// Answers cannot be streamed.
    Streaming,
    /// The request is not accepted for another reason.
    Format,
    /// The server failed.
    Server,
    /// The server has too much to do.
    Overloaded,
    /// The connection failed or took too long.
    Timeout,
    /// The other side's certificate is not trusted.
    Certificate,
    /// Nothing of the above.
    Unknown,
}

impl Class {
    /// A few words for it.
    pub fn words(self) -> &'static str {
        match self {
            Self::ContentPolicy => "refused by a safety filter",
            Self::ThinkingSignature | Self::EncryptedThoughts => "earlier thoughts not accepted",
            Self::LongContextTier => "prompt longer than the plan covers",
            Self::GrammarPattern => "tool schemas not accepted",
            Self::Auth => "key refused",
            Self::Billing => "out of credit",
            Self::RateLimit => "rate limit",
            Self::ProviderPolicy => "excluded by the account's data policy",
            Self::ModelNotFound => "no such model",
            Self::PayloadTooLarge => "request too large",
            Self::ToolImages => "pictures in tool results not accepted",
            Self::ImageTooLarge => "picture too large",
            Self::Images => "pictures not accepted",
            Self::ContextOverflow => "conversation too long for the model",
            Self::OutputCap => "more output asked for than the model gives",
            Self::Parameter(_) => "a field of the request not accepted",
            Self::Streaming => "streaming not accepted",
            Self::Format => "request not accepted",
            Self::Server => "server error",
            Self::Overloaded => "overloaded",
            Self::Timeout => "connection failed",
            Self::Certificate => "certificate not trusted",
            Self::Unknown => "unknown error",
        }
    }
}

/// A failed call, classified. Holds no secrets: its texts were redacted where they came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What kind.
    pub class: Class,
    /// What was seen.
    pub observed: Observed,
    /// The model's window, when the error quotes it.
    pub quoted_window: Option<u64>,
    /// Most output tokens that would have been accepted, when the error lets that be known.
    pub output_room: Option<OutputRoom>,
}

/// How much output a model would have given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputRoom {
    /// To any prompt.
    OfModel(u64),
    /// After this prompt.
    ForPrompt(u64),
}

impl OutputRoom {
    /// The tokens.
    pub fn tokens(self) -> u64 {
        match self {
            Self::OfModel(tokens) | Self::ForPrompt(tokens) => tokens,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.class.words())?;
        if let Some(status) = self.observed.status {
            write!(f, " (HTTP {status})")?;
        }
        if !self.observed.message.is_empty() {
            write!(f, ": {}", crate::wire::excerpt(&self.observed.message))?;
        }
        match &self.observed.request_id {
            Some(id) => write!(f, " [request {id}]"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Failure {}
