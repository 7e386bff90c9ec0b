//! What the engine says a container is: its `inspect` answer, reduced to what we decide on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};

use super::cli::{Engine, Request, deadline};
use super::errors::EngineError;
use super::labels::{self, Labels};

/// A container as the engine sees it now.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Observed {
    /// Its immutable id.
    pub id: String,
    /// Its name, without the leading slash.
    pub name: String,
    /// What it is doing.
    pub state: State,
    /// Its labels.
    pub labels: Labels,
    /// When it was made.
    pub created: Option<Timestamp>,
    /// When it last started.
    pub started: Option<Timestamp>,
    /// When it last ended; nothing for one that never did.
    pub finished: Option<Timestamp>,
    /// Exit code of its first process.
    pub exit_code: i32,
    /// Whether the kernel ended it for want of memory.
    pub oom_killed: bool,
    /// The image's name as it was given.
    pub image: String,
    /// The image's id.
    pub image_id: String,
    /// The network mode.
    pub network: String,
    /// Its mounts.
    pub mounts: Vec<SeenMount>,
    /// What was run as first process: entrypoint and command.
    pub first_process: Vec<String>,
    /// Limits the engine holds it to.
    pub resources: Resources,
}

/// Limits an engine holds a container to; zero is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Resources {
    /// Bytes of memory.
    pub memory: i64,
    /// Billionths of a processor.
    pub nano_cpus: i64,
    /// Microseconds of processor time in each period, which is how podman says it.
    pub cpu_quota: i64,
    /// Processes.
    pub pids: i64,
    /// Whether the disk is limited.
    pub disk: bool,
}

impl Resources {
    /// Whether the limit of this name holds.
    pub fn holds(self, limit: &str) -> bool {
        match limit {
            "cpu" => self.nano_cpus > 0 || self.cpu_quota > 0,
            "memory" => self.memory > 0,
            "process" => self.pids > 0,
            "disk" => self.disk,
            _ => false,
        }
    }
}

/// A mount as the engine sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SeenMount {
    /// Path on the engine's host, or the volume's directory there.
    pub source: PathBuf,
    /// Path in the container.
    pub target: String,
    /// `bind`, `volume` or `tmpfs`.
    pub kind: String,
    /// The volume's name, for a volume.
    pub volume: Option<String>,
}

/// The states engines know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Made, never started.
    Created,
    /// Running.
    Running,
    /// Frozen.
    Paused,
    /// Being restarted by the engine.
    Restarting,
    /// Being removed.
    Removing,
    /// Ended.
    Exited,
    /// Could not be removed; only removing it again helps.
    Dead,
    /// A word we do not know.
    Unknown,
}

impl State {
    /// Reads the engine's word, whatever its case.
    pub fn parse(word: &str) -> Self {
        match word.to_ascii_lowercase().as_str() {
            "created" | "configured" | "initialized" => Self::Created,
            "running" => Self::Running,
            "paused" => Self::Paused,
            "restarting" => Self::Restarting,
            "removing" | "stopping" => Self::Removing,
            "exited" | "stopped" => Self::Exited,
            "dead" => Self::Dead,
            _ => Self::Unknown,
        }
    }

    /// The word we show.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Restarting => "restarting",
            Self::Removing => "removing",
            Self::Exited => "exited",
            Self::Dead => "dead",
            Self::Unknown => "unknown",
        }
    }
}

impl Observed {
    /// The value of a label.
    pub fn label(&self, name: &str) -> Option<&str> {
        self.labels.get(name).map(String::as_str)
    }

    /// Why our program cannot run in it, if we made it so: commands then run by the engine's `exec`.
    pub fn plain(&self) -> Option<&str> {
        self.label(labels::PLAIN)
    }

    /// Whether our box program is its first process.
    pub fn is_boxed(&self) -> bool {
        self.label(labels::PROGRAM).is_some()
    }

    /// Whether a bind mount comes from below this directory.
    pub fn mounts_from(&self, dir: &Path) -> bool {
        self.mounts.iter().any(|mount| mount.kind == "bind" && mount.source.starts_with(dir))
    }
}

/// Reads the answer of `inspect` for containers.
pub fn parse(json: &[u8]) -> Result<Vec<Observed>, serde_json::Error> {
    let raw: Vec<Raw> = serde_json::from_slice(json)?;
    Ok(raw.into_iter().map(Observed::from).collect())
}

/// Looks at containers by id or name. One that is gone meanwhile is simply not in the answer.
pub fn look(engine: &dyn Engine, ids: &[String]) -> Result<Vec<Observed>, EngineError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut args = vec!["inspect".to_owned(), "--type".to_owned(), "container".to_owned()];
    args.extend(ids.iter().cloned());
    let request = Request::new("looking at containers", &ids[0], deadline::LOOK, args);
    let output = engine.ask(&request, None)?;
    if output.code != 0 {
        let refusal = engine.refusal(&request, &output);
        if !matches!(refusal, EngineError::NoSuchContainer { .. }) {
            return Err(refusal);
        }
    }
    parse(&output.stdout).map_err(|error| EngineError::Gibberish {
        doing: request.doing.to_owned(),
        detail: error.to_string(),
    })
}

/// Looks at one container by id or name.
pub fn look_at(engine: &dyn Engine, id: &str) -> Result<Option<Observed>, EngineError> {
    Ok(look(engine, &[id.to_owned()])?.into_iter().next())
}

/// Lists the ids of containers that pass these filters, stopped ones too.
pub fn list(
    engine: &dyn Engine,
    filters: &[String],
    within: std::time::Duration,
) -> Result<Vec<String>, EngineError> {
    let mut args: Vec<String> = ["ps", "-a", "--no-trunc"].map(str::to_owned).to_vec();
    args.extend_from_slice(filters);
    args.extend(["--format", "{{.ID}}"].map(str::to_owned));
    let output = engine.demand(&Request::new("listing containers", "", within, args))?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect())
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Raw {
    id: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    created: String,
    state: RawState,
    #[serde(default)]
    image: String,
    #[serde(default)]
    config: RawConfig,
    #[serde(default)]
    host_config: RawHostConfig,
    #[serde(default, deserialize_with = "null_is_default")]
    mounts: Vec<RawMount>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct RawState {
    status: String,
    #[serde(default, rename = "OOMKilled")]
    oom_killed: bool,
    #[serde(default)]
    exit_code: i32,
    #[serde(default)]
    started_at: String,
    #[serde(default)]
    finished_at: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct RawConfig {
    image: String,
    #[serde(deserialize_with = "null_is_default")]
    labels: BTreeMap<String, String>,
    #[serde(deserialize_with = "words")]
    entrypoint: Vec<String>,
    #[serde(deserialize_with = "words")]
    cmd: Vec<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct RawHostConfig {
    network_mode: String,
    memory: i64,
    nano_cpus: i64,
    cpu_quota: i64,
    #[serde(deserialize_with = "null_is_default")]
    pids_limit: i64,
    #[serde(deserialize_with = "null_is_default")]
    storage_opt: BTreeMap<String, String>,
    disk_quota: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct RawMount {
    #[serde(default, rename = "Type")]
    kind: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    source: PathBuf,
    #[serde(default)]
    destination: String,
}

impl From<Raw> for Observed {
    fn from(raw: Raw) -> Self {
        Self {
            id: raw.id,
            name: raw.name.trim_start_matches('/').to_owned(),
            state: State::parse(&raw.state.status),
            labels: raw.config.labels,
            created: timestamp(&raw.created),
            started: timestamp(&raw.state.started_at),
            finished: timestamp(&raw.state.finished_at),
            exit_code: raw.state.exit_code,
            oom_killed: raw.state.oom_killed,
            image: raw.config.image,
            image_id: raw.image.trim_start_matches("sha256:").to_owned(),
            network: raw.host_config.network_mode,
            mounts: raw.mounts.into_iter().map(SeenMount::from).collect(),
            first_process: raw.config.entrypoint.into_iter().chain(raw.config.cmd).collect(),
            resources: Resources {
                memory: raw.host_config.memory,
                nano_cpus: raw.host_config.nano_cpus,
                cpu_quota: raw.host_config.cpu_quota,
                pids: raw.host_config.pids_limit,
                disk: raw.host_config.storage_opt.contains_key("size") || raw.host_config.disk_quota > 0,
            },
        }
    }
}

impl From<RawMount> for SeenMount {
    fn from(raw: RawMount) -> Self {
        let volume = Some(raw.name).filter(|name| !name.is_empty());
        Self { source: raw.source, target: raw.destination, kind: raw.kind, volume }
    }
}

/// A time of the engine. Its zero value (year 1) means "never" and is no time at all.
pub fn timestamp(text: &str) -> Option<Timestamp> {
    if text.starts_with("0001-01-01") {
        return None;
    }
    text.trim().parse().ok()
}

fn null_is_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Docker writes a list or null, podman sometimes one string.
fn words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Words {
        None,
        One(String),
        Many(Vec<String>),
    }
    Ok(match Option::<Words>::deserialize(deserializer)? {
        None | Some(Words::None) => Vec::new(),
        Some(Words::One(word)) if word.is_empty() => Vec::new(),
        Some(Words::One(word)) => vec![word],
        Some(Words::Many(words)) => words,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCKER: &str = r#"[{"Id":"db34","Created":"2026-01-02T20:53:57.800218059Z","State":{"Status":"exited",
        "OOMKilled":true,"ExitCode":137,"StartedAt":"2026-01-02T20:53:57.957425289Z","FinishedAt":"2026-01-02T21:00:00.123456789Z"},
        "Image":"sha256:c9ea","Name":"/x1","Mounts":[{"Type":"bind","Source":"/srv/a","Destination":"/data","Mode":"ro","RW":false},
        {"Type":"volume","Name":"v","Source":"/var/lib/docker/volumes/v/_data","Destination":"/v"}],
        "HostConfig":{"NetworkMode":"none"},
        "Config":{"Cmd":["sleep","infinity"],"Image":"tiny:1","Entrypoint":null,"Labels":{"hermes-agent":"1"}}}]"#;

    const PODMAN: &str = r#"[{"Id":"7690","Created":"2026-01-02T21:54:33.194898528+01:00","State":{"Status":"running",
        "OOMKilled":false,"ExitCode":0,"StartedAt":"2026-01-02T20:54:33Z","FinishedAt":"0001-01-01T00:00:00Z"},
        "Image":"e320","Name":"x1","Mounts":null,"HostConfig":{"NetworkMode":"bridge"},
        "Config":{"Cmd":["sleep","1000"],"Image":"localhost/tiny:1","Entrypoint":"","Labels":null}}]"#;

    #[test]
    fn docker_and_podman_answers_are_read_alike() {
        let docker = &parse(DOCKER.as_bytes()).unwrap()[0];
        assert_eq!((docker.name.as_str(), docker.state, docker.exit_code), ("x1", State::Exited, 137));
        assert!(docker.oom_killed);
        assert_eq!(docker.image_id, "c9ea");
        assert_eq!(docker.network, "none");
        assert_eq!(docker.first_process, ["sleep", "infinity"]);
        assert_eq!(docker.label("hermes-agent"), Some("1"));
        assert!(docker.mounts_from(Path::new("/srv")) && !docker.mounts_from(Path::new("/var")));
        assert_eq!(docker.mounts[1].volume.as_deref(), Some("v"));

        let podman = &parse(PODMAN.as_bytes()).unwrap()[0];
        assert_eq!((podman.name.as_str(), podman.state, podman.finished), ("x1", State::Running, None));
        assert_eq!(podman.created.unwrap().to_string(), "2026-01-02T20:54:33.194898528Z");
        assert!(podman.first_process == ["sleep", "1000"] && podman.mounts.is_empty());
    }

    #[test]
    fn times_keep_nanoseconds_and_the_zero_time_is_none() {
        let seen = timestamp("2026-01-02T21:00:00.123456789Z").unwrap();
        assert_eq!(seen.subsec_nanosecond(), 123_456_789);
        assert_eq!(timestamp("0001-01-01T00:00:00Z"), None);
        assert_eq!(timestamp("0001-01-01T00:00:00.000000001Z"), None);
        for odd in ["", "yesterday", "2026-13-01T00:00:00Z"] {
            assert_eq!(timestamp(odd), None, "{odd}");
        }
    }

    #[test]
    fn states_are_read_whatever_their_case() {
        assert_eq!(State::parse("Running"), State::Running);
        assert_eq!(State::parse("stopped"), State::Exited);
        assert_eq!(State::parse("configured"), State::Created);
        assert_eq!(State::parse("wedged"), State::Unknown);
    }
}
