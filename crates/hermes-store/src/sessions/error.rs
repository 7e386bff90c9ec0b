//! What can go wrong with sessions, and what to do about it.

use super::ids::{MessageId, SessionId};
use super::titles::MAX_TITLE;
use crate::Error;

/// Why something could not be done with the sessions.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The database itself.
    #[error(transparent)]
    Store(#[from] Error),
    /// No session has this id, title or beginning of an id.
    #[error("there is no session \"{name}\": `hermes sessions list` shows those there are")]
    NoSession {
        /// What was asked for.
        name: String,
    },
    /// Several sessions begin like this.
    #[error("\"{name}\" may mean several sessions ({first}, {second}, …): give more of the id")]
    Ambiguous {
        /// What was asked for.
        name: String,
        /// One that fits.
        first: SessionId,
        /// Another that fits.
        second: SessionId,
    },
    /// The session has no such message.
    #[error("session {session} has no message {message}: load the session again, it may have changed")]
    NoMessage {
        /// The session.
        session: SessionId,
        /// The message.
        message: MessageId,
    },
    /// Going back is only possible to something the user said.
    #[error("message {message} is not the user's: choose one of the user's messages to go back to")]
    NotUsers {
        /// The message.
        message: MessageId,
    },
    /// Nothing was taken back, or the conversation went on since.
    #[error(
        "there is nothing to bring back in session {session}: nothing was taken back, or the conversation went on since"
    )]
    NothingTakenBack {
        /// The session.
        session: SessionId,
    },
    /// The session was not compacted, or not by us.
    #[error("session {session} has no compaction that can be taken back")]
    NothingCompacted {
        /// The session.
        session: SessionId,
    },
    /// Another session has this title.
    #[error("the title \"{title}\" belongs to session {owner}: choose another, or rename that one first")]
    TitleTaken {
        /// The title.
        title: String,
        /// Whose it is.
        owner: SessionId,
    },
    /// The title is too long.
    #[error("the title has {length} characters, {MAX_TITLE} are allowed: choose a shorter one")]
    TitleTooLong {
        /// How long it is.
        length: usize,
    },
    /// There is nothing left of the title.
    #[error("the title is empty: give at least one visible character")]
    TitleEmpty,
    /// A session cannot be its own parent's new name.
    #[error("there is a session {id} already")]
    Exists {
        /// The id.
        id: SessionId,
    },
}

impl SessionError {
    pub(super) fn no_session(id: &SessionId) -> Self {
        Self::NoSession { name: id.as_str().to_owned() }
    }
}
