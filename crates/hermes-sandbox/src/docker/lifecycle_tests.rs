//! The lifecycle against a recorded engine: exactly which commands are given, and which are not.

mod cleanup;
mod create;
mod drift;
mod fixture;
mod memory;
mod reuse;
