//! The engine's command while it runs: its output kept within bounds, its end waited for, its time limited.

use std::io::{self, IsTerminal, Read, Seek, SeekFrom, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::PlainStreams;

/// How much of each stream is kept.
const MAX_KEPT: usize = 4 << 20;
/// How long the engine may take to notice that a command is over.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// After the command ended, how long something that holds its pipe may keep us.
const DRAIN: Duration = Duration::from_millis(300);

/// What happens to it.
#[derive(Debug)]
pub enum Event {
    /// It ended.
    Ended(io::Result<ExitStatus>),
    /// It is to be ended.
    Cancel,
}

/// What it left.
#[derive(Debug, Default)]
pub struct Output {
    /// Exit code; a signal is 128 plus its number.
    pub code: i32,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
}

/// What became of it within a time.
pub enum Waited {
    /// It ended.
    Ended(Output),
    /// It did not.
    TimedOut(Process),
    /// It is to be ended.
    Cancelled(Process),
}

/// See the module.
pub struct Process {
    pid: Option<Pid>,
    sender: Sender<Event>,
    events: Receiver<Event>,
    stdout: Option<Kept>,
    stderr: Option<Kept>,
}

/// A stream that is being read.
struct Kept {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Process {
    /// Starts it in a process group of its own, so that an interrupt typed at our terminal reaches us alone.
    pub fn start(mut command: Command, streams: PlainStreams) -> io::Result<Self> {
        match streams {
            PlainStreams::Ours => {
                // A terminal belongs to our group of processes; another that reads from it is stopped.
                let terminal = io::stdin().is_terminal();
                command.stdin(if terminal { Stdio::null() } else { Stdio::inherit() });
            }
            PlainStreams::Kept => {
                command.stdout(Stdio::piped()).stderr(Stdio::piped());
            }
            PlainStreams::Fed(bytes) => {
                let mut file = tempfile::tempfile()?;
                file.write_all(&bytes)?;
                file.seek(SeekFrom::Start(0))?;
                command.stdin(Stdio::from(file)).stdout(Stdio::piped()).stderr(Stdio::piped());
            }
        }
        let mut child = command.process_group(0).spawn()?;
        let (stdout, stderr) = (child.stdout.take().map(keep), child.stderr.take().map(keep));
        let (sender, events) = mpsc::channel();
        let pid = Pid::from_raw(child.id().cast_signed());
        watch(child, sender.clone());
        Ok(Self { pid, sender, events, stdout, stderr })
    }

    /// Whoever has it can send events.
    pub fn sender(&self) -> Sender<Event> {
        self.sender.clone()
    }

    /// Waits for what comes next, at most so long.
    pub fn wait(self, limit: Option<Duration>) -> Waited {
        let event = match limit {
            // We hold a sender ourselves, so there is always something to come.
            None => self.events.recv().ok(),
            Some(limit) => self.events.recv_timeout(limit).ok(),
        };
        match event {
            Some(Event::Ended(status)) => Waited::Ended(self.output(status.map_or(1, code_of))),
            Some(Event::Cancel) => Waited::Cancelled(self),
            None => Waited::TimedOut(self),
        }
    }

    /// Gives the engine's command up, with what it said so far.
    pub fn abandon(self) -> Output {
        if let Some(pid) = self.pid {
            let _ = kill_process_group(pid, Signal::KILL);
        }
        self.output(137)
    }

    fn output(self, code: i32) -> Output {
        let until = Instant::now() + DRAIN;
        let take = |kept: Option<Kept>| kept.map(|kept| kept.take(until)).unwrap_or_default();
        Output { code, stdout: take(self.stdout), stderr: take(self.stderr) }
    }
}

impl Kept {
    fn take(self, until: Instant) -> Vec<u8> {
        while !self.reader.is_finished() && Instant::now() < until {
            thread::sleep(Duration::from_millis(2));
        }
        std::mem::take(&mut self.bytes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn keep(mut source: impl Read + Send + 'static) -> Kept {
    let bytes = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&bytes);
    let reader = thread::spawn(move || {
        let mut buffer = vec![0; 64 << 10];
        while let Ok(count @ 1..) = source.read(&mut buffer) {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            let room = MAX_KEPT.saturating_sub(kept.len());
            kept.extend_from_slice(&buffer[..count.min(room)]);
        }
    });
    Kept { bytes, reader }
}

fn watch(mut child: Child, sender: Sender<Event>) {
    thread::spawn(move || {
        // Nobody may be waiting any more.
        let _ = sender.send(Event::Ended(child.wait()));
    });
}

/// An exit status as a shell gives it.
pub fn code_of(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}
