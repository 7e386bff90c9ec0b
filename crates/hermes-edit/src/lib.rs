//! Edits of text: finding what is meant, patches of several files, differences, syntax checks.
//!
//! - [`replace`]: one text for another, matched exactly or by one of eight forgiving rules;
//! - [`v4a`]: patches of several files, planned as a whole before anything is written;
//! - [`diff`]: the unified difference of two texts;
//! - [`check`]: whether JSON, YAML and TOML still parse after a change;
//! - [`ratio`]: how alike two texts are.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed test should stop"))]

pub mod check;
pub mod diff;
pub mod ratio;
pub mod replace;
pub mod v4a;

pub use check::{Problem, Verdict, check, check_change, is_checked};
pub use diff::{common_ends, unified};
pub use ratio::ratio;
pub use replace::{Occurrences, ReplaceError, Replaced, Strategy, replace};
pub use v4a::{Change, Patch, PatchError};
