//! The tools on real places: this machine, and a container where there is an engine.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed test should stop")]

mod background;
mod clarify;
mod code;
mod files;
mod fixture;
mod kanban;
mod memory;
mod orders;
mod process;
mod results;
mod rooms;
mod services;
mod session_search;
mod settings;
mod skills;
mod terminal;
mod todo;
mod web;
