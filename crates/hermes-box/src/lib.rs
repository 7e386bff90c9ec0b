//! The box agent: commands, jobs and files behind one framed byte stream.

pub mod client;
mod link;
pub mod proto;
