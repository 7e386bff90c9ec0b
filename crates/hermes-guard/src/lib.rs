//! What may pass: commands before they run, redaction of secrets on the way out, orders of strangers on the way in.
//!
//! ```
//! use hermes_guard::{Policy, Redactor};
//!
//! let redactor = Redactor::new(["correct-horse-battery-9".to_owned()]);
//! let line = "login with correct-horse-battery-9 refused";
//! assert_eq!(redactor.redact(line, Policy::Log), "login with correc...ry-9 refused");
//! ```

pub mod command;
pub mod injection;
mod mask;
pub mod path;
mod protected;
mod redact;
mod secret;
mod secret_path;
pub mod shell;
pub mod url;

pub use mask::{mask, sentinels};
pub use redact::{Policy, Redactor, complete_prefix, is_secret_name};
pub use secret::Secret;
pub use secret_path::{is_secret_file_name, is_secret_path};
