//! Why a text is not a command.

use std::fmt;

/// Where and why reading stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The byte where it was noticed.
    pub at: usize,
    /// What is wrong.
    pub reason: Reason,
}

/// What is wrong with the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Something stands where it cannot.
    Unexpected(String),
    /// The text ends where this was expected.
    UnexpectedEnd(&'static str),
    /// A quote or bracket that is never closed; the text is what opened it.
    NotClosed(&'static str),
    /// Deeper nesting than [`super::MAX_DEPTH`].
    TooDeep,
    /// Longer than [`super::MAX_LENGTH`].
    TooLong,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.at;
        match &self.reason {
            Reason::Unexpected(what) => write!(f, "cannot read the command at byte {at}: unexpected {what}"),
            Reason::UnexpectedEnd(what) => {
                write!(f, "cannot read the command: it ends at byte {at} where {what} is expected")
            }
            Reason::NotClosed(what) => {
                write!(f, "cannot read the command: {what} at byte {at} is never closed")
            }
            Reason::TooDeep => write!(
                f,
                "cannot read the command: nested deeper than {} levels at byte {at}; split it up",
                super::MAX_DEPTH
            ),
            Reason::TooLong => {
                write!(f, "cannot read the command: longer than {} bytes; split it up", super::MAX_LENGTH)
            }
        }
    }
}

impl std::error::Error for ParseError {}
