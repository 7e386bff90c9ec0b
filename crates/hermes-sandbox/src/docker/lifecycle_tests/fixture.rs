//! A home of its own for each test, and engines that answer what every test needs.

use std::sync::Arc;

use crate::backend::{Backend, Ensured, Trust};
use crate::config::{SandboxConfig, Switch};
use crate::context::{self, Context};
use crate::docker::fake::FakeEngine;
use crate::docker::image::Image;
use crate::docker::inspect::{Observed, State};
use crate::docker::site::Site;
use crate::docker::{DockerBackend, identity, labels, sample, wanted};
use crate::error::SandboxError;

/// The id of a container that the engine has just made.
pub const NEW_ID: &str = "0123456789abcdef0123456789abcdef";
const IMAGE: &str = r#"[{"Id":"sha256:c9ea","Config":{}}]"#;
const INFO: &str = r#"{"ID":"E","Driver":"overlay2","DriverStatus":[["Backing Filesystem","xfs"]],
    "MemoryLimit":true,"CpuCfsQuota":true,"PidsLimit":true}"#;

/// A home of its own.
pub struct Fixture {
    pub dir: tempfile::TempDir,
    pub config: SandboxConfig,
}

impl Fixture {
    pub fn new() -> Self {
        let mut config = SandboxConfig::default();
        config.container.image = "tiny:1".into();
        // The sweep is tested by itself.
        config.container.orphan_sweep = Switch::Off;
        Self { dir: tempfile::tempdir().unwrap(), config }
    }

    pub fn context(&self) -> Context {
        let home = self.dir.path().join("home");
        std::fs::create_dir_all(&home).unwrap();
        Context {
            root: home.clone(),
            sandbox_dir: home.join("sandboxes"),
            home,
            cache_dir: self.dir.path().join("cache"),
            ..context::sample()
        }
    }

    /// A container of ours as this home would have made it.
    pub fn ours(&self, id: &str, state: State) -> Observed {
        let context = self.context();
        let identity = identity(&self.config, &context).unwrap();
        let image = Image { id: "c9ea".into(), entrypoint: Vec::new(), user: String::new() };
        let fields = wanted::fields(&self.config, &context, &identity, Some(&image), Site::Here).unwrap();
        let mut one = sample::ours(id, state);
        one.name = identity.container_name();
        one.labels = labels::contract(&identity)
            .into_iter()
            .chain(labels::own(&identity))
            .chain([
                (labels::REUSE, labels::REUSE_SHARED.to_owned()),
                (labels::PROGRAM, "hash".to_owned()),
                (labels::TRANSPORT, "socket".to_owned()),
                (labels::FIELDS, fields.to_json()),
                (labels::FINGERPRINT, fields.fingerprint()),
            ])
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        one
    }

    pub fn backend(&self, engine: &Arc<FakeEngine>) -> DockerBackend {
        DockerBackend::with_engine(&self.config, &self.context(), engine.clone()).unwrap()
    }

    pub fn ensure(&self, engine: &Arc<FakeEngine>) -> Result<Ensured, SandboxError> {
        self.backend(engine).ensure(Trust::Engine, &mut |_| ())
    }
}

/// What most tests need answered; rules added before these come first.
pub fn usual(engine: FakeEngine) -> Arc<FakeEngine> {
    Arc::new(
        engine
            .say(&["image", "inspect"], IMAGE)
            .say(&["info"], INFO)
            .say(&["run"], &format!("{NEW_ID}\n"))
            .say(&["ps"], ""),
    )
}

/// An engine that has these containers.
pub fn having(containers: &[Observed]) -> FakeEngine {
    let ids: Vec<&str> = containers.iter().map(|one| one.id.as_str()).collect();
    FakeEngine::default()
        .say(&["ps"], &ids.join("\n"))
        .say(&["inspect", "container"], &sample::json(containers))
}

/// An engine whose containers change from look to look.
pub fn having_in_turn(states: &[&[Observed]]) -> FakeEngine {
    let lists: Vec<String> = states
        .iter()
        .map(|containers| containers.iter().map(|one| one.id.as_str()).collect::<Vec<_>>().join("\n"))
        .collect();
    let inspects: Vec<String> = states
        .iter()
        .filter(|containers| !containers.is_empty())
        .map(|containers| sample::json(containers))
        .collect();
    FakeEngine::default()
        .say_in_turn(&["ps"], &lists.iter().map(String::as_str).collect::<Vec<_>>())
        .say_in_turn(&["inspect", "container"], &inspects.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Whether this was among what was asked.
pub fn has_verb(engine: &FakeEngine, verb: &str) -> bool {
    engine.verbs().iter().any(|seen| seen == verb)
}
