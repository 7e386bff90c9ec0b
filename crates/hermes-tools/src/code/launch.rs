//! The launcher in the box: started once, its frames passed on, answers written to it.

use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use hermes_box::client::{CallError, Event};
use hermes_box::proto::exec::{Ending, ExecRequest, Exit, Notice, Status, Stdin, StreamId, Streams};
use tokio::sync::mpsc::Sender;

use super::frames::{Frames, Said};
use super::remains::{self, FIND_PYTHON};
use super::rules::Mode;
use crate::thread::Link;
use crate::tool::Progress;
use crate::workplace::{Reached, Way, Workplace};

const LAUNCHER: &str = include_str!("launcher.py");
const SCRUB: &str = include_str!("scrub.py");
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
    /// Which variables it sees.
    pub(super) environment: String,
    /// The first thing the launcher hears.
    pub(super) start: Vec<u8>,
}

impl Launch {
    /// Runs it to its end; blocks. What it says goes to `said`, what comes from `answers` goes to it.
    pub(super) fn run(
        self,
        progress: &Progress,
        link: &Link,
        said: &Sender<Said>,
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
        let (end, remarks) = self.follow(&reached, link, said, answers).unwrap_or_else(|error| {
            let reason = format!("{error}. Whether the script did its work is not known");
            (End::Failed(reason), Vec::new())
        });
        (end, reached.notes.into_iter().chain(remarks).collect())
    }

    fn request(&self, reached: &Reached) -> ExecRequest {
        let mode = self.mode.name();
        let mut request =
            ExecRequest::argv(["sh", "-c", FIND_PYTHON, "sh", LAUNCHER, mode, SCRUB, &self.environment]);
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
        said: &Sender<Said>,
        answers: mpsc::Receiver<Vec<u8>>,
    ) -> Result<(End, Vec<String>), CallError> {
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
        let mut heard = Heard::default();
        let exit = loop {
            match running.next_event()? {
                Some(Event::Output { stream: StreamId::Stdout, bytes }) if heard.end.is_none() => {
                    heard.take(&bytes, said);
                    if heard.end.is_some() {
                        // A script that was cancelled may tell of its end as well.
                        heard.end = heard.end.filter(|_| !link.is_cancelled());
                        // What the script started ends with it.
                        running.cancel();
                    }
                }
                Some(Event::Output { stream: StreamId::Stderr, bytes }) => heard.take_noise(&bytes),
                Some(Event::Exit(exit)) => break exit,
                Some(Event::Output { .. } | Event::Started { .. }) => {}
                None => return Err(CallError::Lost("its end was not told".into())),
            }
        };
        if exit.left_running > 0 {
            remains::end(&reached.client, &self.session);
        }
        if let (Some(directory), false) = (&heard.directory, heard.end == Some(End::Told)) {
            remains::remove(&reached.client, directory);
        }
        Ok((heard.end(&exit), unkillable(&exit)))
    }
}

/// What was heard of the launcher so far.
#[derive(Default)]
struct Heard {
    frames: Frames,
    noise: Vec<u8>,
    directory: Option<PathBuf>,
    /// How it ends, as soon as that is known.
    end: Option<End>,
}

impl Heard {
    /// Takes a piece of its output and passes on what it says. Waits while nobody listens.
    fn take(&mut self, bytes: &[u8], said: &Sender<Said>) {
        let frames = match self.frames.push(bytes) {
            Ok(frames) => frames,
            Err(problem) => {
                let reason = format!("the program that runs the script cannot be understood: {problem}");
                self.end = Some(End::Failed(reason));
                return;
            }
        };
        for frame in frames {
            match &frame {
                Said::Directory(directory) => self.directory = Some(directory.clone()),
                Said::Over(_) | Said::Failed(_) => self.end = Some(End::Told),
                Said::NoCall(problem) => {
                    self.end = Some(End::Failed(format!(
                        "the script sent something to its tool socket that is no call ({problem}), and was ended: \
                         call tools with the functions of hermes_tools"
                    )));
                    return;
                }
                _ => {}
            }
            // Fails only when nobody waits for the script any more, and then it is cancelled.
            let _ = said.blocking_send(frame);
        }
    }

    fn take_noise(&mut self, bytes: &[u8]) {
        self.noise.extend_from_slice(&bytes[..bytes.len().min(MOST_NOISE - self.noise.len())]);
    }

    /// How it ended, given how its process ended.
    fn end(self, exit: &Exit) -> End {
        match (&exit.ending, self.end) {
            (Ending::TimedOut, _) => End::TimedOut,
            (_, Some(end)) => end,
            (Ending::Cancelled, None) => End::Cancelled,
            (Ending::Exited, None) if exit.code() == 0 => End::Told,
            (Ending::Exited, None) if exit.code() == NO_PYTHON => End::Failed(
                "there is no Python where commands run: install Python 3.8 or newer there (for example \
                 `apt-get install -y python3`), or use the terminal tool"
                    .to_owned(),
            ),
            (Ending::NoDirectory { path, reason }, None) => {
                End::Failed(format!("cannot enter \"{}\": {reason}", path.display()))
            }
            (Ending::NotStarted { program, reason, .. }, None) => {
                End::Failed(format!("cannot start \"{}\": {reason}", program.display()))
            }
            (Ending::Exited | Ending::GuardLost, None) => End::Failed(broken(exit, &self.noise)),
        }
    }
}

/// Why the launcher did not live to tell of the script's end.
fn broken(exit: &Exit, noise: &[u8]) -> String {
    let how = match exit.status {
        Status::Signal(number) => format!("was killed by signal {number}"),
        Status::Code(code) => format!("ended with code {code}"),
        Status::Unknown => "was killed".to_owned(),
    };
    let noise = String::from_utf8_lossy(noise);
    let said = match noise.trim() {
        "" => String::new(),
        noise => format!(". It said: {noise}"),
    };
    format!(
        "the program that runs the script {how}, perhaps by the script itself: the script and all it started were \
         ended, and how far it came is not known{said}"
    )
}

fn unkillable(exit: &Exit) -> Vec<String> {
    let counts = exit.notices.iter().filter_map(|notice| match notice {
        Notice::Unkillable(count) => Some(format!("{count} processes could not be ended")),
        _ => None,
    });
    counts.collect()
}
