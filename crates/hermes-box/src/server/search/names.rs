//! Finding files by name.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ignore::WalkState;

use super::glob::Pattern;
use super::walk::{self, Limits};
use crate::link::lock;
use crate::proto::fault::Fault;
use crate::proto::search::{Completeness, Found, GlobRequest, GlobResult, Order};
use crate::server::call::CallContext;
use crate::server::files::{file_error, nanoseconds};

/// Files that are looked at and put in order.
const MAX_FOUND: usize = 200_000;
/// Files in one answer.
const MAX_GIVEN: usize = 20_000;
/// How long a search may take.
const TIME_LIMIT: Duration = Duration::from_mins(1);

/// Finds the files below `root` whose names fit.
pub(crate) fn find(context: &CallContext, root: &Path, request: &GlobRequest) -> Result<GlobResult, Fault> {
    fs::metadata(root).map_err(|error| file_error("search", root, &error))?;
    let pattern = (!request.pattern.is_empty()).then(|| Pattern::new(&request.pattern)).transpose()?;
    let limits = Limits { context, deadline: Some(Instant::now() + TIME_LIMIT) };
    let found: Mutex<Vec<Found>> = Mutex::default();
    let (count, unreadable) = (AtomicUsize::new(0), AtomicU64::new(0));
    let walk = walk::builder(root, request.skip).threads(walk::threads()).build_parallel();
    walk.run(|| {
        Box::new(|entry| {
            if limits.is_over() || count.load(Ordering::Relaxed) > MAX_FOUND {
                return WalkState::Quit;
            }
            match entry {
                Err(_) => {
                    unreadable.fetch_add(1, Ordering::Relaxed);
                }
                Ok(entry) => {
                    let fits = pattern.as_ref().is_none_or(|pattern| pattern.fits(entry.path(), root));
                    if walk::is_file(&entry) && fits {
                        count.fetch_add(1, Ordering::Relaxed);
                        lock(&found).push(describe(entry.path()));
                    }
                }
            }
            WalkState::Continue
        })
    });
    if context.is_abandoned() {
        return Err(Fault::Cancelled);
    }
    let mut files = found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let completeness = match files.len() {
        length if length > MAX_FOUND => Completeness::LimitReached,
        _ if limits.timed_out() => Completeness::TimedOut,
        _ => Completeness::Complete,
    };
    sort(&mut files, request.order);
    let total = files.len() as u64;
    let limit = (request.limit as usize).min(MAX_GIVEN);
    let files = files.into_iter().skip(request.offset as usize).take(limit).collect();
    let unreadable = unreadable.into_inner();
    Ok(GlobResult { root: root.into(), files, total, unreadable, completeness })
}

/// A file that vanished meanwhile was there when it was found.
fn describe(path: &Path) -> Found {
    let (size, mtime_ns) = fs::symlink_metadata(path)
        .map_or((0, 0), |metadata| (metadata.size(), nanoseconds(metadata.mtime(), metadata.mtime_nsec())));
    Found { path: path.into(), size, mtime_ns }
}

fn sort(files: &mut [Found], order: Order) {
    files.sort_unstable_by(|a, b| match order {
        Order::Newest => b.mtime_ns.cmp(&a.mtime_ns).then_with(|| a.path.cmp(&b.path)),
        Order::Path => a.path.cmp(&b.path),
    });
}
