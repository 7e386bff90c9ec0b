//! One call on the agent's side: what it may send, what arrived for it, and whether anyone still cares.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use crate::link::lock;
use crate::link::outbox::{Outbox, Wake};
use crate::proto::exec::Control;
use crate::proto::fault::Fault;
use crate::proto::frame::{CallId, FrameError, MAX_DATA};
use crate::proto::message::{Channel, ToClient};
use crate::proto::{INLINE_ANSWER, INPUT_WINDOW, MAX_ANSWER, MAX_WINDOW};
use crate::sys::wake::WakeFd;

/// Signals and sizes that wait for a command to take note.
const MAX_CONTROLS: usize = 64;

/// The client is gone or has cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Abandoned;

impl From<Abandoned> for Fault {
    fn from(_: Abandoned) -> Self {
        Fault::Cancelled
    }
}

/// See the module.
pub(crate) struct CallContext {
    id: CallId,
    outbox: Arc<Outbox>,
    state: Mutex<State>,
    changed: Condvar,
    bell: OnceLock<Arc<WakeFd>>,
}

#[derive(Default)]
struct State {
    credit: u64,
    input: VecDeque<Vec<u8>>,
    /// Bytes the client may still send.
    granted: u64,
    to_grant: u32,
    input_ended: bool,
    controls: VecDeque<Control>,
    abandoned: bool,
    /// The connection is gone, not just the interest in this call.
    gone: bool,
    /// Counts everything a waiter may want to know of, so that none of it is missed.
    happenings: u64,
}

/// What has arrived as input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Arrived {
    Bytes(Vec<u8>),
    Nothing,
    End,
}

impl Wake for CallContext {
    fn wake(&self) {
        self.notify();
    }
}

impl CallContext {
    pub(crate) fn new(id: CallId, window: u32, outbox: Arc<Outbox>) -> Arc<Self> {
        let state = State {
            credit: u64::from(window.min(MAX_WINDOW)),
            granted: u64::from(INPUT_WINDOW),
            ..State::default()
        };
        Arc::new(Self {
            id,
            outbox,
            state: Mutex::new(state),
            changed: Condvar::new(),
            bell: OnceLock::new(),
        })
    }

    // What the connection's reader does.

    /// Bytes arrived.
    pub(crate) fn receive(&self, bytes: Vec<u8>) -> Result<(), FrameError> {
        let mut state = lock(&self.state);
        state.granted = state.granted.checked_sub(bytes.len() as u64).ok_or(FrameError::Overrun)?;
        if !state.input_ended {
            state.input.push_back(bytes);
        }
        drop(state);
        self.notify();
        Ok(())
    }

    /// No more bytes will arrive.
    pub(crate) fn end_input(&self) {
        lock(&self.state).input_ended = true;
        self.notify();
    }

    /// The client takes more.
    pub(crate) fn add_credit(&self, bytes: u32) -> Result<(), FrameError> {
        let mut state = lock(&self.state);
        state.credit += u64::from(bytes);
        if state.credit > u64::from(MAX_WINDOW) {
            return Err(FrameError::Overrun);
        }
        drop(state);
        self.notify();
        Ok(())
    }

    /// The client wants something of a running call. More than a command can take note of are dropped.
    pub(crate) fn control(&self, control: Control) {
        let mut state = lock(&self.state);
        if control == Control::Cancel {
            state.abandoned = true;
        } else if state.controls.len() < MAX_CONTROLS {
            state.controls.push_back(control);
        }
        drop(state);
        self.notify();
    }

    /// The connection is gone.
    pub(crate) fn abandon(&self) {
        let mut state = lock(&self.state);
        state.abandoned = true;
        state.gone = true;
        drop(state);
        self.notify();
    }

    // What the call's own thread does.

    /// A descriptor that rings whenever something of the above happens.
    pub(crate) fn bell(&self) -> std::io::Result<Arc<WakeFd>> {
        if let Some(bell) = self.bell.get() {
            return Ok(Arc::clone(bell));
        }
        let bell = Arc::new(WakeFd::new()?);
        // What happened before there was a bell must not go unheard.
        bell.ring();
        Ok(Arc::clone(self.bell.get_or_init(|| bell)))
    }

    pub(crate) fn is_abandoned(&self) -> bool {
        lock(&self.state).abandoned
    }

    pub(crate) fn take_controls(&self) -> Vec<Control> {
        lock(&self.state).controls.drain(..).collect()
    }

    /// What has arrived as input, without waiting.
    pub(crate) fn take_input(&self) -> Arrived {
        let mut state = lock(&self.state);
        match state.input.pop_front() {
            Some(bytes) => Arrived::Bytes(bytes),
            None if state.input_ended => Arrived::End,
            None => Arrived::Nothing,
        }
    }

    /// Waits for input; `None` at its end.
    pub(crate) fn wait_input(&self) -> Result<Option<Vec<u8>>, Abandoned> {
        let mut state = lock(&self.state);
        loop {
            if state.abandoned {
                return Err(Abandoned);
            }
            if let Some(bytes) = state.input.pop_front() {
                return Ok(Some(bytes));
            }
            if state.input_ended {
                return Ok(None);
            }
            state = self.wait(state);
        }
    }

    /// Input was used up, so the client may send more.
    pub(crate) fn consumed(&self, bytes: usize) {
        let grant = {
            let mut state = lock(&self.state);
            state.to_grant += bytes as u32;
            if state.to_grant < INPUT_WINDOW / 4 || state.input_ended {
                return;
            }
            let grant = std::mem::take(&mut state.to_grant);
            state.granted += u64::from(grant);
            grant
        };
        let _ = self.outbox.push(ToClient::Credit { id: self.id, bytes: grant }.encode());
    }

    /// How many bytes may be sent now; the bell rings when it changes from none to some.
    pub(crate) fn room(self: &Arc<Self>) -> usize {
        let credit = lock(&self.state).credit.min(MAX_DATA as u64) as usize;
        if credit == 0 {
            return 0;
        }
        let sleeper: Arc<dyn Wake> = Arc::clone(self) as Arc<dyn Wake>;
        if self.outbox.has_room(&sleeper) { credit } else { 0 }
    }

    /// Sends bytes, at most as many as [`Self::room`] said.
    pub(crate) fn send(&self, channel: Channel, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        {
            let mut state = lock(&self.state);
            state.credit = state.credit.saturating_sub(bytes.len() as u64);
        }
        // A closed stream shows as an abandoned call.
        let _ = self.outbox.push(ToClient::encode_data(self.id, channel, bytes));
    }

    /// Sends bytes as the client takes them.
    pub(crate) fn send_all(self: &Arc<Self>, channel: Channel, mut bytes: &[u8]) -> Result<(), Abandoned> {
        while !bytes.is_empty() {
            let room = self.wait_room()?;
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.send(channel, now);
            bytes = later;
        }
        Ok(())
    }

    fn wait_room(self: &Arc<Self>) -> Result<usize, Abandoned> {
        loop {
            let seen = lock(&self.state).happenings;
            let room = self.room();
            if room > 0 {
                return Ok(room);
            }
            let mut state = lock(&self.state);
            while state.happenings == seen {
                state = self.wait(state);
            }
            // An answer is still sent after a cancel, as it says what was done.
            if state.gone {
                return Err(Abandoned);
            }
        }
    }

    /// Counts everything that has happened to this call; see [`Self::wait_past`].
    pub(crate) fn happenings(&self) -> u64 {
        lock(&self.state).happenings
    }

    /// Waits until something more has happened, or until the deadline.
    pub(crate) fn wait_past(&self, seen: u64, deadline: Option<Instant>) {
        let mut state = lock(&self.state);
        while state.happenings == seen {
            let Some(deadline) = deadline else {
                state = self.wait(state);
                continue;
            };
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits while `holds`, looking again whenever something happens, until the deadline.
    pub(crate) fn wait_while(&self, deadline: Option<Instant>, mut holds: impl FnMut() -> bool) {
        loop {
            let seen = self.happenings();
            if !holds() || deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return;
            }
            self.wait_past(seen, deadline);
        }
    }

    pub(crate) fn started(&self, pid: u32) {
        let _ = self.outbox.push(ToClient::Started { id: self.id, pid }.encode());
    }

    /// Sends the answer but for its last frame, which [`Self::conclude`] sends.
    pub(crate) fn answer(self: &Arc<Self>, result: Result<Vec<u8>, Fault>) -> ToClient {
        match result {
            Ok(answer) if answer.len() > MAX_ANSWER => self.failed(Fault::TooLong),
            Ok(answer) if answer.len() > INLINE_ANSWER => {
                // When the client is gone nobody reads the rest either.
                let _ = self.send_all(Channel::Answer, &answer);
                ToClient::Done { id: self.id, answer: Vec::new() }
            }
            Ok(answer) => ToClient::Done { id: self.id, answer },
            Err(fault) => self.failed(fault),
        }
    }

    /// Sends the last frame of the call.
    pub(crate) fn conclude(&self, last: &ToClient) {
        let _ = self.outbox.push(last.encode());
    }

    /// Refuses the call.
    pub(crate) fn refuse(&self, fault: Fault) {
        self.conclude(&self.failed(fault));
    }

    fn failed(&self, fault: Fault) -> ToClient {
        ToClient::Failed { id: self.id, fault }
    }

    fn notify(&self) {
        lock(&self.state).happenings += 1;
        self.changed.notify_all();
        if let Some(bell) = self.bell.get() {
            bell.ring();
        }
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }
}
