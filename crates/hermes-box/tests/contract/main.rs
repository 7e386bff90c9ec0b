//! What every agent must do, whether it runs inside of this process or as a program behind a socket.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, reason = "tests")]
#![allow(
    clippy::format_collect,
    clippy::items_after_statements,
    reason = "what is short reads best in a test"
)]

mod exec;
mod files;
mod jobs;
mod search;
mod world;
