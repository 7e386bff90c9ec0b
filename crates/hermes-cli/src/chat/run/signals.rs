//! Signals as messages, while a chat runs.

use std::io;
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;

use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGWINCH};
use signal_hook::iterator::{Handle, Signals};

use crate::chat::message::{Message, Signal};

/// A thread that hands signals on until it is dropped.
#[derive(Debug)]
pub(super) struct SignalWatch {
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

impl SignalWatch {
    pub(super) fn start(sender: Sender<Message>) -> io::Result<Self> {
        let mut signals = Signals::new([SIGWINCH, SIGCONT, SIGINT, SIGTERM, SIGHUP])?;
        let handle = signals.handle();
        let thread = std::thread::Builder::new().name("chat-signals".into()).spawn(move || {
            for signal in signals.forever() {
                let meaning = match signal {
                    SIGWINCH => Signal::Resized,
                    SIGCONT => Signal::Continued,
                    SIGINT => Signal::Interrupt,
                    _ => Signal::Terminate,
                };
                if sender.send(Message::Signal(meaning)).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { handle, thread: Some(thread) })
    }
}

impl Drop for SignalWatch {
    fn drop(&mut self) {
        self.handle.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
