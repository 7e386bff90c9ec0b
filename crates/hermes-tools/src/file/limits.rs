//! How much of files is shown, and where they may be written.

use std::path::PathBuf;

use hermes_home::Settings;
use hermes_home::settings::{SettingError, table};

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileLimits {
    /// Lines of one read.
    pub lines: u64,
    /// Characters of one line.
    pub line_length: usize,
    /// Characters of one read.
    pub chars: usize,
    /// Directories outside of which nothing is written, as the user wrote them; none sets no bounds.
    pub safe_roots: Vec<PathBuf>,
}

impl FileLimits {
    /// As the settings say.
    pub fn from_settings(settings: &Settings) -> Result<Self, SettingError> {
        let size = |value: i64| usize::try_from(value).unwrap_or(usize::MAX);
        let roots = settings.get(&table::safety::WRITE_SAFE_ROOT)?;
        Ok(Self {
            lines: size(settings.get(&table::tools::OUTPUT_MAX_LINES)?) as u64,
            line_length: size(settings.get(&table::tools::OUTPUT_MAX_LINE_LENGTH)?),
            chars: size(settings.get(&table::tools::FILE_READ_MAX_CHARS)?),
            safe_roots: roots.split(':').filter(|root| !root.is_empty()).map(PathBuf::from).collect(),
        })
    }
}

impl Default for FileLimits {
    fn default() -> Self {
        Self { lines: 2000, line_length: 2000, chars: 100_000, safe_roots: Vec::new() }
    }
}
