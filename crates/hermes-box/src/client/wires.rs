//! The threads of a client: one writes what is queued, one reads and hands frames to the calls they belong to.

use std::collections::HashMap;
use std::io::{BufReader, Read};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use super::error::{CallError, ConnectError};
use super::slot::Slot;
use crate::link::lock;
use crate::link::outbox::Outbox;
use crate::link::transport::Transport;
use crate::proto::call::Call;
use crate::proto::frame::{CallId, FrameError, MAX_BODY, MAX_HELLO_BODY, read_frame};
use crate::proto::hello::{Hello, MAGIC, NEWEST, OLDEST, Refusal, Welcome};
use crate::proto::message::{ToAgent, ToClient};
use crate::proto::{INPUT_WINDOW, MAX_CALLS};

type Closer = Box<dyn FnOnce() + Send>;

/// What the threads and the handles share.
pub(super) struct Wires {
    outbox: Outbox,
    calls: Mutex<Calls>,
    greeting: Mutex<Greeting>,
    greeted: Condvar,
    closer: Mutex<Option<Closer>>,
}

#[derive(Default)]
struct Calls {
    slots: HashMap<CallId, Arc<Slot>>,
    last: CallId,
    /// Why there will be no more answers.
    lost: Option<CallError>,
}

enum Greeting {
    Awaited,
    Welcome(Welcome),
    Failed(ConnectFailure),
}

enum ConnectFailure {
    Refused(Refusal),
    NotAnAgent(String),
    Broken(String),
}

impl Wires {
    /// Starts the threads, says hello and waits for the answer.
    pub(super) fn connect(
        transport: Transport,
        token: Option<Vec<u8>>,
        patience: Duration,
    ) -> Result<(Arc<Self>, Welcome), ConnectError> {
        let Transport { reader, mut writer, closer, direct } = transport;
        let wires = Arc::new(Self {
            // Every call may have its window under way.
            outbox: Outbox::new(MAX_CALLS * (INPUT_WINDOW + INPUT_WINDOW / 4) as usize, direct),
            calls: Mutex::default(),
            greeting: Mutex::new(Greeting::Awaited),
            greeted: Condvar::new(),
            closer: Mutex::new(Some(closer)),
        });
        // The queue is empty, so this cannot fail.
        let _ = wires.outbox.push(ToAgent::Hello(Hello::ours(token)).encode());
        let ours = Arc::clone(&wires);
        spawn("box-client-write", move || {
            if let Err(error) = ours.outbox.run(&mut writer) {
                ours.give_up(&CallError::Lost(error.to_string()));
            }
        })?;
        let ours = Arc::clone(&wires);
        spawn("box-client-read", move || ours.read(reader))
            .inspect_err(|_| wires.give_up(&CallError::Lost("not connected".into())))?;
        let welcome = wires.await_greeting(patience);
        match welcome {
            Ok(welcome) => Ok((wires, welcome)),
            Err(error) => {
                wires.give_up(&CallError::Lost("not connected".into()));
                Err(error)
            }
        }
    }

    fn await_greeting(&self, patience: Duration) -> Result<Welcome, ConnectError> {
        let deadline = Instant::now() + patience;
        let mut greeting = lock(&self.greeting);
        loop {
            match &*greeting {
                Greeting::Welcome(welcome) => return Ok(welcome.clone()),
                Greeting::Failed(ConnectFailure::Refused(why)) => {
                    return Err(ConnectError::Refused(why.clone()));
                }
                Greeting::Failed(ConnectFailure::NotAnAgent(why)) => {
                    return Err(ConnectError::NotAnAgent(why.clone()));
                }
                Greeting::Failed(ConnectFailure::Broken(why)) => {
                    return Err(ConnectError::Broken(why.clone()));
                }
                Greeting::Awaited => {}
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(ConnectError::NoAnswer(patience));
            }
            let waited = self.greeted.wait_timeout(greeting, left);
            greeting = waited.unwrap_or_else(std::sync::PoisonError::into_inner).0;
        }
    }

    /// Sends a call and makes room for what comes back.
    pub(super) fn begin(&self, call: Call, window: u32) -> Result<(CallId, Arc<Slot>), CallError> {
        let slot = Arc::new(Slot::new(window));
        let id = {
            let mut calls = lock(&self.calls);
            if let Some(lost) = &calls.lost {
                return Err(lost.clone());
            }
            let id = calls.free_id();
            calls.slots.insert(id, Arc::clone(&slot));
            id
        };
        let frame = ToAgent::Call { id, window, call: Box::new(call) }.encode();
        if frame.len() > MAX_BODY {
            self.forget(id);
            return Err(CallError::TooLong(frame.len()));
        }
        self.send(frame);
        Ok((id, slot))
    }

    /// Sends a frame. A lost connection shows in the call's own slot, so there is nothing to return.
    pub(super) fn send(&self, frame: Vec<u8>) {
        if self.outbox.push(frame).is_err() {
            self.give_up(&CallError::Lost("it is closed".into()));
        }
    }

    /// What still arrives for this call is of no interest.
    pub(super) fn forget(&self, id: CallId) {
        lock(&self.calls).slots.remove(&id);
    }

    /// Why the connection is of no more use, if so.
    pub(super) fn lost(&self) -> Option<CallError> {
        lock(&self.calls).lost.clone()
    }

    /// Ends every call with `error` and closes the stream.
    pub(super) fn give_up(&self, error: &CallError) {
        let slots: Vec<_> = {
            let mut calls = lock(&self.calls);
            calls.lost.get_or_insert_with(|| error.clone());
            calls.slots.drain().map(|(_, slot)| slot).collect()
        };
        for slot in slots {
            slot.failed(error.clone());
        }
        let closer = lock(&self.closer).take();
        if let Some(closer) = closer {
            closer();
        }
        self.outbox.abort();
    }

    fn read(&self, reader: Box<dyn Read + Send>) {
        let mut reader = BufReader::with_capacity(128 * 1024, reader);
        match Self::read_greeting(&mut reader) {
            Ok(welcome) => self.greet(Greeting::Welcome(welcome)),
            Err(failure) => return self.greet(Greeting::Failed(failure)),
        }
        let error = match self.read_on(&mut reader) {
            Ok(()) => CallError::Lost("the agent closed it".into()),
            Err(FrameError::Io(error)) => CallError::Lost(error.to_string()),
            Err(error) => {
                let _ = self.outbox.push(ToAgent::Fatal(error.to_string()).encode());
                CallError::Nonsense(error.to_string())
            }
        };
        self.give_up(&error);
    }

    fn greet(&self, greeting: Greeting) {
        *lock(&self.greeting) = greeting;
        self.greeted.notify_all();
    }

    fn read_greeting(reader: &mut impl Read) -> Result<Welcome, ConnectFailure> {
        let frame = match read_frame(reader, MAX_HELLO_BODY) {
            Ok(Some(frame)) => frame,
            Ok(None) => return Err(ConnectFailure::Broken("it was closed at once".into())),
            Err(FrameError::Io(error)) => return Err(ConnectFailure::Broken(error.to_string())),
            Err(error) => return Err(ConnectFailure::NotAnAgent(error.to_string())),
        };
        match ToClient::decode(frame) {
            Ok(ToClient::Welcome(welcome)) if welcome.magic != MAGIC => {
                Err(ConnectFailure::NotAnAgent("it does not know the greeting".into()))
            }
            Ok(ToClient::Welcome(welcome)) if !(OLDEST..=NEWEST).contains(&welcome.protocol) => {
                Err(ConnectFailure::NotAnAgent(format!("it wants to speak protocol {}", welcome.protocol)))
            }
            Ok(ToClient::Welcome(welcome)) => Ok(welcome),
            Ok(ToClient::Refused(refusal)) => Err(ConnectFailure::Refused(refusal)),
            Ok(ToClient::Fatal(why)) => Err(ConnectFailure::NotAnAgent(why)),
            Ok(_) => Err(ConnectFailure::NotAnAgent("it does not greet".into())),
            Err(error) => Err(ConnectFailure::NotAnAgent(error.to_string())),
        }
    }

    fn read_on(&self, reader: &mut impl Read) -> Result<(), FrameError> {
        while let Some(frame) = read_frame(reader, MAX_BODY)? {
            let kind = frame.kind;
            match ToClient::decode(frame)? {
                ToClient::Data { id, channel, bytes } => {
                    if let Some(slot) = self.slot(id) {
                        let grant = slot.data(channel, bytes)?;
                        self.grant(id, grant);
                    }
                }
                ToClient::Credit { id, bytes } => {
                    self.slot(id).map_or(Ok(()), |slot| slot.credit(bytes))?;
                }
                ToClient::Started { id, pid } => {
                    if let Some(slot) = self.slot(id) {
                        slot.started(pid)?;
                    }
                }
                ToClient::Done { id, answer } => {
                    if let Some(slot) = lock(&self.calls).slots.remove(&id) {
                        slot.done(&answer);
                    }
                }
                ToClient::Failed { id, fault } => {
                    if let Some(slot) = lock(&self.calls).slots.remove(&id) {
                        slot.failed(fault.into());
                    }
                }
                ToClient::Fatal(why) => {
                    self.give_up(&CallError::Lost(format!("the agent ended it: {why}")));
                    return Ok(());
                }
                ToClient::Welcome(_) | ToClient::Refused(_) => return Err(FrameError::Misplaced(kind)),
            }
        }
        Ok(())
    }

    /// Lets the agent send more for a call.
    pub(super) fn grant(&self, id: CallId, bytes: u32) {
        if bytes > 0 {
            self.send(ToAgent::Credit { id, bytes }.encode());
        }
    }

    fn slot(&self, id: CallId) -> Option<Arc<Slot>> {
        lock(&self.calls).slots.get(&id).cloned()
    }
}

impl Calls {
    fn free_id(&mut self) -> CallId {
        loop {
            self.last = self.last.wrapping_add(1);
            if self.last != 0 && !self.slots.contains_key(&self.last) {
                return self.last;
            }
        }
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    std::thread::Builder::new().name(name.into()).stack_size(256 * 1024).spawn(work).map(drop)
}
