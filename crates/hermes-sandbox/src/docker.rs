//! Containers of docker and podman, driven through the engine's own command.

pub mod args;
pub mod belongs;
pub mod cleanup;
pub mod cli;
pub mod decide;
pub mod drift;
pub mod errors;
pub mod identity;
pub mod image;
pub mod info;
pub mod inspect;
pub mod labels;
pub mod mounts;
pub mod reclaim;
pub mod spec;
pub mod sweep;
pub mod workdir;

#[cfg(test)]
mod args_tests;
#[cfg(test)]
mod decide_tests;
#[cfg(test)]
mod fake;
#[cfg(test)]
mod sample;
#[cfg(test)]
mod sweep_tests;
