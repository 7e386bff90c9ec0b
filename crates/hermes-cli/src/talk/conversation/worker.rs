//! The thread the agent lives on. Turns run there one after the other; the chat never waits for one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hermes_agent::delegation::Family;
use hermes_agent::shorten::{Shortened, Wish};
use hermes_agent::{Agent, AgentEvent, Control, Level, Outcome, SharedStore, Spending, TurnReport};
use hermes_cli::chat::{Events, StatusFacts};
use hermes_model::Content;
use hermes_store::sessions::SessionId;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

/// Something for the agent to do.
enum Job {
    Turn {
        input: Vec<Content>,
        control: Control,
        events: Events,
    },
    Compact {
        wish: Wish,
        control: Control,
        events: Events,
    },
    Look(Box<dyn FnOnce(&mut Agent) + Send>),
    Replace(Box<Agent>, Option<String>),
    /// What ended in the background gets a turn.
    News {
        control: Control,
        events: Events,
    },
    /// Helpers in the background end, and it is said when they have.
    Close(SyncSender<()>),
}

/// How long the program waits at its end for helpers to write down how far they got.
const CLOSING: Duration = Duration::from_secs(6);

/// Whether a conversation without a title gets one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Titles {
    /// It does, after its first exchange.
    Make,
    /// It does not.
    Leave,
}

/// The handle on the thread. The thread ends when the handle is dropped.
pub struct Worker {
    jobs: UnboundedSender<Job>,
    facts: Arc<Mutex<StatusFacts>>,
    busy: Arc<AtomicBool>,
    /// Whether something is over that no turn has taken up.
    ends_wait: Arc<AtomicBool>,
    family: Mutex<Family>,
}

impl Worker {
    /// Starts the thread.
    pub fn start(agent: Agent, store: SharedStore, titles: Titles, events: Events) -> std::io::Result<Self> {
        let facts = Arc::new(Mutex::new(StatusFacts::default()));
        let (jobs, todo) = unbounded_channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let busy = Arc::new(AtomicBool::new(false));
        let ends_wait = Arc::new(AtomicBool::new(false));
        let family = Mutex::new(agent.family().clone());
        let before = Spending::default();
        let mut desk = Desk {
            agent,
            store,
            titles,
            facts: Arc::clone(&facts),
            events,
            before,
            busy: Arc::clone(&busy),
            ends_wait: Arc::clone(&ends_wait),
            wanted_title: None,
        };
        desk.refresh();
        std::thread::Builder::new().name("agent".to_owned()).spawn(move || {
            runtime.block_on(desk.work(todo));
            // A tool that was told to end and does not must not hold the program back.
            runtime.shutdown_background();
        })?;
        Ok(Self { jobs, facts, busy, ends_wait, family })
    }

    /// Whether a turn runs, so that the agent cannot be looked at now.
    pub fn is_busy(&self) -> bool {
        self.busy.load(Ordering::SeqCst)
    }

    /// Begins a turn.
    pub fn turn(&self, input: Vec<Content>, events: Events) -> Control {
        let control = Control::new();
        self.busy.store(true, Ordering::SeqCst);
        self.send(Job::Turn { input, control: control.clone(), events });
        control
    }

    /// What ended in the background waits for the next message.
    pub fn leave_news(&self) {
        self.ends_wait.store(false, Ordering::SeqCst);
    }

    /// Begins a turn about what ended in the background, if something did.
    pub fn take_up_news(&self, events: Events) -> Option<Control> {
        if !self.ends_wait.swap(false, Ordering::SeqCst) {
            return None;
        }
        let control = Control::new();
        self.busy.store(true, Ordering::SeqCst);
        self.send(Job::News { control: control.clone(), events });
        Some(control)
    }

    /// The helpers of the agent.
    pub fn family(&self) -> Family {
        lock(&self.family).clone()
    }

    /// Begins to make the conversation shorter.
    pub fn compact(&self, wish: Wish, events: Events) -> Control {
        let control = Control::new();
        self.busy.store(true, Ordering::SeqCst);
        self.send(Job::Compact { wish, control: control.clone(), events });
        control
    }

    /// Puts another agent in the place of this one. A title is given to its session once there is one.
    pub fn replace(&self, agent: Agent, title: Option<String>) {
        *lock(&self.family) = agent.family().clone();
        self.send(Job::Replace(Box::new(agent), title));
        self.with(|_| ());
    }

    /// Does something with the agent and gives what came of it. Waits for a turn that runs.
    pub fn with<T: Send + 'static>(&self, does: impl FnOnce(&mut Agent) -> T + Send + 'static) -> Option<T> {
        let (tell, told) = std::sync::mpsc::sync_channel(1);
        self.send(Job::Look(Box::new(move |agent| {
            let _ = tell.send(does(agent));
        })));
        told.recv().ok()
    }

    /// What is known about the conversation; never waits.
    pub fn facts(&self) -> MutexGuard<'_, StatusFacts> {
        lock(&self.facts)
    }

    fn send(&self, job: Job) {
        // The thread only ends with us.
        let _ = self.jobs.send(job);
    }
}

impl Drop for Worker {
    /// Helpers end with the program; how far they got should be on record.
    fn drop(&mut self) {
        if self.family().running() > 0 {
            let (tell, told) = std::sync::mpsc::sync_channel(1);
            self.send(Job::Close(tell));
            let _ = told.recv_timeout(CLOSING);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the thread works with.
struct Desk {
    agent: Agent,
    store: SharedStore,
    titles: Titles,
    facts: Arc<Mutex<StatusFacts>>,
    events: Events,
    /// What the session had taken before the turn that runs.
    before: Spending,
    busy: Arc<AtomicBool>,
    ends_wait: Arc<AtomicBool>,
    /// The title a session gets once something was said in it.
    wanted_title: Option<String>,
}

impl Desk {
    async fn work(&mut self, mut todo: UnboundedReceiver<Job>) {
        let mut next = None;
        loop {
            let news = self.agent.news().clone();
            let job = if let Some(job) = next.take() {
                job
            } else {
                tokio::select! {
                    job = todo.recv() => match job {
                        Some(job) => job,
                        None => return,
                    },
                    () = news.changed() => {
                        self.tell_news();
                        continue;
                    }
                }
            };
            match job {
                Job::Turn { input, control, events } => {
                    let completed = self.turn(input, &control, &events).await;
                    if completed && self.titles == Titles::Make {
                        next = self.title(&mut todo).await;
                    }
                }
                Job::Compact { wish, control, events } => self.compact(&wish, &control, &events).await,
                Job::News { control, events } => self.take_up_news(&control, &events).await,
                Job::Close(tell) => {
                    self.agent.close().await;
                    let _ = tell.send(());
                }
                Job::Look(look) => {
                    look(&mut self.agent);
                    self.refresh();
                }
                Job::Replace(agent, title) => {
                    self.leave_helpers();
                    self.agent = *agent;
                    self.wanted_title = title;
                    self.before = Spending::default();
                    *lock(&self.facts) = StatusFacts::default();
                    self.refresh();
                }
            }
        }
    }

    async fn turn(&mut self, input: Vec<Content>, control: &Control, events: &Events) -> bool {
        let (facts, before) = (Arc::clone(&self.facts), self.before);
        let mut on = |event: AgentEvent| {
            if let AgentEvent::Usage { turn, context, window } = &event {
                let mut facts = lock(&facts);
                (facts.context, facts.window, facts.spent) = (*context, *window, before + *turn);
            }
            if !matches!(event, AgentEvent::TurnEnded { .. }) {
                events.send(event);
            }
        };
        let report = self.agent.turn(input, control, &mut on).await;
        if let Some(title) = self.wanted_title.take() {
            let id = SessionId::from(self.agent.session_id());
            // The title may be taken: it gets a number then. Anything else is no reason to fail a turn.
            let _ = self.store.lock().suggest_title(&id, &title);
        }
        self.before = self.before + report.spending;
        self.refresh();
        let completed = report.outcome == Outcome::Completed;
        self.ends_wait.store(self.agent.has_ends(), Ordering::SeqCst);
        self.busy.store(false, Ordering::SeqCst);
        events.send(AgentEvent::TurnEnded { report });
        completed
    }

    async fn compact(&mut self, wish: &Wish, control: &Control, events: &Events) {
        let made = self.agent.compact(wish, control, &mut |event| events.send(event)).await;
        self.refresh();
        self.busy.store(false, Ordering::SeqCst);
        let (outcome, text, error) = match made {
            Ok(Shortened::Done) => (Outcome::Completed, String::new(), None),
            Ok(Shortened::Left(why)) => (Outcome::Completed, why, None),
            Ok(Shortened::Failed(why)) => (Outcome::Failed, String::new(), Some(why)),
            Err(error) => (Outcome::Failed, String::new(), Some(error.to_string())),
        };
        if !text.is_empty() {
            events.send(AgentEvent::Notice { level: Level::Info, text });
        }
        let report = TurnReport::without_answer(self.agent.session_id(), outcome, error);
        events.send(AgentEvent::TurnEnded { report });
    }

    /// Makes a title unless there is one. Whatever the user does next comes first.
    async fn title(&mut self, todo: &mut UnboundedReceiver<Job>) -> Option<Job> {
        let id = SessionId::from(self.agent.session_id());
        if !matches!(self.store.lock().title(&id), Ok(None)) {
            return None;
        }
        let cancel = CancellationToken::new();
        let mut next = None;
        let title = tokio::select! {
            title = self.agent.suggest_title(&cancel) => title,
            job = todo.recv() => {
                next = job;
                None
            }
        };
        cancel.cancel();
        if let Some(title) = title {
            // A title is never worth an error.
            let _ = self.store.lock().suggest_title(&id, &title);
        }
        self.refresh();
        next
    }

    fn tell_news(&mut self) {
        if let Some(text) = self.agent.look_at_news() {
            self.events.send(AgentEvent::Notice { level: Level::Info, text });
        }
        if self.agent.has_ends() {
            self.ends_wait.store(true, Ordering::SeqCst);
            self.events.wake();
        }
    }

    async fn take_up_news(&mut self, control: &Control, events: &Events) {
        if self.agent.has_ends() {
            self.turn(Vec::new(), control, events).await;
            return;
        }
        // A turn that was quicker has it already.
        self.busy.store(false, Ordering::SeqCst);
        let report = TurnReport::without_answer(self.agent.session_id(), Outcome::Completed, None);
        events.send(AgentEvent::TurnEnded { report });
    }

    /// Another session takes the place of this one: its helpers have nobody to report to.
    fn leave_helpers(&mut self) {
        let ended = self.agent.family().cancel();
        if ended > 0 {
            let text = format!(
                "{} of the session before were told to end.",
                crate::ui::count(ended as u64, "helper")
            );
            self.events.send(AgentEvent::Notice { level: Level::Info, text });
        }
    }

    /// Brings what others see up to date.
    fn refresh(&mut self) {
        let id = SessionId::from(self.agent.session_id());
        let title = self.store.lock().title(&id).ok().flatten();
        let route = self.agent.caller().route();
        let (provider, model) = route.map(hermes_model::Route::names).unwrap_or_default();
        let window = route.and_then(|route| route.window);
        let context =
            self.agent.newest_usage().map_or_else(|| self.agent.fill().tokens, |usage| usage.total());
        let mut facts = lock(&self.facts);
        id.as_str().clone_into(&mut facts.session_id);
        (facts.provider, facts.model, facts.title, facts.window) = (provider, model, title, window);
        facts.messages = self.agent.history().entries.len();
        facts.context = if facts.messages == 0 { 0 } else { context };
        facts.compactions = self.agent.compactions();
        facts.spent = self.before;
    }
}
