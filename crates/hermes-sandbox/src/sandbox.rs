//! The one handle every tool uses: it makes sure the place is there, connects, and heals what broke.

use std::ffi::OsString;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use hermes_box::client::{Client, ConnectError};
use hermes_box::proto::hello::Refusal;
use hermes_guard::Secret;
use serde::Serialize;

use crate::backend::{Backend, Dispose, Ensured, Happened, Trust};
use crate::config::{BackendKind, Reuse, SandboxConfig};
use crate::context::Context;
use crate::docker::DockerBackend;
use crate::error::SandboxError;
use crate::forward;
use crate::local::LocalBackend;
use crate::notice::{Lost, Notice};
use crate::plain::Plain;
use crate::scope::ScopeKey;
use crate::seen::{News, Seen};
use crate::ssh::SshBackend;

/// How long an agent on this machine that we already know may take to answer before the place is looked at: a paused one is found soon.
const ANSWERS_WITHIN: Duration = Duration::from_secs(1);
/// The same for another machine, which a slow network may lie before.
const ANSWERS_FROM_AFAR_WITHIN: Duration = Duration::from_secs(3);
/// How long it may take when the place is said to be in order: one that is only slow is still used.
const AWAKE_WITHIN: Duration = Duration::from_secs(5);

/// How often, and how long each time, to wait for an agent that is shutting down.
const MOST_GOODBYES: usize = 60;
const GOODBYE: Duration = Duration::from_millis(250);

/// A place to run commands in. Opening it asks nobody anything; the first use does.
pub struct Sandbox {
    kind: BackendKind,
    backend: Arc<dyn Backend>,
    docker: Option<Arc<DockerBackend>>,
    local: Option<Arc<LocalBackend>>,
    config: SandboxConfig,
    context: Context,
    forwarded: Vec<(String, Secret)>,
    /// Which agent was last seen there; nothing for a place that only this process has.
    seen: Option<Seen>,
    connected: Mutex<Connected>,
    notices: Mutex<Vec<Notice>>,
    progress: Mutex<Progress>,
}

/// How a place can be used.
pub enum Access {
    /// Through its agent: everything.
    Agent(Client),
    /// Through the engine: commands and simple files.
    Plain(Plain),
}

/// Shows what takes long, such as an image on its way.
pub type Progress = Box<dyn FnMut(&str) + Send>;

/// What there is to know about a sandbox without asking anybody.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Description {
    /// The kind of place.
    pub backend: BackendKind,
    /// Who shares it.
    pub scope: ScopeKey,
    /// Which one: a container's name, a host.
    pub place: String,
    /// The image, for a container.
    pub image: Option<String>,
}

#[derive(Default)]
struct Connected {
    client: Option<Client>,
    /// Which start of the agent we last talked to.
    instance: Option<u64>,
}

impl Sandbox {
    /// Opens a sandbox for these settings.
    pub fn open(config: &SandboxConfig, context: &Context) -> Result<Self, SandboxError> {
        let (mut docker, mut local) = (None, None);
        let backend: Arc<dyn Backend> = match config.backend {
            BackendKind::Local => {
                let backend = Arc::new(LocalBackend::new(config, context));
                local = Some(Arc::clone(&backend));
                backend
            }
            BackendKind::Docker => {
                let backend = Arc::new(DockerBackend::new(config, context)?);
                docker = Some(Arc::clone(&backend));
                backend
            }
            BackendKind::Ssh => Arc::new(SshBackend::new(config, context, ssh_agent_name(config, context))?),
        };
        // Commands of this machine have our environment already.
        let (forwarded, notices) = match config.backend {
            BackendKind::Local => (Vec::new(), Vec::new()),
            BackendKind::Docker | BackendKind::Ssh => forward::resolve(&config.forward_env, context),
        };
        Ok(Self {
            kind: config.backend,
            backend,
            local,
            seen: seen(config, context, docker.as_deref()),
            docker,
            config: config.clone(),
            context: context.clone(),
            forwarded,
            connected: Mutex::default(),
            notices: Mutex::new(notices),
            progress: Mutex::new(Box::new(|_| ())),
        })
    }

    /// Shows progress through this from now on.
    pub fn on_progress(&self, progress: impl FnMut(&str) + Send + 'static) {
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner) = Box::new(progress);
    }

    /// Which backend commands run in.
    pub fn backend(&self) -> BackendKind {
        self.kind
    }

    /// A client of the agent in the place. The place is made if it is not there, and put right once if it
    /// broke; what that cost is told by [`Sandbox::take_notices`].
    pub fn client(&self) -> Result<Client, SandboxError> {
        let mut connected = self.connected.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = &connected.client {
            // A part of this process cannot fall asleep.
            let surely_awake = self.kind == BackendKind::Local;
            if client.lost().is_none() && (surely_awake || client.answers_within(self.first_patience())) {
                return Ok(client.clone());
            }
            // It may only sleep: then it answers again once the place has been looked at.
            if client.lost().is_none() {
                let client = client.clone();
                return self.wake(&mut connected, &client);
            }
        }
        let trust = if connected.instance.is_some() { Trust::Engine } else { Trust::Records };
        self.reconnect(&mut connected, trust)
    }

    /// The way in: the agent, or the engine's own `exec` where our program cannot run. The place is made, found or put
    /// right as by [`Sandbox::client`].
    pub fn access(&self) -> Result<Access, SandboxError> {
        match (self.client(), &self.docker) {
            (Err(SandboxError::NoAgent { name, reason }), Some(docker)) => match docker.place() {
                Some(place) => Ok(Access::Plain(Plain::new(docker.attach().engine.command(), place.id))),
                None => Err(SandboxError::NoAgent { name, reason }),
            },
            (client, _) => client.map(Access::Agent),
        }
    }

    /// A client for background jobs, which go on when this process is gone. On this machine they have an
    /// agent of their own; everywhere else the agent outlives us anyway.
    pub fn jobs(&self) -> Result<Client, SandboxError> {
        match &self.local {
            Some(local) => {
                let client = local.jobs()?;
                let news = self.seen.as_ref().map(|seen| seen.news(&client)).unwrap_or_default();
                self.tell(Ensured::default(), news);
                Ok(client)
            }
            None => self.client(),
        }
    }

    /// What a caller must be told since the last time it asked.
    pub fn take_notices(&self) -> Vec<Notice> {
        std::mem::take(&mut *self.notices())
    }

    /// Variables for every command: the values of the names the user wants to see forwarded.
    pub fn command_env(&self) -> Vec<(OsString, Option<OsString>)> {
        self.forwarded.iter().map(|(name, value)| (name.into(), Some(value.expose().into()))).collect()
    }

    /// Whether anything runs in the place. One that was never used, or does not answer, is not busy.
    pub fn is_busy(&self) -> bool {
        let client = self.connected.lock().unwrap_or_else(PoisonError::into_inner).client.clone();
        client
            .and_then(|client| client.info().ok())
            .is_some_and(|info| info.calls > 0 || info.jobs_running > 0)
    }

    /// What there is to know without asking anybody.
    pub fn describe(&self) -> Description {
        Description {
            backend: self.kind,
            scope: self.config.scope.resolve(&self.context.caller),
            place: match (self.kind, &self.docker) {
                (_, Some(docker)) => docker.identity().container_name(),
                (BackendKind::Ssh, _) => self.config.ssh.host.clone(),
                _ => "this machine".to_owned(),
            },
            image: (self.kind == BackendKind::Docker)
                .then(|| crate::docker::spec::image_name(&self.config, &self.context)),
        }
    }

    /// Lets go of the place: as the settings say, or for good.
    pub fn dispose(&self, how: Dispose) -> Result<(), SandboxError> {
        *self.connected.lock().unwrap_or_else(PoisonError::into_inner) = Connected::default();
        self.backend.dispose(how)
    }

    /// Waits for what [`Sandbox::dispose`] started; `true` when nothing is left to do.
    pub fn wait_for_cleanup(&self, within: Duration) -> bool {
        self.docker.as_ref().is_none_or(|docker| docker.wait_for_cleanup(within))
    }

    /// The container backend, if that is the one.
    pub fn docker(&self) -> Option<&Arc<DockerBackend>> {
        self.docker.as_ref()
    }

    /// The settings it was opened with.
    pub fn config(&self) -> &SandboxConfig {
        &self.config
    }

    /// The facts it was opened with.
    pub fn context(&self) -> &Context {
        &self.context
    }

    fn first_patience(&self) -> Duration {
        match self.kind {
            BackendKind::Local | BackendKind::Docker => ANSWERS_WITHIN,
            BackendKind::Ssh => ANSWERS_FROM_AFAR_WITHIN,
        }
    }

    /// Looks at a place whose agent is connected and silent.
    fn wake(&self, connected: &mut Connected, client: &Client) -> Result<Client, SandboxError> {
        let ensured = self.ensure(Trust::Engine)?;
        if client.lost().is_none() && client.answers_within(AWAKE_WITHIN) {
            self.tell(ensured, News::default());
            return Ok(client.clone());
        }
        connected.client = None;
        self.reconnect_after(connected, ensured, Trust::Engine)
    }

    fn reconnect(&self, connected: &mut Connected, trust: Trust) -> Result<Client, SandboxError> {
        connected.client = None;
        let ensured = self.ensure(trust)?;
        self.reconnect_after(connected, ensured, trust)
    }

    /// Connects to a place that is said to be there; believes less each time that fails.
    fn reconnect_after(
        &self,
        connected: &mut Connected,
        mut ensured: Ensured,
        mut trust: Trust,
    ) -> Result<Client, SandboxError> {
        let mut tries_without_trust = 0;
        let mut goodbyes = 0;
        loop {
            match self.backend.connect() {
                Ok(client) => {
                    let instance = client.agent().instance;
                    let mut news = self.seen.as_ref().map(|seen| seen.news(&client)).unwrap_or_default();
                    news.restarted |= connected.instance.is_some_and(|known| known != instance);
                    self.tell(ensured, news);
                    connected.instance = Some(instance);
                    connected.client = Some(client.clone());
                    return Ok(client);
                }
                // One that is on its way out makes room for the next, which another process may be making.
                Err(SandboxError::Connect { source: ConnectError::Refused(Refusal::Leaving), .. })
                    if goodbyes < MOST_GOODBYES =>
                {
                    goodbyes += 1;
                    thread::sleep(GOODBYE);
                    let earlier = std::mem::take(&mut ensured);
                    ensured = merged(earlier, self.ensure(Trust::Engine)?);
                }
                // There is none and there will be none: the place can only be used without.
                Err(error @ SandboxError::NoAgent { .. }) => {
                    self.tell(ensured, News::default());
                    return Err(error);
                }
                // An agent that refuses us is in order; making a new one would take it from those it serves.
                Err(error @ SandboxError::Connect { source: ConnectError::Refused(_), .. }) => {
                    return Err(error);
                }
                Err(error) => {
                    trust = match trust {
                        Trust::Records => Trust::Engine,
                        Trust::Engine | Trust::Nothing => Trust::Nothing,
                    };
                    if trust == Trust::Nothing {
                        tries_without_trust += 1;
                    }
                    if tries_without_trust > 2 {
                        return Err(error);
                    }
                    let earlier = std::mem::take(&mut ensured);
                    ensured = merged(earlier, self.ensure(trust)?);
                }
            }
        }
    }

    fn ensure(&self, trust: Trust) -> Result<Ensured, SandboxError> {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        self.backend.ensure(trust, &mut **progress)
    }

    fn tell(&self, ensured: Ensured, news: News) {
        let Ensured { happened, notices } = ensured;
        let replaced = notices.iter().any(|notice| matches!(notice, Notice::Recreated { .. }));
        self.notices().extend(notices);
        if let Some(notice) = happened.notice(news.lost.clone()) {
            self.notices().push(notice);
            return;
        }
        // A container runs for as long as it is left alone. Agents elsewhere leave when nobody needs them, which costs
        // nothing unless it cost jobs.
        let leaves_by_itself = self.docker.is_none();
        let unexpected = news.restarted && happened == Happened::Nothing && !replaced && !leaves_by_itself;
        if unexpected || !news.lost.is_empty() {
            let reason = if leaves_by_itself {
                "the agent that kept background jobs was ended by something else"
            } else {
                "the sandbox was restarted by something else"
            };
            self.notices().push(Notice::StateLost {
                reason: reason.to_owned(),
                lost: Lost::Processes,
                jobs: news.lost,
            });
        }
    }

    fn notices(&self) -> MutexGuard<'_, Vec<Notice>> {
        self.notices.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What happened on the way, with the weightier of two events.
fn merged(earlier: Ensured, later: Ensured) -> Ensured {
    let happened = match (earlier.happened, later.happened) {
        (earlier, Happened::Nothing) => earlier,
        (_, later) => later,
    };
    let mut notices = earlier.notices;
    notices.extend(later.notices);
    Ensured { happened, notices }
}

/// Where it is written down which agent was seen last.
fn seen(config: &SandboxConfig, context: &Context, docker: Option<&DockerBackend>) -> Option<Seen> {
    let boxes = context.sandbox_dir.join(".boxes");
    let dir = match (config.backend, docker) {
        (BackendKind::Docker, Some(docker)) => {
            if config.container.reuse == Reuse::Never {
                return None;
            }
            boxes.join(docker.identity().container_name())
        }
        (BackendKind::Ssh, _) => {
            let host = [config.ssh.host.as_bytes(), config.ssh.user.as_bytes()];
            let host = crate::digest::base32(&crate::digest::of_parts(host));
            boxes.join(format!("ssh-{}-{}", &host[..8], ssh_agent_name(config, context)))
        }
        _ => boxes.join("local").join(format!("seen-{}", ssh_agent_name(config, context))),
    };
    Some(Seen::in_dir(&dir))
}

/// One agent for each scope on the other machine.
fn ssh_agent_name(config: &SandboxConfig, context: &Context) -> String {
    let scope = config.scope.resolve(&context.caller);
    let parts = [context.profile.as_bytes(), scope.kind().as_bytes(), scope.id().as_bytes()];
    crate::digest::base32(&crate::digest::of_parts(parts))[..16].to_owned()
}
