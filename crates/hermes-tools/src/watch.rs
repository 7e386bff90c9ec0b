//! Following background commands: their end, and lines that are waited for, become notifications.

mod throttle;

use std::io;
use std::time::Instant;

use hermes_box::client::{Client, Following, JobEvent};
use hermes_box::proto::job::JobInfo;

use crate::line::policy;
use crate::notifications::{News, Notification};
use crate::text::{self, Cleaning};
use crate::workplace::Workplace;
pub(crate) use throttle::Breaker;
use throttle::{Pass, Throttle};

/// The label that says which conversation started a job.
pub(crate) const CONVERSATION: &str = "conversation";
/// The label of a job whose end is to be told.
pub(crate) const NOTIFY: &str = "notify";
/// What that label says.
pub(crate) const ENDING: &str = "ending";

/// How much of the output a notification of an end has.
const LAST_OUTPUT: usize = 2000;
/// How much of a command line is repeated.
const LONGEST_COMMAND: usize = 200;
/// How much one notification of matches has.
const MOST_LINES: usize = 20;
const LONGEST_LINES: usize = 2000;

/// What is to be told of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Want {
    Ending,
    Lines(Vec<String>),
}

/// Follows a job on a thread of its own until it is over.
pub(crate) fn start(
    place: &Workplace,
    session: &str,
    client: &Client,
    info: &JobInfo,
    want: Want,
) -> io::Result<()> {
    let from = if want == Want::Ending { u64::MAX } else { 0 };
    let following = client.jobs().follow(&info.id, from).map_err(io::Error::other)?;
    let watch = Watch {
        place: place.clone(),
        client: client.clone(),
        session: session.to_owned(),
        process: info.id.clone(),
        command: String::from_utf8_lossy(&info.command).into_owned(),
    };
    let name = "hermes-watch".to_owned();
    std::thread::Builder::new()
        .name(name)
        .stack_size(256 * 1024)
        .spawn(move || watch.run(following, want))?;
    Ok(())
}

struct Watch {
    place: Workplace,
    client: Client,
    session: String,
    process: String,
    command: String,
}

impl Watch {
    fn run(&self, mut following: Following, want: Want) {
        let redactor = &self.place.options().redactor;
        let mut cleaning = Cleaning::new(redactor, policy(&self.command));
        let (patterns, mut tell_end) = match want {
            Want::Ending => (Vec::new(), true),
            Want::Lines(patterns) => (patterns, false),
        };
        let mut throttle = Throttle::default();
        let end = loop {
            match following.next_event(None) {
                Ok(JobEvent::Output(bytes)) if !patterns.is_empty() && !throttle.is_stopped() => {
                    let text = cleaning.push(&bytes);
                    tell_end |= self.matches(&text, &patterns, &mut throttle);
                }
                Ok(JobEvent::Output(_) | JobEvent::Quiet) => {}
                Ok(JobEvent::Ended(info)) => break Ok(info),
                Err(error) => break Err(error),
            }
        };
        if !patterns.is_empty() && !throttle.is_stopped() {
            // The last line need not have an end.
            tell_end |= self.matches(&cleaning.finish(), &patterns, &mut throttle);
        }
        match end {
            Ok(info) if tell_end => {
                self.tell(News::Ended { exit_code: info.exit_code(), output: self.last_output() });
            }
            Ok(_) => {}
            Err(error) => self.tell(News::Lost { reason: error.to_string() }),
        }
    }

    /// Tells of the lines that match; whether the watch was stopped for it.
    fn matches(&self, text: &str, patterns: &[String], throttle: &mut Throttle) -> bool {
        let lines =
            || text.lines().filter(|line| patterns.iter().any(|pattern| line.contains(pattern.as_str())));
        let count = lines().count();
        if count == 0 {
            return false;
        }
        match throttle.pass(count, Instant::now(), self.place.breaker()) {
            Pass::Tell { left_out } => {
                let mut bytes = 0;
                let fits = |line: &&str| {
                    bytes += line.len();
                    bytes <= LONGEST_LINES
                };
                let told: Vec<String> =
                    lines().take(MOST_LINES).take_while(fits).map(str::to_owned).collect();
                let left_out = left_out + count - told.len();
                self.tell(News::Matched { lines: told, left_out });
                false
            }
            Pass::Drop => false,
            Pass::Stop { left_out } => {
                self.tell(News::WatchStopped { left_out });
                true
            }
        }
    }

    fn last_output(&self) -> String {
        let bytes = self.client.jobs().tail(&self.process, 4 * LAST_OUTPUT as u32).map(|piece| piece.bytes);
        let redactor = &self.place.options().redactor;
        let clean = text::clean(&bytes.unwrap_or_default(), redactor, policy(&self.command));
        text::tail(clean.trim_end(), LAST_OUTPUT).to_owned()
    }

    fn tell(&self, news: News) {
        let command = text::head(self.command.lines().next().unwrap_or_default(), LONGEST_COMMAND);
        let command = self.place.options().redactor.redact(command, policy(command)).into_owned();
        let (session, process) = (self.session.clone(), self.process.clone());
        self.place.notifications().push(Notification { session, process, command, news });
    }
}
