//! What can follow at the cursor: slash commands, their arguments, paths.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::slash::Commands;

/// One thing that could stand there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// What is inserted.
    pub text: String,
    /// A word about it.
    pub detail: String,
}

/// What could stand in a stretch of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// The stretch that is replaced.
    pub range: Range<usize>,
    /// What could stand there, best first.
    pub candidates: Vec<Candidate>,
}

/// Where paths are relative to.
#[derive(Debug, Clone)]
pub struct Places {
    /// The working directory.
    pub cwd: PathBuf,
    /// For `~`.
    pub user_home: PathBuf,
}

/// A directory with more entries is not listed whole.
const MOST_ENTRIES: usize = 2000;
/// More candidates help nobody.
const MOST_CANDIDATES: usize = 200;

/// Completes at the cursor. `suggest` gives the conversation's words for a command.
pub fn complete(
    text: &str,
    cursor: usize,
    commands: &Commands,
    places: &Places,
    suggest: impl Fn(&str) -> Vec<String>,
) -> Option<Completion> {
    let head = &text[..cursor];
    if let Some(rest) = head.strip_prefix('/') {
        match rest.split_once(' ') {
            None if !rest.contains(['/', '\n']) => return names(rest, commands, cursor),
            Some((name, args)) => {
                if let Some(found) = arguments(name, args, commands, places, cursor, suggest) {
                    return Some(found);
                }
            }
            None => {}
        }
    }
    path_at(head, places)
}

fn names(typed: &str, commands: &Commands, cursor: usize) -> Option<Completion> {
    let built_in = commands.all().map(|c| (c.name.to_owned(), c.help.to_owned(), c.aliases));
    let quick = commands.quick().iter().map(|q| (q.name.clone(), "your shortcut".to_owned(), &[][..]));
    let all: Vec<_> = built_in.chain(quick).collect();
    let by_name = all.iter().filter(|(name, ..)| name.starts_with(typed));
    let by_alias = all.iter().filter(|(name, _, aliases)| {
        !name.starts_with(typed) && aliases.iter().any(|a| a.starts_with(typed))
    });
    let candidates: Vec<Candidate> = by_name
        .chain(by_alias)
        .map(|(name, help, _)| Candidate { text: format!("/{name}"), detail: help.clone() })
        .collect();
    (!candidates.is_empty()).then_some(Completion { range: 0..cursor, candidates })
}

fn arguments(
    name: &str,
    args: &str,
    commands: &Commands,
    places: &Places,
    cursor: usize,
    suggest: impl Fn(&str) -> Vec<String>,
) -> Option<Completion> {
    let command = commands.find(name)?;
    let start = cursor - args.len();
    if matches!(command.name, "image" | "save") {
        return paths(args, start..cursor, places, "");
    }
    if command.name == "help" {
        let found = names(args, commands, args.len())?;
        let bare = |c: Candidate| Candidate { text: c.text.trim_start_matches('/').to_owned(), ..c };
        return Some(Completion {
            range: start..cursor,
            candidates: found.candidates.into_iter().map(bare).collect(),
        });
    }
    let lower = args.to_lowercase();
    let fixed = command.words.iter().map(|w| (*w).to_owned());
    let words: Vec<String> = fixed.chain(suggest(command.name)).collect();
    let begins = words.iter().filter(|w| w.to_lowercase().starts_with(&lower));
    let contains = words.iter().filter(|w| {
        let w = w.to_lowercase();
        !lower.is_empty() && !w.starts_with(&lower) && w.contains(&lower)
    });
    let candidates: Vec<Candidate> = begins
        .chain(contains)
        .take(MOST_CANDIDATES)
        .map(|w| Candidate { text: w.clone(), detail: String::new() })
        .collect();
    (!candidates.is_empty()).then_some(Completion { range: start..cursor, candidates })
}

/// The path the last word of `head` begins, if it looks like one.
fn path_at(head: &str, places: &Places) -> Option<Completion> {
    let start = head
        .rfind(char::is_whitespace)
        .map_or(0, |at| at + head[at..].chars().next().map_or(1, char::len_utf8));
    let word = &head[start..];
    let range = start..head.len();
    if let Some(path) = word.strip_prefix("@file:").or_else(|| word.strip_prefix('@')) {
        return paths(path, range, places, "@file:");
    }
    let looks_like_one = word.starts_with(['/', '~']) || word.starts_with("./") || word.starts_with("../");
    if looks_like_one { paths(word, range, places, "") } else { None }
}

/// Entries that go on from `typed`, each behind `prefix`; they replace the whole `word`.
fn paths(typed: &str, word: Range<usize>, places: &Places, prefix: &str) -> Option<Completion> {
    let (dir, stem) = typed.rsplit_once('/').map_or(("", typed), |(d, s)| (&typed[..=d.len()], s));
    let entries = std::fs::read_dir(resolve(dir, places)).ok()?;
    let mut found: Vec<(bool, String)> = entries
        .take(MOST_ENTRIES)
        .filter_map(Result::ok)
        .filter_map(|e| Some((e.path().is_dir(), e.file_name().into_string().ok()?)))
        .filter(|(_, name)| name.starts_with(stem) && (stem.starts_with('.') || !name.starts_with('.')))
        .filter(|(_, name)| !name.contains(char::is_control))
        .collect();
    found.sort_by(|a, b| a.1.cmp(&b.1));
    let candidates: Vec<Candidate> = found
        .into_iter()
        .take(MOST_CANDIDATES)
        .map(|(is_dir, name)| Candidate {
            text: format!("{prefix}{dir}{name}{}", if is_dir { "/" } else { "" }),
            detail: String::new(),
        })
        .collect();
    (!candidates.is_empty()).then_some(Completion { range: word, candidates })
}

/// A path as typed, from the working directory or the user's home.
pub fn resolve(typed: &str, places: &Places) -> PathBuf {
    match typed.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
            places.user_home.join(rest.trim_start_matches('/'))
        }
        _ => places.cwd.join(Path::new(typed)),
    }
}

/// What all candidates begin with.
pub fn common_prefix(candidates: &[Candidate]) -> String {
    let Some(first) = candidates.first() else { return String::new() };
    let mut length = first.text.len();
    for other in &candidates[1..] {
        let same = first.text.bytes().zip(other.text.bytes()).take_while(|(a, b)| a == b).count();
        length = length.min(same);
    }
    while !first.text.is_char_boundary(length) {
        length -= 1;
    }
    first.text[..length].to_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn places() -> (tempfile::TempDir, Places) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("src")).unwrap();
        for file in ["src/main.rs", "src/map.rs", "notes.md", ".hidden"] {
            std::fs::write(dir.path().join(file), "").unwrap();
        }
        let places = Places { cwd: dir.path().to_owned(), user_home: dir.path().to_owned() };
        (dir, places)
    }

    fn texts(text: &str) -> Vec<String> {
        let (_dir, places) = places();
        let suggest =
            |c: &str| if c == "model" { vec!["gpt-5".into(), "claude-x".into()] } else { Vec::new() };
        let found = complete(text, text.len(), &Commands::default(), &places, suggest);
        found.map(|c| c.candidates.into_iter().map(|c| c.text).collect()).unwrap_or_default()
    }

    #[test]
    fn commands_and_their_arguments() {
        assert_eq!(texts("/un"), ["/undo", "/uncompact"]);
        assert_eq!(texts("/sess"), ["/resume"], "by its other name");
        assert_eq!(texts("/busy "), ["interrupt", "queue", "steer"]);
        assert_eq!(texts("/busy s"), ["steer"]);
        assert_eq!(texts("/model "), ["gpt-5", "claude-x"]);
        assert_eq!(texts("/model x"), ["claude-x"]);
        assert_eq!(texts("/help unc"), ["uncompact"]);
        assert_eq!(texts("/nothing "), Vec::<String>::new());
    }

    #[test]
    fn paths_in_a_message() {
        assert_eq!(texts("look at ./"), ["./notes.md", "./src/"]);
        assert_eq!(texts("look at ./src/ma"), ["./src/main.rs", "./src/map.rs"]);
        assert_eq!(texts("see @no"), ["@file:notes.md"]);
        assert_eq!(texts("see @file:src/"), ["@file:src/main.rs", "@file:src/map.rs"]);
        assert_eq!(texts("~/.h"), ["~/.hidden"]);
        assert_eq!(texts("/image n"), ["notes.md"]);
        assert_eq!(texts("just words"), Vec::<String>::new());
        assert_eq!(texts("./missing/x"), Vec::<String>::new());
    }

    #[test]
    fn the_word_at_the_cursor_is_replaced() {
        let (_dir, places) = places();
        let text = "see @no and more";
        let found = complete(text, 7, &Commands::default(), &places, |_| Vec::new()).unwrap();
        assert_eq!(&text[found.range], "@no");
    }

    #[test]
    fn a_common_prefix_is_cut_between_characters() {
        let candidates = ["é1", "è1"].map(|t| Candidate { text: t.into(), detail: String::new() });
        assert_eq!(common_prefix(&candidates), "");
    }
}
