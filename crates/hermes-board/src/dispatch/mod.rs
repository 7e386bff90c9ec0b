//! The dispatcher: looks at a board, decides what becomes of its cards, and does it.
//!
//! [`rules`] are the settings, read anew each time. [`snapshot`] is what a look at the board shows, [`plan`] decides what
//! should be done about it and changes nothing, [`apply`] does it. [`ended`] decides what becomes of a card when its
//! worker ended, whoever noticed it.

pub mod apply;
pub mod ended;
mod guard;
mod judge;
pub mod plan;
pub mod report;
pub mod rules;
pub mod snapshot;
pub mod why;

pub use apply::Launcher;
pub use ended::After;
pub use plan::{Elsewhere, Liveness, Plan, Signal, World, plan};
pub use report::Report;
pub use rules::Rules;
pub use snapshot::{Scope, Snapshot};
