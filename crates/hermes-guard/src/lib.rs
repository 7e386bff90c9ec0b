//! What may pass: redaction of secrets.
//!
//! ```
//! use hermes_guard::{Policy, Redactor};
//!
//! let redactor = Redactor::new(["correct-horse-battery-9".to_owned()]);
//! let line = "login with correct-horse-battery-9 refused";
//! assert_eq!(redactor.redact(line, Policy::Log), "login with correc...ry-9 refused");
//! ```

mod mask;
mod redact;
mod secret;

pub use mask::mask;
pub use redact::{Policy, Redactor, complete_prefix, is_secret_name};
pub use secret::Secret;
