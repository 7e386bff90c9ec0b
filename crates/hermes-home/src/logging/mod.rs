//! The log files of a home: written, rotated and read back.
//!
//! - [`Logger`] is a `tracing` subscriber that appends to `agent.log` and `errors.log`.
//! - [`LogFile`] names a log together with its rotated predecessors; [`tail`] reads it from the end,
//!   [`Follower`] goes on from there.
//! - [`Query`] says which records a reader wants to see.
//!
//! The reference program writes the same files at the same time, so a record is one line appended in one write, and
//! nothing here relies on being the only writer.

mod component;
mod follow;
mod line;
mod logger;
mod query;
mod record;
mod reverse;
mod rotate;
mod spans;
mod tail;

use std::path::{Path, PathBuf};

use crate::settings::{SettingError, Settings, table};

pub use component::Component;
pub use follow::Follower;
pub use logger::{AlreadyInstalled, Logger, Surroundings};
pub use query::Query;
pub use record::{Head, Level, Record};
pub use tail::{End, Tail, Unfinished, tail};

/// How large a log may become and how many rotated predecessors are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// The file is rotated before it would grow beyond this.
    pub max_bytes: u64,
    /// How many rotated files (`agent.log.1`, `agent.log.2`, …) stay.
    pub backups: u32,
}

/// What is logged, and how much of it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogConfig {
    /// The least important level that reaches `agent.log`.
    pub level: Level,
    /// The size of `agent.log`.
    pub agent: Limit,
    /// The size of `errors.log`, which gets warnings and errors whatever `level` says.
    pub errors: Limit,
}

const MEGABYTE: u64 = 1024 * 1024;

impl LogConfig {
    /// What the user set.
    pub fn from_settings(settings: &Settings) -> Result<Self, SettingError> {
        let default = Self::default();
        // The table allows only words that are levels and numbers that fit.
        let level = settings.get(&table::logging::LEVEL)?.parse().unwrap_or(default.level);
        let megabytes = u64::try_from(settings.get(&table::logging::MAX_SIZE_MB)?).unwrap_or(1);
        let backups = u32::try_from(settings.get(&table::logging::BACKUP_COUNT)?).unwrap_or(0);
        Ok(Self { level, agent: Limit { max_bytes: megabytes * MEGABYTE, backups }, ..default })
    }
}

impl Default for LogConfig {
    fn default() -> Self {
        Self {
            level: Level::Info,
            agent: Limit { max_bytes: 5 * MEGABYTE, backups: 3 },
            errors: Limit { max_bytes: 2 * MEGABYTE, backups: 2 },
        }
    }
}

/// A log and its rotated predecessors: `agent.log`, `agent.log.1`, `agent.log.2`, …
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFile {
    path: PathBuf,
}

impl LogFile {
    /// The log called `name` (without `.log`) in `dir`.
    pub fn new(dir: &Path, name: &str) -> Self {
        Self { path: dir.join(format!("{name}.log")) }
    }

    /// The file that is being written.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The predecessor with this number; 1 is the youngest.
    pub fn rotated(&self, number: u32) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(format!(".{number}"));
        PathBuf::from(name)
    }

    /// The predecessors that exist, youngest first.
    pub fn predecessors(&self) -> Vec<PathBuf> {
        let prefix = format!("{}.", self.path.file_name().unwrap_or_default().to_string_lossy());
        let entries = self.path.parent().and_then(|dir| dir.read_dir().ok()).into_iter().flatten().flatten();
        let mut numbers: Vec<u32> = entries
            .filter_map(|entry| entry.file_name().to_str()?.strip_prefix(&prefix)?.parse().ok())
            .collect();
        numbers.sort_unstable();
        numbers.into_iter().map(|number| self.rotated(number)).collect()
    }
}
