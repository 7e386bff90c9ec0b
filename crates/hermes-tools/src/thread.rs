//! Blocking work beside an asynchronous loop, and how it is ended.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::workplace::lock;

/// How long a cancelled command may take to end: what ignores TERM is killed after five seconds.
const LAST_WORDS: Duration = Duration::from_secs(12);

/// How blocking work went.
pub(crate) enum Outcome<T> {
    /// It came to its end, which may be that of a cancelled command.
    Done(T),
    /// It was cancelled before anything was started, or does not end.
    Abandoned,
    /// It broke.
    Broken,
}

/// What can be cancelled, known to both sides.
#[derive(Default)]
pub(crate) struct Link(Mutex<Stage>);

/// Ends what was started.
type End = Box<dyn FnOnce() + Send>;

#[derive(Default)]
enum Stage {
    /// Nothing that could be ended has been started.
    #[default]
    Before,
    Started(End),
    Cancelled,
}

impl Link {
    /// From here on there is something to end; it is ended at once if it is too late for it.
    pub(crate) fn attach(&self, end: impl FnOnce() + Send + 'static) {
        let mut stage = lock(&self.0);
        match *stage {
            Stage::Cancelled => end(),
            Stage::Before | Stage::Started(_) => *stage = Stage::Started(Box::new(end)),
        }
    }

    /// Whether nothing more should be started.
    pub(crate) fn is_cancelled(&self) -> bool {
        matches!(*lock(&self.0), Stage::Cancelled)
    }

    /// Ends what was started; whether anything was.
    fn cancel(&self) -> bool {
        match std::mem::replace(&mut *lock(&self.0), Stage::Cancelled) {
            Stage::Started(end) => {
                end();
                true
            }
            Stage::Before | Stage::Cancelled => false,
        }
    }
}

/// Ends the work when nobody waits for it any more.
struct CancelOnDrop(Arc<Link>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Runs blocking work on a thread of its own until it ends, or is cancelled and ends.
pub(crate) async fn run<T: Send + 'static>(
    cancel: &CancellationToken,
    work: impl FnOnce(&Link) -> T + Send + 'static,
) -> Outcome<T> {
    let link = Arc::new(Link::default());
    let theirs = Arc::clone(&link);
    let mut task = tokio::task::spawn_blocking(move || work(&theirs));
    let guard = CancelOnDrop(link);
    let ended = tokio::select! {
        ended = &mut task => ended,
        () = cancel.cancelled() => {
            if !guard.0.cancel() {
                return Outcome::Abandoned;
            }
            match tokio::time::timeout(LAST_WORDS, task).await {
                Ok(ended) => ended,
                Err(_) => return Outcome::Abandoned,
            }
        }
    };
    ended.map_or(Outcome::Broken, Outcome::Done)
}
