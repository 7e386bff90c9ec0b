//! The agent as the chat drives it.

mod background;
mod choose;
mod keep;
mod rollback;
mod words;
mod worker;

use std::sync::Arc;

use hermes_agent::assembly::{self, Opened, Opening, Resume};
use hermes_agent::checkpoints::Keeper;
use hermes_agent::prompt::PartSize;
use hermes_agent::references::{self, Surroundings};
use hermes_agent::shorten::Wish;
use hermes_agent::{AgentEvent, Control, Level, Outcome, SharedStore, TurnReport};
use hermes_cli::chat::{
    Approvals, CommandOutcome, Compress, Conversation, Events, Request, StatusFacts, UserInput,
};
use hermes_model::{Content, Effort};
use hermes_store::sessions::{Clash, SessionId};
use hermes_tools::gate::ask::{AskGate, Yolo};
use hermes_tools::workplace::Workplace;

use self::background::Background;
pub use self::worker::Titles;
use self::worker::Worker;

/// How many exchanges are shown when a session is gone on with.
const SHOWN: usize = 5;

/// The agent as the chat drives it.
pub struct AgentConversation {
    opening: Opening,
    worker: Worker,
    store: SharedStore,
    gate: Arc<AskGate>,
    workplace: Workplace,
    checkpoints: Option<Arc<Keeper>>,
    prompt_parts: Vec<PartSize>,
    background: Background,
    /// The user ended what ran in the background: its end is no reason to go on by itself.
    stopped: bool,
    /// How the conversation stood when files were put back.
    seen: Vec<rollback::Seen>,
}

impl AgentConversation {
    /// Puts it together. What should be said before the first question comes back with it.
    pub fn open(opening: Opening, titles: Titles, events: Events) -> anyhow::Result<(Self, Vec<String>)> {
        let opened = crate::talk::open(opening.clone())?;
        let Opened { agent, store, workplace, gate, checkpoints, prompt, notices, .. } = opened;
        let worker = Worker::start(agent, store.clone(), titles, events)?;
        let parts = prompt.parts;
        let background = Background::default();
        let conversation = Self {
            opening,
            worker,
            store,
            gate,
            workplace,
            checkpoints,
            prompt_parts: parts,
            background,
            stopped: false,
            seen: Vec::new(),
        };
        Ok((conversation, notices))
    }

    /// Lets go of where commands ran.
    pub fn close(workplace: &Workplace) {
        assembly::let_go(workplace);
    }

    /// Where commands run.
    pub fn workplace(&self) -> Workplace {
        self.workplace.clone()
    }

    /// The exchanges a resumed session ended with.
    pub fn recent(&self) -> Vec<hermes_cli::chat::Exchange> {
        self.worker.with(|agent| words::recent(agent.history(), SHOWN)).unwrap_or_default()
    }

    fn id(&self) -> SessionId {
        SessionId::from(self.worker.facts().session_id.as_str())
    }

    /// Puts another session in the place of this one.
    fn switch(&mut self, resume: Option<Resume>, title: Option<String>) -> anyhow::Result<()> {
        let yolo = self.gate.yolo();
        let mut opening = self.opening.clone();
        opening.resume = resume;
        let Opened { agent, store, workplace, gate, checkpoints, prompt, .. } = assembly::open(opening)?;
        gate.set_yolo(yolo);
        self.worker.replace(agent, title);
        let old = std::mem::replace(&mut self.workplace, workplace);
        // What goes with the old session goes in the background; what outlives us stays.
        std::thread::spawn(move || assembly::let_go(&old));
        (self.store, self.gate, self.prompt_parts) = (store, gate, prompt.parts);
        self.checkpoints = checkpoints;
        Ok(())
    }

    fn new_session(&mut self, title: Option<String>) -> CommandOutcome {
        if let Err(error) = self.switch(None, title) {
            return failed(&error);
        }
        let said = format!("A new session, {}.", self.worker.facts().session_id);
        CommandOutcome::Switched { said, recent: Vec::new() }
    }

    fn resume(&mut self, which: Option<String>) -> CommandOutcome {
        let Some(name) = which else { return choose::session(&self.store, &self.opening.source, &self.id()) };
        match self.switch(Some(Resume::Named(name)), None) {
            Ok(()) => {
                let facts = self.status();
                let title = facts.title.map(|title| format!(" \"{title}\"")).unwrap_or_default();
                let said = format!("Session {}{title}, {} messages.", facts.session_id, facts.messages);
                CommandOutcome::Switched { said, recent: self.recent() }
            }
            Err(error) => failed(&error),
        }
    }

    fn undo(&mut self, turns: usize) -> CommandOutcome {
        match self.worker.with(move |agent| agent.undo(turns.max(1))) {
            Some(Ok(Some(question))) => CommandOutcome::TakenBack {
                said: format!(
                    "Taken back: {} and what came of it.",
                    crate::ui::count(turns as u64, "question")
                ),
                text: question.text(),
            },
            Some(Ok(None)) => CommandOutcome::Failed("There is nothing to take back that far.".to_owned()),
            Some(Err(error)) => CommandOutcome::Failed(error.to_string()),
            None => gone(),
        }
    }

    fn retry(&mut self, events: Events) -> CommandOutcome {
        match self.worker.with(|agent| agent.undo(1)) {
            Some(Ok(Some(hermes_model::Message::User(content)))) => {
                CommandOutcome::Started(self.worker.turn(content, events))
            }
            Some(Ok(_)) => CommandOutcome::Failed("There is nothing to send again.".to_owned()),
            Some(Err(error)) => CommandOutcome::Failed(error.to_string()),
            None => gone(),
        }
    }

    fn compress(&mut self, how: Compress, events: Events) -> CommandOutcome {
        use hermes_agent::compaction::Keep;
        let wish = match how {
            Compress::Preview => {
                let preview = self.worker.with(|agent| agent.preview_compaction(&Wish::default()));
                return match preview {
                    Some(Ok(p)) => CommandOutcome::Said(format!(
                        "A summary would stand for {} messages; the first {} and the last {} would stay. \
                         {} tokens would become at most {}.",
                        p.summarised, p.first, p.last, p.tokens, p.tokens_after
                    )),
                    Some(Err(nothing)) => CommandOutcome::Said(nothing.to_string()),
                    None => gone(),
                };
            }
            Compress::Now { focus } => Wish { focus, keep: Keep::Budget },
            Compress::Keeping { exchanges } => Wish { focus: None, keep: Keep::Exchanges(exchanges) },
        };
        CommandOutcome::Started(self.worker.compact(wish, events))
    }

    fn uncompact(&mut self) -> CommandOutcome {
        match self.worker.with(hermes_agent::Agent::uncompact) {
            Some(Ok(true)) => {
                CommandOutcome::Said("The messages the last summary stood for are back.".to_owned())
            }
            Some(Ok(false)) => CommandOutcome::Failed("There is no summary to take back.".to_owned()),
            Some(Err(error)) => CommandOutcome::Failed(error.to_string()),
            None => gone(),
        }
    }

    fn effort(&mut self, level: &str) -> CommandOutcome {
        let Some(effort) = Effort::parse(level) else {
            return CommandOutcome::Failed(format!(
                "'{level}' is no level: use none, minimal, low, medium, high or xhigh."
            ));
        };
        self.worker.with(move |agent| agent.set_effort(Some(effort)));
        CommandOutcome::Said(format!("From the next call on: {} thinking.", effort.word()))
    }

    fn yolo(&mut self) -> CommandOutcome {
        let (now, said) = match self.gate.yolo() {
            Yolo::On => (Yolo::Off, "Commands on this machine are asked about again."),
            Yolo::Off => (
                Yolo::On,
                "Commands run without asking for the rest of this session. What is forbidden stays forbidden.",
            ),
        };
        self.gate.set_yolo(now);
        CommandOutcome::Said(said.to_owned())
    }

    fn title(&mut self, title: Option<String>) -> CommandOutcome {
        let id = self.id();
        let done = match title {
            None => self.store.lock().title(&id).map(|title| match title {
                Some(title) => format!("The title is \"{title}\"."),
                None => "This session has no title yet.".to_owned(),
            }),
            Some(title) => self.store.lock().set_title(&id, &title, Clash::Refuse).map(|title| {
                self.worker.facts().title = Some(title.clone());
                format!("The title is \"{title}\" now.")
            }),
        };
        done.map_or_else(|error| CommandOutcome::Failed(error.to_string()), CommandOutcome::Said)
    }

    fn tools(&self) -> CommandOutcome {
        if self.worker.is_busy() {
            return busy();
        }
        let list = self.worker.with(|agent| {
            let line = |spec: &hermes_model::ToolSpec| {
                let first = spec.description.lines().next().unwrap_or_default().to_owned();
                format!("- `{}` {first}", spec.name)
            };
            agent.tools().specs().iter().map(line).collect::<Vec<_>>().join("\n")
        });
        match list {
            Some(list) if list.is_empty() => {
                CommandOutcome::Said("No tools are on. `hermes tools` shows the sets.".to_owned())
            }
            Some(list) => CommandOutcome::Said(list),
            None => gone(),
        }
    }

    fn context(&self) -> CommandOutcome {
        if self.worker.is_busy() {
            return busy();
        }
        let parts = self.prompt_parts.clone();
        self.worker.with(move |agent| words::context(agent, &parts)).map_or_else(gone, CommandOutcome::Said)
    }

    fn agents(&self) -> String {
        let helpers = self.worker.family().list();
        let now = jiff::Timestamp::now().as_millisecond();
        let processes = background::processes(&self.workplace, &self.id(), now);
        let lines: Vec<String> = self.background.list().into_iter().chain(helpers).chain(processes).collect();
        if lines.is_empty() {
            return "Nothing runs beside this conversation.".to_owned();
        }
        lines.iter().map(|line| format!("- {line}")).collect::<Vec<_>>().join("\n")
    }

    fn stop(&mut self) -> CommandOutcome {
        self.stopped = true;
        let helpers = self.worker.family().cancel();
        match background::end_processes(&self.workplace, &self.id()) {
            Ok(0) if helpers == 0 => CommandOutcome::Said("Nothing runs in the background.".to_owned()),
            Ok(0) => CommandOutcome::Said(format!("Ended {}.", crate::ui::count(helpers as u64, "helper"))),
            Ok(ended) => CommandOutcome::Said(format!(
                "Ended {}.",
                crate::ui::count(ended as u64, "background process")
            )),
            Err(error) => CommandOutcome::Failed(error),
        }
    }

    fn discard(&mut self) -> CommandOutcome {
        let deleted = self.store.lock().delete(&self.id());
        match deleted {
            Ok(_) => CommandOutcome::Said("The session is deleted.".to_owned()),
            // Nothing was said in it, so it was never stored.
            Err(hermes_store::sessions::SessionError::NoSession { .. }) => {
                CommandOutcome::Said(String::new())
            }
            Err(error) => CommandOutcome::Failed(error.to_string()),
        }
    }

    /// The words with what they refer to, and the pictures.
    fn content(&self, input: &UserInput, events: &Events) -> Result<Vec<Content>, String> {
        let redactor = hermes_guard::Redactor::new(self.opening.settings.secret_values());
        let surroundings = Surroundings {
            cwd: &self.opening.cwd,
            window: self.worker.facts().window,
            estimator: hermes_agent::compaction::Estimator::default(),
            redactor: &redactor,
        };
        let expanded = references::expand(&input.text, &surroundings).map_err(|error| error.to_string())?;
        for text in expanded.notices {
            events.send(AgentEvent::Notice { level: Level::Warning, text });
        }
        let mut content = vec![Content::Text(expanded.text)];
        for path in &input.images {
            content.push(super::picture::read(path).map_err(|error| error.to_string())?);
        }
        Ok(content)
    }
}

impl Conversation for AgentConversation {
    fn start_turn(&mut self, input: UserInput, events: Events) -> Control {
        self.stopped = false;
        match self.content(&input, &events) {
            Ok(content) => self.worker.turn(content, events),
            Err(error) => {
                // A turn that cannot begin ends at once, so that nobody waits for it.
                let report = TurnReport::without_answer(self.id().as_str(), Outcome::Failed, Some(error));
                events.send(AgentEvent::TurnEnded { report });
                Control::new()
            }
        }
    }

    fn take_up_news(&mut self, events: Events) -> Option<Control> {
        if self.stopped {
            self.worker.leave_news();
            return None;
        }
        self.worker.take_up_news(events)
    }

    fn status(&self) -> StatusFacts {
        let mut facts = self.worker.facts().clone();
        facts.background_tasks = self.background.running() + self.worker.family().running();
        facts.approvals = match self.gate.yolo() {
            Yolo::On => Approvals::Skipped,
            Yolo::Off => Approvals::Asked,
        };
        facts
    }

    fn command(&mut self, request: Request, events: Events) -> CommandOutcome {
        match request {
            Request::New { title } => self.new_session(title),
            Request::Undo { turns } => self.undo(turns),
            Request::Retry => self.retry(events),
            Request::Branch { title } => self.branch(title.as_deref()),
            Request::Resume { which } => self.resume(which),
            Request::Compress(how) => self.compress(how, events),
            Request::Uncompact => self.uncompact(),
            Request::Stop => self.stop(),
            Request::Background { prompt } => self.background.start(&self.opening, &prompt, events),
            Request::Agents => CommandOutcome::Said(self.agents()),
            Request::Model { wanted } => self.model(wanted),
            Request::Effort { level } => self.effort(&level),
            Request::Yolo => self.yolo(),
            Request::Title { title } => self.title(title),
            Request::Save { path } => self.save(path),
            Request::History => self.history(),
            Request::Status => {
                CommandOutcome::Said(words::status(&self.status(), &self.workplace.describe()))
            }
            Request::Tools => self.tools(),
            Request::Toolsets => choose::toolsets(&self.opening),
            Request::Config => CommandOutcome::Said(keep::config(&self.opening)),
            Request::Usage => CommandOutcome::Said(words::usage(&self.status())),
            Request::Context => self.context(),
            Request::Insights { days } => keep::insights(&self.store, days.unwrap_or(30)),
            Request::Profile => {
                let home = &self.opening.home;
                CommandOutcome::Said(format!(
                    "Profile '{}' in {}.",
                    home.profile().as_str(),
                    home.dir().display()
                ))
            }
            Request::Rollback(what) => self.rollback(&what),
            Request::Discard => self.discard(),
        }
    }

    fn suggest(&self, command: &str) -> Vec<String> {
        match command {
            "model" => choose::model_names(&self.opening),
            "resume" => choose::session_names(&self.store, &self.opening.source),
            _ => Vec::new(),
        }
    }
}

fn failed(error: &anyhow::Error) -> CommandOutcome {
    CommandOutcome::Failed(format!("{error:#}"))
}

fn gone() -> CommandOutcome {
    CommandOutcome::Failed("The agent has ended; leave and start again.".to_owned())
}

fn busy() -> CommandOutcome {
    CommandOutcome::Said(
        "The agent works; this is shown when it is done. `/usage` and `/status` work at any time.".to_owned(),
    )
}
