//! What the agent can do: tools, how they are chosen, and what they may ask before they act.
//!
//! - [`tool`]: the trait, and what a run gets and gives back.
//! - [`gate`]: whether an action may happen, and who is asked.
//! - [`toolbox`]: the tools of one conversation.
//! - [`toolsets`]: tools by name, and which are on.
//! - [`names`], [`arguments`]: calls as models write them, put right.
//! - [`limits`]: how long results may be; [`masked`]: results without secrets.
//! - [`workplace`]: where the tools work; opened on first use.
//! - [`terminal`], [`process`]: commands in that place.
//! - [`file`]: files in that place.
//! - [`web`]: searching the web and reading its pages; [`vision`]: looking at pictures.
//! - [`memory`], [`session_search`], [`skills`], [`todo`]: what the agent keeps, and finds again.
//! - [`clarify`], [`send_message`], [`cronjob`]: people, and other times.
//! - [`kanban`]: cards of a board.
//! - [`code`]: scripts that call tools.
//! - [`catalog`]: all tools.
//! - [`notifications`]: what background commands have to say between turns.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed test should stop"))]

pub mod arguments;
pub mod catalog;
pub mod clarify;
pub mod code;
pub mod cronjob;
mod fields;
pub mod file;
pub mod gate;
pub mod kanban;
pub mod limits;
mod line;
pub mod masked;
pub mod memory;
pub mod names;
pub mod notifications;
mod orders;
pub mod process;
pub mod send_message;
pub mod session_search;
pub mod skills;
pub mod terminal;
mod text;
mod thread;
pub mod todo;
pub mod tool;
pub mod toolbox;
pub mod toolsets;
pub mod vision;
mod watch;
pub mod web;
pub mod workplace;

pub use clarify::{Clarify, NobodyThere};
pub use code::ExecuteCode;
pub use cronjob::{Cronjob, Schedule};
pub use gate::{Action, Answerer, Gate, Offer, Question, Reply, Verdict, Words};
pub use memory::Memory;
pub use notifications::{News, Notification, Notifications};
pub use process::Process;
pub use send_message::{Post, SendMessage};
pub use session_search::SessionSearch;
pub use skills::{SkillView, SkillsList};
pub use terminal::Terminal;
pub use todo::Todo;
pub use tool::{
    Arguments, Availability, Moment, Progress, Report, Run, Running, Sharing, Tool, ToolOutput, Trust,
};
pub use toolbox::Toolbox;
pub use vision::{Eyes, Look, Vision};
pub use web::{Web, WebExtract, WebSearch};
pub use workplace::Workplace;
