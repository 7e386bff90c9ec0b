//! What is written to the logs.

use super::super::spec::{choice, int, settings};

settings! {
    /// Lowest level that is written to agent.log.
    LEVEL: String = choice("logging.level", &["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"], "INFO").restart();
    /// Megabytes at which agent.log is rotated.
    MAX_SIZE_MB: i64 = int("logging.max_size_mb", 5).at_least(1).at_most(1024).restart();
    /// Rotated files that are kept.
    BACKUP_COUNT: i64 = int("logging.backup_count", 3).at_least(0).at_most(100).restart();
}
