//! The launcher in the box: started once, its frames passed on, answers written to it.

use std::sync::mpsc;
use std::time::Duration;

use hermes_box::client::{CallError, Event};
use hermes_box::proto::exec::Stdin;
use hermes_box::proto::exec::{Ending, ExecRequest, Exit, StreamId, Streams};
use tokio::sync::mpsc::UnboundedSender;

use super::frames::{Frames, Said};
use super::rules::Mode;
use crate::thread::Link;
use crate::tool::Progress;
use crate::workplace::{Reached, Way, Workplace};

const LAUNCHER: &str = include_str!("launcher.py");
const FIND_PYTHON: &str = include_str!("find_python.sh");
/// What the shell that looks for Python says when there is none.
const NO_PYTHON: i32 = 127;
/// Between TERM and KILL when the time is up.
const GRACE: Duration = Duration::from_secs(5);
/// How much of what the launcher says besides frames is worth telling.
const MOST_NOISE: usize = 2_000;

/// How the launcher ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    /// As it should: the script's end was told before.
    Told,
    /// The time was up.
    TimedOut,
    /// It was cancelled.
    Cancelled,
    /// It did not run, or not to its end.
    Failed(String),
}

/// A script to launch.
pub(super) struct Launch {
    pub(super) place: Workplace,
    pub(super) session: String,
    pub(super) mode: Mode,
    pub(super) timeout: Duration,
    /// The first thing the launcher hears.
    pub(super) start: Vec<u8>,
}

impl Launch {
    /// Runs it to its end; blocks. What it says goes to `said`, what comes from `answers` goes to it.
    pub(super) fn run(
        self,
        progress: &Progress,
        link: &Link,
        said: &UnboundedSender<Said>,
        answers: mpsc::Receiver<Vec<u8>>,
    ) -> (End, Vec<String>) {
        let reached = match self.place.enter_any(&self.session, progress) {
            Ok(Way::Agent(reached)) => reached,
            Ok(Way::Plain(door)) => {
                let reason =
                    "our program cannot run in this container, and scripts need it: use the terminal tool";
                return (End::Failed(reason.to_owned()), door.notes);
            }
            Err(error) => {
                return (End::Failed(format!("there is no place to run it in: {error}")), Vec::new());
            }
        };
        if link.is_cancelled() {
            return (End::Cancelled, reached.notes);
        }
        let end = self.follow(&reached, link, said, answers).unwrap_or_else(|error| {
            End::Failed(format!("{error}. Whether the script did its work is not known"))
        });
        (end, reached.notes)
    }

    fn request(&self, reached: &Reached) -> ExecRequest {
        let mut request = ExecRequest::argv(["sh", "-c", FIND_PYTHON, "sh", LAUNCHER, self.mode.name()]);
        request.session = Some(self.session.clone());
        request.env = reached.sandbox.command_env();
        request.stdin = Stdin::Stream;
        request.streams = Streams::Apart;
        request.timeout = Some(self.timeout);
        request.grace = Some(GRACE);
        request
    }

    fn follow(
        &self,
        reached: &Reached,
        link: &Link,
        said: &UnboundedSender<Said>,
        answers: mpsc::Receiver<Vec<u8>>,
    ) -> Result<End, CallError> {
        let mut running = reached.client.exec(self.request(reached))?;
        let steering = running.steering();
        link.attach(move || steering.cancel());
        let steering = running.steering();
        let start = self.start.clone();
        // Writing waits while the script does not read; what it prints is taken meanwhile.
        std::thread::spawn(move || {
            let mut pieces = std::iter::once(start).chain(answers);
            while pieces.next().is_some_and(|piece| steering.write_stdin(&piece).is_ok()) {}
            steering.close_stdin();
        });
        let mut frames = Frames::default();
        let mut noise = Vec::new();
        loop {
            match running.next_event()? {
                Some(Event::Output { stream: StreamId::Stdout, bytes }) => match frames.push(&bytes) {
                    Ok(frames) => frames.into_iter().for_each(|frame| drop(said.send(frame))),
                    // Dropping the command ends it.
                    Err(problem) => return Ok(End::Failed(format!("the launcher said nonsense: {problem}"))),
                },
                Some(Event::Output { bytes, .. }) => {
                    noise.extend_from_slice(&bytes[..bytes.len().min(MOST_NOISE - noise.len())]);
                }
                Some(Event::Exit(exit)) => return Ok(end(&exit, &noise)),
                Some(Event::Started { .. }) => {}
                None => return Err(CallError::Lost("its end was not told".into())),
            }
        }
    }
}

fn end(exit: &Exit, noise: &[u8]) -> End {
    match &exit.ending {
        Ending::TimedOut => End::TimedOut,
        Ending::Cancelled => End::Cancelled,
        Ending::Exited if exit.code() == 0 => End::Told,
        Ending::Exited if exit.code() == NO_PYTHON => End::Failed(
            "there is no Python where commands run: install Python 3.8 or newer there (for example \
             `apt-get install -y python3`), or use the terminal tool"
                .to_owned(),
        ),
        Ending::NoDirectory { path, reason } => {
            End::Failed(format!("cannot enter \"{}\": {reason}", path.display()))
        }
        Ending::NotStarted { program, reason, .. } => {
            End::Failed(format!("cannot start \"{}\": {reason}", program.display()))
        }
        Ending::Exited | Ending::GuardLost => {
            let noise = String::from_utf8_lossy(noise);
            End::Failed(format!("the launcher ended with code {}: {}", exit.code(), noise.trim()))
        }
    }
}
