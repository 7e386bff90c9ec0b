//! The thread that reads the terminal. It can be paused, so that an editor gets its keys.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::chat::message::Message;
use crate::chat::term::Decoder;

/// How the terminal is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// Key by key.
    Keys,
    /// Line by line.
    Lines,
}

/// After this long an Escape is a key of its own and not the start of a sequence.
const ESCAPE_PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 40_000_000 };

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Reading,
    PauseWanted,
    Paused,
    Stopped,
}

/// The reader's state, and a pipe that wakes it.
#[derive(Debug)]
pub(super) struct Keyboard {
    shared: Arc<Shared>,
    wake: OwnedFd,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    fn set(&self, state: State) {
        *self.lock() = state;
        self.changed.notify_all();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits while `waits` holds and gives the state after it.
    fn wait_while(&self, waits: impl Fn(State) -> bool) -> State {
        let guard = self.changed.wait_while(self.lock(), |s| waits(*s));
        *guard.unwrap_or_else(PoisonError::into_inner)
    }
}

impl Keyboard {
    pub(super) fn start(input: OwnedFd, reading: Reading, sender: Sender<Message>) -> io::Result<Self> {
        let (woken, wake) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        let shared = Arc::new(Shared { state: Mutex::new(State::Reading), changed: Condvar::new() });
        let reader =
            Reader { input, woken, shared: Arc::clone(&shared), sender, decoding: Decoding::new(reading) };
        let thread = std::thread::Builder::new().name("chat-keys".into()).spawn(move || reader.run())?;
        Ok(Self { shared, wake, thread: Some(thread) })
    }

    /// Returns when nothing is read any more.
    pub(super) fn pause(&self) {
        self.shared.set(State::PauseWanted);
        self.wake();
        self.shared.wait_while(|s| s == State::PauseWanted);
    }

    pub(super) fn resume(&self) {
        let mut state = self.shared.lock();
        if *state == State::Paused {
            *state = State::Reading;
            self.shared.changed.notify_all();
        }
    }

    pub(super) fn stop(&mut self) {
        self.shared.set(State::Stopped);
        self.wake();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }

    fn wake(&self) {
        // The pipe is full only when many wake-ups wait already.
        let _ = rustix::io::write(&self.wake, b"!");
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        self.stop();
    }
}

struct Reader {
    input: OwnedFd,
    woken: OwnedFd,
    shared: Arc<Shared>,
    sender: Sender<Message>,
    decoding: Decoding,
}

impl Reader {
    fn run(mut self) {
        while self.step() {}
        // Whoever waits for a pause must not wait for ever.
        self.shared.set(State::Stopped);
    }

    /// Waits for input or a wake-up; false at the end.
    fn step(&mut self) -> bool {
        let mut polled = [PollFd::new(&self.input, PollFlags::IN), PollFd::new(&self.woken, PollFlags::IN)];
        let pause = self.decoding.is_waiting().then_some(&ESCAPE_PAUSE);
        let ready = match poll(&mut polled, pause) {
            Ok(ready) => ready,
            Err(rustix::io::Errno::INTR) => return true,
            Err(_) => return self.ended(),
        };
        let [input, woken] = polled.map(|p| !p.revents().is_empty());
        if ready == 0 {
            let messages = self.decoding.flush();
            return self.send(messages);
        }
        if woken {
            let _ = rustix::io::read(&self.woken, &mut [0; 64]);
            return self.obey();
        }
        !input || self.read()
    }

    fn read(&mut self) -> bool {
        let mut bytes = [0; 4096];
        match rustix::io::read(&self.input, &mut bytes) {
            Ok(0) => self.ended(),
            Ok(count) => {
                let messages = self.decoding.feed(&bytes[..count]);
                self.send(messages)
            }
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => true,
            // The terminal is gone.
            Err(_) => self.ended(),
        }
    }

    fn send(&self, messages: Vec<Message>) -> bool {
        messages.into_iter().all(|m| self.sender.send(m).is_ok())
    }

    fn ended(&self) -> bool {
        let _ = self.sender.send(Message::InputEnded);
        false
    }

    fn obey(&self) -> bool {
        let wanted = *self.shared.lock();
        if wanted == State::PauseWanted {
            self.shared.set(State::Paused);
        }
        self.shared.wait_while(|s| s == State::Paused) != State::Stopped
    }
}

/// Bytes to messages.
enum Decoding {
    Keys(Decoder),
    Lines(Vec<u8>),
}

impl Decoding {
    fn new(reading: Reading) -> Self {
        match reading {
            Reading::Keys => Self::Keys(Decoder::new()),
            Reading::Lines => Self::Lines(Vec::new()),
        }
    }

    fn is_waiting(&self) -> bool {
        matches!(self, Self::Keys(decoder) if decoder.is_waiting())
    }

    fn feed(&mut self, bytes: &[u8]) -> Vec<Message> {
        match self {
            Self::Keys(decoder) => decoder.feed(bytes).into_iter().map(Message::Input).collect(),
            Self::Lines(kept) => {
                kept.extend_from_slice(bytes);
                let mut messages = Vec::new();
                while let Some(end) = kept.iter().position(|b| *b == b'\n') {
                    let line: Vec<u8> = kept.drain(..=end).collect();
                    let line = String::from_utf8_lossy(&line);
                    messages.push(Message::Line(line.trim_end_matches(['\r', '\n']).to_owned()));
                }
                messages
            }
        }
    }

    fn flush(&mut self) -> Vec<Message> {
        match self {
            Self::Keys(decoder) => decoder.flush().into_iter().map(Message::Input).collect(),
            Self::Lines(_) => Vec::new(),
        }
    }
}
