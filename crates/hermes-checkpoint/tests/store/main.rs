//! Snapshots on real files with real git.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod boxed;
mod crashing;
mod keeping;
mod properties;
mod restoring;
mod support;
mod together;
