//! Sessions, as a program uses them.
#![allow(clippy::unwrap_used, reason = "a test")]

mod indexing;
mod listing;
mod searching;
mod spending;
mod support;
mod taking_back;
mod talking;
mod upgrading;
