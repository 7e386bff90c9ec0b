//! The parts of the `hermes` command that examples and tests drive without the command: the interactive chat.

pub mod chat;
