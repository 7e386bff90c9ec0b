//! Names of boards, as they are on disk.

use std::fmt;

/// A board's name: what its directory is called.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slug(String);

/// Longest name.
const LONGEST: usize = 64;

/// A text that cannot be a board's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{0}\" cannot be the name of a board: use up to 64 lower-case letters, digits, \"-\" and \"_\", beginning with a letter or digit"
)]
pub struct BadSlug(pub String);

impl Slug {
    /// The board that is always there.
    pub fn default_board() -> Self {
        Self("default".to_owned())
    }

    /// Reads a name; case and blanks around it do not matter.
    pub fn parse(text: &str) -> Result<Self, BadSlug> {
        let name = text.trim().to_lowercase();
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
        let begins = name.starts_with(|c: char| c.is_ascii_alphanumeric());
        if begins && name.len() <= LONGEST && name.chars().all(fits) {
            Ok(Self(name))
        } else {
            Err(BadSlug(text.to_owned()))
        }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is the board that is always there.
    pub fn is_default(&self) -> bool {
        self.0 == "default"
    }

    /// The name as a title, for a board that was given none.
    pub fn as_title(&self) -> String {
        let word = |word: &str| {
            let mut letters = word.chars();
            letters
                .next()
                .map_or_else(String::new, |first| first.to_uppercase().collect::<String>() + letters.as_str())
        };
        self.0.split(['-', '_']).filter(|part| !part.is_empty()).map(word).collect::<Vec<_>>().join(" ")
    }
}

impl fmt::Display for Slug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_put_in_order_or_refused() {
        assert_eq!(Slug::parse(" My-Board_2 ").unwrap().as_str(), "my-board_2");
        assert_eq!(Slug::parse("my-board_2").unwrap().as_title(), "My Board 2");
        for bad in ["", " ", "-a", "_archived", "a b", "ä", "a/b", "..", &"a".repeat(65)] {
            assert!(Slug::parse(bad).is_err(), "{bad}");
        }
        assert!(Slug::parse(&"a".repeat(64)).is_ok());
    }
}
