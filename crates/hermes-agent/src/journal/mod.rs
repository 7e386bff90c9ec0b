//! Where a conversation is kept. Every message is written before anything is done about it.

mod draft;
mod indexer;
mod memory;
mod rows;
mod store;

use hermes_model::{Cost, Finish, Message, Usage};
use jiff::Timestamp;

use crate::history::{History, RowId};
pub use memory::MemoryJournal;
pub(crate) use store::delta;
pub use store::{SharedStore, StoreJournal, StoreLedger};

/// Keeps one conversation.
pub trait Journal: Send {
    /// The conversation's name.
    fn session_id(&self) -> &str;

    /// Writes a message down.
    fn append(&mut self, said: &Said<'_>) -> Result<RowId, JournalError>;

    /// Counts a call to a model.
    fn add_usage(&mut self, used: &Used<'_>) -> Result<(), JournalError>;

    /// Keeps the system prompt, so that a later process sends the same bytes.
    fn keep_prompt(&mut self, system: &str) -> Result<(), JournalError>;

    /// Keeps what has come of an answer that is still being written; nothing means it is over.
    fn keep_draft(&mut self, text: Option<&str>) -> Result<(), JournalError>;

    /// Takes this message and all after it out of the conversation; they stay on record.
    fn rewind(&mut self, to: RowId) -> Result<usize, JournalError>;

    /// Brings back what the last [`rewind`](Self::rewind) took, unless the conversation went on since. Gives the conversation
    /// as it is now.
    fn unrewind(&mut self) -> Result<Option<History>, JournalError>;

    /// Puts other messages in the place of these; they stay on record. Gives the conversation as it is now.
    fn compact(&mut self, hidden: &[RowId], inserted: &[Message]) -> Result<History, JournalError>;

    /// Takes the last [`compact`](Self::compact) back, if there was one.
    fn uncompact(&mut self) -> Result<Option<History>, JournalError>;
}

/// A message to write down.
#[derive(Debug, Clone, Copy)]
pub struct Said<'a> {
    /// The message.
    pub message: &'a Message,
    /// Why the answer ended, for answers.
    pub finish: Option<&'a Finish>,
    /// When.
    pub at: Timestamp,
}

/// A call to a model, as it is counted.
#[derive(Debug, Clone, Copy)]
pub struct Used<'a> {
    /// Who answered.
    pub provider: &'a str,
    /// Where.
    pub base_url: &'a str,
    /// Which model.
    pub model: &'a str,
    /// What it took.
    pub usage: Usage,
    /// What it cost.
    pub cost: Cost,
    /// What the call was for; nothing for the conversation itself.
    pub side_task: Option<&'a str>,
}

/// The conversation could not be kept. Nothing goes on without it.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the conversation cannot be {doing}: {reason}")]
pub struct JournalError {
    /// `written` or `read`.
    pub doing: &'static str,
    /// Why not, and what to do.
    pub reason: String,
}
