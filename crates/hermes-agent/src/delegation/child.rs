//! One helper: an agent of its own, made from the same parts as the one that starts it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hermes_guard::Redactor;
use hermes_model::{Caller, Content, Effort};
use hermes_store::sessions::{Kind, NewSession, SessionId};
use hermes_tools::limits::Shelf;
use hermes_tools::{Gate, Notifications, Progress, Report, Tool, Toolbox, Workplace, toolsets};
use tokio_util::sync::CancellationToken;

use super::family::{Family, Heritage};
use super::gate::HelperGate;
use super::limits::{Limits, ServerTools};
use super::order::{Role, Task, label};
use super::outcome::{Ended, Stop, Who};
use super::record::Record;
use super::{Delegate, NAME};
use crate::agent::{Agent, Clock, Parts, Rules, SideCallers};
use crate::control::Control;
use crate::event::AgentEvent;
use crate::history::History;
use crate::journal::{Journal as _, SharedStore, StoreJournal};
use crate::prompt::{self, Platform, PromptParts};
use crate::report::TurnReport;

/// What no helper gets: it has nobody to talk to, keeps no notes for others, runs no programs that call tools, and does
/// not decide that the work of the one that called it is over.
const NEVER: [&str; 7] =
    [NAME, "clarify", "memory", "send_message", "execute_code", "kanban_complete", "kanban_block"];

/// How long a helper that was told to end has to write down how far it got.
const LAST_WORDS: Duration = Duration::from_secs(12);

const IDENTITY: &str = "\
You are a helper: another agent gives you one task, and your last message goes back to it, not to a person. You know \
nothing of its conversation but what the task says. Do the task and no more; nobody can answer questions.
Look before you claim: read the file, run the command. End with a report for somebody who has seen nothing of your work: \
what you did, what you found, which files you changed, what you ran to check it and how that went, what failed or is left. \
Never say that something works that you did not run.";

/// What helpers are made from.
pub struct Kit {
    /// Where their conversations are kept.
    pub store: SharedStore,
    /// Where their commands run; the same place as the agent's, with shells of their own.
    pub workplace: Option<Workplace>,
    /// Where it is said that work in the background is over.
    pub news: Notifications,
    /// Where results go that are too long.
    pub shelf: Option<Arc<dyn Shelf>>,
    /// Masks secrets in what leaves a conversation.
    pub redactor: Arc<Redactor>,
    /// What time it is.
    pub clock: Clock,
    /// What their prompts are made of.
    pub prompt: PromptParts,
    /// What a turn of theirs may do.
    pub rules: Rules,
    /// How many there may be, and how much each may take.
    pub limits: Limits,
    /// Models of their own, if they have some.
    pub caller: Option<Caller>,
    /// How much they think, if that is not as much as the agent.
    pub effort: Option<Effort>,
    /// What is known of their sessions before they begin.
    pub session: NewSession,
}

/// A helper that is ready to work.
pub(super) struct Child {
    agent: Agent,
    input: Vec<Content>,
    control: Control,
    time: Option<Duration>,
    pub label: String,
    pub who: Who,
    pub record: Arc<Mutex<Record>>,
}

/// Where a new helper belongs.
pub(super) struct Under<'a> {
    pub kit: &'a Arc<Kit>,
    pub family: &'a Family,
    /// The tools of the agent that starts it.
    pub tools: &'a Toolbox,
    pub gate: &'a Arc<dyn Gate>,
    /// The generation of the agent that starts it; the user's own is 0.
    pub generation: u8,
    /// The session of the agent that starts it.
    pub session: &'a str,
    pub cancel: &'a CancellationToken,
}

impl Under<'_> {
    /// Makes the helper for one of several tasks. Nothing is asked or run yet.
    pub fn make(&self, place: usize, of: usize, task: &Task) -> Result<Child, String> {
        let kit = self.kit;
        let Heritage { account, caller, effort } =
            self.family.heritage().ok_or("no turn runs that a helper could belong to")?;
        let caller = kit.caller.as_ref().map_or(caller, Caller::sibling);
        let route = caller.route().ok_or("there is no model to ask")?;
        let ((provider, model), issuer) = (route.names(), route.endpoint.issuer().to_owned());
        let label = label(place, of, &task.goal);
        let gate: Arc<dyn Gate> = Arc::new(HelperGate::new(Arc::clone(self.gate), label.clone()));
        let family = Family::of_helper(account);
        let mut notes = Vec::new();
        let tools = self.tools(task, &gate, &family, &mut notes)?;
        let record = Arc::new(Mutex::new(Record::new(tools.clone(), model.clone())));

        let prompt = PromptParts {
            identity: Some(IDENTITY.to_owned()),
            tools: tools.names().map(str::to_owned).collect(),
            platform: Platform::Helper,
            session_id: None,
            model: model.clone(),
            provider,
            ..kit.prompt.clone()
        };
        let system = prompt::build(&prompt).text;
        let mut journal = StoreJournal::begin(kit.store.clone(), self.session_for(&model)?, issuer);
        journal.keep_prompt(&system).map_err(|error| error.to_string())?;
        let session = journal.session_id().to_owned();
        if let Some(workplace) = &kit.workplace {
            workplace.share(self.session, &session);
        }
        let agent = Agent::new(Parts {
            caller,
            side: SideCallers::default(),
            redactor: Arc::clone(&kit.redactor),
            tools,
            shelf: kit.shelf.clone(),
            news: kit.news.clone(),
            hints: None,
            gate,
            journal: Box::new(journal),
            history: History::default(),
            system,
            rules: Rules {
                most_calls: kit.limits.calls,
                calls_setting: "delegation.max_iterations",
                most_tokens: kit.limits.tokens,
                effort: kit.effort.or(effort),
                ..kit.rules.clone()
            },
            clock: Arc::clone(&kit.clock),
            family,
        });
        let control = Control::under(self.cancel);
        let (input, who) = (vec![Content::Text(words(task))], Who { place, session, notes });
        Ok(Child { agent, input, control, time: kit.limits.time, label, who, record })
    }

    /// The tools of a helper: those of its agent that it asked for and may have.
    fn tools(
        &self,
        task: &Task,
        gate: &Arc<dyn Gate>,
        family: &Family,
        notes: &mut Vec<String>,
    ) -> Result<Toolbox, String> {
        let limits = &self.kit.limits;
        let own = choose(self.tools, &task.toolsets, limits.servers)?;
        if task.role == Role::Leaf {
            return Ok(Toolbox::new(own));
        }
        if !limits.may_orchestrate(self.generation) {
            notes.push(
                "it could not be an orchestrator: 'delegation.max_spawn_depth' or 'delegation.orchestrator_enabled' \
                 does not allow it"
                    .to_owned(),
            );
            return Ok(Toolbox::new(own));
        }
        let delegate = Delegate {
            kit: Some(Arc::clone(self.kit)),
            family: family.clone(),
            tools: Toolbox::new(own.iter().cloned()),
            gate: Arc::clone(gate),
            generation: self.generation + 1,
        };
        Ok(Toolbox::new(own.into_iter().chain([Arc::new(delegate) as Arc<dyn Tool>])))
    }

    fn session_for(&self, model: &str) -> Result<NewSession, String> {
        let mut random = [0; 3];
        rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())
            .map_err(|error| format!("the system gives no random numbers: {error}"))?;
        let now = (self.kit.clock)();
        let mut session = self.kit.session.clone();
        session.id = SessionId::new(&now, random);
        session.kind = Kind::Delegated;
        session.parent = Some(SessionId::from(self.session));
        session.model = Some(model.to_owned());
        session.started_at = now.timestamp();
        Ok(session)
    }
}

/// Which of these tools a helper gets. Named toolsets narrow the choice and never widen it.
fn choose(all: &Toolbox, wanted: &[String], servers: ServerTools) -> Result<Vec<Arc<dyn Tool>>, String> {
    if let Some(name) = wanted.iter().find(|name| toolsets::find(name).is_none()) {
        return Err(format!("there is no toolset '{name}'; {}", known(all)));
    }
    let named: Vec<&str> = wanted
        .iter()
        .filter_map(|name| toolsets::find(name))
        .flat_map(toolsets::Toolset::all_tools)
        .collect();
    let fits = |tool: &&Arc<dyn Tool>| {
        let name = tool.spec().name;
        let of_server = toolsets::find(tool.toolset()).is_none();
        let is_wanted = match (of_server, servers) {
            (true, ServerTools::Left) => false,
            (true, ServerTools::Inherited) => true,
            (false, _) => wanted.is_empty() || named.contains(&name.as_str()),
        };
        is_wanted && !NEVER.contains(&name.as_str())
    };
    let own: Vec<Arc<dyn Tool>> = all.iter().filter(fits).cloned().collect();
    if own.is_empty() && !wanted.is_empty() {
        return Err(format!("a helper with only {} would have no tools; {}", wanted.join(", "), known(all)));
    }
    Ok(own)
}

fn known(all: &Toolbox) -> String {
    let mut sets: Vec<&str> = all.iter().map(|tool| tool.toolset()).collect();
    sets.sort_unstable();
    sets.dedup();
    format!("you have {}", sets.join(", "))
}

fn words(task: &Task) -> String {
    match &task.context {
        None => task.goal.clone(),
        Some(context) => format!("{}\n\nWhat you should know:\n{context}", task.goal),
    }
}

impl Child {
    /// Works until the task is done, the time is up or somebody wants it to end.
    pub async fn work(self, tell: Progress) -> (Option<TurnReport>, Option<Stop>) {
        let Self { mut agent, input, control, time, label, record, .. } = self;
        let started = Instant::now();
        let mut on = |event: AgentEvent| {
            let said = record.lock().unwrap_or_else(PoisonError::into_inner).hear(&event);
            for line in said.iter().flat_map(|said| said.lines()) {
                tell.tell(Report::Output(progress_line(&label, started.elapsed(), line)));
            }
        };
        let ended = {
            let turn = agent.turn(input, &control, &mut on);
            tokio::pin!(turn);
            let stop = async {
                tokio::select! {
                    () = control.token().cancelled() => Stop::Cancelled,
                    () = up(time) => Stop::TimedOut,
                }
            };
            tokio::select! {
                biased;
                report = &mut turn => {
                    let stop = control.is_interrupted().then_some(Stop::Cancelled);
                    (Some(report), stop)
                }
                stop = stop => {
                    control.interrupt();
                    (tokio::time::timeout(LAST_WORDS, &mut turn).await.ok(), Some(stop))
                }
            }
        };
        agent.close().await;
        ended
    }
}

async fn up(time: Option<Duration>) {
    match time {
        Some(time) => tokio::time::sleep(time).await,
        None => std::future::pending().await,
    }
}

/// A line about a helper, for whoever watches its agent.
pub(super) fn progress_line(label: &str, elapsed: Duration, text: &str) -> String {
    format!("[{label}] {}s {text}\n", elapsed.as_secs())
}

impl Kit {
    /// A helper is done: its session ends, and what it left running.
    pub(super) async fn tidy_up(&self, session: &str, ended: &mut Ended) {
        if let Some(workplace) = self.workplace.clone() {
            let of = session.to_owned();
            let end = move || {
                let ended = workplace.end_background(&of).unwrap_or_default();
                workplace.unshare(&of);
                ended
            };
            ended.left_running = tokio::task::spawn_blocking(end).await.unwrap_or_default();
        }
        let (status, _) = ended.status();
        let now = (self.clock)().timestamp();
        // A helper that never got to say anything has no session.
        if let Err(error) = self.store.lock().end(&SessionId::from(session), status, now) {
            tracing::debug!(%error, session, "the end of a helper's session is not recorded");
        }
    }
}
