//! Names of objects in the store, and the name a content would get there.

use std::fmt;

use sha1::{Digest, Sha1};

/// The name of a blob, tree or commit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId([u8; 20]);

impl ObjectId {
    /// The name git gives to a file with this content.
    pub fn of_blob(content: &[u8]) -> Self {
        let mut hasher = Sha1::new();
        hasher.update(format!("blob {}\0", content.len()));
        hasher.update(content);
        Self(hasher.finalize().into())
    }

    /// Reads 40 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() != 40 || !text.is_ascii() {
            return None;
        }
        let mut bytes = [0; 20];
        for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        }
        Some(Self(bytes))
    }

    /// Enough of it for people.
    pub fn short(self) -> String {
        self.to_string()[..8].to_owned()
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = [0; 40];
        for (pair, byte) in text.chunks_exact_mut(2).zip(self.0) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        f.write_str(std::str::from_utf8(&text).unwrap_or_default())
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Names, a line each.
pub(crate) fn lines(ids: impl Iterator<Item = ObjectId>) -> String {
    ids.fold(String::new(), |text, id| text + &id.to_string() + "\n")
}

/// What a snapshot says a file is; all that git keeps of a mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Mode {
    Plain,
    Executable,
    Link,
}

impl Mode {
    pub(crate) fn octal(self) -> &'static str {
        match self {
            Self::Plain => "100644",
            Self::Executable => "100755",
            Self::Link => "120000",
        }
    }

    /// `None` for what is no file: a repository inside a repository.
    pub(crate) fn parse(octal: &str) -> Option<Self> {
        match octal {
            "100755" => Some(Self::Executable),
            "120000" => Some(Self::Link),
            _ if octal.starts_with("100") => Some(Self::Plain),
            _ => None,
        }
    }
}

/// A file as a snapshot holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Blob {
    pub(crate) mode: Mode,
    pub(crate) id: ObjectId,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_get_the_names_git_gives_them() {
        // `git hash-object` of nothing and of "hello\n".
        assert_eq!(ObjectId::of_blob(b"").to_string(), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        assert_eq!(ObjectId::of_blob(b"hello\n").to_string(), "ce013625030ba8dba906f756967f9e9ca394464a");
    }

    #[test]
    fn names_are_read_back_and_nonsense_is_not() {
        let id = ObjectId::of_blob(b"x");
        assert_eq!(ObjectId::parse(&id.to_string()), Some(id));
        assert_eq!(ObjectId::parse("12"), None);
        assert_eq!(ObjectId::parse(&"g".repeat(40)), None);
        assert_eq!(ObjectId::parse(&"é".repeat(20)), None);
    }
}
