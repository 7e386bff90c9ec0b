//! Walking a tree of directories, passing over what is to be passed over.

use std::path::Path;
use std::time::Instant;

use ignore::{DirEntry, WalkBuilder};

use crate::proto::search::Skip;
use crate::server::call::CallContext;

/// A walk over the files below `root`.
pub(super) fn builder(root: &Path, skip: Skip) -> WalkBuilder {
    let (hidden, ignored) = match skip {
        Skip::HiddenAndIgnored => (true, true),
        Skip::Ignored => (false, true),
        Skip::Hidden => (true, false),
        Skip::Nothing => (false, false),
    };
    let mut builder = WalkBuilder::new(root);
    builder
        .hidden(hidden)
        .ignore(ignored)
        .git_ignore(ignored)
        .git_global(ignored)
        .git_exclude(ignored)
        .parents(ignored)
        // A tree that was copied without its repository is ignored by the same rules.
        .require_git(false)
        .follow_links(false);
    if ignored {
        // No ignore file names it, and nobody looks for something in it.
        builder.filter_entry(|entry| entry.file_name() != ".git");
    }
    builder
}

/// Whether an entry is an ordinary file.
pub(super) fn is_file(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_file())
}

/// Says when to stop: the client does not care any more, or the time is up.
#[derive(Clone, Copy)]
pub(super) struct Limits<'a> {
    pub(super) context: &'a CallContext,
    pub(super) deadline: Option<Instant>,
}

impl Limits<'_> {
    pub(super) fn timed_out(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    pub(super) fn is_over(&self) -> bool {
        self.context.is_abandoned() || self.timed_out()
    }
}

/// Threads worth using for one search; others want to work too.
pub(super) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, |count| count.get().min(4))
}
