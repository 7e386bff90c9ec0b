//! `hermes sandbox jobs`: what runs in the background, wherever commands run.

use std::process::ExitCode;
use std::time::Duration;

use clap::Subcommand;
use hermes_box::client::Client;
use hermes_box::proto::job::{JobInfo, JobRequest, JobState};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Place, output, tell};
use crate::ui;

/// List background jobs, read their output, or end them
///
/// Jobs belong to the sandbox: they go on when this program ends, and the next one finds them again.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Start a command line in the background and print the job's id
    Start {
        /// The command line, for the shell
        command: String,
    },
    Output(output::Args),
    /// Wait until a job ends; its exit code is then ours
    Wait {
        /// The job
        id: String,
        /// Give up after so many seconds, with exit code 124
        #[arg(long, value_name = "SECONDS")]
        timeout: Option<u64>,
    },
    /// End a job and everything it started
    Kill {
        /// The job
        id: String,
    },
}

/// Runs `hermes sandbox jobs`.
pub fn run(place: &Place, args: &Args) -> anyhow::Result<ExitCode> {
    place.keeps_jobs()?;
    let sandbox = place.sandbox()?;
    let client = sandbox.jobs()?;
    tell(&sandbox);
    match &args.action {
        None => list(&client, args.json),
        Some(Action::Output(output)) => output::run(&client, output, args.json),
        Some(Action::Start { command }) => {
            let mut request = JobRequest::shell("jobs", command.as_bytes());
            request.env = sandbox.command_env();
            let job = client.jobs().start(request)?;
            if args.json {
                ui::print_json(&as_json(&job))?;
            } else {
                ui::print(&job.id)?;
            }
            Ok(ExitCode::SUCCESS)
        }
        Some(Action::Wait { id, timeout }) => {
            let job = client.jobs().wait(id, timeout.map(Duration::from_secs))?;
            if args.json {
                ui::print_json(&as_json(&job))?;
            }
            Ok(match job.state {
                JobState::Running => ExitCode::from(124),
                JobState::Ended { .. } | JobState::Lost => over(&job),
            })
        }
        Some(Action::Kill { id }) => {
            let job = client.jobs().kill(id, Some(sandbox.config().term_grace))?;
            if args.json {
                ui::print_json(&as_json(&job))?;
            } else {
                ui::print(&format!("{}: {}", job.id, state(&job)))?;
            }
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// The exit code for a job that is over; one that went down with the sandbox has none of its own.
pub fn over(job: &JobInfo) -> ExitCode {
    if let Some(code) = job.exit_code() {
        return ExitCode::from(u8::try_from(code).unwrap_or(ui::FAILED));
    }
    ui::warn(&format!("job {} was lost when the sandbox went down: its exit code is not known", job.id));
    ExitCode::from(ui::FAILED)
}

fn list(client: &Client, as_json_text: bool) -> anyhow::Result<ExitCode> {
    let jobs = client.jobs().list()?;
    if as_json_text {
        ui::print_json(&jobs.iter().map(as_json).collect::<Vec<_>>())?;
    } else if jobs.is_empty() {
        ui::print("No jobs.")?;
    } else {
        let row = |j: &JobInfo| {
            vec![
                j.id.clone(),
                state(j),
                j.pid.to_string(),
                time(j.started_ms),
                j.output_end.to_string(),
                first_line(j),
            ]
        };
        let rows: Vec<Vec<String>> = jobs.iter().map(row).collect();
        ui::print(&ui::table(&["ID", "STATE", "PID", "STARTED", "OUTPUT", "COMMAND"], &rows))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Where a job stands, in a word or two.
pub fn state(job: &JobInfo) -> String {
    match (&job.state, job.exit_code()) {
        (JobState::Running, _) => "running".to_owned(),
        (JobState::Lost, _) => "lost".to_owned(),
        (JobState::Ended { .. }, Some(code)) => format!("exited {code}"),
        (JobState::Ended { .. }, None) => "ended".to_owned(),
    }
}

fn first_line(job: &JobInfo) -> String {
    String::from_utf8_lossy(&job.command).lines().next().unwrap_or_default().chars().take(60).collect()
}

fn time(ms: i64) -> String {
    Timestamp::from_millisecond(ms).map_or_else(|_| "–".to_owned(), |t| format!("{t:.0}"))
}

fn as_json(job: &JobInfo) -> Value {
    json!({
        "id": job.id,
        "command": String::from_utf8_lossy(&job.command),
        "state": state(job),
        "exit_code": job.exit_code(),
        "pid": job.pid,
        "cwd": job.cwd,
        "started": time(job.started_ms),
        "ended": job.ended_ms.map(time),
        "output_bytes": job.output_end,
        "left_running": job.left_running,
    })
}
