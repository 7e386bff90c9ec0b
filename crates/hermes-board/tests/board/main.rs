//! A board on disk, used as people and workers use it.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod attachments;
mod damage;
mod fixture;
mod lifecycle;
mod links;
mod many;
mod places;
mod races;
mod triage;
mod workspaces;
