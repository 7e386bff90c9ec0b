//! What the agent can do: tools, how they are chosen, and what they may ask before they act.
//!
//! - [`tool`]: the trait, and what a run gets and gives back.
//! - [`gate`]: whether an action may happen, and who is asked.
//! - [`toolbox`]: the tools of one conversation.
//! - [`workplace`]: where the tools work; opened on first use.
//! - [`terminal`]: commands in that place.
//! - [`notifications`]: what background commands have to say between turns.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed test should stop"))]

pub mod gate;
pub mod notifications;
pub mod terminal;
mod text;
mod thread;
pub mod tool;
pub mod toolbox;
mod watch;
pub mod workplace;

pub use gate::{Action, Answerer, Gate, Question, Reply, Verdict};
pub use notifications::{News, Notification, Notifications};
pub use terminal::Terminal;
pub use tool::{Arguments, Progress, Report, Run, Running, Sharing, Tool, ToolOutput, Trust};
pub use toolbox::Toolbox;
pub use workplace::Workplace;
