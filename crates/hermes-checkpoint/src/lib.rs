//! Snapshots of a workspace in a shadow git store, and going back to them.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed test should stop"))]
