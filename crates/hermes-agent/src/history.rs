//! The conversation as the model gets it: what is stored, in order, without what was undone or summarised.

use hermes_model::{Finish, Message};
use jiff::Timestamp;

/// Where a message is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowId(pub i64);

/// One message of the conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Where it is stored.
    pub row: RowId,
    /// The message.
    pub message: Message,
    /// Why the answer ended, for answers.
    pub finish: Option<Finish>,
    /// When it was said.
    pub at: Timestamp,
}

/// The conversation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct History {
    /// Its messages.
    pub entries: Vec<Entry>,
}

impl History {
    /// The messages.
    pub fn messages(&self) -> impl Iterator<Item = &Message> {
        self.entries.iter().map(|entry| &entry.message)
    }

    /// The place of the n-th user message from the end, from 1.
    pub fn user_from_end(&self, n: usize) -> Option<usize> {
        let is_user = |(_, entry): &(usize, &Entry)| matches!(entry.message, Message::User(_));
        self.entries.iter().enumerate().rev().filter(is_user).nth(n.checked_sub(1)?).map(|(place, _)| place)
    }
}
