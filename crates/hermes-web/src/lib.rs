//! The web for an agent: fetching within a policy, pages as readable text, search.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed test should stop"))]

pub mod html;
