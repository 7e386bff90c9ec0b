//! Finds the references in a message.

use std::num::NonZeroUsize;

/// Most commits `@git:n` attaches.
const MOST_COMMITS: u8 = 10;

/// A reference as it stands in the message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// What it refers to.
    pub target: Target,
    /// As it was written.
    pub raw: String,
}

/// What a reference refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A file or some of its lines.
    File {
        /// The path as written.
        path: String,
        /// Which lines; nothing for all.
        lines: Option<Lines>,
    },
    /// A list of what is in a folder.
    Folder(String),
    /// Changes that are not staged.
    Diff,
    /// Changes that are.
    Staged,
    /// The last commits.
    Commits(u8),
    /// A page of the web.
    Url(String),
}

/// A range of lines, counted from one, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lines {
    /// The first.
    pub first: NonZeroUsize,
    /// The last.
    pub last: NonZeroUsize,
}

/// Every reference of a message, in order.
pub fn parse(message: &str) -> Vec<Reference> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = message[from..].find('@').map(|at| from + at) {
        from = at + 1;
        // Part of an address or a longer word: `ada@file.example`.
        if message[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '/') {
            continue;
        }
        if let Some((target, length)) = reference(&message[from..]) {
            found.push(Reference { target, raw: message[at..from + length].to_owned() });
            from += length;
        }
    }
    found
}

/// The reference that a text behind an `@` begins with, and how long it is.
fn reference(text: &str) -> Option<(Target, usize)> {
    let word: &str = &text[..text.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(text.len())];
    let rest = &text[word.len()..];
    let ends = !rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '-' | '/'));
    match word {
        "diff" if ends => Some((Target::Diff, word.len())),
        "staged" if ends => Some((Target::Staged, word.len())),
        "file" | "folder" | "git" | "url" => {
            let (value, lines, length) = value(rest.strip_prefix(':')?)?;
            let target = match word {
                "file" => Target::File { path: value, lines },
                "folder" => Target::Folder(value),
                "git" => Target::Commits(value.parse().unwrap_or(1).clamp(1, MOST_COMMITS)),
                _ => Target::Url(value),
            };
            Some((target, word.len() + 1 + length))
        }
        _ => None,
    }
}

/// A value, quoted or not, its range of lines, and how much of the text they take.
fn value(text: &str) -> Option<(String, Option<Lines>, usize)> {
    if let Some(quote) = text.chars().next().filter(|c| matches!(c, '"' | '\'' | '`')) {
        let inside = &text[1..];
        let end = inside.find([quote, '\n']).filter(|end| inside[*end..].starts_with(quote))?;
        let after = &inside[end + 1..];
        let range: &str = match after.strip_prefix(':') {
            Some(range) => {
                &range[..range.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(range.len())]
            }
            None => "",
        };
        let lines = lines(range);
        let length = end + 2 + lines.map_or(0, |_| range.len() + 1);
        return (end > 0).then(|| (inside[..end].to_owned(), lines, length));
    }
    let whole = &text[..text.find(char::is_whitespace).unwrap_or(text.len())];
    // `@folder:.` and `@folder:..` are all dots.
    let whole = if whole.bytes().all(|byte| byte == b'.') { whole } else { without_punctuation(whole) };
    if whole.is_empty() {
        return None;
    }
    if let Some((path, range)) = whole.rsplit_once(':')
        && let Some(lines) = lines(range)
        && !path.is_empty()
    {
        return Some((path.to_owned(), Some(lines), whole.len()));
    }
    Some((whole.to_owned(), None, whole.len()))
}

/// Sentences end behind references too. A bracket is only taken off if it was not opened inside.
fn without_punctuation(mut word: &str) -> &str {
    loop {
        let shorter = word.trim_end_matches([',', '.', ';', '!', '?']);
        let shorter = match shorter.strip_suffix(')') {
            Some(inside) if !inside.contains('(') => inside,
            _ => shorter,
        };
        if shorter.len() == word.len() {
            return word;
        }
        word = shorter;
    }
}

/// `12` or `12-40`.
fn lines(range: &str) -> Option<Lines> {
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    Some(Lines { first: first.parse().ok()?, last: last.parse().ok()? })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use proptest::prelude::*;

    fn one(message: &str) -> (Target, String) {
        let mut found = parse(message);
        assert_eq!(found.len(), 1, "{message}");
        let Reference { target, raw } = found.remove(0);
        (target, raw)
    }

    fn file(path: &str, range: Option<(usize, usize)>) -> Target {
        let lines = range.map(|(first, last)| Lines {
            first: NonZeroUsize::new(first).unwrap(),
            last: NonZeroUsize::new(last).unwrap(),
        });
        Target::File { path: path.into(), lines }
    }

    #[test]
    fn references_are_read_as_people_write_them() {
        for (message, target, raw) in [
            ("look at @file:src/main.rs, please", file("src/main.rs", None), "@file:src/main.rs"),
            ("(@file:a.rs:3-9)", file("a.rs", Some((3, 9))), "@file:a.rs:3-9"),
            ("@file:a.rs:7.", file("a.rs", Some((7, 7))), "@file:a.rs:7"),
            ("@file:\"my notes.md\":2 now", file("my notes.md", Some((2, 2))), "@file:\"my notes.md\":2"),
            ("@file:`x y`", file("x y", None), "@file:`x y`"),
            ("@file:C:odd", file("C:odd", None), "@file:C:odd"),
            ("@file:a(1).txt", file("a(1).txt", None), "@file:a(1).txt"),
            ("@folder:src/", Target::Folder("src/".into()), "@folder:src/"),
            ("@folder:.", Target::Folder(".".into()), "@folder:."),
            ("see @diff!", Target::Diff, "@diff"),
            ("@staged", Target::Staged, "@staged"),
            ("@git:3", Target::Commits(3), "@git:3"),
            ("@git:99", Target::Commits(10), "@git:99"),
            (
                "@url:https://x.example/a?b",
                Target::Url("https://x.example/a?b".into()),
                "@url:https://x.example/a?b",
            ),
        ] {
            assert_eq!(one(message), (target, raw.to_owned()), "{message}");
        }
    }

    #[test]
    fn other_at_signs_are_left_alone() {
        for message in [
            "ada@file:x",
            "@different",
            "@diff-tool",
            "@file:",
            "@file: x",
            "@files:x",
            "@",
            "@@",
            "git@git:x",
            "@Diff",
        ] {
            assert!(parse(message).is_empty(), "{message}: {:?}", parse(message));
        }
    }

    proptest! {
        #[test]
        fn any_message_can_be_read(message in "[@a-z:`\"'\\-0-9é .(),\n]{0,60}") {
            for reference in parse(&message) {
                prop_assert!(message.contains(&reference.raw) && reference.raw.starts_with('@'));
            }
        }
    }
}
