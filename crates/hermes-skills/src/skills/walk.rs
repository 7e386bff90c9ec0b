//! Finding skills below a directory.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::Skill;
use super::header::{Split, split};

/// Directories in which nobody keeps skills.
const SKIPPED: &[&str] = &[
    ".git",
    ".github",
    ".hub",
    ".archive",
    ".venv",
    "venv",
    "node_modules",
    "site-packages",
    "__pycache__",
    ".tox",
    ".nox",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
];
/// Directories of a skill that hold its files; a SKILL.md in them is an example.
pub(super) const SUPPORT: [&str; 4] = ["references", "templates", "scripts", "assets"];
/// How far down skills are looked for.
const DEPTH: usize = 8;
/// How much of a SKILL.md is read.
const LONGEST: u64 = 1 << 20;
/// How long names and descriptions may be.
const NAME: usize = 64;
const DESCRIPTION: usize = 1024;

/// All skills below a directory, in the order of their paths. Links are followed, each place once.
pub fn skills(root: &Path) -> Vec<Skill> {
    let mut walk = Walk { root, seen: BTreeSet::new(), found: Vec::new() };
    walk.enter(root, 0);
    walk.found
}

struct Walk<'a> {
    root: &'a Path,
    seen: BTreeSet<PathBuf>,
    found: Vec<Skill>,
}

impl Walk<'_> {
    fn enter(&mut self, dir: &Path, depth: usize) {
        let Ok(real) = std::fs::canonicalize(dir) else { return };
        let Ok(listing) = std::fs::read_dir(dir) else { return };
        if depth > DEPTH || !self.seen.insert(real) {
            return;
        }
        let mut names: Vec<PathBuf> = listing.flatten().map(|entry| entry.path()).collect();
        names.sort();
        let file = dir.join("SKILL.md");
        let is_skill = depth > 0 && file.is_file();
        if is_skill {
            self.found.push(load(self.root, &file, Some(dir)));
        }
        let wanted = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let is_support = is_skill && SUPPORT.contains(&name.as_ref());
            !is_support && !SKIPPED.contains(&name.as_ref())
        };
        for path in names.into_iter().filter(wanted).filter(|path| path.is_dir()) {
            self.enter(&path, depth + 1);
        }
    }
}

/// Reads a skill. What is wrong with it becomes part of it.
pub fn load(root: &Path, file: &Path, dir: Option<&Path>) -> Skill {
    let fallback = match dir {
        Some(dir) => dir.file_name(),
        None => file.file_stem(),
    };
    let fallback = fallback.unwrap_or_default().to_string_lossy().into_owned();
    let (text, unreadable) = match text_of(file) {
        Ok(text) => (text, None),
        Err(error) => (String::new(), Some(format!("cannot be read: {error}"))),
    };
    let Split { header, body, problem } = split(&text);
    let name = header.text("name");
    let description = header.text("description");
    let problem = unreadable.or(problem).or_else(|| match (&name, &description) {
        (None, _) => Some("its header has no name".to_owned()),
        (_, None) => Some("its header has no description".to_owned()),
        _ => None,
    });
    let first_line = || body.lines().map(|line| line.trim_start_matches('#').trim()).find(|l| !l.is_empty());
    let description = description.unwrap_or_else(|| first_line().unwrap_or_default().to_owned());
    Skill {
        name: cut(&name.unwrap_or(fallback), NAME),
        description: cut(&description, DESCRIPTION),
        category: dir.and_then(|dir| category(root, dir)),
        file: file.to_owned(),
        dir: dir.map(Path::to_owned),
        root: root.to_owned(),
        header,
        problem,
    }
}

/// The text of a skill, as much of it as anybody should write.
pub fn text_of(file: &Path) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    std::fs::File::open(file)?.take(LONGEST).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn category(root: &Path, dir: &Path) -> Option<String> {
    let above = dir.strip_prefix(root).ok()?.parent()?;
    let parts: Vec<String> =
        above.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    (!parts.is_empty()).then(|| parts.join("/"))
}

pub(super) fn cut(text: &str, length: usize) -> String {
    if text.chars().nth(length).is_none() {
        return text.to_owned();
    }
    let kept: String = text.chars().take(length.saturating_sub(3)).collect();
    format!("{}...", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::super::testing::Shelf;
    use super::*;

    #[test]
    fn skills_are_found_wherever_they_lie() {
        let shelf = Shelf::new();
        shelf.skill("skills/flat", "name: flat\ndescription: one");
        shelf.skill("skills/dev/git", "name: git\ndescription: two");
        shelf.skill("skills/dev/deep/er", "name: er\ndescription: three");
        shelf.skill("skills/dev/git/templates/x", "name: example\ndescription: no");
        shelf.skill("skills/.archive/old", "name: old\ndescription: no");
        shelf.put("skills/dev/node_modules/x/SKILL.md", "no");
        shelf.put("skills/notes.md", "no");
        std::os::unix::fs::symlink(shelf.path().join("skills/dev"), shelf.path().join("skills/zz")).unwrap();
        let found = skills(&shelf.path().join("skills"));
        let seen: Vec<(&str, Option<&str>)> =
            found.iter().map(|skill| (skill.name.as_str(), skill.category.as_deref())).collect();
        assert_eq!(seen, [("er", Some("dev/deep")), ("git", Some("dev")), ("flat", None)]);
        assert!(found.iter().all(|skill| skill.problem.is_none()));
    }

    #[test]
    fn a_broken_skill_is_found_with_what_is_wrong() {
        let shelf = Shelf::new();
        shelf.put("skills/bare/SKILL.md", "# Do this\nand that");
        shelf.skill("skills/nameless", "description: x");
        shelf.put("skills/bytes/SKILL.md", "---\nname: b\n---\n\u{fffd}");
        std::fs::write(shelf.path().join("skills/bytes/SKILL.md"), b"---\nname: b\xff\n---\n").unwrap();
        std::os::unix::fs::symlink("/nowhere", shelf.path().join("skills/loop")).unwrap();
        let found = skills(&shelf.path().join("skills"));
        assert_eq!(found.len(), 3);
        assert!(found.iter().all(|skill| skill.problem.is_some()), "{found:#?}");
        assert_eq!((found[0].name.as_str(), found[0].description.as_str()), ("bare", "Do this"));
        assert_eq!(found[2].name, "nameless");
    }

    #[test]
    fn a_long_header_is_read_whole() {
        let shelf = Shelf::new();
        let long = format!("notes: {}\nname: long\ndescription: found", "x".repeat(9000));
        shelf.skill("skills/long", &long);
        assert_eq!(skills(&shelf.path().join("skills"))[0].description, "found");
    }
}
