//! The settings: declared once in [`table`], read with one precedence everywhere.
//!
//! Precedence: command-line flag, real environment, `$HERMES_HOME/.env`, config.yaml, default.

mod apply;
mod check;
pub mod dotenv;
mod explain;
mod load;
mod nearest;
mod show;
mod spec;
mod store;
pub mod table;
mod value;

#[cfg(test)]
mod tests;

pub use apply::{Change, apply};
pub use check::{Finding, Severity, check};
pub use explain::{Explanation, explain};
pub use load::{LoadError, Origin, Resolved, SettingError, Settings, Sources, looks_secret};
pub use nearest::nearest;
pub use show::{docs_markdown, masked, masked_text, shown};
pub use spec::{Def, Effect, FromValue, Kind, Place, Preset, Spec};
pub use store::{Changed, StoreError, edit_config, edit_env, is_variable, set, unknown, unset};
pub use table::{all, find, sections};
