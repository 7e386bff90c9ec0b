//! One job: what the thread that runs it and the calls about it share.

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::log::Log;
use crate::link::lock;
use crate::link::outbox::Wake;
use crate::proto::exec::{Control, Notice, StreamId};
use crate::proto::fault::Fault;
use crate::proto::job::{JobInfo, JobOutput, JobState};
use crate::server::call::Arrived;
use crate::server::exec::drive::{Cancel, Patron};
use crate::sys::wake::WakeFd;

/// Input that waits for a job to read it.
const MAX_QUEUED: usize = 1024 * 1024;

/// See the module.
pub(crate) struct Job {
    pub(crate) id: String,
    pub(crate) directory: Option<PathBuf>,
    /// What its processes carry.
    pub(crate) mark: u64,
    bell: WakeFd,
    state: Mutex<State>,
}

struct State {
    info: JobInfo,
    log: Log,
    /// Has its process (or the failure to start one) been seen?
    settled: bool,
    input: VecDeque<Vec<u8>>,
    input_bytes: usize,
    input_closed: bool,
    controls: VecDeque<Control>,
    cancel: Option<Duration>,
    listeners: Vec<Arc<dyn Wake>>,
}

impl Job {
    pub(crate) fn new(
        info: JobInfo,
        mark: u64,
        log: Log,
        directory: Option<PathBuf>,
    ) -> std::io::Result<Arc<Self>> {
        let state = State {
            input_closed: !info.stdin_open,
            settled: info.state != JobState::Running,
            info,
            log,
            input: VecDeque::new(),
            input_bytes: 0,
            controls: VecDeque::new(),
            cancel: None,
            listeners: Vec::new(),
        };
        let id = state.info.id.clone();
        Ok(Arc::new(Self { id, directory, mark, bell: WakeFd::new()?, state: Mutex::new(state) }))
    }

    /// What is known about it now.
    pub(crate) fn info(&self) -> JobInfo {
        let state = lock(&self.state);
        let mut info = state.info.clone();
        info.output_end = state.log.end();
        info.output_dropped = state.log.dropped();
        info.stdin_open = !state.input_closed && info.state == JobState::Running;
        if let Some(trouble) = &state.log.trouble {
            info.notices.push(Notice::SpillFailed(trouble.clone()));
        }
        info
    }

    pub(crate) fn is_running(&self) -> bool {
        lock(&self.state).info.state == JobState::Running
    }

    /// Whether its process has been started (or has not, for good).
    pub(crate) fn is_settled(&self) -> bool {
        lock(&self.state).settled
    }

    pub(crate) fn read(&self, offset: u64, max: usize) -> JobOutput {
        let state = lock(&self.state);
        let piece = state.log.read(offset, max);
        JobOutput {
            offset: piece.offset,
            next: piece.offset + piece.bytes.len() as u64,
            bytes: piece.bytes,
            end: state.log.end(),
            running: state.info.state == JobState::Running,
        }
    }

    /// From now on `listener` is woken whenever something changes.
    pub(crate) fn listen(&self, listener: Arc<dyn Wake>) {
        lock(&self.state).listeners.push(listener);
    }

    pub(crate) fn stop_listening(&self, listener: &Arc<dyn Wake>) {
        lock(&self.state).listeners.retain(|known| !Arc::ptr_eq(known, listener));
    }

    /// Queues input.
    pub(crate) fn write(&self, bytes: Vec<u8>) -> Result<(), Fault> {
        let mut state = lock(&self.state);
        if state.info.state != JobState::Running {
            return Err(Fault::JobOver(self.id.clone()));
        }
        if state.input_closed {
            return Err(Fault::StdinClosed(self.id.clone()));
        }
        if state.input_bytes + bytes.len() > MAX_QUEUED {
            return Err(Fault::StdinFull(self.id.clone()));
        }
        state.input_bytes += bytes.len();
        state.input.push_back(bytes);
        drop(state);
        self.bell.ring();
        Ok(())
    }

    /// No more input after what is queued.
    pub(crate) fn close_stdin(&self) -> Result<(), Fault> {
        let mut state = lock(&self.state);
        if state.info.state != JobState::Running {
            return Err(Fault::JobOver(self.id.clone()));
        }
        state.input_closed = true;
        drop(state);
        self.bell.ring();
        Ok(())
    }

    pub(crate) fn control(&self, control: Control) -> Result<(), Fault> {
        let mut state = lock(&self.state);
        if state.info.state != JobState::Running {
            return Err(Fault::JobOver(self.id.clone()));
        }
        state.controls.push_back(control);
        drop(state);
        self.bell.ring();
        Ok(())
    }

    /// It is to be ended; an earlier end is not put off.
    pub(crate) fn kill(&self, grace: Duration) {
        {
            let mut state = lock(&self.state);
            state.cancel = Some(state.cancel.map_or(grace, |earlier| earlier.min(grace)));
        }
        self.bell.ring();
    }

    /// Changes what is known about it and tells everybody.
    pub(crate) fn update(&self, change: impl FnOnce(&mut JobInfo)) {
        {
            let mut state = lock(&self.state);
            change(&mut state.info);
            state.settled = true;
        }
        self.tell();
    }

    fn tell(&self) {
        let listeners = lock(&self.state).listeners.clone();
        for listener in listeners {
            listener.wake();
        }
    }
}

/// The job as the one its command runs for.
pub(crate) struct Owner<'a>(pub(crate) &'a Job);

impl Patron for Owner<'_> {
    fn bell(&self) -> BorrowedFd<'_> {
        self.0.bell.as_fd()
    }

    fn heard(&self) {
        self.0.bell.clear();
    }

    fn started(&mut self, pid: u32) {
        self.0.update(|info| info.pid = pid);
    }

    fn cancelled(&self) -> Option<Cancel> {
        lock(&self.0.state).cancel.map(|grace| Cancel { grace })
    }

    fn controls(&mut self) -> Vec<Control> {
        lock(&self.0.state).controls.drain(..).collect()
    }

    fn input(&mut self) -> Arrived {
        let mut state = lock(&self.0.state);
        match state.input.pop_front() {
            Some(bytes) => Arrived::Bytes(bytes),
            None if state.input_closed => Arrived::End,
            None => Arrived::Nothing,
        }
    }

    fn input_used(&mut self, bytes: usize) {
        let mut state = lock(&self.0.state);
        state.input_bytes = state.input_bytes.saturating_sub(bytes);
    }

    fn room(&mut self) -> usize {
        usize::MAX
    }

    fn output(&mut self, _: StreamId, bytes: &[u8]) {
        lock(&self.0.state).log.append(bytes);
        self.0.tell();
    }
}
