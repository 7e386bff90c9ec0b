//! A throw-away home with settings for one backend.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hermes_box::client::Client;
use hermes_box::proto::exec::{ExecRequest, Exit};
use hermes_sandbox::config::{BackendKind, SandboxConfig};
use hermes_sandbox::context::{Context, Environment, HostUser};
use hermes_sandbox::docker;
use hermes_sandbox::sandbox::Sandbox;
use hermes_sandbox::scope::Caller;
use hermes_testkit::engine::Scope;
use hermes_testkit::{Engine, Image};
use tempfile::TempDir;

/// Everything a sandbox is opened with. What it made goes away with it.
pub struct Fixture {
    pub config: SandboxConfig,
    pub context: Context,
    /// Removed before the directory: containers have it mounted.
    scope: Option<Scope>,
    dir: TempDir,
}

impl Fixture {
    /// A home without settings.
    fn bare(backend: BackendKind) -> Self {
        let dir = tempfile::Builder::new().prefix("hermes-sandbox-").tempdir_in("/var/tmp").unwrap();
        let home = dir.path().join("home");
        let start = dir.path().join("start");
        for path in [&home, &start, &dir.path().join("user")] {
            std::fs::create_dir(path).unwrap();
        }
        let mut env = Environment::default();
        for name in ["PATH", "LANG"] {
            if let Some(value) = std::env::var_os(name) {
                env.set(name, value);
            }
        }
        env.set("HOME", dir.path().join("user"));
        let context = Context {
            root: home.clone(),
            sandbox_dir: home.join("sandboxes"),
            home,
            profile: "default".into(),
            caller: Caller::default(),
            // Shared by all tests: the program is the same for every home.
            cache_dir: std::env::temp_dir().join("hermes-test-cache"),
            machine: "test".into(),
            user: HostUser::current(),
            host_cwd: start,
            env,
            dotenv: BTreeMap::new(),
            private_env: Vec::new(),
        };
        let config = SandboxConfig { backend, ..SandboxConfig::default() };
        Self { config, context, scope: None, dir }
    }

    /// This machine.
    pub fn local() -> Self {
        Self::bare(BackendKind::Local)
    }

    /// Containers of an engine.
    pub fn container(engine: &Engine) -> Self {
        let mut fixture = Self::bare(BackendKind::Docker);
        for (name, value) in engine.env() {
            fixture.context.env.set(name, value);
        }
        let container = &mut fixture.config.container;
        container.binary = Some(engine.program().to_path_buf());
        container.image = engine.image(Image::Base).unwrap().to_owned();
        container.limits.memory_mb = Some(256);
        container.limits.disk_mb = None;
        container.network = hermes_sandbox::config::Network::Off;
        fixture.scope =
            Some(engine.scope().also(format!("label=hermes-home={}", fixture.context.home.display())));
        fixture
    }

    /// The directory everything is in.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// A handle as another process would have it.
    pub fn open(&self) -> Sandbox {
        Sandbox::open(&self.config, &self.context).unwrap()
    }

    /// The name of the container these settings mean.
    pub fn container_name(&self) -> String {
        docker::identity(&self.config, &self.context).unwrap().container_name()
    }

    /// Ids of all containers of this home.
    pub fn containers(&self) -> Vec<String> {
        self.scope.as_ref().unwrap().containers()
    }

    /// Where the directory of a box's records is.
    pub fn boxes(&self) -> PathBuf {
        self.context.sandbox_dir.join(".boxes")
    }
}

/// Runs a shell command in a session and gives what it printed.
pub fn sh(client: &Client, session: &str, command: &str) -> Exit {
    client.run(ExecRequest::shell(session, command).timeout(Duration::from_secs(60))).unwrap()
}

/// What a command printed, without the line end.
pub fn out(client: &Client, command: &str) -> String {
    let exit = sh(client, "test", command);
    assert_eq!(exit.code(), 0, "{command}: {}", text(&exit));
    text(&exit)
}

/// What was kept of a command's output.
pub fn text(exit: &Exit) -> String {
    String::from_utf8(exit.stdout.bytes()).unwrap().trim_end().to_owned()
}

/// Waits until something holds, and fails after a long time.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < until, "it never came true that {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
