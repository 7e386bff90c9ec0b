//! Looking at profiles: what there is, and what one is like.

use std::fs;
use std::path::{Path, PathBuf};

use super::alias::Wrapper;
use super::describe::{self, Description, document, text};
use super::running::{self, Gateway};
use super::walk::identity;
use super::{ProfileError, Profiles};
use crate::files::failed;
use crate::profile::{Profile, ProfileName};

/// A profile at a glance.
#[derive(Debug, Clone)]
pub struct Summary {
    /// Its name.
    pub profile: Profile,
    /// Where it is.
    pub path: PathBuf,
    /// Where it really is, when the directory is a link.
    pub link_to: Option<PathBuf>,
    /// Another profile that is the same directory.
    pub same_as: Option<Profile>,
    /// The model its config.yaml names.
    pub model: Option<Model>,
    /// What it is good at.
    pub description: Description,
    /// Commands that run it.
    pub aliases: Vec<String>,
    /// Its gateway, if one runs.
    pub gateway: Option<Gateway>,
}

/// A model as config.yaml names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// Its name.
    pub name: String,
    /// Who serves it.
    pub provider: Option<String>,
}

/// A profile in more detail.
#[derive(Debug, Clone)]
pub struct Details {
    /// The glance.
    pub summary: Summary,
    /// How many skills it has.
    pub skills: usize,
    /// Which of config.yaml, .env, SOUL.md and auth.json it has.
    pub files: Vec<&'static str>,
}

impl Profiles {
    /// All profiles: the default one, then the others by name.
    pub fn list(&self) -> Result<Vec<Summary>, ProfileError> {
        let aliases = self.all_aliases();
        let profiles = [Profile::Default].into_iter().chain(self.named()?.into_iter().map(Profile::Named));
        let mut all: Vec<Summary> = profiles.map(|profile| self.summary(profile, &aliases)).collect();
        let identities: Vec<_> = all.iter().map(|s| identity(&s.path)).collect();
        for i in 0..all.len() {
            let twin = |j: &usize| *j != i && all[*j].link_to.is_none() && identities[*j] == identities[i];
            let same_as = (0..all.len()).find(twin).filter(|_| identities[i].is_some());
            all[i].same_as = same_as.map(|j| all[j].profile.clone());
        }
        Ok(all)
    }

    /// Everything there is to know about one profile.
    pub fn show(&self, profile: &Profile) -> Result<Details, ProfileError> {
        let dir = self.dir(profile)?;
        let summary = self.list()?.into_iter().find(|s| s.profile == *profile);
        let summary = summary.unwrap_or_else(|| self.summary(profile.clone(), &self.all_aliases()));
        let files = ["config.yaml", ".env", "SOUL.md", "auth.json"];
        Ok(Details {
            summary,
            skills: count_skills(&dir.join("skills"), 0),
            files: files.into_iter().filter(|name| dir.join(name).is_file()).collect(),
        })
    }

    /// Names of directories below `profiles`; hidden, malformed and broken entries are no profiles.
    fn named(&self) -> Result<Vec<ProfileName>, ProfileError> {
        let dir = self.profiles_dir();
        let entries = match fs::read_dir(&dir) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            result => result.map_err(failed("list", &dir))?,
        };
        let mut names: Vec<ProfileName> = entries
            .flatten()
            .filter_map(|e| ProfileName::parse(e.file_name().to_str()?).ok())
            .filter(|name| name.as_str() != "default" && dir.join(name.as_str()).is_dir())
            .collect();
        names.sort();
        Ok(names)
    }

    fn summary(&self, profile: Profile, aliases: &[(String, Wrapper)]) -> Summary {
        let path = profile.dir(&self.root);
        let is_link =
            profile != Profile::Default && fs::symlink_metadata(&path).is_ok_and(|m| m.is_symlink());
        Summary {
            link_to: is_link.then(|| fs::canonicalize(&path).ok()).flatten(),
            same_as: None,
            model: model(&path),
            description: describe::read(&path),
            aliases: self.aliases_among(aliases, &profile),
            gateway: running::gateway(&path, &self.proc_dir),
            path,
            profile,
        }
    }
}

/// `model: name`, or `model:` with `default` (or `model`) and `provider` below it.
fn model(dir: &Path) -> Option<Model> {
    let config = document(&dir.join("config.yaml"));
    let first = |paths: [&[&str]; 3]| paths.into_iter().find_map(|path| text(&config, path));
    Some(Model {
        name: first([&["model"], &["model", "default"], &["model", "model"]])?,
        provider: first([&["model", "provider"], &["provider"], &[]]),
    })
}

/// Skills are directories with a SKILL.md, in categories of a few levels.
fn count_skills(dir: &Path, depth: usize) -> usize {
    if depth > 8 {
        return 0;
    }
    let Ok(entries) = fs::read_dir(dir) else { return 0 };
    entries
        .flatten()
        .filter(|e| !e.file_name().to_string_lossy().starts_with('.'))
        .map(|e| match e.file_type() {
            Ok(kind) if kind.is_dir() => count_skills(&e.path(), depth + 1),
            Ok(_) if e.file_name() == "SKILL.md" => 1,
            _ => 0,
        })
        .sum()
}
