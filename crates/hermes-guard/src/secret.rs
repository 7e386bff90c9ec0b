//! A string that cannot be printed by accident.

use std::fmt;
use std::hint::black_box;

use crate::mask::mask;

/// A secret value. `Debug` and `Display` show it masked; [`Secret::expose`] is the one way to the text,
/// so that every use of a real secret can be found by searching for that word.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret value.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The secret itself. Never pass it to a log, an error or a command line.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether there is nothing in it, as with a variable that is set to the empty string.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Compares in time that depends only on the candidate's length, so that an attacker who can measure answers learns
    /// nothing about how much of a guess was right.
    pub fn matches(&self, candidate: &str) -> bool {
        let (ours, theirs) = (self.0.as_bytes(), candidate.as_bytes());
        let mut difference = usize::from(ours.len() != theirs.len());
        for (index, byte) in theirs.iter().enumerate() {
            // A longer candidate is compared with itself once ours runs out: same work, already unequal.
            let other = ours.get(index).unwrap_or(byte);
            difference |= usize::from(black_box(byte ^ other));
        }
        black_box(difference) == 0
    }
}

/// Compared as [`Secret::matches`] does, so that no comparison tells more than its result.
impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.matches(&other.0)
    }
}

impl Eq for Secret {}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({})", mask(&self.0))
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&mask(&self.0))
    }
}

impl From<String> for Secret {
    fn from(value: String) -> Self {
        Self(value)
    }
}

impl From<&str> for Secret {
    fn from(value: &str) -> Self {
        Self(value.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::Secret;

    #[test]
    fn printing_masks_and_expose_does_not() {
        let secret = Secret::new("fake-0123456789-abcdef");
        assert_eq!(format!("{secret}"), "fake-0...cdef");
        assert_eq!(format!("{secret:?}"), "Secret(fake-0...cdef)");
        assert_eq!(format!("{:?}", Secret::new("short")), "Secret(***)");
        assert_eq!(secret.expose(), "fake-0123456789-abcdef");
    }

    #[test]
    fn matches_only_the_same_text() {
        let secret = Secret::new("abc");
        assert!(secret.matches("abc"));
        for other in ["", "ab", "abd", "abcd", "ABC"] {
            assert!(!secret.matches(other), "{other}");
        }
        assert!(secret == Secret::new("abc") && secret != Secret::new("abd"));
        assert!(Secret::new("").matches(""));
        assert!(!Secret::new("").matches("a"));
    }
}
