//! The notes an agent keeps: MEMORY.md about its work, USER.md about the user. Both files are shared with another program.

mod change;
mod entries;
mod file;
mod scan;

use hermes_home::settings::{Def, SettingError, table::memory as table};
use hermes_home::{Home, Settings};

pub use change::{Done, Operation, Refusal, apply};
pub use entries::{SEPARATOR, join, length, parse};
pub use file::{Changed, MemoryError, MemoryFile};
pub use scan::{Suspicion, suspicion};

/// What notes are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum About {
    /// Work and surroundings: MEMORY.md.
    Work,
    /// The user: USER.md.
    User,
}

impl About {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Work, Self::User];

    /// What tools and commands call it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Work => "memory",
            Self::User => "user",
        }
    }

    /// From what tools and commands call it.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|about| about.as_str() == name)
    }

    /// The file, in the home.
    pub fn file(self) -> &'static str {
        match self {
            Self::Work => "memories/MEMORY.md",
            Self::User => "memories/USER.md",
        }
    }

    /// Whether these notes are read and written at all.
    pub fn switch(self) -> &'static Def<bool> {
        match self {
            Self::Work => &table::MEMORY_ENABLED,
            Self::User => &table::USER_PROFILE_ENABLED,
        }
    }

    /// How many characters they may have.
    pub fn limit(self) -> &'static Def<i64> {
        match self {
            Self::Work => &table::MEMORY_CHAR_LIMIT,
            Self::User => &table::USER_CHAR_LIMIT,
        }
    }

    /// The file of these notes, with its limit.
    pub fn in_home(self, home: &Home, settings: &Settings) -> Result<MemoryFile, SettingError> {
        let limit = usize::try_from(settings.get(self.limit())?).unwrap_or_default();
        Ok(MemoryFile::new(home.path(self.file()), limit))
    }
}
