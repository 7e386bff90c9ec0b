//! One connection: the hello, then calls until the stream ends.

use std::collections::HashMap;
use std::io::{BufReader, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use super::Agent;
use super::call::CallContext;
use super::dispatch;
use crate::link::lock;
use crate::link::outbox::Outbox;
use crate::link::transport::Transport;
use crate::proto::call::Call;
use crate::proto::fault::Fault;
use crate::proto::frame::{CallId, FrameError, MAX_BODY, MAX_HELLO_BODY, read_frame};
use crate::proto::hello::{self, Hello, MAGIC, Refusal, Welcome};
use crate::proto::message::{ToAgent, ToClient};
use crate::proto::{MAX_CALLS, MAX_WINDOW};

/// What a client that does not read may let pile up.
const MAX_QUEUED: usize = 16 * 1024 * 1024;
/// How long the last words may take to get out.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// What is known about a client before it speaks.
pub(crate) struct Visitor {
    /// Why it is not served, whatever it says.
    pub(crate) refusal: Option<Refusal>,
    /// What it must know.
    pub(crate) token: Option<Vec<u8>>,
    /// Called when it has been accepted.
    pub(crate) accepted: Box<dyn FnOnce() + Send>,
}

impl Visitor {
    /// One that needs no proof.
    pub(crate) fn trusted() -> Self {
        Self { refusal: None, token: None, accepted: Box::new(|| ()) }
    }
}

/// Serves one client until its stream ends. Its commands end with it.
pub(crate) fn serve(agent: &Arc<Agent>, transport: Transport, visitor: Visitor) {
    let Transport { reader, mut writer, closer, direct } = transport;
    let outbox = Arc::new(Outbox::new(MAX_QUEUED, direct));
    let (written, all_written) = mpsc::channel::<()>();
    let closer = Arc::new(Mutex::new(Some(closer)));
    let writing = {
        let (outbox, closer) = (Arc::clone(&outbox), Arc::clone(&closer));
        std::thread::Builder::new().name("box-write".into()).stack_size(128 * 1024).spawn(move || {
            let _ = outbox.run(&mut writer);
            // A reader that still waits for a client we have cut off must wake up.
            close(&closer);
            drop(written);
        })
    };
    if writing.is_ok() {
        let connection = Connection { agent, outbox: Arc::clone(&outbox), calls: Arc::default() };
        connection.run(&mut BufReader::with_capacity(64 * 1024, reader), visitor);
        outbox.close();
        let _ = all_written.recv_timeout(LAST_WORDS);
    }
    close(&closer);
}

fn close(closer: &Mutex<Option<Box<dyn FnOnce() + Send>>>) {
    let closer = lock(closer).take();
    if let Some(closer) = closer {
        closer();
    }
}

struct Connection<'a> {
    agent: &'a Arc<Agent>,
    outbox: Arc<Outbox>,
    calls: Arc<Mutex<HashMap<CallId, Arc<CallContext>>>>,
}

impl Connection<'_> {
    fn run(&self, reader: &mut impl Read, visitor: Visitor) {
        match self.greet(reader, visitor) {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => return self.complain(&error),
        }
        self.agent.activity.clients.fetch_add(1, Ordering::SeqCst);
        if let Err(error) = self.listen(reader) {
            self.complain(&error);
        }
        let calls: Vec<_> = lock(&self.calls).drain().map(|(_, call)| call).collect();
        for call in calls {
            call.abandon();
        }
        self.agent.activity.clients.fetch_sub(1, Ordering::SeqCst);
        self.agent.activity.changes.note();
    }

    /// False when the client was refused or left at once.
    fn greet(&self, reader: &mut impl Read, visitor: Visitor) -> Result<bool, FrameError> {
        let Some(frame) = read_frame(reader, MAX_HELLO_BODY)? else { return Ok(false) };
        let kind = frame.kind;
        let ToAgent::Hello(hello) = ToAgent::decode(frame)? else {
            return Err(FrameError::Misplaced(kind));
        };
        if hello.magic != MAGIC {
            return Err(FrameError::Misplaced(kind));
        }
        match self.admit(&hello, &visitor) {
            Ok(welcome) => {
                (visitor.accepted)();
                let _ = self.outbox.push(ToClient::Welcome(welcome).encode());
                Ok(true)
            }
            Err(refusal) => {
                let _ = self.outbox.push(ToClient::Refused(refusal).encode());
                Ok(false)
            }
        }
    }

    fn admit(&self, hello: &Hello, visitor: &Visitor) -> Result<Welcome, Refusal> {
        if let Some(refusal) = &visitor.refusal {
            return Err(refusal.clone());
        }
        if let Some(token) = &visitor.token
            && !hello.token.as_ref().is_some_and(|given| same_secret(given, token))
        {
            return Err(Refusal::Token);
        }
        if self.agent.is_leaving() {
            return Err(Refusal::Leaving);
        }
        Ok(Welcome {
            magic: MAGIC,
            protocol: hello::choose_protocol(hello)?,
            version: hello::VERSION.into(),
            build: hello::BUILD.into(),
            pid: std::process::id(),
            instance: self.agent.instance,
        })
    }

    fn listen(&self, reader: &mut impl Read) -> Result<(), FrameError> {
        while let Some(frame) = read_frame(reader, MAX_BODY)? {
            let kind = frame.kind;
            match ToAgent::decode(frame)? {
                ToAgent::Call { id, window, call } => self.begin(id, window, *call, kind)?,
                ToAgent::Data { id, bytes } => {
                    self.call(id).map_or(Ok(()), |call| call.receive(bytes))?;
                }
                ToAgent::End(id) => {
                    if let Some(call) = self.call(id) {
                        call.end_input();
                    }
                }
                ToAgent::Credit { id, bytes } => {
                    self.call(id).map_or(Ok(()), |call| call.add_credit(bytes))?;
                }
                ToAgent::Control { id, control } => {
                    if let Some(call) = self.call(id) {
                        call.control(control);
                    }
                }
                ToAgent::Fatal(_) => return Ok(()),
                ToAgent::Hello(_) => return Err(FrameError::Misplaced(kind)),
            }
        }
        Ok(())
    }

    /// Starts a call on a thread of its own.
    fn begin(
        &self,
        id: CallId,
        window: u32,
        call: Call,
        kind: crate::proto::frame::Kind,
    ) -> Result<(), FrameError> {
        if id == 0 || window > MAX_WINDOW {
            return Err(FrameError::Misplaced(kind));
        }
        let context = CallContext::new(id, window, Arc::clone(&self.outbox));
        {
            let mut calls = lock(&self.calls);
            if calls.contains_key(&id) {
                return Err(FrameError::Misplaced(kind));
            }
            if calls.len() >= MAX_CALLS {
                context.refuse(Fault::Exhausted(format!("{MAX_CALLS} calls run already")));
                return Ok(());
            }
            if self.is_sign_of_life(&call) {
                drop(calls);
                let answer = dispatch::perform(self.agent, &context, call);
                context.conclude(&context.answer(answer));
                return Ok(());
            }
            calls.insert(id, Arc::clone(&context));
        }
        let work = {
            let (agent, calls) = (Arc::clone(self.agent), Arc::clone(&self.calls));
            let context = Arc::clone(&context);
            move || {
                let outcome = catch_unwind(AssertUnwindSafe(|| dispatch::perform(&agent, &context, call)));
                let result = outcome.unwrap_or_else(|_| Err(Fault::Internal("a call panicked".into())));
                let last = context.answer(result);
                // The number is free before the client can know that it is.
                lock(&calls).remove(&id);
                context.conclude(&last);
                agent.activity.answered();
            }
        };
        self.agent.activity.owe();
        if let Err(error) = self.agent.workers.run(Box::new(work)) {
            self.agent.activity.answered();
            lock(&self.calls).remove(&id);
            context.refuse(Fault::Exhausted(format!("no thread for the call: {error}")));
        }
        Ok(())
    }

    /// Whether a call is answered here and now: the question whether the agent is well must neither cost a thread nor wait for one. With
    /// processes to be listed it is more than that.
    fn is_sign_of_life(&self, call: &Call) -> bool {
        matches!(call, Call::Info) && self.agent.left.is_empty()
    }

    fn call(&self, id: CallId) -> Option<Arc<CallContext>> {
        lock(&self.calls).get(&id).cloned()
    }

    fn complain(&self, error: &FrameError) {
        if !matches!(error, FrameError::Io(_)) {
            let _ = self.outbox.push(ToClient::Fatal(error.to_string()).encode());
        }
    }
}

/// Compares in the same time wherever the first difference is.
fn same_secret(given: &[u8], expected: &[u8]) -> bool {
    given.len() == expected.len()
        && given.iter().zip(expected).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}
