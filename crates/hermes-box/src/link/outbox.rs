//! The frames waiting to be written to a stream, and the thread that writes them.
//!
//! Whoever has something to send never blocks on the other side's reading: a command's timeout must be
//! kept even when its client has stopped listening.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::lock;

/// Data is held back while more than this waits.
const SOFT_LIMIT: usize = 2 * 1024 * 1024;
/// Frames shorter than this are written together.
const GATHER: usize = 16 * 1024;

/// Something that waits for room and wants to be told.
pub(crate) trait Wake: Send + Sync {
    /// There is room again, or there will never be.
    fn wake(&self);
}

/// The stream takes no more frames.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Closed;

#[derive(Default)]
struct State {
    queue: VecDeque<Vec<u8>>,
    bytes: usize,
    phase: Phase,
    /// The writing thread has something in its hands.
    writing: bool,
    sleepers: Vec<Arc<dyn Wake>>,
}

#[derive(Default, PartialEq, Eq, Clone, Copy)]
enum Phase {
    #[default]
    Open,
    /// What is queued is still written.
    Finishing,
    /// Nothing is written any more.
    Closed,
}

/// Sends what can be sent without waiting; how much that was.
pub(crate) type Direct = Box<dyn Fn(&[u8]) -> io::Result<usize> + Send + Sync>;

/// See the module.
pub(crate) struct Outbox {
    state: Mutex<State>,
    work: Condvar,
    hard_limit: usize,
    /// Saves the way through the writing thread while the stream takes everything at once.
    direct: Option<Direct>,
}

impl Outbox {
    /// An empty box. A peer that lets more than `hard_limit` bytes pile up is cut off.
    pub(crate) fn new(hard_limit: usize, direct: Option<Direct>) -> Self {
        Self { state: Mutex::default(), work: Condvar::new(), hard_limit, direct }
    }

    /// Queues a frame that must go out. Such frames are small and few; when they pile up the peer does not read, and
    /// the stream is closed.
    pub(crate) fn push(&self, frame: Vec<u8>) -> Result<(), Closed> {
        let mut state = lock(&self.state);
        if state.phase != Phase::Open {
            return Err(Closed);
        }
        if state.bytes + frame.len() > self.hard_limit {
            self.finish(state, Phase::Closed);
            return Err(Closed);
        }
        let sent = self.send_directly(&state, &frame);
        if sent < frame.len() {
            let frame = if sent == 0 { frame } else { frame[sent..].to_vec() };
            state.bytes += frame.len();
            state.queue.push_back(frame);
            self.work.notify_one();
        }
        Ok(())
    }

    /// How much of a frame went out at once: nothing while anything else waits, as the order must stay.
    fn send_directly(&self, state: &State, frame: &[u8]) -> usize {
        match &self.direct {
            // An error shows again when the rest is written.
            Some(direct) if state.queue.is_empty() && !state.writing => direct(frame).unwrap_or(0),
            _ => 0,
        }
    }

    /// Whether data may be queued now; else `sleeper` is woken when it may.
    pub(crate) fn has_room(&self, sleeper: &Arc<dyn Wake>) -> bool {
        let mut state = lock(&self.state);
        if state.phase != Phase::Open || state.bytes <= SOFT_LIMIT {
            return true;
        }
        if !state.sleepers.iter().any(|known| Arc::ptr_eq(known, sleeper)) {
            state.sleepers.push(Arc::clone(sleeper));
        }
        false
    }

    /// Takes no more frames; what is queued still goes out.
    pub(crate) fn close(&self) {
        let state = lock(&self.state);
        if state.phase == Phase::Open {
            self.finish(state, Phase::Finishing);
        }
    }

    /// Takes no more frames and forgets the queued ones.
    pub(crate) fn abort(&self) {
        self.finish(lock(&self.state), Phase::Closed);
    }

    /// Writes frames as they come, until the box is closed or the stream fails.
    pub(crate) fn run(&self, writer: &mut dyn Write) -> io::Result<()> {
        let result = self.write_all(writer);
        self.abort();
        result
    }

    fn write_all(&self, writer: &mut dyn Write) -> io::Result<()> {
        let mut batch = Vec::new();
        while self.next_batch(&mut batch) {
            writer.write_all(&batch)?;
            writer.flush()?;
        }
        Ok(())
    }

    /// Waits for frames and moves some into `batch`; false at the end.
    fn next_batch(&self, batch: &mut Vec<u8>) -> bool {
        let mut state = lock(&self.state);
        state.writing = false;
        loop {
            if let Some(frame) = state.queue.pop_front() {
                state.bytes -= frame.len();
                *batch = frame;
                break;
            }
            if state.phase != Phase::Open {
                return false;
            }
            state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        while batch.len() < GATHER
            && let Some(frame) = state.queue.front()
            && frame.len() < GATHER
            && let Some(frame) = state.queue.pop_front()
        {
            state.bytes -= frame.len();
            batch.extend_from_slice(&frame);
        }
        state.writing = true;
        if state.bytes <= SOFT_LIMIT / 2 {
            let sleepers = std::mem::take(&mut state.sleepers);
            drop(state);
            wake_all(sleepers);
        }
        true
    }

    fn finish(&self, mut state: MutexGuard<'_, State>, phase: Phase) {
        state.phase = phase;
        if phase == Phase::Closed {
            state.queue.clear();
            state.bytes = 0;
        }
        let sleepers = std::mem::take(&mut state.sleepers);
        drop(state);
        self.work.notify_all();
        wake_all(sleepers);
    }
}

/// Outside of the lock, as the sleepers have locks of their own.
fn wake_all(sleepers: Vec<Arc<dyn Wake>>) {
    for sleeper in sleepers {
        sleeper.wake();
    }
}
