//! Boards with a real dispatcher, real guards and real workers.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod crashing;
mod project;
mod support;
