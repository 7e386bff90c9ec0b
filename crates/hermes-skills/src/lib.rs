//! Skills and memory: what an agent keeps from one conversation to the next.
//!
//! - [`memory`]: the notes of MEMORY.md and USER.md, changed under a lock, all or nothing.
//! - [`skills`]: finding, reading and listing skills, and their place in the prompt.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed test should stop"))]

pub mod memory;
pub mod skills;
