//! How much is snapshotted and kept, and why a directory is left out.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use hermes_home::Settings;
use hermes_home::settings::SettingError;
use hermes_home::settings::table::safety;

/// Bounds on snapshots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Snapshots kept for one directory.
    pub snapshots: usize,
    /// Bytes the store may take; none without a bound.
    pub store_bytes: Option<u64>,
    /// Larger files are left out.
    pub file_bytes: u64,
    /// Directories with more files are left out.
    pub files: usize,
    /// How long git may take for one thing.
    pub patience: Duration,
}

const MEGABYTE: u64 = 1024 * 1024;

impl Limits {
    /// As the settings say; `timeout` is the value of `HERMES_CHECKPOINT_TIMEOUT`.
    pub fn from_settings(settings: &Settings, timeout: Option<&str>) -> Result<Self, SettingError> {
        let megabytes = |value: i64| u64::try_from(value).unwrap_or(0).saturating_mul(MEGABYTE);
        let seconds = timeout.and_then(|text| text.trim().parse().ok()).unwrap_or(30_u64).clamp(10, 60);
        Ok(Self {
            snapshots: usize::try_from(settings.get(&safety::CHECKPOINTS_MAX_SNAPSHOTS)?).unwrap_or(1).max(1),
            store_bytes: Some(megabytes(settings.get(&safety::CHECKPOINTS_MAX_TOTAL_SIZE_MB)?)),
            file_bytes: megabytes(settings.get(&safety::CHECKPOINTS_MAX_FILE_SIZE_MB)?),
            patience: Duration::from_secs(seconds),
            ..Self::default()
        })
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            snapshots: 20,
            store_bytes: Some(500 * MEGABYTE),
            file_bytes: 10 * MEGABYTE,
            files: 50_000,
            patience: Duration::from_secs(30),
        }
    }
}

/// Why a directory is not snapshotted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Skip {
    /// Everything, or the whole of the user's home.
    TooBroad(PathBuf),
    /// More files than the limit.
    TooManyFiles {
        /// The directory.
        dir: PathBuf,
        /// The limit.
        limit: usize,
    },
}

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooBroad(dir) => {
                write!(
                    f,
                    "no checkpoints of {}: it is too broad; work in a directory below it",
                    dir.display()
                )
            }
            Self::TooManyFiles { dir, limit } => write!(
                f,
                "no checkpoints of {}: it has more than {limit} files; a .gitignore can leave some out",
                dir.display()
            ),
        }
    }
}
