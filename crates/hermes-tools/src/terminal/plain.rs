//! A command in a container that our program cannot run in: the engine runs it. No terminal, no live output; what is too
//! long is cut and not kept.

use hermes_sandbox::plain::{PlainEnding, PlainExit, PlainRequest};

use super::foreground::{Command, INTERRUPTED, add_line, timed_out, trimmed};
use super::meaning;
use super::outcome::Outcome;
use crate::line;
use crate::text::{Cleaning, Shortened};
use crate::thread::Link;
use crate::workplace::Door;

/// Told when a terminal was asked for.
const NO_TERMINAL: &str =
    "there is no terminal in this container (our program cannot run in it): it was run without";

/// Runs it to its end.
pub(super) fn run(command: &Command<'_>, door: Door, link: &Link) -> Outcome {
    if link.is_cancelled() {
        return Outcome::interrupted_before();
    }
    let mut notes = door.notes;
    notes.extend(command.order.notes.iter().cloned());
    if command.order.pty {
        notes.push(NO_TERMINAL.to_owned());
    }
    let request = PlainRequest {
        session: Some(command.session.to_owned()),
        cwd: command.order.workdir.as_ref().map(Into::into),
        env: door
            .sandbox
            .command_env()
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
            .collect(),
        timeout: command.timeout(),
        ..PlainRequest::shell(&command.order.command)
    };
    let ended = door.plain.start(request).and_then(|running| {
        let handle = running.cancel_handle();
        link.attach(move || handle.cancel());
        running.wait()
    });
    match ended {
        Ok(exit) => Outcome { notes, ..outcome(command, &exit) },
        Err(error) => Outcome { notes, ..Outcome::refused("error", error.to_string()) },
    }
}

fn outcome(command: &Command<'_>, exit: &PlainExit) -> Outcome {
    let mut output = shown(command, exit);
    match exit.ending {
        PlainEnding::TimedOut => {
            add_line(&mut output, &timed_out(command.timeout().unwrap_or_default().as_secs()));
        }
        PlainEnding::Cancelled => add_line(&mut output, INTERRUPTED),
        PlainEnding::Exited => {}
    }
    let meaning = meaning::meaning(&command.order.command, exit.code);
    let exit_code_meaning = meaning.filter(|_| exit.ending == PlainEnding::Exited);
    Outcome { output, exit_code: exit.code, exit_code_meaning, ..Outcome::default() }
}

fn shown(command: &Command<'_>, exit: &PlainExit) -> String {
    let options = command.place.options();
    let mut kept = command.kept();
    for bytes in [&exit.stdout, &exit.stderr] {
        let mut cleaning = Cleaning::new(&options.redactor, line::policy(&command.order.command));
        kept.push(&cleaning.push(bytes));
        kept.push(&cleaning.finish());
    }
    match kept.finish() {
        Shortened::Whole(text) => trimmed(&text).to_owned(),
        Shortened::Cut { beginning, end, omitted, total, .. } => {
            let notice = format!(
                "[{omitted} of {total} bytes are left out here and not kept: send long output to a file]"
            );
            format!("{}\n\n{notice}\n\n{}", trimmed(&beginning), trimmed(&end))
        }
    }
}
