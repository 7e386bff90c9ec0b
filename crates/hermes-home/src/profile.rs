//! Profile names: a profile is a home of its own below `<root>/profiles`, and `default` is the root itself.

use std::fmt;
use std::path::{Path, PathBuf};

/// Names that would shadow a common command or the root profile.
pub const RESERVED: &[&str] = &["hermes", "default", "test", "tmp", "root", "sudo"];

const MAX_LEN: usize = 64;

/// A checked profile name: `[a-z0-9][a-z0-9_-]{0,63}`, so it is safe as a directory and command name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProfileName(String);

/// Why a profile name was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// The name breaks the rule for profile names.
    #[error(
        "\"{0}\" is not a profile name: use 1 to {MAX_LEN} lower-case letters, digits, '-' or '_', starting with a letter or digit"
    )]
    Malformed(String),
    /// The name is kept for something else.
    #[error("\"{0}\" is a reserved name: choose another one")]
    Reserved(String),
}

impl ProfileName {
    /// Checks the shape only; existing directories with a reserved name stay reachable.
    pub fn parse(name: &str) -> Result<Self, NameError> {
        let first = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let rest = |c: char| first(c) || c == '-' || c == '_';
        let well_formed =
            name.len() <= MAX_LEN && name.chars().next().is_some_and(first) && name.chars().all(rest);
        if well_formed { Ok(Self(name.to_owned())) } else { Err(NameError::Malformed(name.to_owned())) }
    }

    /// Checks a name for a new profile: well formed and not reserved.
    pub fn parse_new(name: &str) -> Result<Self, NameError> {
        if RESERVED.contains(&name) {
            return Err(NameError::Reserved(name.to_owned()));
        }
        Self::parse(name)
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ProfileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Which profile a home belongs to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Profile {
    /// The root home itself.
    Default,
    /// A home below `<root>/profiles`.
    Named(ProfileName),
}

impl Profile {
    /// Reads a name as a user types it; `default` is the root.
    pub fn parse(name: &str) -> Result<Self, NameError> {
        if name == "default" { Ok(Self::Default) } else { ProfileName::parse(name).map(Self::Named) }
    }

    /// The name as a user types it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Default => "default",
            Self::Named(name) => name.as_str(),
        }
    }

    /// Where this profile lives below `root`.
    pub fn dir(&self, root: &Path) -> PathBuf {
        match self {
            Self::Default => root.to_path_buf(),
            Self::Named(name) => root.join("profiles").join(name.as_str()),
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_rule() {
        for good in ["a", "0", "work", "a-b_c", &"x".repeat(64)] {
            assert!(ProfileName::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "-a", "_a", "A", "a b", "a/b", "..", "ä", "a.b", &"x".repeat(65)] {
            assert!(ProfileName::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn reserved_names_cannot_be_created() {
        for name in RESERVED {
            assert_eq!(ProfileName::parse_new(name), Err(NameError::Reserved((*name).to_owned())));
        }
    }

    #[test]
    fn default_is_the_root_itself() {
        let root = Path::new("/r");
        assert_eq!(Profile::parse("default").map(|p| p.dir(root)), Ok(PathBuf::from("/r")));
        assert_eq!(Profile::parse("work").map(|p| p.dir(root)), Ok(PathBuf::from("/r/profiles/work")));
    }
}
