//! What can go wrong between a client and an agent.

use std::io;
use std::time::Duration;

use crate::proto::fault::{Fault, FileError, FileErrorKind};
use crate::proto::hello::Refusal;

/// Why there is no connection to an agent.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The stream broke before the agent answered.
    #[error("the stream to the box agent broke before it answered: {0}")]
    Broken(String),
    /// What answered does not speak our protocol.
    #[error("what answered is not a box agent: {0}")]
    NotAnAgent(String),
    /// The agent does not want us.
    #[error("the box agent refused the connection: {0}")]
    Refused(Refusal),
    /// Nothing came in time.
    #[error("the box agent did not answer within {} s", .0.as_secs_f32())]
    NoAnswer(Duration),
    /// A thread or descriptor could not be made.
    #[error("cannot set up a connection: {0}")]
    Setup(#[from] io::Error),
}

/// Why a call did not give an answer.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CallError {
    /// The agent says why.
    #[error("{0}")]
    Fault(#[from] Fault),
    /// The connection is gone; whether the call took effect is not known. A command has been ended, a job goes on.
    #[error("the connection to the box agent was lost: {0}")]
    Lost(String),
    /// Nothing was sent, as the request does not fit in a frame.
    #[error("the request is too long to be sent ({0} bytes); put long text into a file or the input")]
    TooLong(usize),
    /// The agent did not answer in time. The connection was given up.
    #[error("the box does not answer (nothing came within {} s): it may be paused or frozen; the next use looks at it and puts it right where it can", .0.as_secs())]
    Unresponsive(Duration),
    /// The agent's answer makes no sense. The connection was given up.
    #[error("the box agent's answer cannot be understood: {0}")]
    Nonsense(String),
}

impl CallError {
    /// The error of a file operation, if it is one.
    pub fn file(&self) -> Option<&FileError> {
        match self {
            Self::Fault(Fault::File(error)) => Some(error),
            _ => None,
        }
    }

    /// What was wrong with the file, if it is the error of a file operation.
    pub fn file_kind(&self) -> Option<FileErrorKind> {
        self.file().map(|error| error.kind)
    }

    /// Whether the connection can no longer be used.
    pub fn is_lost(&self) -> bool {
        matches!(self, Self::Lost(_) | Self::Unresponsive(_) | Self::Nonsense(_))
    }
}
