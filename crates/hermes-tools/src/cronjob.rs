//! The `cronjob` tool: work that runs by itself at its time. Who keeps the jobs is behind [`Schedule`]; the gateway
//! implements it.

mod job;
mod order;

use std::sync::Arc;

use hermes_model::ToolSpec;
use serde_json::{Value, json};

use crate::fields;
use crate::gate::Waiting;
use crate::tool::{Arguments, Availability, Run, Running, Tool, ToolOutput};

pub use job::{Job, JobFields, ModelChoice};
use order::Order;

/// Keeps jobs and runs them.
pub trait Schedule: Send + Sync {
    /// A new job. The fields were checked; whether the schedule makes sense is decided here.
    fn create<'a>(&'a self, fields: &'a JobFields) -> Waiting<'a, Result<Job, ScheduleError>>;

    /// All jobs.
    fn list(&self) -> Waiting<'_, Result<Vec<Job>, ScheduleError>>;

    /// Does something to the job of this id, or of this name if only one has it. A job that is removed is given back as
    /// it was.
    fn change<'a>(&'a self, job: &'a str, change: &'a Change) -> Waiting<'a, Result<Job, ScheduleError>>;
}

/// What is done to a job.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// These fields get other values.
    Update(Box<JobFields>),
    /// It does not run until it is resumed.
    Pause,
    /// It runs again.
    Resume,
    /// It runs once, now.
    Run,
    /// It goes.
    Remove,
}

/// Why a job could not be made or changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// There is no such job.
    #[error("there is no job \"{0}\": action=list shows them")]
    NoJob(String),
    /// Several have the name.
    #[error("several jobs are called \"{0}\": use the id")]
    Ambiguous(String),
    /// The schedule makes no sense.
    #[error(
        "\"{schedule}\" is no schedule ({reason}): use 30m, every 2h, a cron expression or a date and time"
    )]
    BadSchedule {
        /// As it was given.
        schedule: String,
        /// What is wrong.
        reason: String,
    },
    /// It could not be kept or run.
    #[error("{0}")]
    Failed(String),
}

/// See the module.
pub struct Cronjob {
    schedule: Option<Arc<dyn Schedule>>,
}

impl Cronjob {
    /// The tool; without somebody who keeps jobs it cannot work.
    pub fn new(schedule: Option<Arc<dyn Schedule>>) -> Self {
        Self { schedule }
    }

    async fn work(&self, run: Run<'_>) -> ToolOutput {
        let order = match Order::read(run.arguments) {
            Ok(order) => order,
            Err(problem) => return wrong(&problem),
        };
        let Some(schedule) = &self.schedule else { return wrong(NO_GATEWAY) };
        let done = tokio::select! {
            done = carry_out(schedule.as_ref(), &order) => done,
            () = run.cancel.cancelled() => return wrong("interrupted: look with action=list what was done"),
        };
        done.map_or_else(|error| wrong(&error.to_string()), |value| ToolOutput::json(&value))
    }
}

async fn carry_out(schedule: &dyn Schedule, order: &Order) -> Result<Value, ScheduleError> {
    Ok(match order {
        Order::List => {
            let jobs: Vec<Value> = schedule.list().await?.iter().map(Job::shown).collect();
            json!({ "success": true, "count": jobs.len(), "jobs": jobs })
        }
        Order::Create(fields) => {
            let job = schedule.create(fields).await?;
            let mut value = json!({
                "success": true,
                "job_id": job.id,
                "name": job.name,
                "schedule": job.schedule,
                "repeat": job.repeat_shown(),
                "deliver": job.deliver,
                "next_run_at": job.next_run_at,
                "job": job.shown(),
                "message": format!("Job \"{}\" is scheduled.", job.name),
            });
            if job.deliver == "local" {
                value["note"] = Value::from(
                    "its output is kept in a file and sent to nobody; deliver names a chat to send it to",
                );
            }
            value
        }
        Order::Change { job, change } => {
            let changed = schedule.change(job, change).await?;
            if *change == Change::Remove {
                let removed = json!({ "id": changed.id, "name": changed.name, "schedule": changed.schedule });
                json!({ "success": true, "message": "Removed.", "removed_job": removed })
            } else {
                json!({ "success": true, "job": changed.shown() })
            }
        }
    })
}

fn wrong(problem: &str) -> ToolOutput {
    ToolOutput::json(&json!({ "success": false, "error": problem })).failed()
}

const NO_GATEWAY: &str = "jobs are kept and run by the gateway, which is not part of this program yet";

impl Tool for Cronjob {
    fn spec(&self) -> ToolSpec {
        ToolSpec { name: "cronjob".to_owned(), description: DESCRIPTION.to_owned(), parameters: parameters() }
    }

    fn toolset(&self) -> &'static str {
        "cronjob"
    }

    fn brief(&self, arguments: &Arguments) -> String {
        let word = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
        let subject = if word("job_id").is_empty() { word("name") } else { word("job_id") };
        fields::beginning(&format!("{} {subject} {}", word("action"), word("schedule")))
    }

    fn available(&self) -> Availability {
        match self.schedule {
            Some(_) => Availability::Yes,
            None => Availability::No { why: NO_GATEWAY.to_owned() },
        }
    }

    fn run<'a>(&'a self, run: Run<'a>) -> Running<'a> {
        Box::pin(self.work(run))
    }
}

const DESCRIPTION: &str = "Jobs that run by themselves, each in a new conversation that knows nothing of this one: its \
prompt must say everything. schedule: 30m (once), every 2h, a cron expression, or a date and time.";

fn parameters() -> Value {
    let text = json!({ "type": "string" });
    let texts = json!({ "type": "array", "items": text });
    json!({
        "type": "object",
        "properties": {
            "action": { "type": "string", "enum": order::ACTIONS },
            "job_id": { "type": "string", "description": "Id or name" },
            "prompt": text,
            "schedule": text,
            "name": text,
            "repeat": { "type": "integer", "description": "Runs; 0 is for ever" },
            "deliver": { "type": "string", "description": "origin, local, or a target of send_message" },
            "skills": texts,
            "model": { "type": "object", "properties": { "model": text, "provider": text }, "required": ["model"] },
            "script": { "type": "string", "description": "File in the home's scripts/; its output comes before the prompt" },
            "no_agent": { "type": "boolean", "description": "Only the script; its output is the message" },
            "context_from": { "type": "array", "items": text, "description": "Jobs whose last output it gets" },
            "enabled_toolsets": texts,
            "workdir": text,
            "profile": text
        },
        "required": ["action"]
    })
}
