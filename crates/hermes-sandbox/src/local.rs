//! This machine, as the user who runs us.

mod backend;
mod blocklist;
pub mod dirs;
pub mod env_filter;
mod jobs;
mod scratch;
mod shapes;

pub use backend::LocalBackend;
