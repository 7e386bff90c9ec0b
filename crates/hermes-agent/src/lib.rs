//! The agent: it asks the model, runs the tools it calls, keeps the conversation, and says what happens.

pub mod compaction;
pub mod context_files;
pub mod context_report;
pub mod control;
pub mod event;
pub mod history;
pub mod prompt;
pub mod references;
pub mod report;

pub use control::Control;
pub use event::{AgentEvent, OnAgentEvent};
pub use history::{Entry, History, RowId};
pub use report::{Outcome, Spending, TurnReport};
