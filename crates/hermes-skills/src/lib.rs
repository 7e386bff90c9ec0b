//! Skills and memory: what an agent keeps from one conversation to the next.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed test should stop"))]
