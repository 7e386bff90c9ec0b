//! A skill's text, and a file that belongs to it; never a file that does not.

use std::io::Read;
use std::path::{Component, Path};

use super::{Skill, walk};

/// A file of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkillFile {
    /// Text.
    Text(String),
    /// No text.
    Binary {
        /// How long it is.
        bytes: u64,
    },
}

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It would lead out of the skill.
    #[error("\"{0}\" leads out of the skill's directory: give a path inside it, such as references/api.md")]
    Outside(String),
    /// There is no such file.
    #[error("the skill has no file \"{0}\"")]
    Missing(String),
    /// The system refused.
    #[error("cannot read \"{path}\": {source}")]
    Io {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
}

/// How much of a file is read.
const LONGEST: u64 = 1 << 20;
/// How much of a file is looked at for bytes that no text has.
const SAMPLE: usize = 8192;

impl Skill {
    /// The text of its SKILL.md, header included.
    pub fn text(&self) -> Result<String, ReadError> {
        let failed = |source| ReadError::Io { path: self.file.display().to_string(), source };
        walk::text_of(&self.file).map_err(failed)
    }
}

/// Reads a file of the skill in `dir`. Links may stay inside the directory and no more.
pub fn read_file(dir: &Path, path: &str) -> Result<SkillFile, ReadError> {
    let path = path.trim();
    let inside = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if path.is_empty() || !Path::new(path).components().all(inside) {
        return Err(ReadError::Outside(path.to_owned()));
    }
    let missing = |_| ReadError::Missing(path.to_owned());
    let root = std::fs::canonicalize(dir).map_err(missing)?;
    let real = std::fs::canonicalize(root.join(path)).map_err(missing)?;
    if !real.starts_with(&root) {
        return Err(ReadError::Outside(path.to_owned()));
    }
    if !real.is_file() {
        return Err(ReadError::Missing(path.to_owned()));
    }
    let failed = |source| ReadError::Io { path: path.to_owned(), source };
    let mut bytes = Vec::new();
    let file = std::fs::File::open(&real).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    file.take(LONGEST).read_to_end(&mut bytes).map_err(failed)?;
    let is_binary = bytes[..bytes.len().min(SAMPLE)].contains(&0);
    match String::from_utf8(bytes) {
        Ok(text) if !is_binary => Ok(SkillFile::Text(text)),
        // The limit may have cut a character.
        Err(error) if !is_binary && length > LONGEST && error.utf8_error().error_len().is_none() => {
            Ok(SkillFile::Text(String::from_utf8_lossy(error.as_bytes()).into_owned()))
        }
        _ => Ok(SkillFile::Binary { bytes: length }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Shelf;
    use super::*;

    #[test]
    fn files_of_the_skill_are_read_and_no_others() {
        let shelf = Shelf::new();
        shelf.put("s/references/a.md", "hello");
        shelf.put("secret", "no");
        std::fs::write(shelf.put("s/assets/logo.png", ""), b"\x89PNG\0\0").unwrap();
        let link = |to: &str, at: &str| {
            std::os::unix::fs::symlink(shelf.path().join(to), shelf.path().join(at)).unwrap();
        };
        link("secret", "s/references/link.md");
        link("s/references/a.md", "s/references/own.md");
        link("", "s/up");
        let dir = shelf.path().join("s");
        let read = |path: &str| read_file(&dir, path);
        assert_eq!(read("references/a.md").unwrap(), SkillFile::Text("hello".into()));
        assert_eq!(read("./references/own.md").unwrap(), SkillFile::Text("hello".into()));
        assert_eq!(read("assets/logo.png").unwrap(), SkillFile::Binary { bytes: 6 });
        for path in
            ["../secret", "/etc/passwd", "references/../../secret", "references/link.md", "up/secret", ""]
        {
            assert!(matches!(read(path), Err(ReadError::Outside(_))), "{path}");
        }
        for path in ["references/none.md", "references"] {
            assert!(matches!(read(path), Err(ReadError::Missing(_))), "{path}");
        }
    }
}
