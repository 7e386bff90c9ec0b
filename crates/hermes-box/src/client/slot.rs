//! One call on the client's side: what has arrived for it and what it may still send.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::error::CallError;
use crate::link::lock;
use crate::proto::exec::StreamId;
use crate::proto::frame::{FrameError, Kind};
use crate::proto::message::Channel;
use crate::proto::{INPUT_WINDOW, MAX_ANSWER, MAX_WINDOW};

/// What can arrive before the end of a call.
#[derive(Debug)]
pub(super) enum Arrival {
    Started(u32),
    Output(StreamId, Vec<u8>),
}

/// What waiting for a call brought.
#[derive(Debug)]
pub(super) enum Next {
    Arrival(Arrival),
    Over(Result<Vec<u8>, CallError>),
    TimedOut,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Slot {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    arrivals: VecDeque<Arrival>,
    /// Bytes the agent may still send.
    granted: u64,
    /// Bytes taken out since the last grant.
    to_grant: u32,
    /// Grants are at least this large.
    step: u32,
    /// Bytes we may still send.
    credit: u64,
    started: bool,
    answer: Vec<u8>,
    over: Option<Result<Vec<u8>, CallError>>,
}

impl Slot {
    pub(super) fn new(window: u32) -> Self {
        let state = State {
            arrivals: VecDeque::new(),
            granted: u64::from(window),
            to_grant: 0,
            step: window / 4,
            credit: u64::from(INPUT_WINDOW),
            started: false,
            answer: Vec::new(),
            over: None,
        };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Takes in data; returns what may be granted at once.
    pub(super) fn data(&self, channel: Channel, bytes: Vec<u8>) -> Result<u32, FrameError> {
        let mut state = lock(&self.state);
        let length = bytes.len() as u64;
        state.granted = state.granted.checked_sub(length).ok_or(FrameError::Overrun)?;
        match channel {
            Channel::Output(stream) => {
                state.arrivals.push_back(Arrival::Output(stream, bytes));
                self.changed.notify_all();
                Ok(0)
            }
            Channel::Answer => {
                if state.answer.len() + bytes.len() > MAX_ANSWER {
                    return Err(FrameError::Overrun);
                }
                state.answer.extend_from_slice(&bytes);
                state.granted += length;
                Ok(length as u32)
            }
        }
    }

    /// The command runs; saying it twice breaks the rules (and would let the queue grow).
    pub(super) fn started(&self, pid: u32) -> Result<(), FrameError> {
        let mut state = lock(&self.state);
        if std::mem::replace(&mut state.started, true) {
            return Err(FrameError::Misplaced(Kind::Started));
        }
        state.arrivals.push_back(Arrival::Started(pid));
        self.changed.notify_all();
        Ok(())
    }

    /// The agent lets us send more.
    pub(super) fn credit(&self, bytes: u32) -> Result<(), FrameError> {
        let mut state = lock(&self.state);
        state.credit += u64::from(bytes);
        if state.credit > u64::from(MAX_WINDOW) {
            return Err(FrameError::Overrun);
        }
        self.changed.notify_all();
        Ok(())
    }

    /// The call is over; the last part of the answer is appended to what came before.
    pub(super) fn done(&self, last: &[u8]) {
        let mut state = lock(&self.state);
        let mut answer = std::mem::take(&mut state.answer);
        answer.extend_from_slice(last);
        state.over.get_or_insert(Ok(answer));
        self.changed.notify_all();
    }

    pub(super) fn failed(&self, error: CallError) {
        lock(&self.state).over.get_or_insert(Err(error));
        self.changed.notify_all();
    }

    pub(super) fn is_over(&self) -> bool {
        lock(&self.state).over.is_some()
    }

    /// Waits for the next thing; the number is what to grant the agent now.
    pub(super) fn next(&self, deadline: Option<Instant>) -> (Next, u32) {
        let mut state = lock(&self.state);
        loop {
            if let Some(arrival) = state.arrivals.pop_front() {
                let grant = state.consumed(&arrival);
                return (Next::Arrival(arrival), grant);
            }
            if let Some(over) = &state.over {
                return (Next::Over(over.clone()), 0);
            }
            let Some(left) = time_left(deadline) else { return (Next::TimedOut, 0) };
            state = wait(&self.changed, state, left);
        }
    }

    /// Waits until at least one byte may be sent; how many of `wanted` may.
    pub(super) fn reserve(&self, wanted: usize, deadline: Option<Instant>) -> Result<usize, Unsent> {
        let mut state = lock(&self.state);
        loop {
            if state.over.is_some() {
                return Err(Unsent::Over);
            }
            if state.credit > 0 {
                let count = (wanted as u64).min(state.credit);
                state.credit -= count;
                return Ok(count as usize);
            }
            let Some(left) = time_left(deadline) else { return Err(Unsent::TimedOut) };
            state = wait(&self.changed, state, left);
        }
    }
}

/// Why input was not sent.
#[derive(Debug)]
pub(super) enum Unsent {
    Over,
    TimedOut,
}

impl State {
    /// Notes that a piece was taken; grants are sent in larger steps to save frames.
    fn consumed(&mut self, arrival: &Arrival) -> u32 {
        let Arrival::Output(_, bytes) = arrival else { return 0 };
        self.to_grant += bytes.len() as u32;
        if self.over.is_some() || self.to_grant < self.step {
            return 0;
        }
        let grant = std::mem::take(&mut self.to_grant);
        self.granted += u64::from(grant);
        grant
    }
}

/// Time left; `Some(None)` is for ever, `None` is none.
#[allow(clippy::option_option, reason = "no deadline and no time left are different answers")]
fn time_left(deadline: Option<Instant>) -> Option<Option<Duration>> {
    let Some(deadline) = deadline else { return Some(None) };
    let left = deadline.saturating_duration_since(Instant::now());
    (!left.is_zero()).then_some(Some(left))
}

fn wait<'a>(
    changed: &Condvar,
    state: std::sync::MutexGuard<'a, State>,
    left: Option<Duration>,
) -> std::sync::MutexGuard<'a, State> {
    match left {
        None => changed.wait(state).unwrap_or_else(PoisonError::into_inner),
        Some(left) => changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0,
    }
}
