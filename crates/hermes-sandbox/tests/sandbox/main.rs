//! Backends against real engines and machines.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed test should stop")]

mod contract;
mod fixture;
