//! Talking to the agent as a user does: the real binary, a scripted model server, real commands, a real terminal.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod answering;
mod chatting;
mod checkpoints;
mod consent;
mod crashing;
mod delegating;
mod failing;
mod files;
mod flags;
mod growing;
mod interrupting;
mod keeping;
mod querying;
mod resuming;
mod showing;
mod support;
mod surroundings;
#[path = "../models/terminal.rs"]
mod terminal;
mod web;
mod worktrees;
