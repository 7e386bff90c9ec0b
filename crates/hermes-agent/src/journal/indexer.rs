//! Puts what was said into the full-text index while nobody waits for the store.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, TryRecvError};
use std::sync::{Mutex, PoisonError, Weak};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use hermes_store::sessions::SessionStore;

/// Nobody writes for so long: a model is being waited for, or a person.
const QUIET: Duration = Duration::from_millis(40);

/// A thread that indexes. It ends with this handle, in the middle of its work; what is left the store does when it is closed.
#[derive(Debug)]
pub(super) struct Indexer {
    tell: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Indexer {
    /// Starts the thread.
    pub(super) fn start(store: Weak<Mutex<SessionStore>>) -> Self {
        let (tell, told) = mpsc::channel();
        let started = thread::Builder::new().name("indexer".into()).spawn(move || work(&told, &store));
        if let Err(error) = &started {
            tracing::warn!(%error, "there is no thread for the full-text index");
        }
        Self { tell: Some(tell), thread: started.ok() }
    }

    /// Something was written.
    pub(super) fn wrote(&self) {
        if let Some(tell) = &self.tell {
            // Where nobody listens, the store indexes when it is closed.
            let _ = tell.send(());
        }
    }
}

impl Drop for Indexer {
    fn drop(&mut self) {
        self.tell = None;
        if let Some(thread) = self.thread.take() {
            // One that panicked has nothing more to do.
            let _ = thread.join();
        }
    }
}

/// Why the thread stops indexing.
enum Stop {
    /// Everything is indexed.
    Done,
    /// Somebody writes.
    Busy,
    /// The handle is gone.
    Over,
}

fn work(told: &Receiver<()>, store: &Weak<Mutex<SessionStore>>) {
    while told.recv().is_ok() {
        loop {
            if wait_until_quiet(told) == Err(RecvTimeoutError::Disconnected) {
                return;
            }
            match index(told, store) {
                Stop::Done => break,
                Stop::Busy => {}
                Stop::Over => return,
            }
        }
    }
}

fn wait_until_quiet(told: &Receiver<()>) -> Result<(), RecvTimeoutError> {
    loop {
        match told.recv_timeout(QUIET) {
            Ok(()) => {}
            Err(RecvTimeoutError::Timeout) => return Ok(()),
            Err(gone) => return Err(gone),
        }
    }
}

/// Indexes a little at a time: the store is free for others in between.
fn index(told: &Receiver<()>, store: &Weak<Mutex<SessionStore>>) -> Stop {
    loop {
        match told.try_recv() {
            Ok(()) => return Stop::Busy,
            Err(TryRecvError::Disconnected) => return Stop::Over,
            Err(TryRecvError::Empty) => {}
        }
        let Some(store) = store.upgrade() else { return Stop::Over };
        let next = store.lock().unwrap_or_else(PoisonError::into_inner).index_next();
        match next {
            Ok(true) => {}
            Ok(false) => return Stop::Done,
            Err(error) => {
                tracing::warn!(%error, "the full-text index waits");
                return Stop::Done;
            }
        }
    }
}
