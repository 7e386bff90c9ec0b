//! Shells: which one, what it is told, and what is carried from one to the next.

pub(crate) mod dump;
pub(crate) mod find;
pub(crate) mod quote;
pub(crate) mod script;
pub(crate) mod state;
pub(crate) mod store;
