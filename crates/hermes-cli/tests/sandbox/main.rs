//! `hermes sandbox` as a user runs it: the real binary, this machine and a real container engine.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod containers;
mod here;
mod support;
