//! The agent: it asks the model, runs the tools it calls, keeps the conversation, and says what happens.

pub mod agent;
pub mod assembly;
pub mod checkpoints;
pub mod compaction;
pub mod context_files;
pub mod context_report;
pub mod control;
pub mod delegation;
pub mod event;
pub mod history;
pub mod journal;
pub mod prompt;
pub mod references;
pub mod report;
pub mod shorten;
mod titles;
pub mod triage;
pub mod turn;

pub use agent::{Agent, Clock, Parts, Rules, Step};
pub use control::Control;
pub use event::{AgentEvent, CallStatus, Level, OnAgentEvent};
pub use history::{Entry, History, RowId};
pub use journal::{Journal, JournalError, MemoryJournal, SharedStore, StoreJournal, StoreLedger};
pub use report::{Cause, Outcome, Spending, TurnReport};
