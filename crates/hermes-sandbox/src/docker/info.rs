//! What the engine's host can do: which limits hold, and where the engine is.

use serde::Deserialize;

use super::args::Host;
use super::cli::{Engine, Request, deadline};
use super::errors::{EngineError, LimitKind};

/// Facts about the engine, asked once before a container is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Info {
    /// Which family it is of.
    pub flavour: Flavour,
    /// What tells this engine from others.
    pub id: String,
    /// Whether it runs without root.
    pub rootless: bool,
    /// Whether podman says that its service is on another machine.
    pub remote: bool,
    /// Limits it cannot enforce.
    pub unenforceable: Vec<LimitKind>,
    /// The processor of its machine, as it calls it; empty when it does not say.
    pub machine: String,
}

/// The two families of engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Flavour {
    /// Docker and what imitates it closely.
    Docker,
    /// Podman, under whatever name it is called.
    Podman,
}

impl Info {
    /// An engine that does not say: every limit is tried.
    pub fn unknown() -> Self {
        Self {
            flavour: Flavour::Docker,
            id: String::new(),
            rootless: false,
            remote: false,
            unenforceable: Vec::new(),
            machine: String::new(),
        }
    }

    /// Why a program for this processor cannot run there, if it cannot.
    pub fn refuses(&self, ours: &str) -> Option<String> {
        // The engines say it in either of two vocabularies.
        let same = match self.machine.as_str() {
            "" => true,
            "amd64" => ours == "x86_64",
            "arm64" => ours == "aarch64",
            other => ours == other,
        };
        let theirs = &self.machine;
        (!same).then(|| format!("the engine's machine is {theirs}, and the program we bring is for {ours}"))
    }

    /// What of it changes the arguments of a new container.
    pub fn host(&self) -> Host {
        Host {
            unenforceable: self.unenforceable.clone(),
            keep_id: self.flavour == Flavour::Podman && self.rootless,
        }
    }
}

/// Asks the engine about its host.
pub fn ask(engine: &dyn Engine) -> Result<Info, EngineError> {
    let request =
        Request::new("asking about the engine", "", deadline::LOOK, ["info", "--format", "{{json .}}"]);
    let output = engine.demand(&request)?;
    parse(&output.stdout).map_err(|error| EngineError::Gibberish {
        doing: request.doing.to_owned(),
        detail: error.to_string(),
    })
}

fn parse(json: &[u8]) -> Result<Info, serde_json::Error> {
    let raw: Raw = serde_json::from_slice(json)?;
    Ok(match raw.host {
        Some(host) => podman(&host, &raw.store.unwrap_or_default()),
        None => docker(raw.docker),
    })
}

fn docker(raw: RawDocker) -> Info {
    let backing = raw
        .driver_status
        .iter()
        .find(|(name, _)| name == "Backing Filesystem")
        .map(|(_, value)| value.as_str());
    let quota = matches!((raw.driver.as_str(), backing), ("overlay2", Some("xfs")) | ("btrfs" | "zfs", _));
    let mut unenforceable = Vec::new();
    for (kind, holds) in [
        (LimitKind::Cpu, raw.cpu_cfs_quota),
        (LimitKind::Memory, raw.memory_limit),
        (LimitKind::Pids, raw.pids_limit),
        (LimitKind::Disk, quota),
    ] {
        if !holds {
            unenforceable.push(kind);
        }
    }
    let rootless = raw.security_options.iter().any(|option| option.contains("rootless"));
    let machine = raw.architecture;
    Info { flavour: Flavour::Docker, id: raw.id, rootless, remote: false, unenforceable, machine }
}

fn podman(host: &RawHost, store: &RawStore) -> Info {
    let has = |name: &str| host.cgroup_controllers.iter().any(|controller| controller == name);
    let xfs = store.status.get("Backing Filesystem").is_some_and(|kind| kind == "xfs");
    let mut unenforceable = Vec::new();
    for (kind, holds) in [
        (LimitKind::Cpu, has("cpu")),
        (LimitKind::Memory, has("memory")),
        (LimitKind::Pids, has("pids")),
        (LimitKind::Disk, store.driver == "overlay" && xfs),
    ] {
        if !holds {
            unenforceable.push(kind);
        }
    }
    let id = format!("podman:{}:{}", host.hostname, store.root);
    Info {
        flavour: Flavour::Podman,
        id,
        rootless: host.security.rootless,
        remote: host.service_is_remote,
        unenforceable,
        machine: host.arch.clone(),
    }
}

#[derive(Deserialize)]
struct Raw {
    host: Option<RawHost>,
    store: Option<RawStore>,
    #[serde(flatten)]
    docker: RawDocker,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct RawDocker {
    architecture: String,
    #[serde(rename = "ID")]
    id: String,
    driver: String,
    driver_status: Vec<(String, String)>,
    memory_limit: bool,
    cpu_cfs_quota: bool,
    pids_limit: bool,
    security_options: Vec<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct RawHost {
    arch: String,
    hostname: String,
    cgroup_controllers: Vec<String>,
    service_is_remote: bool,
    security: RawSecurity,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct RawSecurity {
    rootless: bool,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct RawStore {
    #[serde(rename = "graphDriverName")]
    driver: String,
    #[serde(rename = "graphRoot")]
    root: String,
    #[serde(rename = "graphStatus")]
    status: std::collections::BTreeMap<String, String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn docker_on_an_ordinary_disk_cannot_limit_it() {
        let json = br#"{"ID":"TSUG","Driver":"overlay2","DriverStatus":[["Backing Filesystem","extfs"]],
            "MemoryLimit":true,"CpuCfsQuota":true,"PidsLimit":true,"SecurityOptions":["name=seccomp,profile=default"]}"#;
        let info = parse(json).unwrap();
        assert_eq!((info.flavour, info.rootless, info.id.as_str()), (Flavour::Docker, false, "TSUG"));
        assert_eq!(info.unenforceable, [LimitKind::Disk]);
        assert!(!info.host().keep_id);
    }

    #[test]
    fn docker_on_xfs_may_be_able_to() {
        let json = br#"{"ID":"T","Driver":"overlay2","DriverStatus":[["Backing Filesystem","xfs"]],
            "MemoryLimit":true,"CpuCfsQuota":true,"PidsLimit":false,"SecurityOptions":["name=rootless"]}"#;
        let info = parse(json).unwrap();
        assert!(info.rootless);
        assert_eq!(info.unenforceable, [LimitKind::Pids]);
    }

    #[test]
    fn podman_is_known_by_its_answer_not_by_its_name() {
        let json = br#"{"host":{"hostname":"vm","cgroupControllers":["memory","pids"],"security":{"rootless":true}},
            "store":{"graphDriverName":"overlay","graphRoot":"/r","graphStatus":{"Backing Filesystem":"extfs"}}}"#;
        let info = parse(json).unwrap();
        assert_eq!(info.flavour, Flavour::Podman);
        assert_eq!(info.unenforceable, [LimitKind::Cpu, LimitKind::Disk]);
        assert!(info.host().keep_id);
    }

    #[test]
    fn another_processor_is_named() {
        let info = |machine: &str| Info { machine: machine.into(), ..Info::unknown() };
        for same in ["", "x86_64", "amd64"] {
            assert_eq!(info(same).refuses("x86_64"), None, "{same}");
        }
        let why = info("aarch64").refuses("x86_64").unwrap();
        assert!(why.contains("aarch64") && why.contains("x86_64"), "{why}");
        assert_eq!(info("arm64").refuses("aarch64"), None);
    }
}
