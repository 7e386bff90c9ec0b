//! A throw-away home, a place in it, and calls of tools as the loop makes them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hermes_guard::Redactor;
use hermes_model::{Content, ToolStatus};
use hermes_sandbox::backend::Dispose;
use hermes_sandbox::config::{BackendKind, Network, SandboxConfig};
use hermes_sandbox::context::{Context, Environment, HostUser};
use hermes_sandbox::pool::Pool;
use hermes_sandbox::sandbox::Sandbox;
use hermes_sandbox::scope::Caller;
use hermes_testkit::engine::Scope;
use hermes_testkit::{Engine, Image, SshServer};
use hermes_tools::gate::Waiting;
use hermes_tools::workplace::Options;
use hermes_tools::{Action, Gate, Progress, Report, Run, Tool, ToolOutput, Verdict, Workplace};
use serde_json::Value;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// What places are made from. What they leave behind goes with it.
pub struct Fixture {
    pub config: SandboxConfig,
    pub context: Context,
    pub options: Options,
    /// Removed before the directory: containers have it mounted.
    scope: Option<Scope>,
    server: Option<SshServer>,
    dir: TempDir,
}

impl Fixture {
    fn new(backend: BackendKind) -> Self {
        let dir = tempfile::Builder::new().prefix("hermes-tools-").tempdir_in("/var/tmp").unwrap();
        for name in ["home", "start", "user", "tmp"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        let home = dir.path().join("home");
        let mut env = Environment::default();
        for name in ["PATH", "LANG"] {
            if let Some(value) = std::env::var_os(name) {
                env.set(name, value);
            }
        }
        env.set("HOME", dir.path().join("user"));
        env.set("TMPDIR", dir.path().join("tmp"));
        let context = Context {
            root: home.clone(),
            sandbox_dir: home.join("sandboxes"),
            home,
            profile: "default".into(),
            caller: Caller::default(),
            cache_dir: std::env::temp_dir().join("hermes-test-cache"),
            machine: "test".into(),
            user: HostUser::current(),
            host_cwd: dir.path().join("start"),
            env,
            dotenv: BTreeMap::new(),
            private_env: Vec::new(),
        };
        let config = SandboxConfig { backend, ..SandboxConfig::default() };
        let options =
            Options { redactor: Arc::new(Redactor::new([SECRET.to_owned()])), ..Options::default() };
        Self { config, context, options, scope: None, server: None, dir }
    }

    /// This machine.
    pub fn local() -> Self {
        Self::new(BackendKind::Local)
    }

    /// A container.
    pub fn container(engine: &Engine) -> Self {
        Self::container_of(engine, Image::Base)
    }

    /// A container of this image.
    pub fn container_of(engine: &Engine, image: Image) -> Self {
        let mut fixture = Self::new(BackendKind::Docker);
        for (name, value) in engine.env() {
            fixture.context.env.set(name, value);
        }
        let container = &mut fixture.config.container;
        container.limits.memory_mb = Some(256);
        container.limits.disk_mb = None;
        container.network = Network::Off;
        container.binary = Some(engine.program().to_path_buf());
        container.image = engine.image(image).unwrap().into();
        fixture.scope =
            Some(engine.scope().also(format!("label=hermes-home={}", fixture.context.home.display())));
        fixture
    }

    /// Another machine, which is this one by another door.
    pub fn ssh(server: SshServer) -> Self {
        let mut fixture = Self::new(BackendKind::Ssh);
        let ssh = &mut fixture.config.ssh;
        ssh.host = server.host();
        ssh.port = Some(server.port());
        ssh.user = server.user().into();
        ssh.key = Some(server.identity());
        ssh.options = vec![
            format!("UserKnownHostsFile={}", server.known_hosts().display()),
            "IdentitiesOnly=yes".to_owned(),
        ];
        fixture.server = Some(server);
        fixture
    }

    /// A place as another process would have it.
    pub fn place(&self) -> Workplace {
        Workplace::new(
            self.config.clone(),
            self.context.clone(),
            Arc::new(Pool::default()),
            self.options.clone(),
        )
    }

    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// The sandbox itself, to look behind the tools.
    pub fn sandbox(&self) -> Sandbox {
        Sandbox::open(&self.config, &self.context).unwrap()
    }

    /// Takes the container away, as somebody else might.
    pub fn remove_container(&self) {
        let sandbox = self.sandbox();
        sandbox.client().unwrap();
        sandbox.dispose(Dispose::Remove).unwrap();
        assert!(sandbox.wait_for_cleanup(Duration::from_mins(1)));
    }
}

/// Agents that outlive their clients must not outlive their test.
impl Drop for Fixture {
    fn drop(&mut self) {
        let has_jobs = self.context.sandbox_dir.join(".boxes/local").exists();
        if self.server.is_some() || (self.config.backend == BackendKind::Local && has_jobs) {
            let agent = Sandbox::open(&self.config, &self.context).and_then(|sandbox| sandbox.jobs());
            if let Ok(agent) = agent {
                let _ = agent.shutdown();
            }
        }
    }
}

/// A value the redactor of every fixture knows.
pub const SECRET: &str = "correct-horse-battery-9";

/// One conversation with one tool, and everything it said on the way.
pub struct Talk {
    pub tool: Box<dyn Tool>,
    pub session: String,
    pub cancel: CancellationToken,
    pub heard: Arc<Mutex<Vec<Report>>>,
    pub gate: Box<dyn Gate>,
    /// Characters a result may take.
    pub most_chars: usize,
}

impl Talk {
    pub fn new(tool: impl Tool + 'static) -> Self {
        Self {
            tool: Box::new(tool),
            session: "conversation".into(),
            cancel: CancellationToken::new(),
            heard: Arc::default(),
            gate: Box::new(Open),
            most_chars: 100_000,
        }
    }

    pub fn with(tool: impl Tool + 'static, session: &str) -> Self {
        Self { session: session.into(), ..Self::new(tool) }
    }

    pub async fn run(&self, arguments: Value) -> ToolOutput {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        let heard = Arc::clone(&self.heard);
        let progress = Progress::new(move |report| heard.lock().unwrap().push(report));
        self.tool
            .run(Run {
                call_id: "call_1",
                arguments: &arguments,
                session: &self.session,
                cancel: &self.cancel,
                progress: &progress,
                gate: &*self.gate,
                most_chars: self.most_chars,
            })
            .await
    }

    /// Runs and reads the JSON.
    pub async fn call(&self, arguments: Value) -> Value {
        json_of(&self.run(arguments).await)
    }

    /// What was printed so far.
    pub fn live(&self) -> String {
        let heard = self.heard.lock().unwrap();
        heard
            .iter()
            .filter_map(|report| if let Report::Output(text) = report { Some(text.as_str()) } else { None })
            .collect()
    }

    /// What the user was told.
    pub fn notes(&self) -> String {
        let heard = self.heard.lock().unwrap();
        let note = |report: &Report| if let Report::Note(text) = report { Some(text.clone()) } else { None };
        heard.iter().filter_map(note).collect::<Vec<_>>().join("\n")
    }
}

pub fn json_of(output: &ToolOutput) -> Value {
    match output.content.as_slice() {
        [Content::Text(text)] => {
            let value: Value = serde_json::from_str(text).unwrap();
            assert_eq!(
                value["error"].is_string(),
                output.status == ToolStatus::Failed && value["error"].is_string()
            );
            value
        }
        other => panic!("{other:?}"),
    }
}

/// Lets everything pass.
pub struct Open;

impl Gate for Open {
    fn decide<'a>(&'a self, _action: &'a Action<'a>) -> Waiting<'a, Verdict> {
        Box::pin(std::future::ready(Verdict::Allowed))
    }
}

/// Lets nothing pass.
pub struct Closed;

impl Gate for Closed {
    fn decide<'a>(&'a self, _action: &'a Action<'a>) -> Waiting<'a, Verdict> {
        Box::pin(std::future::ready(Verdict::Refused { reason: "not today".into() }))
    }
}

/// Waits until something holds, and fails after a long time.
pub async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_mins(1);
    while !holds() {
        assert!(Instant::now() < until, "it never came true that {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// One test, on this machine and in a container.
#[macro_export]
macro_rules! everywhere {
    ($($name:ident),* $(,)?) => {
        mod local {
            $(#[tokio::test] async fn $name() { super::$name(&$crate::fixture::Fixture::local()).await; })*
        }
        mod docker {
            $(#[tokio::test] async fn $name() {
                let engine = hermes_testkit::need("docker", hermes_testkit::Engine::get());
                if let Some(engine) = engine {
                    super::$name(&$crate::fixture::Fixture::container(engine)).await;
                }
            })*
        }
    };
}
