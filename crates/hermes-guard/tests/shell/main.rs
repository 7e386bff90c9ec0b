//! The shell parser against bash itself.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod bash;
mod corpus;
mod grammar;
mod limits;
mod resolving;
mod round_trip;
mod syntax;
mod tracing;
