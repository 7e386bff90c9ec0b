//! The dispatcher on a board on disk, with workers that exist only in the test.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod assignees;
mod breaker;
mod caps;
mod defects;
mod dry;
mod endings;
mod expiry;
mod fixture;
mod guards;
mod many;
mod review;
mod rules;
mod why;
