//! The tools on real places: this machine, and a container where there is an engine.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed test should stop")]

mod background;
mod code;
mod fixture;
mod process;
mod results;
mod settings;
mod terminal;
