//! Which start of an agent was last seen, and which of its lost jobs somebody was told about: so that a place that was
//! restarted while nobody looked does not pass for the one that was left.

use std::fs;
use std::path::{Path, PathBuf};

use hermes_box::client::Client;
use hermes_box::proto::job::{JobInfo, JobState};
use serde::{Deserialize, Serialize};

use crate::files;

/// The most jobs a notice names.
const MOST_JOBS: usize = 1000;
/// The most of a command that is shown.
const MOST_COMMAND: usize = 120;

/// A background job that went down with its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LostJob {
    /// Its name.
    pub id: String,
    /// What it ran, its first line.
    pub command: String,
}

/// What is written down about one place.
#[derive(Debug, Clone)]
pub struct Seen {
    path: PathBuf,
}

/// What was seen last.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sight {
    /// The agent's start; they differ from each other.
    instance: u64,
    /// Lost jobs that have been told.
    told: Vec<String>,
}

/// What is new about an agent that was just connected to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct News {
    /// It is another start than the one seen last.
    pub restarted: bool,
    /// Jobs it lost that nobody was told about.
    pub lost: Vec<LostJob>,
}

impl Seen {
    /// Kept in a directory of its own.
    pub fn in_dir(dir: &Path) -> Self {
        Self { path: dir.join("seen.json") }
    }

    /// What is new about the agent. Its jobs are asked for only if it is another start than the last one seen, so that
    /// attaching costs nothing otherwise.
    pub fn news(&self, client: &Client) -> News {
        let instance = client.agent().instance;
        let last = self.read();
        if last.as_ref().is_some_and(|last| last.instance == instance) {
            return News::default();
        }
        // An agent that cannot say what it lost has lost nothing we could name.
        let jobs = client.jobs().list().unwrap_or_default();
        let (news, sight) = compare(last, instance, &jobs);
        // What is not written down is told again, which is better than never.
        if let Ok(bytes) = serde_json::to_vec(&sight) {
            let _ = files::write_private(&self.path, &bytes);
        }
        news
    }

    fn read(&self) -> Option<Sight> {
        serde_json::from_slice(&fs::read(&self.path).ok()?).ok()
    }
}

/// What is new, and what is written down about it.
fn compare(known: Option<Sight>, instance: u64, jobs: &[JobInfo]) -> (News, Sight) {
    let lost = || jobs.iter().filter(|job| job.state == JobState::Lost);
    let restarted = known.as_ref().is_some_and(|known| known.instance != instance);
    let told = known.map(|known| known.told).unwrap_or_default();
    let new = lost().filter(|job| !told.contains(&job.id)).take(MOST_JOBS).map(describe).collect();
    let sight = Sight { instance, told: lost().map(|job| job.id.clone()).collect() };
    (News { restarted, lost: new }, sight)
}

fn describe(job: &JobInfo) -> LostJob {
    let command = String::from_utf8_lossy(&job.command);
    let command = command.lines().next().unwrap_or_default().chars().take(MOST_COMMAND).collect();
    LostJob { id: job.id.clone(), command }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(id: &str, state: JobState) -> JobInfo {
        JobInfo {
            id: id.into(),
            command: b"make\nsecond line".to_vec(),
            labels: Vec::new(),
            session: None,
            cwd: "/".into(),
            pid: 1,
            started_ms: 0,
            ended_ms: None,
            state,
            pty: false,
            stdin_open: false,
            output_end: 0,
            output_dropped: 0,
            left_running: 0,
            notices: Vec::new(),
        }
    }

    #[test]
    fn a_loss_is_told_once() {
        let jobs = [job("a", JobState::Lost), job("b", JobState::Running)];
        let (news, sight) = compare(Some(Sight { instance: 1, told: Vec::new() }), 2, &jobs);
        assert_eq!(
            news,
            News { restarted: true, lost: vec![LostJob { id: "a".into(), command: "make".into() }] }
        );
        let (again, _) = compare(Some(sight), 3, &jobs);
        assert_eq!(again, News { restarted: true, lost: Vec::new() });
    }

    #[test]
    fn one_never_seen_before_was_not_restarted() {
        assert_eq!(compare(None, 2, &[]).0, News::default());
        assert!(!compare(None, 2, &[job("a", JobState::Lost)]).0.restarted);
    }
}
