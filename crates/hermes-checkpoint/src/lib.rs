//! Snapshots of a workspace in a shadow git store, and going back to them.
//!
//! The store is laid out as the reference program lays it out (`checkpoints/store`, one ref for each directory), so that
//! either lists and restores what the other saved. What only we need (stat cache, whose a change was) stands in files of
//! our own beside it, and everything works without them.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed test should stop"))]

mod checkpoints;
mod diff;
mod error;
mod git;
mod housekeeping;
mod ignored;
mod import;
mod key;
mod limits;
mod list;
mod notes;
mod object;
mod plan;
mod restore;
mod store;
mod take;
mod tree;
mod walk;

pub use checkpoints::{Checkpoints, Place};
pub use diff::Difference;
pub use error::CheckpointError;
pub use git::Git;
pub use housekeeping::{Orphans, Pruned, Retention, Status, StatusOf};
pub use key::{Key, project_root};
pub use limits::{Limits, Skip};
pub use list::Snapshot;
pub use object::ObjectId;
pub use plan::{Change, Does, Whose};
pub use restore::{Mine, Plan, Restored, Wish};
pub use take::Taken;
pub use tree::{BoxTree, Contents, HostTree, Item, ItemKind, Stat, Tree, TreeError};
