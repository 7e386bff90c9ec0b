//! Made-up identities and containers for tests.

use std::collections::BTreeMap;

use super::identity::Identity;
use super::inspect::{Observed, SeenMount, State};
use super::labels;
use crate::scope::ScopeKey;

/// An identity in `/home/u/.hermes`.
pub fn identity() -> Identity {
    Identity {
        install: "install".into(),
        machine: "machine".into(),
        home: "/home/u/.hermes".into(),
        profile: "default".into(),
        scope: ScopeKey::Profile,
    }
}

/// A container of ours in a state.
pub fn ours(id: &str, state: State) -> Observed {
    let identity = identity();
    let labels: BTreeMap<String, String> = labels::contract(&identity)
        .into_iter()
        .chain(labels::own(&identity))
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    Observed {
        id: id.into(),
        name: identity.container_name(),
        state,
        labels,
        created: "2026-01-01T00:00:00Z".parse().ok(),
        started: None,
        finished: None,
        exit_code: 0,
        oom_killed: false,
        image: "tiny:1".into(),
        image_id: "c9ea".into(),
        network: "default".into(),
        mounts: Vec::new(),
        first_process: Vec::new(),
        resources: super::inspect::Resources::default(),
    }
}

/// A container as the reference program makes it, for this home.
pub fn reference(id: &str, state: State) -> Observed {
    let labels =
        labels::contract(&identity()).into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    Observed {
        name: "hermes-1234abcd".into(),
        labels,
        mounts: vec![SeenMount {
            source: "/home/u/.hermes/sandboxes/docker/default/home".into(),
            target: "/root".into(),
            kind: "bind".into(),
            volume: None,
        }],
        first_process: vec!["sleep".into(), "infinity".into()],
        ..ours(id, state)
    }
}

/// As the engine's `inspect` would print it.
pub fn json(containers: &[Observed]) -> String {
    let list: Vec<serde_json::Value> = containers
        .iter()
        .map(|one| {
            serde_json::json!({
                "Id": one.id, "Name": format!("/{}", one.name),
                "Created": one.created.map(|at| at.to_string()).unwrap_or_default(),
                "State": { "Status": one.state.as_str(), "OOMKilled": one.oom_killed, "ExitCode": one.exit_code,
                    "FinishedAt": one.finished.map_or("0001-01-01T00:00:00Z".into(), |at| at.to_string()) },
                "Image": format!("sha256:{}", one.image_id),
                "Config": { "Image": one.image, "Labels": one.labels, "Cmd": one.first_process },
                "HostConfig": { "NetworkMode": one.network },
                "Mounts": one.mounts.iter().map(|mount| serde_json::json!({
                    "Type": mount.kind, "Source": mount.source, "Destination": mount.target })).collect::<Vec<_>>(),
            })
        })
        .collect();
    serde_json::Value::Array(list).to_string()
}
