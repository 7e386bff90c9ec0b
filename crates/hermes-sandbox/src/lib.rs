//! Where commands run: one place per scope, made on demand, found again, healed and taken away.
//!
//! A backend only knows three things: how to make sure the place exists, how to open a byte stream to the
//! box agent in it, and how to dispose of it. Everything else is the agent's business (`hermes-box`).
//!
//! The container backend decides with pure functions (`docker::decide`, `docker::drift`, `docker::sweep`,
//! `docker::reclaim`) and acts in thin ones (`docker::ensure`, `docker::cleanup`).

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed test should stop"))]

mod agent_command;
pub mod backend;
pub mod config;
pub mod context;
mod digest;
pub mod docker;
pub mod error;
mod files;
pub mod forward;
pub mod from_settings;
mod host;
mod install;
pub mod local;
pub mod manage;
pub mod managed;
pub mod notice;
pub mod plain;
pub mod plan;
pub mod pool;
pub mod program;
mod registry;
pub mod sandbox;
pub mod scope;
pub mod seen;
pub mod ssh;

#[cfg(test)]
mod testing;
