//! Containers of docker and podman, driven through the engine's own command.

mod adopt;
pub mod args;
pub mod attach;
mod backend;
pub mod belongs;
pub mod cleanup;
pub mod cli;
mod connect;
mod create;
pub mod decide;
pub mod drift;
mod ensure;
pub mod errors;
pub mod housekeeping;
pub mod identity;
pub mod image;
pub mod info;
pub mod inspect;
pub mod labels;
mod maker;
mod memory;
mod mend;
pub mod mounts;
mod points;
pub mod reclaim;
mod revive;
pub mod site;
pub mod spec;
pub mod sweep;
pub mod targets;
mod volume;
mod wanted;
pub mod workdir;

pub use backend::{DockerBackend, identity};
pub use connect::in_words;
pub use maker::Place;

#[cfg(test)]
mod args_tests;
#[cfg(test)]
mod decide_tests;
#[cfg(test)]
mod fake;
#[cfg(test)]
mod lifecycle_tests;
#[cfg(test)]
mod sample;
#[cfg(test)]
mod sweep_tests;
