//! Background jobs of a container.

use hermes_box::proto::job::{JobInfo, JobState};
use jiff::Timestamp;
use serde::Serialize;

use super::Manager;
use crate::error::SandboxError;

/// A background job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Job {
    /// Its name.
    pub id: String,
    /// What it runs.
    pub command: String,
    /// Where it stands.
    pub status: JobStatus,
    /// Its exit code, once it is over.
    pub exit_code: Option<i32>,
    /// Its process in the container.
    pub pid: u32,
    /// The directory it started in.
    pub cwd: String,
    /// When it started.
    pub started: Option<Timestamp>,
    /// When it ended.
    pub ended: Option<Timestamp>,
    /// Bytes printed.
    pub output_bytes: u64,
}

/// Where a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum JobStatus {
    /// It runs.
    Running,
    /// It is over.
    Ended,
    /// It went down with its box.
    Lost,
}

impl From<JobInfo> for Job {
    fn from(info: JobInfo) -> Self {
        let time = |ms: i64| Timestamp::from_millisecond(ms).ok();
        Self {
            status: match info.state {
                JobState::Running => JobStatus::Running,
                JobState::Ended { .. } => JobStatus::Ended,
                JobState::Lost => JobStatus::Lost,
            },
            exit_code: info.exit_code(),
            command: String::from_utf8_lossy(&info.command).into_owned(),
            pid: info.pid,
            cwd: info.cwd.display().to_string(),
            started: time(info.started_ms),
            ended: info.ended_ms.and_then(time),
            output_bytes: info.output_end,
            id: info.id,
        }
    }
}

impl Manager {
    /// The jobs of a container, oldest first.
    pub fn jobs(&self, word: Option<&str>) -> Result<Vec<Job>, SandboxError> {
        let one = self.find(word)?;
        let client = self.attach().client(&one)?;
        let place = crate::docker::in_words(&one.name);
        let jobs = client.jobs().list().map_err(|source| SandboxError::Agent { place, source })?;
        Ok(jobs.into_iter().map(Job::from).collect())
    }
}
