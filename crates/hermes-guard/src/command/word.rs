//! A word of a command after everything that can be known about it was worked out.

/// A part of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// These very characters.
    Text(String),
    /// A pattern that stands for file names: `*`, `?` or a set in brackets.
    Glob(String),
    /// Something only the running shell knows.
    Unknown,
}

/// A word: its pieces in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Word(pub Vec<Piece>);

impl Word {
    /// A word that says what it means.
    pub fn known(text: impl Into<String>) -> Self {
        Self(vec![Piece::Text(text.into())])
    }

    /// A word nothing is known about.
    pub fn unknown() -> Self {
        Self(vec![Piece::Unknown])
    }

    /// Adds characters.
    pub fn push_text(&mut self, text: &str) {
        match self.0.last_mut() {
            Some(Piece::Text(last)) => last.push_str(text),
            _ => self.0.push(Piece::Text(text.to_owned())),
        }
    }

    /// Adds another word's pieces.
    pub fn push_word(&mut self, other: &Self) {
        for piece in &other.0 {
            match piece {
                Piece::Text(text) => self.push_text(text),
                piece => self.0.push(piece.clone()),
            }
        }
    }

    /// The text, if all of it is known. A pattern counts as it is written: it stands for files we cannot see.
    pub fn text(&self) -> Option<String> {
        self.0.iter().try_fold(String::new(), |mut text, piece| {
            match piece {
                Piece::Text(part) | Piece::Glob(part) => text.push_str(part),
                Piece::Unknown => return None,
            }
            Some(text)
        })
    }

    /// The text as far as it is known from the beginning.
    pub fn beginning(&self) -> String {
        let known = self.0.iter().map_while(|piece| match piece {
            Piece::Text(part) | Piece::Glob(part) => Some(part.as_str()),
            Piece::Unknown => None,
        });
        known.collect()
    }

    /// The text for people: `…` stands for what is not known.
    pub fn shown(&self) -> String {
        let part = |piece: &Piece| match piece {
            Piece::Text(part) | Piece::Glob(part) => part.clone(),
            Piece::Unknown => "…".to_owned(),
        };
        self.0.iter().map(part).collect()
    }

    /// How much it takes to keep it.
    pub(super) fn weight(&self) -> usize {
        let part = |piece: &Piece| match piece {
            Piece::Text(text) | Piece::Glob(text) => text.len() + 1,
            Piece::Unknown => 1,
        };
        self.0.iter().map(part).sum::<usize>() + 1
    }

    /// Whether a part is not known.
    pub fn has_unknown(&self) -> bool {
        self.0.contains(&Piece::Unknown)
    }

    /// Whether nothing at all is known.
    pub fn is_blank(&self) -> bool {
        self.has_unknown()
            && self.0.iter().all(|piece| match piece {
                Piece::Text(text) => text.is_empty(),
                Piece::Glob(_) => false,
                Piece::Unknown => true,
            })
    }

    /// Whether it is the empty text.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|piece| matches!(piece, Piece::Text(text) if text.is_empty()))
    }

    /// Without this many characters of known text at the beginning.
    pub fn without_prefix(&self, prefix: &str) -> Option<Self> {
        let (first, rest) = self.0.split_first()?;
        let Piece::Text(text) = first else { return None };
        let text = text.strip_prefix(prefix)?;
        let mut word = Self::default();
        if !text.is_empty() {
            word.push_text(text);
        }
        word.0.extend(rest.iter().cloned());
        Some(word)
    }

    /// The word cut at each `/` that is certain.
    pub fn split_slashes(&self) -> Vec<Self> {
        let mut parts = vec![Self::default()];
        for piece in &self.0 {
            let Piece::Text(text) = piece else {
                if let Some(last) = parts.last_mut() {
                    last.0.push(piece.clone());
                }
                continue;
            };
            for (place, part) in text.split('/').enumerate() {
                if place > 0 {
                    parts.push(Self::default());
                }
                if let Some(last) = parts.last_mut().filter(|_| !part.is_empty()) {
                    last.push_text(part);
                }
            }
        }
        parts
    }

    /// Whether the word, read as a pattern, fits this name. What is not known fits nothing.
    pub fn may_be(&self, name: &str) -> bool {
        if self.has_unknown() {
            return false;
        }
        let pattern: String = self
            .0
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => super::glob::escape(text),
                Piece::Glob(glob) => glob.clone(),
                Piece::Unknown => String::new(),
            })
            .collect();
        super::glob::matches_exactly(&pattern, name)
    }

    /// Whether it is a pattern.
    pub fn has_glob(&self) -> bool {
        self.0.iter().any(|piece| matches!(piece, Piece::Glob(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slashes_cut_words() {
        let mut word = Word::known("/usr/");
        word.0.push(Piece::Glob("*".into()));
        word.push_text("/x");
        let parts: Vec<String> = word.split_slashes().iter().map(Word::shown).collect();
        assert_eq!(parts, ["", "usr", "*", "x"]);
    }

    #[test]
    fn patterns_fit_names_and_the_unknown_fits_none() {
        let mut word = Word::known("e");
        word.0.push(Piece::Glob("*".into()));
        assert!(word.may_be("etc") && !word.may_be("usr"));
        assert!(Word::known("[x]").may_be("[x]"));
        assert!(!Word::unknown().may_be("etc"));
    }
}
