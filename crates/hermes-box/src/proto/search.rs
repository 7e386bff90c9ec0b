//! Finding files by name and lines by content.

use std::path::PathBuf;

use super::file::Place;
use super::wire::{wire_enum, wire_struct};

wire_enum! {
    /// Which files a walk passes over.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Skip {
        /// Hidden ones and those named by ignore files (.gitignore, .ignore, git's own excludes).
        1 = HiddenAndIgnored,
        /// Those named by ignore files.
        2 = Ignored,
        /// Hidden ones.
        3 = Hidden,
        /// None.
        4 = Nothing,
    }
}

wire_enum! {
    /// The order of files found by name.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Order {
        /// Last changed first.
        1 = Newest,
        /// By path.
        2 = Path,
    }
}

wire_struct! {
    /// Which files to find.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct GlobRequest {
        /// Where to begin.
        pub root: Place,
        /// A glob. One without a slash is matched against names anywhere below, others against the path from
        /// the root. Empty finds everything.
        pub pattern: String,
        /// What to pass over.
        pub skip: Skip,
        /// The order.
        pub order: Order,
        /// Files to leave out at the beginning.
        pub offset: u32,
        /// Files to give at the most.
        pub limit: u32,
    }
}

impl GlobRequest {
    /// The 50 files last changed, hidden and ignored ones left out.
    pub fn new(root: impl Into<Place>, pattern: impl Into<String>) -> Self {
        Self {
            root: root.into(),
            pattern: pattern.into(),
            skip: Skip::HiddenAndIgnored,
            order: Order::Newest,
            offset: 0,
            limit: 50,
        }
    }
}

wire_struct! {
    /// A file that was found by name.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Found {
        /// Its path: absolute.
        pub path: PathBuf,
        /// Bytes.
        pub size: u64,
        /// Time of the last change of content, in nanoseconds since 1970.
        pub mtime_ns: i64,
    }
}

wire_enum! {
    /// Whether a search saw everything.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Completeness {
        /// It did.
        1 = Complete,
        /// It stopped at a limit on how much may be looked at or kept.
        2 = LimitReached,
        /// Its time was up.
        3 = TimedOut,
    }
}

wire_struct! {
    /// Files found by name.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct GlobResult {
        /// Where the search began, absolute.
        pub root: PathBuf,
        /// The files asked for.
        pub files: Vec<Found>,
        /// Files that fit altogether.
        pub total: u64,
        /// Directories and files that could not be read.
        pub unreadable: u64,
        /// Whether everything was seen.
        pub completeness: Completeness,
    }
}

wire_enum! {
    /// What a content search gives back.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum SearchMode {
        /// Lines.
        1 = Lines,
        /// Files with at least one match.
        2 = Files,
        /// Files with the number of lines that match.
        3 = Counts,
    }
}

wire_enum! {
    /// Whether upper and lower case differ.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Case {
        /// They do.
        1 = Sensitive,
        /// They do not.
        2 = Insensitive,
        /// They do if the pattern has an upper-case letter.
        3 = Smart,
    }
}

wire_enum! {
    /// How the pattern is read.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Syntax {
        /// As a regular expression.
        1 = Regex,
        /// As it is.
        2 = Literal,
    }
}

wire_struct! {
    /// What to search for.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct SearchRequest {
        /// A file, or a directory to search below.
        pub root: Place,
        /// The pattern.
        pub pattern: String,
        /// How it is read.
        pub syntax: Syntax,
        /// Upper and lower case.
        pub case: Case,
        /// Only files that fit one of these globs (rules as in [`GlobRequest::pattern`]).
        pub globs: Vec<String>,
        /// What to pass over.
        pub skip: Skip,
        /// What to give back.
        pub mode: SearchMode,
        /// Lines to show before each match.
        pub before: u32,
        /// Lines to show after each match.
        pub after: u32,
        /// Matches (or files) to leave out at the beginning.
        pub offset: u32,
        /// Matches (or files) to give at the most.
        pub limit: u32,
        /// Bytes of one line to give at the most.
        pub max_line: u32,
        /// How long it may take, in milliseconds.
        pub time_limit_ms: u64,
    }
}

impl SearchRequest {
    /// A regular expression, 50 matching lines without context, lines cut at 500 bytes, a minute.
    pub fn new(root: impl Into<Place>, pattern: impl Into<String>) -> Self {
        Self {
            root: root.into(),
            pattern: pattern.into(),
            syntax: Syntax::Regex,
            case: Case::Sensitive,
            globs: Vec::new(),
            skip: Skip::HiddenAndIgnored,
            mode: SearchMode::Lines,
            before: 0,
            after: 0,
            offset: 0,
            limit: 50,
            max_line: 500,
            time_limit_ms: 60_000,
        }
    }
}

wire_enum! {
    /// Why a line is in the result.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum LineRole {
        /// It matches.
        1 = Match,
        /// It is near one that does.
        2 = Context,
    }
}

wire_struct! {
    /// A line of a result.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct FoundLine {
        /// Its number, from 1.
        pub number: u64,
        /// Match or context.
        pub role: LineRole,
        /// Its bytes, without newline, cut to what was asked for.
        pub bytes: Vec<u8>,
        /// How long it really is.
        pub length: u64,
    }
}

wire_struct! {
    /// What was found in one file.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct FileMatches {
        /// The file's absolute path.
        pub path: PathBuf,
        /// Lines that match in this file (only as many as were looked at, unless counts were asked for).
        pub count: u64,
        /// The lines, when lines were asked for.
        pub lines: Vec<FoundLine>,
    }
}

wire_struct! {
    /// What a content search found.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct SearchResult {
        /// Where the search began, absolute.
        pub root: PathBuf,
        /// Files with what was found in them, by path.
        pub files: Vec<FileMatches>,
        /// Matches (or files) altogether, as far as they were looked at.
        pub total: u64,
        /// Whether there are more than were given back.
        pub more: bool,
        /// Files that were looked into.
        pub searched: u64,
        /// Files passed over because they are not text.
        pub binary: u64,
        /// Directories and files that could not be read.
        pub unreadable: u64,
        /// Whether everything was seen.
        pub completeness: Completeness,
    }
}
