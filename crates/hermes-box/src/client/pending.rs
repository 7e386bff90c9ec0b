//! A call whose answer is awaited.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::error::CallError;
use super::overdue::Overdue;
use super::slot::{Arrival, Next, Slot, Unsent};
use super::{Client, Steering};
use crate::proto::call::Call;
use crate::proto::exec::Control;
use crate::proto::frame::{CallId, MAX_DATA};
use crate::proto::message::ToAgent;
use crate::proto::wire::Wire;

/// How long an answer may take before the agent is asked whether it is well.
const UNASKED: Duration = Duration::from_secs(5);

/// The part of a call that knows nothing of its answer's type; forgets the call when dropped.
pub(super) struct Line {
    pub(super) client: Client,
    id: CallId,
    slot: Arc<Slot>,
}

impl Line {
    pub(super) fn open(client: &Client, call: Call, window: u32) -> Result<Arc<Self>, CallError> {
        let (id, slot) = client.shared.wires.begin(call, window)?;
        Ok(Arc::new(Self { client: client.clone(), id, slot }))
    }

    /// The next thing that arrived.
    pub(super) fn next(&self, deadline: Option<Instant>) -> Next {
        let (next, grant) = self.slot.next(deadline);
        self.client.shared.wires.grant(self.id, grant);
        next
    }

    /// Whether everything has arrived that will.
    pub(super) fn is_over(&self) -> bool {
        self.slot.is_over()
    }

    pub(super) fn control(&self, control: Control) {
        if !self.slot.is_over() {
            self.client.shared.wires.send(ToAgent::Control { id: self.id, control }.encode());
        }
    }

    /// Sends input as the agent grants it.
    pub(super) fn write(&self, mut bytes: &[u8], deadline: Option<Instant>) -> Result<(), Unsent> {
        while !bytes.is_empty() {
            let count = self.slot.reserve(bytes.len().min(MAX_DATA), deadline)?;
            let (now, later) = bytes.split_at(count);
            let data = ToAgent::Data { id: self.id, bytes: now.to_vec() };
            self.client.shared.wires.send(data.encode());
            bytes = later;
        }
        Ok(())
    }

    pub(super) fn end(&self) {
        if !self.slot.is_over() {
            self.client.shared.wires.send(ToAgent::End(self.id).encode());
        }
    }

    /// The agent is not to be waited for any longer.
    pub(super) fn unresponsive(&self, patience: Duration) -> CallError {
        let error = CallError::Unresponsive(patience);
        self.client.shared.wires.give_up(&error);
        error
    }

    /// Decodes an answer; nonsense ends the connection, as nothing else it says can be trusted.
    pub(super) fn decode<A: Wire>(&self, answer: &[u8]) -> Result<A, CallError> {
        A::from_bytes(answer).map_err(|error| {
            let error = CallError::Nonsense(error.to_string());
            self.client.shared.wires.give_up(&error);
            error
        })
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.control(Control::Cancel);
        self.client.shared.wires.forget(self.id);
    }
}

/// A call on its way. Dropping it cancels the call.
pub struct Pending<A> {
    pub(super) line: Arc<Line>,
    answer: PhantomData<fn() -> A>,
}

impl<A: Wire> Pending<A> {
    pub(super) fn start(client: &Client, call: Call, window: u32) -> Result<Self, CallError> {
        Ok(Self { line: Line::open(client, call, window)?, answer: PhantomData })
    }

    /// Waits for the answer, for as long as the connection's options say.
    pub fn wait(self) -> Result<A, CallError> {
        let patience = self.line.client.shared.answer_timeout;
        self.wait_within(patience)
    }

    /// Waits for the answer. When it does not come in time, the agent no longer works and the connection is given up. An agent that gives no
    /// sign of life at all is given up sooner.
    pub fn wait_within(self, patience: Duration) -> Result<A, CallError> {
        let deadline = Instant::now() + patience;
        self.wait_until(Some((deadline, patience)), Some(Overdue::new(patience.min(UNASKED))))
    }

    /// Waits for the answer to a call that the agent itself ends after `limit`.
    pub(super) fn wait_due(self, limit: Duration) -> Result<A, CallError> {
        self.wait_until(None, Some(Overdue::new(limit)))
    }

    /// Waits for the answer, however long it takes.
    pub fn wait_forever(self) -> Result<A, CallError> {
        self.wait_until(None, None)
    }

    /// Waits until the answer is there or the deadline has passed; whether there is a sound one. The connection is not given up: an agent that
    /// is only slow may still be of use.
    pub(super) fn arrives_by(&self, deadline: Instant) -> bool {
        loop {
            match self.line.next(Some(deadline)) {
                Next::Arrival(_) => {}
                Next::Over(answer) => return answer.is_ok(),
                Next::TimedOut => return false,
            }
        }
    }

    /// Whether there is an answer, of whatever kind.
    pub(super) fn is_answered(&self) -> bool {
        self.line.is_over()
    }

    /// A handle to cancel it from another thread while this one waits.
    pub fn steering(&self) -> Steering {
        Steering::new(&self.line)
    }

    fn wait_until(
        self,
        limit: Option<(Instant, Duration)>,
        mut overdue: Option<Overdue>,
    ) -> Result<A, CallError> {
        loop {
            let look = overdue.as_ref().map(Overdue::next_look);
            let deadline = limit.map(|(deadline, _)| deadline);
            match self.line.next(deadline.into_iter().chain(look).min()) {
                Next::Arrival(Arrival::Started(_) | Arrival::Output(..)) => continue,
                Next::Over(Ok(answer)) => return self.line.decode(&answer),
                Next::Over(Err(error)) => return Err(error),
                Next::TimedOut => {}
            }
            if let Some((deadline, patience)) = limit
                && Instant::now() >= deadline
            {
                return Err(self.line.unresponsive(patience));
            }
            let looked = overdue.as_mut().map(|overdue| overdue.look(&self.line.client));
            if let Some(Err(waited)) = looked {
                return Err(self.line.unresponsive(waited));
            }
        }
    }
}

impl<A> std::fmt::Debug for Pending<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Pending")
    }
}
