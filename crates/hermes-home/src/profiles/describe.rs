//! What a profile is good at, in a sentence or two: `profile.yaml`.

use std::path::{Path, PathBuf};

use super::walk::read_plain;
use super::{ProfileError, Profiles};
use crate::files::{Access, read_if_exists, write_atomic, write_locked};
use crate::profile::Profile;
use crate::yaml::{self, Document, Kind, Scalar};

/// The description of a profile.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Description {
    /// The text; empty when there is none.
    pub text: String,
    /// Whether a model wrote it and nobody has confirmed it yet.
    pub written_by: Author,
}

/// Who wrote a description.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Author {
    /// The user.
    #[default]
    User,
    /// A model.
    Model,
}

impl Profiles {
    /// The description of a profile; an unreadable one counts as none.
    pub fn description(&self, profile: &Profile) -> Result<Description, ProfileError> {
        Ok(read(&self.dir(profile)?))
    }

    /// Sets the description the user wrote. An empty text removes it.
    pub fn describe(&self, profile: &Profile, text: &str) -> Result<(), ProfileError> {
        let lock = self.lock()?;
        let path = file(&self.dir(profile)?);
        let after = described(&path, text)?;
        Ok(write_locked(&path, after.as_bytes(), Access::Keep, &lock)?)
    }
}

fn file(dir: &Path) -> PathBuf {
    dir.join("profile.yaml")
}

/// Reads the description of the profile at `dir`.
pub fn read(dir: &Path) -> Description {
    let document = document(&file(dir));
    let by_model = matches!(scalar(&document, &["description_auto"]), Some(Scalar::Bool(true)));
    Description {
        text: text(&document, &["description"]).unwrap_or_default(),
        written_by: if by_model { Author::Model } else { Author::User },
    }
}

/// A YAML file of a profile; one that is missing or broken is empty, for whoever only looks.
pub fn document(path: &Path) -> Document {
    let bytes = read_plain(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    yaml::parse(text.strip_prefix('\u{feff}').unwrap_or(&text)).unwrap_or_default()
}

/// The text at `path`, without blanks around it; `None` when there is none.
pub fn text(document: &Document, path: &[&str]) -> Option<String> {
    let text = match scalar(document, path)? {
        Scalar::Text(text) => text,
        Scalar::Int(number) => number.to_string(),
        Scalar::Null | Scalar::Bool(_) | Scalar::Float(_) => return None,
    };
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn scalar(document: &Document, path: &[&str]) -> Option<Scalar> {
    match &document.get(path)?.kind {
        Kind::Scalar(text, style) => Some(yaml::resolve(text, *style)),
        _ => None,
    }
}

/// Writes a description of the user's into a profile that nobody else knows yet.
pub fn write_new(dir: &Path, text: &str) -> Result<(), ProfileError> {
    let path = file(dir);
    Ok(write_atomic(&path, described(&path, text)?.as_bytes(), Access::Private)?)
}

/// What the file holds with this description of the user's; everything else in it stays.
fn described(path: &Path, text: &str) -> Result<String, ProfileError> {
    let before = read_if_exists(path)?.unwrap_or_default();
    let edit = |before: String| -> Result<String, String> {
        let described = yaml::set(&before, &["description"], &text.trim().into());
        let marked = described.and_then(|text| yaml::set(&text, &["description_auto"], &false.into()));
        marked.map_err(|e| e.to_string())
    };
    String::from_utf8(before)
        .map_err(|_| "it is not UTF-8 text".to_owned())
        .and_then(edit)
        .map_err(|reason| ProfileError::Metadata { path: path.to_path_buf(), reason })
}
