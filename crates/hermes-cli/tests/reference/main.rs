//! One home, one engine, two programs: what ours makes the Python program uses, and the other way round.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod backup;
mod checkpoints;
mod config;
mod containers;
mod dispatchers;
mod kanban;
mod knowledge;
mod profiles;
mod sessions;
mod support;
