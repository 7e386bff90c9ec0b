//! Backends against real engines and machines.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed test should stop")]

mod broken_container;
mod broken_engine;
mod child;
mod contract;
mod fixture;
mod hostile;
mod lifecycle;
mod managing;
mod many_processes;
mod other_machine;
mod plain;
mod remote;
mod settings;
