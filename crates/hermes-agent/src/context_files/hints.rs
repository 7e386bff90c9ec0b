//! What a sub-directory says to agents, appended to the result of the first tool call that touches it.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use hermes_guard::Redactor;
use serde_json::{Map, Value};

use super::{find, read};

/// Most characters of a hint.
pub const HINT_LIMIT: usize = 8_000;
/// Directories above a touched path that are looked at.
const MOST_ANCESTORS: usize = 5;
/// Words of a command that are looked at.
const MOST_WORDS: usize = 40;

/// A hint for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// What to append to the tool result.
    pub text: String,
    /// What the user should know.
    pub notices: Vec<String>,
}

/// The directories of a conversation that have spoken.
#[derive(Debug, Clone)]
pub struct Hints {
    root: PathBuf,
    cwd: PathBuf,
    seen: BTreeSet<PathBuf>,
    redactor: Arc<Redactor>,
}

impl Hints {
    /// Hints for a working directory on this machine. What lies on the way down to it is in the prompt already.
    pub fn new(cwd: &Path, redactor: Arc<Redactor>) -> Self {
        let root = find::repository(cwd).unwrap_or_else(|| cwd.to_path_buf());
        let seen = cwd.ancestors().take_while(|dir| dir.starts_with(&root)).map(Path::to_path_buf).collect();
        Self { root, cwd: cwd.to_path_buf(), seen, redactor }
    }

    /// What the directories that a call touches for the first time say.
    pub fn after_call(&mut self, arguments: &Map<String, Value>) -> Option<Hint> {
        let mut texts = Vec::new();
        let mut notices = Vec::new();
        for dir in touched(&self.root, &self.cwd, arguments, &self.seen) {
            for path in find::in_dir(&dir) {
                match read::read(&path, &self.root, HINT_LIMIT, &self.redactor) {
                    Ok(read) if read.text.is_empty() => {}
                    Ok(read) => {
                        texts.push(format!("[{} says:]\n{}", path.display(), read.text));
                        notices.extend(read.notices);
                    }
                    Err(problem) => notices.push(problem.to_string()),
                }
            }
            // Words that name nothing are not remembered: the directory may be made later.
            if dir.is_dir() {
                self.seen.insert(dir);
            }
        }
        (!texts.is_empty() || !notices.is_empty()).then(|| {
            let whole = texts.join("\n\n");
            Hint { text: super::cut(&whole, HINT_LIMIT, "read the files for the rest").text, notices }
        })
    }
}

/// The directories inside `root` that a call's arguments lead to and that have not spoken yet, outermost first.
pub fn touched(
    root: &Path,
    cwd: &Path,
    arguments: &Map<String, Value>,
    seen: &BTreeSet<PathBuf>,
) -> Vec<PathBuf> {
    let mut dirs = BTreeSet::new();
    for word in paths_in(arguments) {
        let Some(path) = plain(&cwd.join(word)) else { continue };
        let inside = path.ancestors().take(MOST_ANCESTORS + 1).take_while(|dir| dir.starts_with(root));
        dirs.extend(inside.filter(|dir| !seen.contains(*dir)).map(Path::to_path_buf));
    }
    // Sorted by name, a directory comes before what lies in it.
    dirs.into_iter().collect()
}

fn paths_in(arguments: &Map<String, Value>) -> Vec<&str> {
    let text = |key: &str| arguments.get(key).and_then(Value::as_str);
    let named = ["path", "file_path", "workdir"].into_iter().filter_map(text);
    let is_separator = |c: char| c.is_whitespace() || ";|&()<>\"'`=:,".contains(c);
    let words = text("command").unwrap_or_default().split(is_separator).filter(|word| is_path_like(word));
    named.chain(words.take(MOST_WORDS)).collect()
}

fn is_path_like(word: &str) -> bool {
    let ordinary = |c: char| c.is_alphanumeric() || "._/+-@~".contains(c);
    !word.is_empty()
        && word.len() < 300
        && !word.starts_with('-')
        && word.chars().all(ordinary)
        && word.chars().any(char::is_alphanumeric)
}

/// The path without `.` and `..`, by its spelling alone; nothing if it leads above the top.
fn plain(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => plain.pop().then_some(())?,
            other => plain.push(other),
        }
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use serde_json::json;

    fn arguments(value: Value) -> Map<String, Value> {
        if let Value::Object(map) = value { map } else { Map::new() }
    }

    fn dirs(value: Value, seen: &[&str]) -> Vec<String> {
        let seen = seen.iter().map(PathBuf::from).collect();
        touched(Path::new("/r"), Path::new("/r/w"), &arguments(value), &seen)
            .into_iter()
            .map(|dir| dir.display().to_string())
            .collect()
    }

    #[test]
    fn arguments_lead_to_directories() {
        let seen = ["/r", "/r/w"];
        assert_eq!(dirs(json!({"path": "a/b.rs"}), &seen), ["/r/w/a", "/r/w/a/b.rs"]);
        assert_eq!(dirs(json!({"path": "../x/y"}), &seen), ["/r/x", "/r/x/y"]);
        assert_eq!(dirs(json!({"command": "cd sub && cargo test --all"}), &[]).last().unwrap(), "/r/w/test");
        for outside in [json!({"path": "/etc/passwd"}), json!({"path": "../../../x"}), json!({"path": 7})] {
            assert!(dirs(outside, &seen).is_empty());
        }
    }

    #[test]
    fn a_directory_speaks_once() {
        let dir = tempfile::tempdir().unwrap();
        let sub = dir.path().join("sub/deep");
        std::fs::create_dir_all(&sub).unwrap();
        std::fs::write(dir.path().join("AGENTS.md"), "in the prompt already").unwrap();
        std::fs::write(dir.path().join("sub/AGENTS.md"), "sub rules").unwrap();
        std::fs::write(sub.join("CLAUDE.md"), "x".repeat(HINT_LIMIT * 2)).unwrap();
        let mut hints = Hints::new(dir.path(), Arc::new(Redactor::new([])));
        let call = arguments(json!({"command": "ls sub"}));
        let hint = hints.after_call(&call).unwrap();
        assert!(hint.text.ends_with("sub rules") && !hint.text.contains("already"), "{}", hint.text);
        assert_eq!(hints.after_call(&call), None);
        let deep = hints.after_call(&arguments(json!({"path": "sub/deep/x.rs"}))).unwrap();
        assert!(deep.text.chars().count() < HINT_LIMIT + 700 && deep.text.contains("left out"));
    }
}
