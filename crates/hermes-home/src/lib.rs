//! The home directory: where it is, which profile is active, what it is set to, and what it logs.
//!
//! - [`home`]: finding the home and the active profile.
//! - [`profile`]: profile names and where profiles live.
//! - [`profiles`]: listing, making, moving, packing and removing profiles.
//! - [`files`]: atomic writes, private modes and locks, the only way files in a home are written.
//! - [`settings`]: the one table of settings, loading, explaining and changing them.
//! - [`yaml`]: reading and editing YAML with line numbers and without losing comments.
//! - [`logging`]: writing, rotating and reading the log files.

pub mod files;
pub mod home;
pub mod logging;
pub mod profile;
pub mod profiles;
pub mod settings;
pub mod yaml;

pub use home::{Home, HomeError, Locator};
pub use profile::{Profile, ProfileName};
pub use settings::Settings;
