//! Edits of text: finding what is meant, patches of several files, differences.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed test should stop"))]
