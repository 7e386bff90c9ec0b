//! What a profile is good at, in a sentence or two: `profile.yaml`.

use std::path::{Path, PathBuf};

use super::yaml::{lookup, quote, top_level, with_keys};
use super::{ProfileError, Profiles};
use crate::files::{Access, read_if_exists, write_atomic};
use crate::profile::Profile;

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
        let _lock = self.lock()?;
        write(&self.dir(profile)?, text)
    }
}

fn file(dir: &Path) -> PathBuf {
    dir.join("profile.yaml")
}

/// Reads the description of the profile at `dir`.
pub fn read(dir: &Path) -> Description {
    let bytes = read_if_exists(&file(dir)).ok().flatten().unwrap_or_default();
    let Ok(entries) = top_level(&String::from_utf8_lossy(&bytes)) else { return Description::default() };
    let text = |key| lookup(&entries, key).and_then(|v| v.text()).unwrap_or_default();
    let by_model = matches!(text("description_auto").to_ascii_lowercase().as_str(), "true" | "yes" | "on");
    Description {
        text: text("description").trim().to_owned(),
        written_by: if by_model { Author::Model } else { Author::User },
    }
}

/// Writes a description of the user's into the profile at `dir`, keeping whatever else the file holds.
pub fn write(dir: &Path, text: &str) -> Result<(), ProfileError> {
    let path = file(dir);
    let before = read_if_exists(&path)?.unwrap_or_default();
    let keys = [("description", quote(text.trim())), ("description_auto", "false".to_owned())];
    let after = String::from_utf8(before)
        .map_err(|_| "it is not UTF-8 text".to_owned())
        .and_then(|before| with_keys(&before, &keys))
        .map_err(|reason| ProfileError::Metadata { path: path.clone(), reason })?;
    Ok(write_atomic(&path, after.as_bytes(), Access::Keep)?)
}
