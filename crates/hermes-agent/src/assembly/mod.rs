//! Puts an agent together from a home and its settings: the one way every front door does it. Nothing is contacted and
//! nothing started here; the first question does that.

mod advice;
mod board;
mod error;
mod eyes;
mod forbidden;
mod git;
mod goal;
mod helpers;
mod questions;
mod rules;
mod side;
mod side_model;

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
use hermes_tools::gate::ask::{AskGate, Files, First, Mode, Surroundings};
use hermes_tools::gate::ledger::Ledger;
use hermes_tools::workplace::{self, Workplace};
use hermes_tools::{Answerer, Availability, Eyes, Moment, Tool, Toolbox, catalog, toolsets};
use jiff::Zoned;
use tokio_util::sync::CancellationToken;

pub use error::OpenError;
pub use goal::Judge;
pub use rules::turn_rules;
pub use side_model::{AskError, Question, SideModel, SideWork};

use crate::agent::{Agent, Clock, Parts};
use crate::checkpoints::{CheckpointGate, Keeper};
use crate::context_files::Hints;
use crate::delegation::{Delegate, Family};
use crate::history::History;
use crate::journal::{Journal, SharedStore, StoreJournal, StoreLedger};
use crate::prompt::{self, HostFacts, Place, Platform, SystemPrompt, Work};

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
    /// Who answers the agent's own questions; none is whoever agrees to commands.
    pub person: Option<Arc<dyn Answerer>>,
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
    /// Who says whether the goal of a card is reached, where there is one.
    pub judge: Option<Arc<Judge>>,
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
    let (routes, problems) = routes(&opening.home, &opening.settings, &opening.wanted)?;
    notices.extend(problems);
    let first = routes.first().ok_or(OpenError::NoModel)?;
    let ((provider, model), issuer) = (first.names(), first.endpoint.issuer().to_owned());

    let store = SharedStore::new(SessionStore::open(&opening.home.path("state.db"))?);
    let eyes = eyes::open(&opening, &routes, &store, &mut notices)?;
    let caller = caller_for(&opening.home, &opening.settings, routes.clone(), &store)?;
    let side = side::callers(&opening.home, &opening.settings, &store, &mut notices)?;
    let place = hermes_sandbox::from_settings::config(&opening.settings)?;
    let redactor = Arc::new(Redactor::new(opening.settings.secret_values()));
    let workplace = workplace(&opening, place.clone(), Arc::clone(&redactor))?;
    let judge = board::judge(&opening, &mut notices);
    let asked = Asked { eyes: Some(eyes), judge: judge.clone() };
    let Chosen { tools: own, gate, delegation } = tools(&opening, &workplace, asked, &mut notices)?;
    let now = Zoned::now();
    let zone = now.time_zone().clone();
    let clock: Clock = Arc::new(move || jiff::Timestamp::now().to_zoned(zone.clone()));
    let rules = turn_rules(&opening.settings, &model, opening.most_calls)?;
    let session = new_session(&opening, &model, &now)?;
    let resumed = opening.resume.as_ref().map(|which| find(&store, which)).transpose()?;
    let id = resumed.as_ref().unwrap_or(&session.id).to_string();
    let gate = Arc::new(advised(gate, &opening, &store, routes, &id, &mut notices)?);
    let checkpoints = Keeper::open(&opening, &workplace, &id, &redactor, &mut notices)?.map(Arc::new);
    let watched = watched(Arc::clone(&gate) as Arc<dyn hermes_tools::Gate>, checkpoints.as_ref());
    let family = Family::default();
    let told = Told {
        opening: &opening,
        config: &place,
        workplace: &workplace,
        tools: &own,
        model: &model,
        provider: &provider,
        id: "",
    };
    let tools = match delegation {
        Delegation::Off => own.clone(),
        Delegation::On => {
            let parts = helpers::Own {
                told: &told,
                store: &store,
                workplace: &workplace,
                caller: &caller,
                redactor: &redactor,
                clock: &clock,
                rules: &rules,
                session: session.clone(),
            };
            let kit = helpers::kit(parts, &now, &mut notices)?;
            with_delegation(
                &own,
                Some(kit),
                &family,
                helpers::gate(&opening, &watched, checkpoints.as_ref())?,
            )
        }
    };
    let (mut journal, history) = match resumed.clone() {
        Some(id) => {
            let (journal, history) = StoreJournal::resume(store.clone(), id, issuer)?;
            (journal, history)
        }
        None => (StoreJournal::begin(store.clone(), session, issuer), History::default()),
    };
    let kept = match &resumed {
        Some(id) => store.lock().system_prompt(id)?.filter(|prompt| !prompt.is_empty()),
        None => None,
    };
    let prompt = if let Some(text) = kept {
        // The same bytes as before, so that the provider's cache holds.
        SystemPrompt { text, parts: Vec::new() }
    } else {
        let sources = Told { tools: &tools, id: &id, ..told };
        let built = build_prompt(&sources, &now, &mut notices)?;
        journal.keep_prompt(&built.text)?;
        built
    };
    let here = (sees_project(&place) && opening.rules == prompt::Rules::Follow).then(|| opening.cwd.clone());
    if resumed.is_some() {
        let messages: Vec<hermes_model::Message> = history.messages().cloned().collect();
        tools.tell(&id, Moment::Resumed(&messages));
    }
    let agent = Agent::new(Parts {
        caller,
        side,
        redactor,
        tools,
        shelf: Some(Arc::new(workplace.clone())),
        news: workplace.notifications().clone(),
        hints: here.map(|cwd| Hints::new(&cwd, workplace.redactor())),
        gate: watched,
        journal: Box::new(journal),
        history,
        system: prompt.text.clone(),
        rules,
        clock,
        family,
    });
    Ok(Opened { agent, store, workplace, gate, checkpoints, judge, prompt, notices })
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
    let Chosen { tools: own, gate, delegation } = tools(opening, &workplace, Asked::default(), &mut notices)?;
    let tools = match delegation {
        Delegation::Off => own,
        Delegation::On => with_delegation(&own, None, &Family::default(), Arc::new(gate)),
    };
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
fn routes(home: &Home, settings: &Settings, wanted: &Wanted) -> Result<(Vec<Route>, Vec<String>), OpenError> {
    let chain = match setup::open(home.dir(), settings, wanted) {
        Err(SetupError::NoModel(_)) => ask_own_server(home, settings, wanted)?,
        chain => chain?,
    };
    let problem = |error: &dyn std::fmt::Display| format!("a fallback model is left out: {error}");
    let problems = chain.problems.iter().map(|error| problem(error)).collect();
    Ok((chain.routes, problems))
}

/// A server of the user's own is asked for its only model. On a thread of its own: the caller may be one that must not
/// wait.
fn ask_own_server(home: &Home, settings: &Settings, wanted: &Wanted) -> Result<setup::Chain, OpenError> {
    let client = Client::new(setup::client_options(settings)?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let cancel = CancellationToken::new();
    let asked = std::thread::scope(|scope| {
        let ask = setup::ready(home.dir(), settings, wanted, &client, &cancel);
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

/// The tools of an agent, but for the one that starts helpers.
struct Chosen {
    tools: Toolbox,
    gate: AskGate,
    delegation: Delegation,
}

/// Other models that tools ask.
#[derive(Default)]
struct Asked {
    eyes: Option<Arc<dyn Eyes>>,
    judge: Option<Arc<Judge>>,
}

/// Whether an agent can start helpers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Delegation {
    On,
    Off,
}

/// These tools and the one that starts helpers, who get some of these.
fn with_delegation(
    own: &Toolbox,
    kit: Option<crate::delegation::Kit>,
    family: &Family,
    gate: Arc<dyn hermes_tools::Gate>,
) -> Toolbox {
    let delegate: Arc<dyn Tool> = Arc::new(Delegate::new(kit, family.clone(), own.clone(), gate));
    Toolbox::new(own.iter().cloned().chain([delegate]))
}

fn tools(
    opening: &Opening,
    workplace: &Workplace,
    asked: Asked,
    notices: &mut Vec<String>,
) -> Result<Chosen, OpenError> {
    let chosen = toolsets::Selection::new(&opening.settings, &opening.source, &opening.toolsets)?;
    notices.extend(chosen.notices());
    // A worker that cannot close its card could only fail.
    let chosen = match toolsets::find("kanban") {
        Some(set) if board::is_worker(opening) => chosen.and(set),
        _ => chosen,
    };
    let mode = Mode::from_settings(&opening.settings, matches!(opening.consent, Consent::Yolo))?;
    let answerer: Option<Arc<dyn Answerer>> = match &opening.consent {
        Consent::Ask(person) => Some(Arc::new(questions::OneAtATime::new(Arc::clone(person)))),
        Consent::Yolo | Consent::Nobody => None,
    };
    let kit = catalog::Kit {
        place: workplace,
        home: &opening.home,
        settings: &opening.settings,
        platform: &opening.source,
        person: opening.person.clone().or_else(|| answerer.clone()),
        post: None,
        schedule: None,
        desk: match asked.judge {
            Some(judge) => board::desk(opening, workplace.redactor()).with_judge(judge),
            None => board::desk(opening, workplace.redactor()),
        },
        eyes: asked.eyes,
    };
    let usable = |tool: &Arc<dyn Tool>| chosen.has(tool.as_ref()) && tool.available() == Availability::Yes;
    let tools = catalog::choose(&kit, usable);
    let gate = AskGate::new(mode, answerer)
        .at(surroundings(opening, workplace))
        .obeying(forbidden::by_now(opening))
        .with_ledger(Ledger::new(opening.home.clone()));
    let delegation = if chosen.has_tool(crate::delegation::NAME) { Delegation::On } else { Delegation::Off };
    Ok(Chosen { tools: Toolbox::new(tools), gate, delegation })
}

/// The gate with snapshots of what it lets through, where they are on.
fn watched(
    gate: Arc<dyn hermes_tools::Gate>,
    checkpoints: Option<&Arc<Keeper>>,
) -> Arc<dyn hermes_tools::Gate> {
    match checkpoints {
        Some(keeper) => Arc::new(CheckpointGate::new(gate, Arc::clone(keeper))),
        None => gate,
    }
}

/// What the rules for commands want to know of the place.
fn surroundings(opening: &Opening, workplace: &Workplace) -> Surroundings {
    match workplace.backend() {
        BackendKind::Local => Surroundings {
            home: opening.env.get(&OsString::from("HOME")).map(PathBuf::from).unwrap_or_default(),
            hermes_home: opening.home.dir().to_path_buf(),
            cwd: Some(opening.cwd.clone()),
            files: Files::Here,
        },
        BackendKind::Docker | BackendKind::Ssh => Surroundings::default(),
    }
}

/// The gate with a model that looks first, where the settings want one and there is a person behind it.
fn advised(
    gate: AskGate,
    opening: &Opening,
    store: &SharedStore,
    routes: Vec<Route>,
    session: &str,
    notices: &mut Vec<String>,
) -> Result<AskGate, OpenError> {
    if gate.first() != First::Model || !matches!(opening.consent, Consent::Ask(_)) {
        return Ok(gate);
    }
    let caller = side::judge(&opening.home, &opening.settings, store, routes, notices)?;
    let seconds = opening.settings.get(&hermes_home::settings::table::auxiliary::APPROVAL_TIMEOUT)?;
    Ok(gate.with_adviser(Arc::new(advice::ModelAdviser {
        caller: tokio::sync::Mutex::new(caller),
        store: store.clone(),
        session: SessionId::from(session.to_owned()),
        patience: Duration::from_secs(u64::try_from(seconds).unwrap_or(30)),
    })))
}

/// Every tool this program has, as a conversation would get it, whether it can be used or not. Nothing is started.
pub fn all_tools(opening: &Opening) -> Result<Vec<Arc<dyn Tool>>, OpenError> {
    let config = hermes_sandbox::from_settings::config(&opening.settings)?;
    let redactor = Arc::new(Redactor::new(opening.settings.secret_values()));
    let place = workplace(opening, config, redactor)?;
    Ok(catalog::build(&catalog::Kit {
        place: &place,
        home: &opening.home,
        settings: &opening.settings,
        platform: &opening.source,
        person: opening.person.clone(),
        eyes: None,
        post: None,
        schedule: None,
        desk: board::desk(opening, place.redactor()),
    }))
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
#[derive(Clone, Copy)]
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
    let loaded = prompt_parts(told, told.opening.rules, now)?;
    notices.extend(loaded.notices);
    Ok(prompt::build(&loaded.parts))
}

fn prompt_parts(
    told: &Told<'_>,
    rules: prompt::Rules,
    now: &Zoned,
) -> Result<prompt::LoadedPrompt, OpenError> {
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
    Ok(prompt::load(&prompt::Sources {
        home: &opening.home,
        settings: &opening.settings,
        redactor: &told.workplace.redactor(),
        project,
        rules,
        place,
        platform: match opening.kind {
            Kind::OneShot => Platform::OneShot,
            _ => Platform::named(&opening.source),
        },
        door: &opening.source,
        tools: told.tools.names().map(str::to_owned).collect(),
        toolsets: told.tools.iter().map(|tool| tool.toolset().to_owned()).collect(),
        model: told.model,
        provider: told.provider,
        session_id: (opening.session_id == TellId::Yes).then_some(told.id),
        work: if board::is_worker(opening) { Work::Card } else { Work::Talk },
        now,
    })?)
}
