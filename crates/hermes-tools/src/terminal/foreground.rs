//! A command the conversation waits for.

use std::path::Path;
use std::time::Duration;

use hermes_box::client::{CallError, Event};
use hermes_box::proto::exec::{Ending, ExecRequest, Exit, Notice, Spill, WinSize};

use super::arguments::{Mode, Order};
use super::meaning;
use super::outcome::Outcome;
use super::plain;
use crate::line;
use crate::text::{AROUND, Cleaning, Kept, Shortened};
use crate::thread::{self, Link};
use crate::tool::{Progress, Report, Run};
use crate::workplace::{Reached, Way, Workplace};

/// The terminal a command gets when it asks for one.
pub(super) const SIZE: WinSize = WinSize { rows: 30, cols: 120 };
/// How long the file with a whole output may get.
const LONGEST_SPILL: Spill = Spill::UpTo(64 * 1024 * 1024);

/// Runs a command to its end.
pub(super) async fn run(place: &Workplace, order: Order, run: Run<'_>) -> Outcome {
    let (place, progress) = (place.clone(), run.progress.clone());
    let (session, call_id, most_chars) = (run.session.to_owned(), run.call_id.to_owned(), run.most_chars);
    let work = move |link: &Link| {
        Command { place: &place, order, session: &session, call_id: &call_id, most_chars }
            .run(&progress, link)
    };
    match thread::run(run.cancel, work).await {
        thread::Outcome::Done(outcome) => outcome,
        thread::Outcome::Abandoned => Outcome::interrupted_before(),
        thread::Outcome::Broken => Outcome::refused("error", "the tool itself failed: see the log"),
    }
}

/// A command the conversation waits for.
pub(super) struct Command<'a> {
    pub(super) place: &'a Workplace,
    pub(super) order: Order,
    pub(super) session: &'a str,
    call_id: &'a str,
    /// Characters the result may take.
    most_chars: usize,
}

impl Command<'_> {
    fn run(&self, progress: &Progress, link: &Link) -> Outcome {
        let mut reached = match self.place.enter_any(self.session, progress) {
            Ok(Way::Agent(reached)) => reached,
            Ok(Way::Plain(door)) => return plain::run(self, door, link),
            Err(error) => {
                let reason =
                    format!("there is no place to run it in: {error}. Nothing was run anywhere else.");
                return Outcome::refused("error", reason);
            }
        };
        if link.is_cancelled() {
            return Outcome::interrupted_before();
        }
        reached.notes.extend(self.order.notes.iter().cloned());
        let home = self.order.workdir.as_ref().and_then(|_| reached.client.session(self.session).ok());
        match self.follow(&reached, progress, link) {
            (Ok(exit), kept) => {
                if let Some(home) = home.filter(|home| home.cwd != exit.cwd) {
                    self.go_home(&reached, &home.cwd);
                }
                self.ended(reached, &exit, kept)
            }
            (Err(error), kept) => self.lost(reached, &error, kept),
        }
    }

    /// A directory for one call is for that call alone: the shell goes back to its own.
    fn go_home(&self, reached: &Reached, directory: &Path) {
        let quoted = directory.display().to_string().replace('\'', "'\\''");
        let back = ExecRequest::shell(self.session, format!("cd -- '{quoted}'"));
        match reached.client.run(back) {
            Ok(exit) if exit.code() == 0 => {}
            // The next call says where it runs if the directory is gone.
            Ok(exit) => tracing::warn!(code = exit.code(), "the shell did not go back to its directory"),
            Err(error) => tracing::warn!(%error, "the shell did not go back to its directory"),
        }
    }

    /// Starts it and takes what it prints. What was printed before something broke is given back too.
    fn follow(&self, reached: &Reached, progress: &Progress, link: &Link) -> (Result<Exit, CallError>, Kept) {
        let options = self.place.options();
        let mut kept = self.kept();
        let mut cleaning = Cleaning::new(&options.redactor, line::policy(&self.order.command));
        let mut take = |text: String| {
            if !text.is_empty() {
                kept.push(&text);
                progress.tell(Report::Output(text));
            }
        };
        let end = (|| {
            let mut running = reached.client.exec(self.request(reached))?;
            let steering = running.steering();
            link.attach(move || steering.cancel());
            loop {
                match running.next_event()? {
                    Some(Event::Output { bytes, .. }) => take(cleaning.push(&bytes)),
                    Some(Event::Exit(exit)) => return Ok(*exit),
                    Some(Event::Started { .. }) => {}
                    None => return Err(CallError::Lost("its end was not told".into())),
                }
            }
        })();
        take(cleaning.finish());
        (end, kept)
    }

    /// Nothing yet of what it prints, within what the settings and the result allow.
    pub(super) fn kept(&self) -> Kept {
        Kept::new(self.place.options().max_output).within(self.most_chars.saturating_sub(AROUND))
    }

    fn request(&self, reached: &Reached) -> ExecRequest {
        let mut request = ExecRequest::shell(self.session, self.order.command.as_bytes());
        request.env = reached.sandbox.command_env();
        request.cwd = self.order.workdir.as_ref().map(Into::into);
        request.pty = self.order.pty.then_some(SIZE);
        request.spill = LONGEST_SPILL;
        request.timeout = self.timeout();
        request
    }

    pub(super) fn timeout(&self) -> Option<Duration> {
        match self.order.mode {
            Mode::Foreground { timeout } => Some(timeout).filter(|timeout| !timeout.is_zero()),
            Mode::Background { .. } => None,
        }
    }

    fn ended(&self, reached: Reached, exit: &Exit, kept: Kept) -> Outcome {
        let mut output = self.shown(&reached, exit, kept);
        let mut error = None;
        let seconds = self.timeout().unwrap_or_default().as_secs();
        match &exit.ending {
            Ending::TimedOut => add_line(&mut output, &timed_out(seconds)),
            Ending::Cancelled => add_line(&mut output, INTERRUPTED),
            Ending::NoDirectory { path, reason } => {
                error = Some(format!("cannot enter \"{}\": {reason}; nothing was run", path.display()));
            }
            Ending::NotStarted { program, reason, .. } => {
                error = Some(format!("cannot start \"{}\": {reason}", program.display()));
            }
            Ending::GuardLost => error = Some("its guard was killed: the command was ended".to_owned()),
            Ending::Exited => {}
        }
        let exit_code = exit.code();
        let meaning = meaning::meaning(&self.order.command, exit_code);
        let exit_code_meaning = meaning.filter(|_| exit.ending == Ending::Exited);
        let mut notes = reached.notes;
        notes.extend(remarks(exit));
        Outcome { output, exit_code, error, exit_code_meaning, notes, ..Outcome::default() }
    }

    /// The place went away under the command.
    fn lost(&self, reached: Reached, error: &CallError, kept: Kept) -> Outcome {
        let output = self.shown_parts(&reached, None, kept);
        let error =
            format!("{error}. Whether the command did its work is not known; the next call starts afresh.");
        Outcome { output, exit_code: -1, error: Some(error), notes: reached.notes, ..Outcome::default() }
    }

    fn shown(&self, reached: &Reached, exit: &Exit, kept: Kept) -> String {
        let file = exit.stdout.spill.as_ref().map(|path| path.display().to_string());
        self.shown_parts(reached, file, kept)
    }

    /// What the model sees, with a line where something is missing that says where the whole is.
    fn shown_parts(&self, reached: &Reached, file: Option<String>, kept: Kept) -> String {
        let (beginning, end, omitted, total, all) = match kept.finish() {
            Shortened::Whole(text) => return trimmed(&text).to_owned(),
            Shortened::Cut { beginning, end, omitted, total, all } => (beginning, end, omitted, total, all),
        };
        let file = file.or_else(|| {
            // Too long for the model but too short for the box to have made a file.
            let path = self.place.keep_with(&reached.client, self.call_id, &all?).ok()?;
            Some(path.display().to_string())
        });
        let rest = match file {
            Some(file) => format!(
                "all of it is in {file}: read parts with `sed -n '1,200p' {file}`, search it with `grep -n`"
            ),
            None => "it was not kept: send long output to a file".to_owned(),
        };
        let notice = format!("[{omitted} of {total} bytes are left out here; {rest}]");
        format!("{}\n\n{notice}\n\n{}", trimmed(&beginning), trimmed(&end))
    }
}

/// Told of a command that was interrupted.
pub(super) const INTERRUPTED: &str = "[interrupted: the command and all it started were ended]";

/// Told of a command whose time was up.
pub(super) fn timed_out(seconds: u64) -> String {
    format!("[the time limit of {seconds} s was reached: the command and all it started were ended]")
}

/// What did not go as it should have, in words for the model.
fn remarks(exit: &Exit) -> Vec<String> {
    let mut remarks = Vec::new();
    for notice in &exit.notices {
        remarks.push(match notice {
            Notice::DirectoryRecovered { from, to } => {
                format!("the directory \"{}\" is gone: it was run in \"{}\"", from.display(), to.display())
            }
            Notice::StateNotKept(reason) => {
                format!("directory and variables of this call were not kept: {reason}")
            }
            Notice::Unkillable(count) => format!("{count} processes could not be ended"),
            Notice::SpillFull => "the file with the whole output is cut at 64 MiB".to_owned(),
            Notice::InitFailed(_) | Notice::SpillFailed(_) | Notice::PlainShell => continue,
        });
    }
    if exit.left_running > 0 {
        remarks.push(format!(
            "{} processes were left running; with background=true they can be followed and ended",
            exit.left_running
        ));
    }
    remarks
}

/// Without blank lines around it; the first line keeps its indentation.
pub(super) fn trimmed(text: &str) -> &str {
    text.trim_end().trim_start_matches(['\n', '\r'])
}

pub(super) fn add_line(text: &mut String, line: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(line);
}
