//! Another machine, through the system's ssh.
//!
//! Ssh itself keeps one connection open and shares it; the user's configuration decides about hosts, keys and
//! jumps. We bring the box program along, once per version, and talk to it.

mod backend;
pub mod errors;
mod link;
mod options;

pub use backend::SshBackend;
