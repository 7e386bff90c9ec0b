//! What may pass: redaction of secrets on the way out, orders of strangers on the way in.
//!
//! ```
//! use hermes_guard::{Policy, Redactor};
//!
//! let redactor = Redactor::new(["correct-horse-battery-9".to_owned()]);
//! let line = "login with correct-horse-battery-9 refused";
//! assert_eq!(redactor.redact(line, Policy::Log), "login with correc...ry-9 refused");
//! ```

pub mod injection;
mod mask;
mod redact;
mod secret;
mod secret_path;
pub mod url;

pub use mask::mask;
pub use redact::{Policy, Redactor, complete_prefix, is_secret_name};
pub use secret::Secret;
pub use secret_path::is_secret_path;
