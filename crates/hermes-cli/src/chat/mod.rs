//! The interactive chat: `hermes` and `hermes chat`.
//!
//! Finished output is printed and scrolls away like that of any program; below it is a live area with what runs, the
//! input and a status line. Everything that decides is pure ([`app::Chat`], [`editor`], [`markdown`], [`transcript`],
//! [`panel`], [`live`]); [`run()`] connects it to a terminal. What answers is behind [`Conversation`].

pub mod app;
pub mod completer;
pub mod conversation;
pub mod editor;
mod figures;
mod from_settings;
pub mod live;
pub mod markdown;
pub mod message;
pub mod options;
pub mod panel;
pub mod paste;
mod run;
pub mod slash;
mod status_line;
pub mod term;
pub mod text;
pub mod transcript;

pub use conversation::{
    Approvals, Choice, CommandOutcome, Compress, Conversation, Events, Exchange, Inbox, Link, Request,
    Rollback, StatusFacts, UiRequest, UserInput, link,
};
pub use options::{Abilities, BusyInput, ChatOptions, Output, TerminalKind};
pub use run::{ChatError, Ended, EndedBy, Signals, Terminal, run};
