//! Making a long conversation shorter without losing it: pure functions, the loop makes the call and the journal keeps.
//!
//! [`when::decide`] says whether it is time. [`plan`](fn@plan) divides the conversation into a head and a tail that stay and a
//! middle that a summary will stand for. [`summary_request`] asks for the summary, [`apply`] says which rows it hides and
//! what is put in their place. When the summary fails nothing changes; [`prune_only`] then still makes old tool output
//! short. Hidden rows stay on record: they can be searched and brought back.

mod apply;
mod estimate;
mod groups;
mod plan;
mod prune;
mod render;
mod request;
mod settings;
mod summary;
pub mod when;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod testing;

pub use apply::{Rejected, Replacement, apply, prune_only};
pub use estimate::{Estimator, message_bytes, request_bytes, tools_bytes};
pub(crate) use estimate::{content_bytes, part_bytes};
pub use plan::{Keep, Limits, NothingToDo, Plan, Preview, plan};
pub use request::{SummaryTask, summary_request};
pub use settings::CompactionConfig;
pub use summary::{Summary, is_summary};
pub use when::{Decision, Health, SummaryFailure, Urgency};
