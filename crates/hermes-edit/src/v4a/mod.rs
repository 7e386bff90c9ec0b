//! Patches of several files in the V4A format: read, then planned as a whole before anything is written.

mod apply;
mod parse;
mod plan;
mod seek;

/// A patch as written: what to do with which files, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// One entry per header.
    pub files: Vec<FilePatch>,
}

impl Patch {
    /// Reads a patch. Every path is checked: none is empty or has a `..` part.
    pub fn parse(text: &str) -> Result<Self, PatchError> {
        parse::parse(text)
    }

    /// Every path the patch reads, writes or removes, each once, in order of first mention.
    pub fn paths(&self) -> Vec<&str> {
        let mut paths: Vec<&str> = Vec::new();
        for path in self.files.iter().flat_map(FilePatch::paths) {
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        paths
    }

    /// What the patch does to files of which `lookup` gives the current text (None: no such file), in the
    /// order to do it in. Nothing is partly right: the first thing that does not fit is the error.
    ///
    /// `lookup` is asked at most once per path.
    pub fn plan<E: std::fmt::Display>(
        &self,
        lookup: impl FnMut(&str) -> Result<Option<String>, E>,
    ) -> Result<Vec<Change>, PatchError> {
        plan::plan(self, lookup)
    }
}

/// What a patch says about one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilePatch {
    /// Change a file that is there.
    Update {
        /// The file.
        path: String,
        /// The changes, from top to bottom.
        hunks: Vec<Hunk>,
    },
    /// Make a new file.
    Add {
        /// The file.
        path: String,
        /// Its whole text.
        text: String,
    },
    /// Remove a file.
    Delete {
        /// The file.
        path: String,
    },
    /// Rename a file and perhaps change it.
    Move {
        /// The file.
        from: String,
        /// Its new name.
        to: String,
        /// Changes on the way.
        hunks: Vec<Hunk>,
    },
}

impl FilePatch {
    /// The paths the entry touches.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        let (first, second) = match self {
            Self::Update { path, .. } | Self::Add { path, .. } | Self::Delete { path } => (path, None),
            Self::Move { from, to, .. } => (from, Some(to)),
        };
        std::iter::once(first).chain(second).map(String::as_str)
    }
}

/// One change inside a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hunk {
    /// Texts of lines above the change, outermost first: what the `@@` lines say.
    pub hints: Vec<String>,
    /// The line at which the change is said to begin, from 1, if an `@@` line has numbers.
    pub at: Option<usize>,
    /// Lines that stay, go and come.
    pub lines: Vec<HunkLine>,
    /// Whether the change ends at the end of the file.
    pub end_of_file: bool,
}

/// One line of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HunkLine {
    /// What happens to the line.
    pub kind: LineKind,
    /// The line without prefix and line end.
    pub text: String,
    /// How the line ends in the file.
    pub ending: Ending,
}

/// What happens to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// It stays.
    Keep,
    /// It goes.
    Remove,
    /// It comes.
    Add,
}

/// What a patch says about the end of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Nothing: as in the file.
    Unsaid,
    /// There is no line end after it (`\ No newline at end of file`).
    None,
}

/// One step of a planned patch, with whole texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Write a file that is there.
    Update {
        /// The file.
        path: String,
        /// Its text before this step.
        old: String,
        /// Its text after it.
        new: String,
    },
    /// Write a file that is not there.
    Add {
        /// The file.
        path: String,
        /// Its text.
        new: String,
    },
    /// Remove a file.
    Delete {
        /// The file.
        path: String,
        /// Its text before this step.
        old: String,
    },
    /// Rename a file; `new` differs from `old` if it changes on the way.
    Move {
        /// The file.
        from: String,
        /// Its new name; nothing has that name before this step.
        to: String,
        /// Its text before this step.
        old: String,
        /// Its text after it.
        new: String,
    },
}

/// Why a patch cannot be used. Nothing of it was applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    /// There is no file header in it.
    #[error(
        "the patch names no file: begin each file with '*** Update File: PATH', '*** Add File: PATH', '*** Delete File: PATH' or '*** Move File: OLD -> NEW'"
    )]
    Empty,
    /// A line fits nowhere.
    #[error("line {line} of the patch: {reason}: '{text}'")]
    Syntax {
        /// The line of the patch, from 1.
        line: usize,
        /// What is wrong with it.
        reason: &'static str,
        /// The line.
        text: String,
    },
    /// A path leads somewhere else than it says.
    #[error("line {line} of the patch: the path '{path}' {reason}")]
    Path {
        /// The line of the patch, from 1.
        line: usize,
        /// The path as written.
        path: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The file to remove or rename is not there.
    #[error("'{path}': there is no such file")]
    Gone {
        /// The file.
        path: String,
    },
    /// The file to change is not there.
    #[error("'{path}': there is no such file: use '*** Add File:' to make it")]
    Missing {
        /// The file.
        path: String,
    },
    /// The file to make is there already.
    #[error("'{path}': the file is there already: use '*** Update File:' to change it, or another name")]
    Exists {
        /// The file.
        path: String,
    },
    /// The file's text could not be had.
    #[error("'{path}': cannot read it: {reason}")]
    Unreadable {
        /// The file.
        path: String,
        /// Why.
        reason: String,
    },
    /// A hunk does not fit the file.
    #[error("'{path}', hunk {hunk}: {reason}")]
    Hunk {
        /// The file.
        path: String,
        /// Which hunk of the file, from 1.
        hunk: usize,
        /// Why it does not fit.
        reason: HunkError,
    },
    /// The file would be as it was.
    #[error("the patch changes nothing: mark lines that go with '-' and lines that come with '+'")]
    NoChange,
}

/// Why a hunk does not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HunkError {
    /// The lines are not in the file.
    #[error("its lines are not in the file{}", crate::replace::did_you_mean(.similar))]
    NotFound {
        /// Up to three places that look like it.
        similar: Vec<crate::replace::Snippet>,
    },
    /// The lines are there more than once.
    #[error("its lines are in the file {} times, at lines {}: add more lines around the change or name the function after '@@'", .lines.len(), crate::replace::list(.lines))]
    Several {
        /// Where, from 1.
        lines: Vec<usize>,
    },
    /// No line has the hint's text, and the hint is all there is to go by.
    #[error("no line of the file has the text '{hint}' that stands after '@@'")]
    NoHint {
        /// The hint.
        hint: String,
    },
    /// Several lines have the hint's text, and the hint is all there is to go by.
    #[error("several lines have the text '{hint}' that stands after '@@', at lines {}: add a line that stays", crate::replace::list(.lines))]
    SeveralHints {
        /// The hint.
        hint: String,
        /// Where, from 1.
        lines: Vec<usize>,
    },
}
