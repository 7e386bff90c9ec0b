//! Whether a note belongs into every later prompt.

use std::fmt;

use hermes_guard::injection::{self, Family};

/// Why a note does not belong there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suspicion {
    /// It reads like an order to the model.
    Reads(Family),
    /// It holds characters that nobody sees.
    Invisible,
}

/// Looks at a note before it is kept. Facts pass, also about keys and dangerous things; orders do not.
pub fn suspicion(text: &str) -> Option<Suspicion> {
    let seen = injection::disarm(text);
    match seen.findings.first() {
        Some(finding) => Some(Suspicion::Reads(finding.family)),
        None => (seen.invisible > 0).then_some(Suspicion::Invisible),
    }
}

impl fmt::Display for Suspicion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reads(family) => f.write_str(family.describe()),
            Self::Invisible => f.write_str("holds characters that nobody can see"),
        }
    }
}
