//! What the actions do.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hermes_box::client::CallError;
use hermes_box::proto::call::JobWait;
use hermes_box::proto::fault::Fault;
use hermes_box::proto::job::{JobInfo, JobState};
use hermes_guard::Redactor;
use serde_json::{Value, json};

use super::{Order, log, show};
use crate::thread::Link;
use crate::watch;
use crate::workplace::{Reached, Workplace};

/// Bytes of output with each action.
const POLL_PREVIEW: usize = 1000;
const WAIT_OUTPUT: usize = 2000;
const LIST_PREVIEW: usize = 200;
/// How long a command that is over stays in the list, in milliseconds.
const REMEMBERED: i64 = 30 * 60 * 1000;
/// How long a command has between TERM and KILL.
const GRACE: Duration = Duration::from_secs(2);

/// One call at work.
pub(super) struct Acting<'a> {
    pub(super) place: &'a Workplace,
    pub(super) session: &'a str,
    pub(super) reached: Reached,
    pub(super) link: &'a Link,
}

impl Acting<'_> {
    /// Does it; the JSON for the model.
    pub(super) fn act(&self, order: &Order) -> Value {
        let done = match order {
            Order::List => self.list(),
            Order::Poll(id) => self.poll(id),
            Order::Log { id, offset, limit } => self.log(id, *offset, *limit),
            Order::Wait { id, seconds } => self.wait(id, *seconds),
            Order::Kill(id) => self.kill(id),
            Order::Write { id, text } => self.write(id, text),
            Order::Close(id) => self.close(id),
        };
        let mut value = done.unwrap_or_else(|error| problem(&error));
        if !self.reached.notes.is_empty() {
            value["notes"] = json!(self.reached.notes);
        }
        value
    }

    fn list(&self) -> Result<Value, CallError> {
        let now = now_ms();
        let mut jobs = self.reached.client.jobs().list()?;
        jobs.retain(|job| job.ended_ms.is_none_or(|ended| now - ended < REMEMBERED));
        jobs.sort_by_key(|job| (job.state != JobState::Running, !self.is_ours(job), job.started_ms));
        let processes: Vec<Value> = jobs.iter().map(|job| self.line(job, now)).collect();
        Ok(json!({ "processes": processes }))
    }

    fn line(&self, job: &JobInfo, now: i64) -> Value {
        let mut value = show::about(job, self.redactor());
        value.insert("cwd".to_owned(), json!(job.cwd.display().to_string()));
        value.insert("pid".to_owned(), json!(job.pid));
        value.insert("uptime_seconds".to_owned(), json!(show::seconds(job, now)));
        value.insert("output_preview".to_owned(), json!(self.newest(job, LIST_PREVIEW)));
        show::add_ending(&mut value, job);
        if !self.is_ours(job) {
            value.insert("other_conversation".to_owned(), json!(true));
        }
        Value::Object(value)
    }

    fn poll(&self, id: &str) -> Result<Value, CallError> {
        let job = self.get(id)?;
        let mut value = show::about(&job, self.redactor());
        value.insert("pid".to_owned(), json!(job.pid));
        value.insert("uptime_seconds".to_owned(), json!(show::seconds(&job, now_ms())));
        value.insert("output_preview".to_owned(), json!(self.newest(&job, POLL_PREVIEW)));
        show::add_ending(&mut value, &job);
        self.saw(&job);
        Ok(Value::Object(value))
    }

    fn log(&self, id: &str, offset: usize, limit: usize) -> Result<Value, CallError> {
        let job = self.get(id)?;
        let bound = self.place.options().max_output;
        let lines = log::read(&self.reached.client, &job, (offset, limit), bound, self.redactor())?;
        let mut value = show::about(&job, self.redactor());
        value.insert("output".to_owned(), json!(lines.text));
        value.insert("total_lines".to_owned(), json!(lines.total));
        value.insert("showing".to_owned(), json!(format!("{} lines", lines.shown)));
        if lines.missing > 0 {
            let note = format!("{} bytes in the middle are no longer kept", lines.missing);
            value.insert("note".to_owned(), json!(note));
        }
        show::add_ending(&mut value, &job);
        self.saw(&job);
        Ok(Value::Object(value))
    }

    fn wait(&self, id: &str, asked: Option<u64>) -> Result<Value, CallError> {
        let most = self.place.config().timeout.as_secs().max(1);
        let seconds = asked.unwrap_or(most).min(most);
        let timeout = Duration::from_secs(seconds);
        let pending = self.reached.client.begin(JobWait { id: id.to_owned(), timeout: Some(timeout) })?;
        let steering = pending.steering();
        self.link.attach(move || steering.cancel());
        let (job, status) = match pending.wait_within(timeout + Duration::from_mins(1)) {
            Ok(job) if job.state == JobState::Running => (job, "timeout"),
            Ok(job) => (job, "exited"),
            Err(CallError::Fault(Fault::Cancelled)) => (self.get(id)?, "interrupted"),
            Err(error) => return Err(error),
        };
        let mut value = show::about(&job, self.redactor());
        value.insert("status".to_owned(), json!(status));
        show::add_ending(&mut value, &job);
        let bytes = if status == "exited" { WAIT_OUTPUT } else { POLL_PREVIEW };
        value.insert("output".to_owned(), json!(self.newest(&job, bytes)));
        let note = match asked {
            Some(asked) if asked > most => {
                Some(format!("waited at most {most} s, the limit of terminal.timeout"))
            }
            _ if status == "timeout" => Some(format!("it still runs after {seconds} s")),
            _ => None,
        };
        if let Some(note) = note {
            value.insert("timeout_note".to_owned(), json!(note));
        }
        self.saw(&job);
        Ok(Value::Object(value))
    }

    fn kill(&self, id: &str) -> Result<Value, CallError> {
        let before = self.get(id)?;
        let (job, status) = if before.state == JobState::Running {
            (self.reached.client.jobs().kill(id, Some(GRACE))?, "killed")
        } else {
            (before, "already_exited")
        };
        let mut value = show::about(&job, self.redactor());
        value.insert("status".to_owned(), json!(status));
        show::add_ending(&mut value, &job);
        value.insert("output".to_owned(), json!(self.newest(&job, WAIT_OUTPUT)));
        self.saw(&job);
        Ok(Value::Object(value))
    }

    fn write(&self, id: &str, text: &str) -> Result<Value, CallError> {
        // On a terminal a line ends with what the Enter key sends.
        let job = self.get(id)?;
        let text = if job.pty && text.ends_with('\n') && !text.ends_with("\r\n") {
            format!("{}\r", &text[..text.len() - 1])
        } else {
            text.to_owned()
        };
        self.reached.client.jobs().write_stdin(id, text.as_bytes())?;
        Ok(json!({ "status": "ok", "bytes_written": text.len() }))
    }

    fn close(&self, id: &str) -> Result<Value, CallError> {
        self.reached.client.jobs().close_stdin(id)?;
        Ok(json!({ "status": "ok", "message": "its input was closed" }))
    }

    fn get(&self, id: &str) -> Result<JobInfo, CallError> {
        self.reached.client.jobs().get(id)
    }

    fn newest(&self, job: &JobInfo, most: usize) -> String {
        show::newest(&self.reached.client, job, most, self.redactor())
    }

    fn redactor(&self) -> &Redactor {
        &self.place.options().redactor
    }

    /// The model knows of an end it was shown.
    fn saw(&self, job: &JobInfo) {
        if job.state != JobState::Running {
            self.place.notifications().seen(&job.id);
        }
    }

    fn is_ours(&self, job: &JobInfo) -> bool {
        job.labels.iter().any(|(name, value)| name == watch::CONVERSATION && value == self.session)
    }
}

/// A failure in the form models know.
fn problem(error: &CallError) -> Value {
    match error {
        CallError::Fault(Fault::NoSuchJob(id)) => json!({
            "status": "not_found",
            "error": format!("there is no process \"{id}\": action list shows those there are"),
        }),
        CallError::Fault(Fault::StdinClosed(_)) => json!({
            "status": "error",
            "error": "it takes no input: only commands started with pty=true do, until their input is closed",
        }),
        CallError::Fault(Fault::JobOver(_)) => json!({ "status": "already_exited", "error": "it is over" }),
        other => json!({ "status": "error", "error": other.to_string() }),
    }
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
