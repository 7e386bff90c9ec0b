//! Which skill somebody means.

use std::path::{Component, Path, PathBuf};

use super::{Library, Skill, State, walk};

/// Why no skill is meant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// There is none of this name.
    #[error("there is no skill \"{name}\"")]
    Unknown {
        /// The name.
        name: String,
        /// Some that there are.
        known: ListedNames,
    },
    /// There are several.
    #[error("several skills are called \"{name}\": say which with its path")]
    Ambiguous {
        /// The name.
        name: String,
        /// Their paths, as seen from their roots.
        matches: Vec<String>,
    },
    /// The name is no name.
    #[error("\"{0}\" is no name of a skill: use one that skills_list shows")]
    NoName(String),
    /// It is switched off.
    #[error(
        "the skill \"{0}\" is switched off in the settings (skills.disabled): only the user should change that"
    )]
    Disabled(String),
    /// It is for another system.
    #[error("the skill \"{0}\" is not for this operating system")]
    OtherSystem(String),
}

/// Names of skills.
pub type ListedNames = Vec<String>;

/// How many names an error lists.
const SHOWN: usize = 20;

impl Library {
    /// The skill of this name: a path as seen from a root, the name in its header, or that of its directory. The first
    /// root that has one counts; nothing is guessed between two of the same root.
    pub fn find(&self, name: &str) -> Result<Skill, FindError> {
        // A namespace and a category look alike; namespaces are those of plugins.
        let name = name.trim().replace(':', "/");
        let path = Path::new(&name);
        if name.is_empty() || !path.components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(FindError::NoName(name));
        }
        for root in &self.roots {
            let mut found = candidates(root, path, &name);
            found.sort_by(|a, b| a.file.cmp(&b.file));
            found.dedup_by(|a, b| real(&a.file) == real(&b.file));
            match found.len() {
                0 => {}
                1 => return self.usable_one(found.remove(0)),
                _ => {
                    let matches = found.iter().map(|skill| skill.relative().display().to_string()).collect();
                    return Err(FindError::Ambiguous { name, matches });
                }
            }
        }
        let known = self.usable().into_iter().map(|skill| skill.name).take(SHOWN).collect();
        Err(FindError::Unknown { name, known })
    }

    fn usable_one(&self, skill: Skill) -> Result<Skill, FindError> {
        match self.state(&skill) {
            State::On => Ok(skill),
            State::Disabled => Err(FindError::Disabled(skill.name)),
            State::OtherSystem => Err(FindError::OtherSystem(skill.name)),
        }
    }
}

fn candidates(root: &Path, path: &Path, name: &str) -> Vec<Skill> {
    let direct = root.join(path);
    if direct.join("SKILL.md").is_file() {
        return vec![walk::load(root, &direct.join("SKILL.md"), Some(&direct))];
    }
    let called = |skill: &Skill| skill.name == name || skill.dir_name() == name;
    let mut found: Vec<Skill> = walk::skills(root).into_iter().filter(called).collect();
    let mut file = direct.into_os_string();
    file.push(".md");
    let file = PathBuf::from(file);
    if found.is_empty() && file.is_file() && !name.ends_with("DESCRIPTION") {
        found.push(walk::load(root, &file, None));
    }
    found
}

fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::testing::Shelf;
    use super::*;

    fn shelf() -> Shelf {
        let shelf = Shelf::new();
        shelf.skill("skills/dev/git", "name: git-flow\ndescription: two");
        shelf.skill("skills/ops/deploy", "name: deploy\ndescription: a");
        shelf.skill("skills/dev/deploy", "name: deploy\ndescription: b");
        shelf.skill("skills/mac", "name: mac\ndescription: m\nplatforms: macos");
        shelf.skill("skills/unwanted", "name: unwanted\ndescription: o");
        shelf.put("skills/old.md", "---\nname: old\ndescription: legacy\n---\nb");
        shelf.skill("team/deploy", "name: deploy\ndescription: theirs");
        shelf.skill("team/extra", "name: extra\ndescription: e");
        shelf
    }

    #[test]
    fn a_skill_is_meant_by_its_name_its_directory_or_its_path() {
        let shelf = shelf();
        let library = shelf.library_of(&["skills", "team"]);
        for name in ["git-flow", "git", "dev/git", "dev:git", " dev/git "] {
            assert_eq!(library.find(name).unwrap().description, "two", "{name}");
        }
        assert_eq!(library.find("old").unwrap().dir, None);
        assert_eq!(library.find("extra").unwrap().relative(), Path::new("extra/SKILL.md"));
    }

    #[test]
    fn what_is_not_clear_is_said() {
        let shelf = shelf();
        let library = shelf.library_of(&["skills", "team"]);
        let FindError::Ambiguous { matches, .. } = library.find("deploy").unwrap_err() else { panic!() };
        assert_eq!(matches, ["dev/deploy/SKILL.md", "ops/deploy/SKILL.md"]);
        assert_eq!(library.find("unwanted"), Err(FindError::Disabled("unwanted".into())));
        assert_eq!(library.find("mac"), Err(FindError::OtherSystem("mac".into())));
        let FindError::Unknown { known, .. } = library.find("nope").unwrap_err() else { panic!() };
        assert!(known.contains(&"extra".to_owned()) && !known.contains(&"unwanted".to_owned()));
    }

    #[test]
    fn a_name_leads_nowhere_else() {
        let shelf = shelf();
        shelf.put("outside.md", "secret");
        let library = shelf.library();
        for name in ["../outside", "/etc/passwd", "", "dev/../../outside", "."] {
            assert!(matches!(library.find(name), Err(FindError::NoName(_))), "{name}");
        }
    }

    #[test]
    fn the_home_wins_in_the_list() {
        let shelf = shelf();
        let names = |roots: &[&str]| -> Vec<String> {
            shelf.library_of(roots).usable().into_iter().map(|skill| skill.description).collect()
        };
        assert_eq!(names(&["skills", "team"]), ["e", "b", "two", "a"]);
    }
}
