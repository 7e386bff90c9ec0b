//! Where an entry of an archive may go: below the home, and nowhere else.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What is wrong with the name of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NameProblem {
    #[error("its path is absolute")]
    Absolute,
    #[error("its path leads upwards with \"..\"")]
    Upwards,
    #[error("its path is empty, too long or too deep")]
    Shape,
    #[error("its path holds control characters or backslashes")]
    Characters,
    #[error("it is in the archive twice")]
    Twice,
    #[error("something else in the archive needs it to be a directory")]
    FileAndDirectory,
}

/// What an entry makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Makes {
    File,
    Directory,
}

const MAX_PATH: usize = 2048;
const MAX_PART: usize = 255;
const MAX_DEPTH: usize = 64;

/// Turns a name into a path below the home.
pub fn safe_path(name: &str) -> Result<PathBuf, NameProblem> {
    if name.starts_with('/') {
        return Err(NameProblem::Absolute);
    }
    if name.chars().any(|c| c.is_control() || c == '\\') {
        return Err(NameProblem::Characters);
    }
    let parts: Vec<&str> = name.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if parts.contains(&"..") {
        return Err(NameProblem::Upwards);
    }
    let fits =
        name.len() <= MAX_PATH && parts.len() <= MAX_DEPTH && parts.iter().all(|p| p.len() <= MAX_PART);
    if parts.is_empty() || !fits {
        return Err(NameProblem::Shape);
    }
    Ok(parts.into_iter().collect())
}

/// Remembers what the entries so far make.
#[derive(Debug, Default)]
pub struct Tree {
    made: BTreeMap<PathBuf, Makes>,
}

impl Tree {
    /// Takes note of an entry, unless it contradicts an earlier one.
    pub fn add(&mut self, path: &Path, makes: Makes) -> Result<(), NameProblem> {
        for parent in path.ancestors().skip(1).filter(|p| !p.as_os_str().is_empty()) {
            if self.made.get(parent) == Some(&Makes::File) {
                return Err(NameProblem::FileAndDirectory);
            }
            self.made.insert(parent.to_path_buf(), Makes::Directory);
        }
        match (self.made.get(path), makes) {
            (None, _) | (Some(Makes::Directory), Makes::Directory) => {}
            (Some(Makes::File), Makes::File) => return Err(NameProblem::Twice),
            (Some(_), _) => return Err(NameProblem::FileAndDirectory),
        }
        self.made.insert(path.to_path_buf(), makes);
        Ok(())
    }
}

/// The directory that everything lies in, when somebody packed the home itself instead of what is in it.
pub fn common_prefix<'a>(mut paths: impl Iterator<Item = &'a Path>) -> Option<&'static str> {
    const PREFIX: &str = ".hermes";
    paths.all(|path| path.starts_with(PREFIX)).then_some(PREFIX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_stay_below_the_home() {
        assert_eq!(safe_path("skills/a b/ä.md"), Ok(PathBuf::from("skills/a b/ä.md")));
        assert_eq!(safe_path("./config.yaml"), Ok(PathBuf::from("config.yaml")));
        assert_eq!(safe_path("a//b/"), Ok(PathBuf::from("a/b")));
        for (name, problem) in [
            ("/etc/passwd", NameProblem::Absolute),
            ("../x", NameProblem::Upwards),
            ("a/../../x", NameProblem::Upwards),
            ("", NameProblem::Shape),
            ("./.", NameProblem::Shape),
            ("a\\..\\b", NameProblem::Characters),
            ("a\0b", NameProblem::Characters),
            ("a\nb", NameProblem::Characters),
        ] {
            assert_eq!(safe_path(name), Err(problem), "{name:?}");
        }
        assert_eq!(safe_path(&"x".repeat(256)), Err(NameProblem::Shape));
        assert_eq!(safe_path(&"x/".repeat(65)), Err(NameProblem::Shape));
    }

    #[test]
    fn contradictions_are_noticed_in_any_order() {
        use Makes::{Directory, File};
        let add = |entries: &[(&str, Makes)]| {
            let mut tree = Tree::default();
            entries.iter().try_for_each(|(path, makes)| tree.add(Path::new(path), *makes))
        };
        assert_eq!(add(&[("a", Directory), ("a/b", File), ("a", Directory)]), Ok(()));
        assert_eq!(add(&[("a", File), ("a", File)]), Err(NameProblem::Twice));
        assert_eq!(add(&[("a", File), ("a/b", File)]), Err(NameProblem::FileAndDirectory));
        assert_eq!(add(&[("a/b", File), ("a", File)]), Err(NameProblem::FileAndDirectory));
    }

    proptest! {
        #[test]
        fn whatever_the_name_the_path_is_relative_and_goes_down(name in "[a-z./\\\\\0~ ]{0,40}") {
            if let Ok(path) = safe_path(&name) {
                prop_assert!(path.components().all(|c| matches!(c, std::path::Component::Normal(_))));
                prop_assert!(Path::new("/home").join(&path).starts_with("/home/"));
            }
        }
    }
}
