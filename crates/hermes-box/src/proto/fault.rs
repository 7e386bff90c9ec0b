//! Why a call failed.

use std::path::PathBuf;

use super::wire::{wire_enum, wire_struct};

wire_enum! {
    /// What is wrong with a file.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum FileErrorKind {
        /// There is no such file or directory.
        1 = NotFound,
        /// It may not be done.
        2 = Permission,
        /// It is a directory.
        3 = IsDirectory,
        /// It is not a directory.
        4 = NotDirectory,
        /// It exists already.
        5 = Exists,
        /// The directory is not empty.
        6 = NotEmpty,
        /// It is not an ordinary file.
        7 = NotRegular,
        /// Too many symbolic links, one after the other.
        8 = Loop,
        /// The disk (or the quota) is full.
        9 = NoSpace,
        /// It can only be read.
        10 = ReadOnly,
        /// It has changed since it was seen.
        11 = Changed,
        /// The name is too long or not allowed.
        12 = BadName,
        /// Source and destination are on different devices, or the one is inside of the other.
        13 = CannotMove,
        /// Anything else; the reason says what.
        14 = Other,
    }
}

wire_struct! {
    /// An operation on a file that failed.
    #[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
    #[error("cannot {action} '{}': {reason}", path.display())]
    pub struct FileError {
        /// What is wrong.
        pub kind: FileErrorKind,
        /// What was being done: "read", "write", "remove".
        pub action: String,
        /// To which path.
        pub path: PathBuf,
        /// The system's error number, 0 when it was not the system's decision.
        pub errno: i32,
        /// Why, in words.
        pub reason: String,
    }
}

wire_enum! {
    /// Why a call failed.
    #[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
    pub enum Fault {
        /// An operation on a file failed.
        #[error("{0}")]
        1 = File(FileError),
        /// No job of this name.
        #[error("there is no job '{0}'; `jobs` lists them")]
        2 = NoSuchJob(String),
        /// The job is over.
        #[error("job '{0}' is over")]
        3 = JobOver(String),
        /// The job's input is closed or was never open.
        #[error("the input of job '{0}' is closed")]
        4 = StdinClosed(String),
        /// The job does not read its input fast enough.
        #[error("job '{0}' does not read its input; try again later")]
        5 = StdinFull(String),
        /// The job runs, so its record is needed.
        #[error("job '{0}' still runs; kill it first")]
        6 = JobRunning(String),
        /// The request makes no sense.
        #[error("{0}")]
        7 = Invalid(String),
        /// The client cancelled it.
        #[error("cancelled")]
        8 = Cancelled,
        /// Too many calls or jobs at once, or no processes left.
        #[error("the agent is at its limit: {0}")]
        9 = Exhausted(String),
        /// The answer does not fit.
        #[error("the answer is too long; ask for less")]
        10 = TooLong,
        /// The agent is shutting down.
        #[error("the agent is shutting down")]
        11 = Leaving,
        /// There is no shell in the box.
        #[error("there is no bash and no sh here; give the program and its arguments instead")]
        12 = NoShell,
        /// A bug in the agent or a system that does not work.
        #[error("the agent failed: {0}")]
        13 = Internal(String),
    }
}

impl From<FileError> for Fault {
    fn from(error: FileError) -> Self {
        Fault::File(error)
    }
}
