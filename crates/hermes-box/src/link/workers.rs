//! Threads that wait for the next piece of work instead of ending.

use std::io;
use std::sync::mpsc::{self, SyncSender};
use std::sync::{Arc, Mutex, Weak};

use super::lock;

/// Threads that wait at once; more than these end after their work.
const MAX_IDLE: usize = 4;

type Work = Box<dyn FnOnce() + Send>;

/// See the module. The waiting threads end with it.
#[derive(Default)]
pub(crate) struct Workers {
    idle: Arc<Mutex<Vec<SyncSender<Work>>>>,
}

impl Workers {
    /// Runs `work` on a thread of its own, now.
    pub(crate) fn run(&self, work: Work) -> io::Result<()> {
        let waiting = lock(&self.idle).pop();
        let work = match waiting {
            None => work,
            Some(thread) => match thread.send(work) {
                Ok(()) => return Ok(()),
                Err(mpsc::SendError(work)) => work,
            },
        };
        let idle = Arc::downgrade(&self.idle);
        std::thread::Builder::new()
            .name("box-work".into())
            .stack_size(512 * 1024)
            .spawn(move || serve(work, &idle))
            .map(drop)
    }
}

fn serve(mut work: Work, idle: &Weak<Mutex<Vec<SyncSender<Work>>>>) {
    loop {
        work();
        let (sender, next) = mpsc::sync_channel(1);
        {
            let Some(idle) = idle.upgrade() else { return };
            let mut idle = lock(&idle);
            if idle.len() >= MAX_IDLE {
                return;
            }
            idle.push(sender);
        }
        match next.recv() {
            Ok(more) => work = more,
            Err(_) => return,
        }
    }
}
