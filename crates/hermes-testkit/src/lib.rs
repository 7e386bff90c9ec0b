//! What the tests share: throw-away homes, the real binary under a time limit, a scripted model server, a web
//! server, a container engine, a throw-away sshd and kill -9 helpers.
//!
//! Everything here is synchronous and made of threads, so that a test reads from top to bottom. Helpers panic
//! when they cannot do their job: inside a test that is the report.

#![allow(clippy::expect_used, reason = "a test helper that cannot do its job ends the test and says why")]

pub mod command;
pub mod crash;
mod debian;
pub mod engine;
pub mod home;
pub mod model;
pub mod need;
pub mod pages;
mod processes;
pub mod sshd;

pub use command::{End, Finished, Hermes, Running, wait_until};
pub use debian::MissingProgram;
pub use engine::{Engine, EngineKind, Image, PrivateEngine};
pub use home::TestHome;
pub use model::{Answer, ModelServer, Script};
pub use need::need;
pub use pages::{Page, PageServer, Visit};
pub use processes::Process;
pub use rustix::process::Signal;
pub use sshd::SshServer;
