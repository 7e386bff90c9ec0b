//! The web as it is met: servers on this machine, names that lie, services that fail, pages of many kinds.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod any_page;
mod fetching;
mod names;
mod reading;
mod services;
mod settings;
