//! How a database is to be opened.

use std::time::Duration;

use crate::retry::Patience;

/// What the caller means to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// Read a database that exists. Creates no file, changes none.
    ReadOnly,
    /// Read and write a database that exists.
    ReadWrite,
    /// As `ReadWrite`; a missing or zero-byte file is made a new database.
    Create,
}

/// What a write waits for before it is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Synchronous {
    /// Survives the end of the process at any moment. A power cut may undo the last writes, never damage the file.
    Normal,
    /// Survives a power cut too, at the price of waiting for the disk on each write.
    Full,
}

/// The parts of opening that differ between databases.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// What a write waits for.
    pub synchronous: Synchronous,
    /// How long SQLite itself waits for a lock before each of our retries.
    pub busy: Duration,
    /// How often and how long we try again after that.
    pub patience: Patience,
}

impl Default for Options {
    fn default() -> Self {
        Self { synchronous: Synchronous::Normal, busy: Duration::from_secs(5), patience: Patience::default() }
    }
}
