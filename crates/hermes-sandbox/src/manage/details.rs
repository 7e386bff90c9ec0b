//! Everything about one container.

use std::collections::BTreeMap;

use hermes_box::proto::info::Info;
use jiff::Timestamp;
use serde::Serialize;

use super::Manager;
use super::list::Summary;
use crate::docker::drift::{Difference, Fields};
use crate::docker::inspect::{Observed, State};
use crate::docker::labels;
use crate::error::SandboxError;

/// Everything about one container.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Details {
    /// What the list shows.
    #[serde(flatten)]
    pub summary: Summary,
    /// Its whole id.
    pub full_id: String,
    /// The image's id.
    pub image_id: String,
    /// When it last started.
    pub started: Option<Timestamp>,
    /// When it last ended.
    pub finished: Option<Timestamp>,
    /// Exit code of its first process, if it ended.
    pub exit_code: Option<i32>,
    /// Whether it ended for want of memory.
    pub out_of_memory: bool,
    /// The network it is in.
    pub network: String,
    /// Every mount, ours too.
    pub mounts: Vec<MountDetails>,
    /// Limits, and whether they hold.
    pub limits: Vec<Limit>,
    /// Names of the variables it was made with.
    pub env: Vec<String>,
    /// In what it differs from today's settings.
    pub drift: Vec<Difference>,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// What its agent says, if it runs and answers.
    pub agent: Option<AgentDetails>,
}

/// A mount.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MountDetails {
    /// Path or volume on the engine's machine.
    pub source: String,
    /// Path in the container.
    pub target: String,
    /// `bind`, `volume` or `tmpfs`.
    pub kind: String,
}

/// A limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Limit {
    /// Which one.
    pub limit: String,
    /// What was asked for.
    pub wanted: String,
    /// Whether the engine enforces it.
    pub enforced: bool,
}

/// An agent about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentDetails {
    /// Its version.
    pub version: String,
    /// Its build.
    pub build: String,
    /// Seconds since it started.
    pub uptime_seconds: u64,
    /// Jobs that run.
    pub jobs_running: u32,
    /// Jobs that are over and still listed.
    pub jobs_ended: u32,
    /// Commands run since it started.
    pub commands: u64,
    /// What does not work in there, in words.
    pub problems: Vec<String>,
}

impl From<Info> for AgentDetails {
    fn from(info: Info) -> Self {
        Self {
            version: info.version,
            build: info.build,
            uptime_seconds: info.uptime_ms / 1000,
            jobs_running: info.jobs_running,
            jobs_ended: info.jobs_ended,
            commands: info.commands,
            problems: info.problems,
        }
    }
}

impl Manager {
    /// Everything about one container.
    pub fn inspect(&self, word: Option<&str>) -> Result<Details, SandboxError> {
        let one = self.find(word)?;
        let fields = one.label(labels::FIELDS).and_then(Fields::from_json).unwrap_or_default();
        let ended = matches!(one.state, State::Exited | State::Dead);
        Ok(Details {
            summary: self.summary(&one),
            drift: self.backend.differences(&one)?,
            agent: self.agent_of(&one),
            limits: limits(&fields, &one),
            env: fields.names_after("env:").map(str::to_owned).collect(),
            mounts: one.mounts.iter().map(mount).collect(),
            exit_code: ended.then_some(one.exit_code),
            full_id: one.id,
            image_id: one.image_id,
            started: one.started,
            finished: one.finished,
            out_of_memory: one.oom_killed,
            network: one.network,
            labels: one.labels,
        })
    }

    /// In what a container differs from today's settings.
    pub fn diff(&self, word: Option<&str>) -> Result<Vec<Difference>, SandboxError> {
        self.backend.differences(&self.find(word)?)
    }

    fn agent_of(&self, one: &Observed) -> Option<AgentDetails> {
        if one.state != State::Running || !one.is_boxed() {
            return None;
        }
        self.attach().info(one).ok().map(AgentDetails::from)
    }
}

fn mount(seen: &crate::docker::inspect::SeenMount) -> MountDetails {
    MountDetails {
        source: seen.volume.clone().unwrap_or_else(|| seen.source.display().to_string()),
        target: seen.target.clone(),
        kind: seen.kind.clone(),
    }
}

fn limits(fields: &Fields, one: &Observed) -> Vec<Limit> {
    fields
        .names_after("limit:")
        .map(|limit| Limit {
            limit: limit.to_owned(),
            wanted: fields.get(&format!("limit:{limit}")).unwrap_or_default().to_owned(),
            enforced: one.resources.holds(limit),
        })
        .collect()
}
