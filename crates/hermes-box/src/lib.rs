//! The box agent: commands, jobs and files behind one framed byte stream.

pub mod client;
pub mod daemon;
mod link;
pub mod local;
pub mod proto;
pub mod server;
pub mod shim;
mod sys;
