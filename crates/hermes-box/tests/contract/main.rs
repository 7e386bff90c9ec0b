//! What every agent must do, whether it runs inside of this process or as a program behind a socket.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, reason = "tests")]

mod exec;
mod world;
