//! Skills: directories with a SKILL.md that say how something is done. The format is shared with other programs.
//!
//! [`Library::open`] settles where skills are; [`Library::list`] finds them; [`Library::find`] means one by its name;
//! [`index`](fn@index) is what the prompt says about them. A skill with something wrong is listed with what is wrong.

mod find;
mod header;
mod index;
mod linked;
mod needs;
mod read;
mod roots;
mod walk;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use hermes_home::settings::{SettingError, table::memory as table};
use hermes_home::{Home, Settings};
use serde_json::Value;

pub use find::{FindError, ListedNames};
pub use header::Header;
pub use index::{Surroundings, index};
pub use linked::{Linked, linked};
pub use needs::{Need, missing_files, needs};
pub use read::{ReadError, SkillFile, read_file};

/// A skill.
#[derive(Debug, Clone, PartialEq)]
pub struct Skill {
    /// What it is called: its header's word, else its directory's.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The directories between the root and its own, joined by `/`.
    pub category: Option<String>,
    /// Its SKILL.md, or the file itself where it is only a file.
    pub file: PathBuf,
    /// Its directory; none where it is only a file.
    pub dir: Option<PathBuf>,
    /// The root it was found in.
    pub root: PathBuf,
    /// What its header says.
    pub header: Header,
    /// What is wrong with it.
    pub problem: Option<String>,
}

/// Whether a skill can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It can.
    On,
    /// The settings say no.
    Disabled,
    /// It is for another operating system.
    OtherSystem,
}

impl Skill {
    /// Its file, as seen from its root.
    pub fn relative(&self) -> &Path {
        self.file.strip_prefix(&self.root).unwrap_or(&self.file)
    }

    /// The name of its directory, or of its file without the ending.
    pub fn dir_name(&self) -> String {
        let name = match &self.dir {
            Some(dir) => dir.file_name(),
            None => self.file.file_stem(),
        };
        name.unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// The skills of a home.
#[derive(Debug, Clone)]
pub struct Library {
    roots: Vec<PathBuf>,
    disabled: BTreeSet<String>,
    system: &'static str,
}

impl Library {
    /// The skills of a home, as they are for conversations through one door. Nothing is read yet.
    pub fn open(home: &Home, settings: &Settings, platform: &str) -> Result<Self, SettingError> {
        let external = settings.get(&table::SKILLS_EXTERNAL_DIRS)?;
        let by_platform = settings.get(&table::SKILLS_PLATFORM_DISABLED)?;
        let disabled = match by_platform.get(platform).and_then(Value::as_array) {
            Some(names) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            None => settings.get(&table::SKILLS_DISABLED)?.into_iter().collect(),
        };
        let variable = |name: &str| settings.variable(name).map(str::to_owned);
        let roots = roots::roots(home.dir(), &external, variable);
        Ok(Self { roots, disabled, system: std::env::consts::OS })
    }

    /// The skills below these directories.
    pub fn at(roots: Vec<PathBuf>, disabled: BTreeSet<String>, system: &'static str) -> Self {
        Self { roots, disabled, system }
    }

    /// Where skills are looked for; the home's own place first.
    pub fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    /// All skills in the order of their names, of several with one name the first root's.
    pub fn list(&self) -> Vec<Skill> {
        let mut skills: Vec<Skill> = Vec::new();
        for root in &self.roots {
            for skill in walk::skills(root) {
                let known = |other: &Skill| other.name == skill.name && other.root != skill.root;
                if !skills.iter().any(known) {
                    skills.push(skill);
                }
            }
        }
        skills.sort_by(|a, b| (&a.category, &a.name).cmp(&(&b.category, &b.name)));
        skills
    }

    /// The skills that can be used.
    pub fn usable(&self) -> Vec<Skill> {
        let mut skills = self.list();
        skills.retain(|skill| self.state(skill) == State::On);
        skills
    }

    /// Whether a skill can be used.
    pub fn state(&self, skill: &Skill) -> State {
        if self.disabled.contains(&skill.name) || self.disabled.contains(&skill.dir_name()) {
            State::Disabled
        } else if !skill.header.is_for(self.system) {
            State::OtherSystem
        } else {
            State::On
        }
    }
}

#[cfg(test)]
pub(crate) mod testing;
