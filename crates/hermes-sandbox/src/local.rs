//! This machine, as the user who runs us.

mod blocklist;
pub mod dirs;
pub mod env_filter;
