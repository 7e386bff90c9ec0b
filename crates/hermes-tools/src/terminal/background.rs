//! A command that goes on while the conversation does.

use hermes_box::proto::exec::Ending;
use hermes_box::proto::job::{JobInfo, JobRequest, JobState};
use hermes_sandbox::config::{BackendKind, Reuse};

use super::arguments::{Mode, Order, Tell};
use super::foreground::SIZE;
use super::outcome::Outcome;
use crate::thread::{self, Link};
use crate::tool::{Progress, Run};
use crate::watch::{self, Want};
use crate::workplace::{Reached, Workplace};

const SILENT: &str = "You are not told when it ends: ask with process(action=\"poll\" or \"wait\"), or use \
notify_on_complete=true for work that has an end.";

const IGNORED: &str =
    "notify_on_complete is set, so that only its end is told: leave it out to hear of these lines";

/// Starts a command and returns.
pub(super) async fn run(place: &Workplace, order: Order, run: Run<'_>) -> Outcome {
    let (place, progress, session) = (place.clone(), run.progress.clone(), run.session.to_owned());
    let work = move |link: &Link| start(&place, order, &session, &progress, link);
    match thread::run(run.cancel, work).await {
        thread::Outcome::Done(outcome) => outcome,
        thread::Outcome::Abandoned => Outcome::interrupted_before(),
        thread::Outcome::Broken => Outcome::refused("error", "the tool itself failed: see the log"),
    }
}

fn start(place: &Workplace, order: Order, session: &str, progress: &Progress, link: &Link) -> Outcome {
    let nowhere = |error: &dyn std::fmt::Display| {
        Outcome::refused("error", format!("it was not started: {error}. Nothing was run anywhere else."))
    };
    let mut reached = match place.enter_jobs(session, progress) {
        Ok(reached) => reached,
        Err(error) => return nowhere(&error),
    };
    let mut request = JobRequest::shell(session, order.command.as_bytes());
    match place.carried(session, progress) {
        Ok(None) => {}
        Ok(Some(carried)) => {
            request.cwd = carried.cwd;
            request.env = carried.env;
        }
        Err(error) => return nowhere(&error),
    }
    if link.is_cancelled() {
        return Outcome::interrupted_before();
    }
    request.env.extend(reached.sandbox.command_env());
    request.env.push(("PYTHONUNBUFFERED".into(), Some("1".into())));
    if let Some(workdir) = &order.workdir {
        request.cwd = Some(workdir.into());
    }
    request.pty = order.pty.then_some(SIZE);
    let tell = match order.mode {
        Mode::Background { tell } => tell,
        Mode::Foreground { .. } => Tell::Nothing,
    };
    request = labelled(request, session, &tell);
    let info = match reached.client.jobs().start(request) {
        Ok(info) => info,
        Err(error) => return nowhere(&error),
    };
    reached.notes.extend(order.notes);
    launched(place, session, reached, &info, tell)
}

/// What another process needs to know to go on watching it.
fn labelled(request: JobRequest, session: &str, tell: &Tell) -> JobRequest {
    let request = request.label(watch::CONVERSATION, session);
    match tell {
        Tell::Nothing | Tell::Lines(_) => request,
        Tell::Ending | Tell::EndingNotLines => request.label(watch::NOTIFY, watch::ENDING),
    }
}

fn launched(place: &Workplace, session: &str, reached: Reached, info: &JobInfo, tell: Tell) -> Outcome {
    if let JobState::Ended { ending: Ending::NoDirectory { path, reason }, .. } = &info.state {
        let reason = format!("cannot enter \"{}\": {reason}; nothing was started", path.display());
        return Outcome::refused("error", reason);
    }
    let mut notes = reached.notes;
    let config = place.config();
    if config.backend == BackendKind::Docker && config.container.reuse == Reuse::Never {
        notes.push("it ends with this program: the container does not outlive it".to_owned());
    }
    let mut outcome = Outcome {
        output: "started in the background".to_owned(),
        session_id: Some(info.id.clone()),
        pid: Some(info.pid),
        notes,
        ..Outcome::default()
    };
    match &tell {
        Tell::Nothing => outcome.hint = Some(SILENT),
        Tell::Ending => outcome.notify_on_complete = Some(true),
        Tell::EndingNotLines => {
            outcome.notify_on_complete = Some(true);
            outcome.watch_patterns_ignored = Some(IGNORED);
        }
        Tell::Lines(patterns) => outcome.watch_patterns = Some(patterns.clone()),
    }
    let want = match tell {
        Tell::Nothing => return outcome,
        Tell::Ending | Tell::EndingNotLines => Want::Ending,
        Tell::Lines(patterns) => Want::Lines(patterns),
    };
    if let Err(error) = watch::start(place, session, &reached.client, info, want) {
        outcome.notes.push(format!("it runs, but it cannot be watched: {error}"));
    }
    outcome
}
