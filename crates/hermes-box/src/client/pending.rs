//! A call whose answer is awaited.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::error::CallError;
use super::slot::{Arrival, Next, Slot, Unsent};
use super::{Client, Steering};
use crate::proto::call::Call;
use crate::proto::exec::Control;
use crate::proto::frame::{CallId, MAX_DATA};
use crate::proto::message::ToAgent;
use crate::proto::wire::Wire;

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

    /// Waits for the answer. When it does not come in time, the agent no longer works and the connection is given up.
    pub fn wait_within(self, patience: Duration) -> Result<A, CallError> {
        self.wait_until(Some(Instant::now() + patience), patience)
    }

    /// Waits for the answer, however long it takes.
    pub fn wait_forever(self) -> Result<A, CallError> {
        self.wait_until(None, Duration::MAX)
    }

    /// A handle to cancel it from another thread while this one waits.
    pub fn steering(&self) -> Steering {
        Steering::new(&self.line)
    }

    fn wait_until(self, deadline: Option<Instant>, patience: Duration) -> Result<A, CallError> {
        loop {
            match self.line.next(deadline) {
                Next::Arrival(Arrival::Started(_) | Arrival::Output(..)) => {}
                Next::Over(Ok(answer)) => return self.line.decode(&answer),
                Next::Over(Err(error)) => return Err(error),
                Next::TimedOut => return Err(self.line.unresponsive(patience)),
            }
        }
    }
}

impl<A> std::fmt::Debug for Pending<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Pending")
    }
}
