//! What commands left running when they ended by themselves: listed, reaped, and ended on request.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};

use crate::link::lock;
use crate::link::outbox::Wake;
use crate::proto::info::LeftRunning;
use crate::shim::wire::{self, Order};
use crate::sys::proc::Process;
use crate::sys::wake::WakeFd;
use crate::sys::{self, proc};

/// Processes listed per command.
const MAX_LISTED: usize = 64;

/// See the module. A single thread waits for all of their shims.
#[derive(Default)]
pub(crate) struct Left {
    shared: Arc<Shared>,
    watcher: OnceLock<Option<Arc<WakeFd>>>,
}

#[derive(Default)]
struct Shared {
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    last: u64,
    entries: BTreeMap<u64, Entry>,
}

struct Entry {
    shim: OwnedFd,
    guard: u32,
    session: Option<String>,
    command: Vec<u8>,
    job: Option<String>,
    /// Who wants to know of its end.
    listeners: Vec<Arc<dyn Wake>>,
}

/// A command that is over and left something running.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Remains<'a> {
    /// Its shim.
    pub(crate) guard: u32,
    pub(crate) session: Option<&'a str>,
    pub(crate) command: &'a [u8],
    /// The job it was, if it was one.
    pub(crate) job: Option<&'a str>,
}

impl Left {
    /// Takes over the shim of a command that is over.
    pub(crate) fn adopt(&self, shim: OwnedFd, remains: Remains<'_>) {
        let watcher = self.watcher.get_or_init(|| start_watcher(&self.shared).ok());
        let Some(bell) = watcher else {
            // Without a thread nobody would notice the end; the shim reaps on its own.
            return;
        };
        {
            let mut table = lock(&self.shared.table);
            table.last += 1;
            let id = table.last;
            let entry = Entry {
                shim,
                guard: remains.guard,
                session: remains.session.map(Into::into),
                command: remains.command.to_vec(),
                job: remains.job.map(Into::into),
                listeners: Vec::new(),
            };
            table.entries.insert(id, entry);
        }
        bell.ring();
    }

    pub(crate) fn is_empty(&self) -> bool {
        lock(&self.shared.table).entries.is_empty()
    }

    /// Everything that still runs.
    pub(crate) fn list(&self) -> Vec<LeftRunning> {
        let table = lock(&self.shared.table);
        if table.entries.is_empty() {
            return Vec::new();
        }
        let processes = proc::all();
        let listed = table.entries.iter().map(|(id, entry)| {
            let below = proc::below(entry.guard as i32, &processes);
            let pids = below.iter().filter(|process| !process.is_zombie());
            LeftRunning {
                id: *id,
                session: entry.session.clone(),
                command: entry.command.clone(),
                pids: pids.take(MAX_LISTED).map(|process| process.pid as u32).collect(),
            }
        });
        listed.collect()
    }

    /// What is left of a job, among these processes.
    pub(crate) fn of_job(&self, job: &str, processes: &[Process]) -> Vec<Process> {
        let table = lock(&self.shared.table);
        let entries = table.entries.values().filter(|entry| entry.job.as_deref() == Some(job));
        let mut found: Vec<Process> =
            entries.flat_map(|entry| proc::below(entry.guard as i32, processes)).collect();
        found.retain(|process| !process.is_zombie());
        found
    }

    /// Ends what a job left; `listener` is woken when it is gone.
    pub(crate) fn end_job(&self, job: &str, grace: Duration, listener: &Arc<dyn Wake>) {
        let mut table = lock(&self.shared.table);
        let order = Order::End { grace_ms: grace.as_millis() as u64 };
        for entry in table.entries.values_mut().filter(|entry| entry.job.as_deref() == Some(job)) {
            entry.listeners.push(Arc::clone(listener));
            let _ = wire::send(&entry.shim, &order, &[]);
        }
    }

    /// Whether anything of a job is watched over.
    pub(crate) fn has_job(&self, job: &str) -> bool {
        lock(&self.shared.table).entries.values().any(|entry| entry.job.as_deref() == Some(job))
    }

    /// Ends what one command left, or everything.
    pub(crate) fn end(&self, id: Option<u64>, grace: Duration) {
        let table = lock(&self.shared.table);
        let order = Order::End { grace_ms: grace.as_millis() as u64 };
        for (_, entry) in table.entries.iter().filter(|(each, _)| id.is_none_or(|id| id == **each)) {
            // A shim that is gone has nothing left to end.
            let _ = wire::send(&entry.shim, &order, &[]);
        }
    }
}

fn start_watcher(shared: &Arc<Shared>) -> std::io::Result<Arc<WakeFd>> {
    let bell = Arc::new(WakeFd::new()?);
    let (shared, ours) = (Arc::clone(shared), Arc::clone(&bell));
    std::thread::Builder::new()
        .name("box-left".into())
        .stack_size(128 * 1024)
        .spawn(move || watch(&shared, &ours))?;
    Ok(bell)
}

/// Waits for shims to close their sockets, which they do when nothing is left below them.
fn watch(shared: &Shared, bell: &WakeFd) {
    loop {
        let sockets: Vec<_> = {
            let table = lock(&shared.table);
            let open = table.entries.iter().map(|(id, entry)| (*id, entry.shim.try_clone()));
            open.filter_map(|(id, socket)| Some((id, socket.ok()?))).collect()
        };
        let mut fds = vec![PollFd::new(bell, PollFlags::IN)];
        fds.extend(sockets.iter().map(|(_, socket)| PollFd::new(socket, PollFlags::IN)));
        if sys::poll::wait(&mut fds, None).is_err() {
            return;
        }
        let ready: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
        if ready[0] {
            bell.clear();
        }
        for ((id, socket), ready) in sockets.iter().zip(&ready[1..]) {
            if *ready && is_over(socket) {
                let gone = lock(&shared.table).entries.remove(id);
                for listener in gone.into_iter().flat_map(|entry| entry.listeners) {
                    listener.wake();
                }
            }
        }
    }
}

/// Reads what a shim says; its last word and its silence mean the same.
fn is_over(socket: &OwnedFd) -> bool {
    let mut buffer = [0; 256];
    loop {
        match rustix::io::read(socket, &mut buffer) {
            Ok(0) => return true,
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::AGAIN) => return false,
            Err(_) => return true,
        }
    }
}
