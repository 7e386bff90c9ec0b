//! Where the tools of a program work: one sandbox (or one for each conversation, as the settings say), opened on first
//! use and shared by every tool, so that no two of them can mean different places.

mod describe;
mod files;
mod jobs;
mod reach;
mod results;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hermes_box::client::Client;
use hermes_guard::Redactor;
use hermes_home::Settings;
use hermes_home::settings::{SettingError, table};
use hermes_sandbox::config::{BackendKind, SandboxConfig, Switch};
use hermes_sandbox::context::Context;
use hermes_sandbox::error::SandboxError;
use hermes_sandbox::notice::Notice;
use hermes_sandbox::plain::Plain;
use hermes_sandbox::pool::Pool;
use hermes_sandbox::sandbox::{Access, Sandbox};
use hermes_sandbox::scope::Scope;

use crate::file::{FileLimits, FileState};
use crate::gate::Reach;
use crate::notifications::Notifications;
use crate::tool::{Progress, Report};
use crate::watch::Breaker;

pub use files::FilesAt;
pub use reach::of as reach_of;
pub use results::KeepError;

/// What the tools are told besides where they work.
#[derive(Debug, Clone)]
pub struct Options {
    /// How many bytes of a command's output the model sees.
    pub max_output: usize,
    /// Masks secrets in everything the model and the user see of a command.
    pub redactor: Arc<Redactor>,
    /// How much of files is shown, and where they may be written.
    pub files: FileLimits,
}

impl Options {
    /// As the settings say.
    pub fn from_settings(settings: &Settings, redactor: Arc<Redactor>) -> Result<Self, SettingError> {
        let max_output =
            usize::try_from(settings.get(&table::tools::OUTPUT_MAX_BYTES)?).unwrap_or(usize::MAX);
        Ok(Self { max_output, redactor, files: FileLimits::from_settings(settings)? })
    }
}

impl Default for Options {
    fn default() -> Self {
        Self { max_output: 50_000, redactor: Arc::new(Redactor::new([])), files: FileLimits::default() }
    }
}

/// See the module. Cheap to clone; making one opens nothing.
#[derive(Clone)]
pub struct Workplace(Arc<Inner>);

struct Inner {
    config: SandboxConfig,
    context: Context,
    pool: Arc<Pool>,
    options: Options,
    notifications: Notifications,
    breaker: Breaker,
    /// Clients for background jobs, by conversation where each has its own place.
    jobs: Mutex<HashMap<String, Client>>,
    /// Conversations whose jobs of earlier programs are watched again.
    watched: Mutex<HashSet<String>>,
    /// What its conversations know of files.
    files: FileState,
    /// Helpers that work in the place of the conversation that started them.
    guests: Mutex<HashMap<String, String>>,
    /// Where long results go, by agent.
    results: Mutex<HashMap<u64, PathBuf>>,
}

/// A place that was reached, and what there is to say about it.
pub(crate) struct Reached {
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) client: Client,
    /// For the model: what it has to know about the place.
    pub(crate) notes: Vec<String>,
}

/// A way into a place.
pub(crate) enum Way {
    /// Through its agent.
    Agent(Reached),
    /// Through its engine, where our program cannot run.
    Plain(Door),
}

/// A place that only its engine reaches.
pub(crate) struct Door {
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) plain: Plain,
    /// For the model: what it has to know about the place.
    pub(crate) notes: Vec<String>,
}

impl Workplace {
    /// A place for these settings. Nothing is opened, asked or written before the first use.
    pub fn new(config: SandboxConfig, context: Context, pool: Arc<Pool>, options: Options) -> Self {
        Self(Arc::new(Inner {
            config,
            context,
            pool,
            options,
            notifications: Notifications::default(),
            breaker: Breaker::default(),
            jobs: Mutex::default(),
            watched: Mutex::default(),
            files: FileState::default(),
            guests: Mutex::default(),
            results: Mutex::default(),
        }))
    }

    /// Masks secrets in what leaves the place.
    pub fn redactor(&self) -> Arc<Redactor> {
        Arc::clone(&self.0.options.redactor)
    }

    /// The kind of place.
    pub fn backend(&self) -> BackendKind {
        self.0.config.backend
    }

    /// Whether commands see the directory the program was started in, under whatever name.
    pub fn sees_host_cwd(&self) -> bool {
        match self.0.config.backend {
            BackendKind::Local => true,
            BackendKind::Docker => self.0.config.container.mount_cwd == Switch::On,
            BackendKind::Ssh => false,
        }
    }

    /// What commands here can harm.
    pub fn reach(&self) -> Reach {
        reach::of(&self.0.config)
    }

    /// What background commands have to say: ends that were asked for, lines that were waited for.
    pub fn notifications(&self) -> &Notifications {
        &self.0.notifications
    }

    /// Lets go of what was opened, before the program ends; `true` when nothing is left to do.
    pub fn close(&self, within: Duration) -> bool {
        lock(&self.0.jobs).clear();
        self.0.pool.close(within)
    }

    /// Lets a helper work in the place of a conversation, with a shell of its own.
    pub fn share(&self, host: &str, helper: &str) {
        let host = self.host_of(host);
        lock(&self.0.guests).insert(helper.to_owned(), host);
    }

    /// A helper is done: nothing is remembered of it.
    pub fn unshare(&self, helper: &str) {
        lock(&self.0.guests).remove(helper);
    }

    /// The conversation whose place this one works in, which is mostly itself.
    fn host_of(&self, session: &str) -> String {
        lock(&self.0.guests).get(session).cloned().unwrap_or_else(|| session.to_owned())
    }

    pub(crate) fn config(&self) -> &SandboxConfig {
        &self.0.config
    }

    pub(crate) fn context(&self) -> &Context {
        &self.0.context
    }

    pub(crate) fn limits(&self) -> &FileLimits {
        &self.0.options.files
    }

    pub(crate) fn files(&self) -> &FileState {
        &self.0.files
    }

    pub(crate) fn breaker(&self) -> &Breaker {
        &self.0.breaker
    }

    pub(crate) fn options(&self) -> &Options {
        &self.0.options
    }

    /// Makes sure that the place of a conversation is there. Blocks, for as long as pulling an image takes.
    pub fn prepare(&self, session: &str) -> Result<(), SandboxError> {
        self.enter_any(session, &Progress::silent()).map(drop)
    }

    /// The place of a conversation, made and connected to if need be. Blocks, for as long as pulling an image takes.
    pub(crate) fn enter(&self, session: &str, progress: &Progress) -> Result<Reached, SandboxError> {
        let sandbox = self.heard(session, progress)?;
        let client = sandbox.client()?;
        let notes = tell_notices(&sandbox, progress);
        Ok(Reached { sandbox, client, notes })
    }

    /// The same, by the engine alone where our program cannot run.
    pub(crate) fn enter_any(&self, session: &str, progress: &Progress) -> Result<Way, SandboxError> {
        let sandbox = self.heard(session, progress)?;
        let access = sandbox.access()?;
        let notes = tell_notices(&sandbox, progress);
        Ok(match access {
            Access::Agent(client) => Way::Agent(Reached { sandbox, client, notes }),
            Access::Plain(plain) => Way::Plain(Door { sandbox, plain, notes }),
        })
    }

    /// The sandbox of a conversation, which says what takes long.
    fn heard(&self, session: &str, progress: &Progress) -> Result<Arc<Sandbox>, SandboxError> {
        let sandbox = self.sandbox(session)?;
        let to = progress.clone();
        sandbox.on_progress(move |text| to.tell(Report::Note(text.to_owned())));
        Ok(sandbox)
    }

    /// The sandbox of a conversation, not necessarily reached yet.
    pub(crate) fn sandbox(&self, session: &str) -> Result<Arc<Sandbox>, SandboxError> {
        let (config, now) = (&self.0.config, Instant::now());
        match config.scope {
            // The context is only copied where conversations have places of their own.
            Scope::Profile | Scope::Shared(_) => self.0.pool.get(config, &self.0.context, now),
            Scope::Session | Scope::Task => {
                let mut context = self.0.context.clone();
                let session = self.host_of(session);
                context.caller.task.get_or_insert_with(|| session.clone());
                context.caller.session = Some(session);
                self.0.pool.get(config, &context, now)
            }
        }
    }

    /// What tells the places of conversations apart: nothing, where they share one.
    pub(crate) fn place_key(&self, session: &str) -> String {
        match self.0.config.scope {
            Scope::Profile | Scope::Shared(_) => String::new(),
            Scope::Session | Scope::Task => self.host_of(session),
        }
    }
}

impl std::fmt::Debug for Workplace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Workplace({})", self.describe())
    }
}

/// Tells the user everything the sandbox has to say, and gives back what the model must know: what it made may be gone.
fn tell_notices(sandbox: &Sandbox, progress: &Progress) -> Vec<String> {
    let notices = sandbox.take_notices();
    for notice in &notices {
        progress.tell(Report::Note(notice.to_string()));
    }
    let matters = |notice: &&Notice| matches!(notice, Notice::StateLost { .. } | Notice::Recreated { .. });
    notices.iter().filter(matters).map(ToString::to_string).collect()
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
