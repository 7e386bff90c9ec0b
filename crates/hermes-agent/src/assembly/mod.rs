//! Puts an agent together from a home and its settings: the one way every front door does it. Nothing is contacted and
//! nothing started here; the first question does that.

mod error;
mod git;
mod rules;
mod side;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hermes_guard::Redactor;
use hermes_home::{Home, Settings};
use hermes_model::budget::Meter;
use hermes_model::provider::Wanted;
use hermes_model::setup::{self, SetupError};
use hermes_model::window::WindowCache;
use hermes_model::{Caller, Client, Route, ToolSpec};
use hermes_sandbox::config::{BackendKind, SandboxConfig, Switch};
use hermes_sandbox::context::Environment;
use hermes_sandbox::pool::Pool;
use hermes_sandbox::scope::Caller as SandboxCaller;
pub use hermes_store::sessions::{Kind, Resume};
use hermes_store::sessions::{NewSession, SessionId, SessionStore};
use hermes_tools::gate::ask::{AskGate, Mode};
use hermes_tools::workplace::{self, Workplace};
use hermes_tools::{Answerer, Availability, Moment, Tool, Toolbox, catalog, toolsets};
use jiff::Zoned;
use tokio_util::sync::CancellationToken;

pub use error::OpenError;
pub use rules::turn_rules;

use crate::agent::{Agent, Clock, Parts};
use crate::checkpoints::{CheckpointGate, Keeper};
use crate::context_files::Hints;
use crate::history::History;
use crate::journal::{Journal, SharedStore, StoreJournal, StoreLedger};
use crate::prompt::{self, HostFacts, Place, Platform, SystemPrompt};

/// What an agent is opened with.
#[derive(Clone)]
pub struct Opening {
    /// The home.
    pub home: Home,
    /// Its settings, flags included.
    pub settings: Settings,
    /// The environment we were started with.
    pub env: BTreeMap<OsString, OsString>,
    /// Where the work is.
    pub cwd: PathBuf,
    /// The model that was asked for.
    pub wanted: Wanted,
    /// The toolsets that were asked for; none means what the settings say.
    pub toolsets: Vec<String>,
    /// The session to go on with; none begins a new one.
    pub resume: Option<Resume>,
    /// Through which door it comes.
    pub source: String,
    /// What it is for.
    pub kind: Kind,
    /// Whether files of the home and the project have a say in the prompt.
    pub rules: prompt::Rules,
    /// Who agrees to commands.
    pub consent: Consent,
    /// Most model calls of one turn, if somebody said so.
    pub most_calls: Option<u32>,
    /// Whether the model is told the session's id.
    pub session_id: TellId,
}

/// Who agrees to commands.
#[derive(Clone)]
pub enum Consent {
    /// A person, when it matters.
    Ask(Arc<dyn Answerer>),
    /// Nobody is asked and everything that is not forbidden runs.
    Yolo,
    /// Nobody can be asked: what needs consent does not run.
    Nobody,
}

/// Whether the model is told the session's id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TellId {
    /// No.
    #[default]
    No,
    /// Yes.
    Yes,
}

/// An agent and what belongs to it.
pub struct Opened {
    /// The agent.
    pub agent: Agent,
    /// The home's sessions.
    pub store: SharedStore,
    /// Where its commands run.
    pub workplace: Workplace,
    /// Decides about its commands.
    pub gate: Arc<AskGate>,
    /// Snapshots of what it changes, when they are on.
    pub checkpoints: Option<Arc<Keeper>>,
    /// The system prompt and its parts; parts only when it was built just now.
    pub prompt: SystemPrompt,
    /// What the user should know.
    pub notices: Vec<String>,
}

/// How long places that go with this process get to be cleaned up.
const CLEANUP: Duration = Duration::from_mins(1);

/// Lets go of where commands ran. What outlives us stays.
pub fn let_go(workplace: &Workplace) {
    workplace.close(CLEANUP);
}

/// Puts an agent together.
#[allow(clippy::needless_pass_by_value, reason = "what an agent is opened with is used up by it")]
pub fn open(opening: Opening) -> Result<Opened, OpenError> {
    let mut notices = Vec::new();
    let (routes, problems) = routes(&opening)?;
    notices.extend(problems);
    let first = routes.first().ok_or(OpenError::NoModel)?;
    let ((provider, model), issuer) = (first.names(), first.endpoint.issuer().to_owned());

    let store = SharedStore::new(SessionStore::open(&opening.home.path("state.db"))?);
    let caller = caller_for(&opening.home, &opening.settings, routes, &store)?;
    let side = side::callers(&opening.home, &opening.settings, &store, &mut notices)?;
    let place = hermes_sandbox::from_settings::config(&opening.settings)?;
    let redactor = Arc::new(Redactor::new(opening.settings.secret_values()));
    let workplace = workplace(&opening, place.clone(), Arc::clone(&redactor))?;
    let (tools, gate) = tools(&opening, &workplace, &mut notices)?;
    let now = Zoned::now();

    let resumed = opening.resume.as_ref().map(|which| find(&store, which)).transpose()?;
    let (mut journal, history) = match resumed.clone() {
        Some(id) => {
            let (journal, history) = StoreJournal::resume(store.clone(), id, issuer)?;
            (journal, history)
        }
        None => (
            StoreJournal::begin(store.clone(), new_session(&opening, &model, &now)?, issuer),
            History::default(),
        ),
    };
    let id = journal.session_id().to_owned();
    let kept = match &resumed {
        Some(id) => store.lock().system_prompt(id)?.filter(|prompt| !prompt.is_empty()),
        None => None,
    };
    let prompt = if let Some(text) = kept {
        // The same bytes as before, so that the provider's cache holds.
        SystemPrompt { text, parts: Vec::new() }
    } else {
        let sources = Told {
            opening: &opening,
            config: &place,
            workplace: &workplace,
            tools: &tools,
            model: &model,
            provider: &provider,
            id: &id,
        };
        let built = build_prompt(&sources, &now, &mut notices)?;
        journal.keep_prompt(&built.text)?;
        built
    };
    let here = (sees_project(&place) && opening.rules == prompt::Rules::Follow).then(|| opening.cwd.clone());
    let zone = now.time_zone().clone();
    let clock: Clock = Arc::new(move || jiff::Timestamp::now().to_zoned(zone.clone()));
    if resumed.is_some() {
        let messages: Vec<hermes_model::Message> = history.messages().cloned().collect();
        tools.tell(&id, Moment::Resumed(&messages));
    }
    let checkpoints = Keeper::open(&opening, &workplace, &id, &redactor, &mut notices)?.map(Arc::new);
    let asked = Arc::clone(&gate) as Arc<dyn hermes_tools::Gate>;
    let watched = match &checkpoints {
        Some(keeper) => Arc::new(CheckpointGate::new(asked, Arc::clone(keeper))),
        None => asked,
    };
    let agent = Agent::new(Parts {
        caller,
        side,
        redactor,
        tools,
        shelf: Some(Arc::new(workplace.clone())),
        news: workplace.notifications().clone(),
        hints: here.map(|cwd| Hints::new(&cwd)),
        gate: watched,
        journal: Box::new(journal),
        history,
        system: prompt.text.clone(),
        rules: turn_rules(&opening.settings, &model, opening.most_calls)?,
        clock,
    });
    Ok(Opened { agent, store, workplace, gate, checkpoints, prompt, notices })
}

/// The prompt and the tools a new conversation would begin with, without a model, a session or anything started.
pub fn first_request(opening: &Opening) -> Result<(SystemPrompt, Vec<ToolSpec>), OpenError> {
    let mut notices = Vec::new();
    let chain = setup::open(opening.home.dir(), &opening.settings, &opening.wanted);
    let names = chain.ok().and_then(|chain| chain.routes.first().map(Route::names));
    let (provider, model) = names.unwrap_or_default();
    let config = hermes_sandbox::from_settings::config(&opening.settings)?;
    let redactor = Arc::new(Redactor::new(opening.settings.secret_values()));
    let workplace = workplace(opening, config.clone(), redactor)?;
    let (tools, _) = tools(opening, &workplace, &mut notices)?;
    let told = Told {
        opening,
        config: &config,
        workplace: &workplace,
        tools: &tools,
        model: &model,
        provider: &provider,
        id: "",
    };
    let prompt = build_prompt(&told, &Zoned::now(), &mut notices)?;
    Ok((prompt, tools.specs().to_vec()))
}

/// The models to ask, and what is wrong with some of them.
fn routes(opening: &Opening) -> Result<(Vec<Route>, Vec<String>), OpenError> {
    let chain = match setup::open(opening.home.dir(), &opening.settings, &opening.wanted) {
        Err(SetupError::NoModel(_)) => ask_own_server(opening)?,
        chain => chain?,
    };
    let problem = |error: &dyn std::fmt::Display| format!("a fallback model is left out: {error}");
    let problems = chain.problems.iter().map(|error| problem(error)).collect();
    Ok((chain.routes, problems))
}

/// A server of the user's own is asked for its only model. On a thread of its own: the caller may be one that must not
/// wait.
fn ask_own_server(opening: &Opening) -> Result<setup::Chain, OpenError> {
    let client = Client::new(setup::client_options(&opening.settings)?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let cancel = CancellationToken::new();
    let asked = std::thread::scope(|scope| {
        let ask = setup::ready(opening.home.dir(), &opening.settings, &opening.wanted, &client, &cancel);
        scope.spawn(|| runtime.block_on(ask)).join()
    });
    Ok(asked.map_err(|_| OpenError::NoModel)??)
}

/// Asks these models, within the budget of the settings.
pub fn caller_for(
    home: &Home,
    settings: &Settings,
    routes: Vec<Route>,
    store: &SharedStore,
) -> Result<Caller, OpenError> {
    let client = Client::new(setup::client_options(settings)?);
    let caller = Caller::new(Arc::new(client), routes, setup::retry_policy(settings)?);
    let meter = Meter::new(setup::limits(settings)?, Arc::new(StoreLedger::new(store.clone())));
    Ok(caller.with_meter(Arc::new(meter)).with_windows(WindowCache::in_home(home.dir())))
}

fn workplace(
    opening: &Opening,
    config: SandboxConfig,
    redactor: Arc<Redactor>,
) -> Result<Workplace, OpenError> {
    let env = Environment::from_iter(opening.env.clone());
    let caller = SandboxCaller::default();
    let context = hermes_sandbox::from_settings::context(
        &opening.home,
        &opening.settings,
        env,
        opening.cwd.clone(),
        caller,
    )?;
    let options = workplace::Options::from_settings(&opening.settings, redactor)?;
    Ok(Workplace::new(config, context, Arc::new(Pool::default()), options))
}

fn tools(
    opening: &Opening,
    workplace: &Workplace,
    notices: &mut Vec<String>,
) -> Result<(Toolbox, Arc<AskGate>), OpenError> {
    let chosen = toolsets::Selection::new(&opening.settings, &opening.source, &opening.toolsets)?;
    notices.extend(chosen.notices());
    let mode = Mode::from_settings(&opening.settings, matches!(opening.consent, Consent::Yolo))?;
    let answerer =
        if let Consent::Ask(answerer) = &opening.consent { Some(Arc::clone(answerer)) } else { None };
    let kit = catalog::Kit {
        place: workplace,
        home: &opening.home,
        settings: &opening.settings,
        person: answerer.clone(),
    };
    let usable = |tool: &Arc<dyn Tool>| chosen.has(tool.as_ref()) && tool.available() == Availability::Yes;
    let tools = catalog::build(&kit).into_iter().filter(usable);
    Ok((Toolbox::new(tools), Arc::new(AskGate::new(mode, answerer))))
}

fn find(store: &SharedStore, which: &Resume) -> Result<SessionId, OpenError> {
    store.lock().find(which)?.ok_or_else(|| OpenError::NoSession(which.clone()))
}

fn new_session(opening: &Opening, model: &str, now: &Zoned) -> Result<NewSession, OpenError> {
    let mut random = [0; 3];
    rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())
        .map_err(std::io::Error::from)?;
    let mut session = NewSession::new(SessionId::new(now, random), opening.source.clone(), now.timestamp());
    session.kind = opening.kind;
    session.model = Some(model.to_owned());
    session.cwd = Some(opening.cwd.display().to_string());
    if let Some(repository) = git::look(&opening.cwd) {
        session.git_root = Some(repository.root.display().to_string());
        session.git_branch = repository.branch;
    }
    let profile = opening.home.profile().as_str();
    session.profile = (profile != "default").then(|| profile.to_owned());
    Ok(session)
}

/// Whether commands work on the files of the directory we were started in.
fn sees_project(config: &SandboxConfig) -> bool {
    match config.backend {
        BackendKind::Local => true,
        BackendKind::Docker => config.container.mount_cwd == Switch::On,
        BackendKind::Ssh => false,
    }
}

/// What the prompt is built from.
struct Told<'a> {
    opening: &'a Opening,
    config: &'a SandboxConfig,
    workplace: &'a Workplace,
    tools: &'a Toolbox,
    model: &'a str,
    provider: &'a str,
    id: &'a str,
}

fn build_prompt(told: &Told<'_>, now: &Zoned, notices: &mut Vec<String>) -> Result<SystemPrompt, OpenError> {
    let opening = told.opening;
    let cwd = &opening.cwd;
    let (place, project) = match told.config.backend {
        BackendKind::Local => {
            let home = opening.env.get(&OsString::from("HOME")).map(PathBuf::from).unwrap_or_default();
            (Place::Host(HostFacts::look(home, cwd.clone())), Some(cwd.as_path()))
        }
        BackendKind::Docker | BackendKind::Ssh => {
            let here = sees_project(told.config).then_some(cwd.as_path());
            (Place::Sandbox { description: told.workplace.describe() }, here)
        }
    };
    let loaded = prompt::load(&prompt::Sources {
        home: &opening.home,
        settings: &opening.settings,
        project,
        rules: opening.rules,
        place,
        platform: match opening.kind {
            Kind::OneShot => Platform::OneShot,
            _ => Platform::named(&opening.source),
        },
        tools: told.tools.names().map(str::to_owned).collect(),
        model: told.model,
        provider: told.provider,
        session_id: (opening.session_id == TellId::Yes).then_some(told.id),
        now,
    })?;
    notices.extend(loaded.notices);
    Ok(prompt::build(&loaded.parts))
}
