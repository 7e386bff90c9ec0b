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
use hermes_testkit::{Engine, Image, SshServer};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// Everything a sandbox is opened with. What it made goes away with it.
pub struct Fixture {
    pub config: SandboxConfig,
    pub context: Context,
    /// Removed before the directory: containers have it mounted.
    scope: Option<Scope>,
    server: Option<SshServer>,
    root: PathBuf,
    /// Holds the directory until everything else is gone.
    guard: Option<TempDir>,
}

impl Fixture {
    /// A new home.
    fn fresh(backend: BackendKind) -> Self {
        let dir = tempfile::Builder::new().prefix("hermes-sandbox-").tempdir_in("/var/tmp").unwrap();
        for name in ["home", "start", "user"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        let mut fixture = Self::at(dir.path(), backend);
        fixture.guard = Some(dir);
        fixture
    }

    /// A home that another process made and will take away.
    pub fn borrowed(root: &Path) -> Self {
        let mut fixture = Self::at(root, BackendKind::Docker);
        fixture.context.env = Environment::current();
        fixture.in_container();
        fixture
    }

    fn at(root: &Path, backend: BackendKind) -> Self {
        let home = root.join("home");
        let mut env = Environment::default();
        for name in ["PATH", "LANG"] {
            if let Some(value) = std::env::var_os(name) {
                env.set(name, value);
            }
        }
        env.set("HOME", root.join("user"));
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
            host_cwd: root.join("start"),
            env,
            dotenv: BTreeMap::new(),
            private_env: Vec::new(),
        };
        let config = SandboxConfig { backend, ..SandboxConfig::default() };
        Self { config, context, scope: None, server: None, root: root.to_path_buf(), guard: None }
    }

    /// Settings that every engine can fulfil.
    fn in_container(&mut self) {
        let container = &mut self.config.container;
        container.limits.memory_mb = Some(256);
        container.limits.disk_mb = None;
        container.network = hermes_sandbox::config::Network::Off;
    }

    /// This machine.
    pub fn local() -> Self {
        Self::fresh(BackendKind::Local)
    }

    /// Containers of an engine.
    pub fn container(engine: &Engine) -> Self {
        let mut fixture = Self::fresh(BackendKind::Docker);
        fixture.in_container();
        for (name, value) in engine.env() {
            fixture.context.env.set(name, value);
        }
        let container = &mut fixture.config.container;
        container.binary = Some(engine.program().to_path_buf());
        container.image = engine.image(Image::Base).unwrap().into();
        fixture.scope =
            Some(engine.scope().also(format!("label=hermes-home={}", fixture.context.home.display())));
        fixture
    }

    /// The same home for another user of this machine, who reaches the engine through a socket of their own.
    pub fn for_user(mut self, uid: u32) -> Self {
        let door = self.root.join("docker.sock");
        let host = self.context.env.text("DOCKER_HOST").unwrap_or("unix:///var/run/docker.sock").to_owned();
        crate::remote::open_door(&door, Path::new(host.strip_prefix("unix://").unwrap()));
        self.context.env.set("DOCKER_HOST", format!("unix://{}", door.display()));
        for path in
            [self.root.clone(), door, self.root.join("home"), self.root.join("user"), self.root.join("start")]
        {
            std::os::unix::fs::chown(path, Some(uid), Some(uid)).unwrap();
        }
        self.context.user = HostUser { uid, gid: uid };
        self.context.cache_dir = self.root.join("user/.cache/hermes");
        self
    }

    /// Another machine, which is this one by another door.
    pub fn ssh(server: SshServer) -> Self {
        let mut fixture = Self::fresh(BackendKind::Ssh);
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

    /// The ssh server.
    pub fn server(&self) -> &SshServer {
        self.server.as_ref().unwrap()
    }

    /// The directory everything is in.
    pub fn dir(&self) -> &Path {
        &self.root
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

/// Agents that outlive their clients must not outlive their test.
impl Drop for Fixture {
    fn drop(&mut self) {
        let has_jobs = self.boxes().join("local").exists();
        if self.guard.is_some() && (self.config.backend == BackendKind::Ssh || has_jobs) {
            let agent = Sandbox::open(&self.config, &self.context).and_then(|sandbox| sandbox.jobs());
            if let Ok(agent) = agent {
                let _ = agent.shutdown();
            }
        }
    }
}

/// Stops a process and waits until every thread of it has stopped: the signal alone returns while one of them may
/// still answer a last question.
pub fn freeze(pid: Pid) {
    kill_process(pid, Signal::STOP).unwrap();
    let tasks = format!("/proc/{}/task", pid.as_raw_nonzero());
    eventually("every thread has stopped", || {
        std::fs::read_dir(&tasks).unwrap().all(|task| {
            // A thread may end between being listed and being read.
            let stat = std::fs::read_to_string(task.unwrap().path().join("stat")).unwrap_or_default();
            stat.is_empty() || stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('T'))
        })
    });
}

/// Runs a shell command in a session and gives what it printed.
pub fn sh(client: &Client, session: &str, command: &str) -> Exit {
    client.run(ExecRequest::shell(session, command).timeout(Duration::from_mins(1))).unwrap()
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
    let until = Instant::now() + Duration::from_mins(1);
    while !holds() {
        assert!(Instant::now() < until, "it never came true that {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What `work` gives; fails when that takes too long.
pub fn within<T: Send + 'static>(limit: Duration, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, result) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(work()));
    result.recv_timeout(limit).unwrap_or_else(|error| panic!("it took longer than {limit:?}: {error}"))
}
