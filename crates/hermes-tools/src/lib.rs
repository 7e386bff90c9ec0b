//! What the agent can do: tools, how they are chosen, and what they may ask before they act.
//!
//! - [`tool`]: the trait, and what a run gets and gives back.
//! - [`gate`]: whether an action may happen, and who is asked.
//! - [`toolbox`]: the tools of one conversation.
//! - [`toolsets`]: tools by name, and which are on.
//! - [`names`], [`arguments`]: calls as models write them, put right.
//! - [`limits`]: how long results may be.
//! - [`workplace`]: where the tools work; opened on first use.
//! - [`terminal`], [`process`]: commands in that place.
//! - [`code`]: scripts that call tools.
//! - [`catalog`]: all tools.
//! - [`notifications`]: what background commands have to say between turns.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed test should stop"))]

pub mod arguments;
pub mod catalog;
pub mod code;
pub mod gate;
pub mod limits;
mod line;
pub mod names;
pub mod notifications;
pub mod process;
pub mod terminal;
mod text;
mod thread;
pub mod tool;
pub mod toolbox;
pub mod toolsets;
mod watch;
pub mod workplace;

pub use code::ExecuteCode;
pub use gate::{Action, Answerer, Gate, Question, Reply, Verdict};
pub use notifications::{News, Notification, Notifications};
pub use process::Process;
pub use terminal::Terminal;
pub use tool::{
    Arguments, Availability, Moment, Progress, Report, Run, Running, Sharing, Tool, ToolOutput, Trust,
};
pub use toolbox::Toolbox;
pub use workplace::Workplace;
