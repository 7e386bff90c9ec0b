//! The files that belong to a skill.

use std::path::Path;

use serde::Serialize;

/// The files of a skill, as seen from its directory.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Linked {
    /// Texts to read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<String>,
    /// Files to start from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub templates: Vec<String>,
    /// Everything else.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assets: Vec<String>,
    /// Programs to run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scripts: Vec<String>,
}

impl Linked {
    /// True without any file.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// How many files of a kind are listed.
const MOST: usize = 200;
/// How far down they are looked for.
const DEPTH: usize = 6;

/// Whether directories below are looked into as well.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Below {
    Yes,
    No,
}

/// Lists the files of a skill.
pub fn linked(dir: &Path) -> Linked {
    let files = |name: &str, below: Below, endings: &[&str]| {
        let mut found = Vec::new();
        collect(&dir.join(name), name, below, endings, 0, &mut found);
        found.sort();
        found.truncate(MOST);
        found
    };
    Linked {
        references: files("references", Below::No, &["md"]),
        templates: files("templates", Below::Yes, &["md", "py", "yaml", "yml", "json", "tex", "sh"]),
        assets: files("assets", Below::Yes, &[]),
        scripts: files("scripts", Below::No, &["py", "sh", "bash", "js", "ts", "rb"]),
    }
}

/// Collects the files with one of the endings; all where there are none. Links to directories are not followed.
fn collect(dir: &Path, shown: &str, below: Below, endings: &[&str], depth: usize, found: &mut Vec<String>) {
    let Ok(listing) = std::fs::read_dir(dir) else { return };
    for entry in listing.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{shown}/{name}");
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            if below == Below::Yes && depth < DEPTH {
                collect(&entry.path(), &path, below, endings, depth + 1, found);
            }
        } else if found.len() < MOST * 10 {
            let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
            if endings.is_empty() || endings.contains(&ending) {
                found.push(path);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Shelf;
    use super::*;

    #[test]
    fn each_kind_has_its_own_rule() {
        let shelf = Shelf::new();
        for name in [
            "references/a.md",
            "references/a.txt",
            "references/deep/b.md",
            "templates/t.yaml",
            "templates/deep/t.py",
            "templates/t.png",
            "assets/logo.png",
            "assets/deep/font",
            "scripts/run.sh",
            "scripts/deep/run.sh",
            "scripts/data.json",
        ] {
            shelf.put(&format!("s/{name}"), "x");
        }
        let found = linked(&shelf.path().join("s"));
        assert_eq!(found.references, ["references/a.md"]);
        assert_eq!(found.templates, ["templates/deep/t.py", "templates/t.yaml"]);
        assert_eq!(found.assets, ["assets/deep/font", "assets/logo.png"]);
        assert_eq!(found.scripts, ["scripts/run.sh"]);
        assert!(linked(shelf.path()).is_empty());
    }
}
