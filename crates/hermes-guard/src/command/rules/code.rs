//! The small languages of programs that work on texts: as far as they start programs, write files or read them.

pub(super) mod awk;
pub(super) mod sed;
pub(super) mod vim;

/// What orders in such a language do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Orders {
    /// Commands that are started; empty ones are not known.
    pub(super) runs: Vec<String>,
    /// Files that are written.
    pub(super) writes: Vec<String>,
    /// Files that are read.
    pub(super) reads: Vec<String>,
}

impl Orders {
    fn add(&mut self, other: Self) {
        self.runs.extend(other.runs);
        self.writes.extend(other.writes);
        self.reads.extend(other.reads);
    }
}
