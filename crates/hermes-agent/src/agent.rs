//! The agent: one conversation, the models it asks and the tools it has.

use std::sync::Arc;

use hermes_guard::Redactor;
use hermes_model::budget::{Purpose, Scope};
use hermes_model::{CacheMarks, Caller, Effort, Message, Usage};
use hermes_tools::limits::Shelf;
use hermes_tools::{Gate, Notification, Notifications, Toolbox};
use jiff::Zoned;

use crate::compaction::{CompactionConfig, Estimator, Health};
use crate::context_files::Hints;
use crate::delegation::Family;
use crate::history::{History, RowId};
use crate::journal::{Journal, JournalError};
use crate::turn::guardrails;

/// What a turn may do.
#[derive(Debug, Clone)]
pub struct Rules {
    /// Most calls to the model in one turn.
    pub most_calls: u32,
    /// The setting that says so.
    pub calls_setting: &'static str,
    /// Most tokens of one turn, besides what the budgets say.
    pub most_tokens: Option<u64>,
    /// How much the model should think.
    pub effort: Option<Effort>,
    /// Most tokens of one answer.
    pub max_tokens: Option<u64>,
    /// How long prompts are cached.
    pub cache: CacheMarks,
    /// What is done about a model that runs in circles.
    pub guardrails: guardrails::Rules,
    /// When the conversation is made shorter.
    pub compaction: CompactionConfig,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            most_calls: 90,
            calls_setting: "agent.max_turns",
            most_tokens: None,
            effort: None,
            max_tokens: None,
            cache: CacheMarks::FiveMinutes,
            guardrails: guardrails::Rules::default(),
            compaction: CompactionConfig::default(),
        }
    }
}

/// What time it is, in the user's zone.
pub type Clock = Arc<dyn Fn() -> Zoned + Send + Sync>;

/// Models for side work; the main one does what has none.
#[derive(Debug, Default)]
pub struct SideCallers {
    /// For summaries.
    pub summaries: Option<Caller>,
    /// For titles.
    pub titles: Option<Caller>,
}

/// The parts an agent is made of.
pub struct Parts {
    /// Asks models.
    pub caller: Caller,
    /// Ask other models for side work, where there are some.
    pub side: SideCallers,
    /// Masks secrets in what leaves the conversation.
    pub redactor: Arc<Redactor>,
    /// What it can do.
    pub tools: Toolbox,
    /// Where results go that are too long; without one they stay as they are.
    pub shelf: Option<Arc<dyn Shelf>>,
    /// What background commands have to say.
    pub news: Notifications,
    /// What directories of the project say to agents.
    pub hints: Option<Hints>,
    /// Asked before it acts.
    pub gate: Arc<dyn Gate>,
    /// Where the conversation is kept.
    pub journal: Box<dyn Journal>,
    /// The conversation so far.
    pub history: History,
    /// The system prompt; the same bytes for the whole conversation.
    pub system: String,
    /// What a turn may do.
    pub rules: Rules,
    /// What time it is.
    pub clock: Clock,
    /// What it shares with its helpers.
    pub family: Family,
}

/// One conversation, with all it takes to go on.
pub struct Agent {
    pub(crate) caller: Caller,
    pub(crate) side: SideCallers,
    pub(crate) redactor: Arc<Redactor>,
    pub(crate) tools: Toolbox,
    pub(crate) shelf: Option<Arc<dyn Shelf>>,
    pub(crate) news: Notifications,
    pub(crate) hints: Option<Hints>,
    pub(crate) gate: Arc<dyn Gate>,
    pub(crate) journal: Box<dyn Journal>,
    pub(crate) history: History,
    pub(crate) system: String,
    pub(crate) rules: Rules,
    pub(crate) clock: Clock,
    pub(crate) family: Family,
    /// Usage of the newest call of the conversation: what fills the window.
    pub(crate) newest: Option<Usage>,
    /// Turns so far in this process, to tell them apart in the record of spending.
    pub(crate) turns: u64,
    /// Counts tokens as this model's provider does.
    pub(crate) estimator: Estimator,
    /// How making it shorter has gone.
    pub(crate) health: Health,
    /// How often it was made shorter in this process.
    pub(crate) compactions: u32,
    /// News the user has seen and the model has not.
    pub(crate) kept_news: Vec<String>,
    /// Whether something is over among them.
    pub(crate) kept_ends: bool,
}

impl Agent {
    /// Puts the parts together.
    pub fn new(parts: Parts) -> Self {
        let Parts {
            caller,
            side,
            redactor,
            tools,
            shelf,
            news,
            hints,
            gate,
            journal,
            history,
            system,
            rules,
            clock,
            family,
        } = parts;
        Self {
            caller,
            side,
            redactor,
            tools,
            shelf,
            news,
            hints,
            gate,
            journal,
            history,
            system,
            rules,
            clock,
            family,
            newest: None,
            turns: 0,
            estimator: Estimator::default(),
            health: Health::default(),
            compactions: 0,
            kept_news: Vec::new(),
            kept_ends: false,
        }
    }

    /// The conversation's name.
    pub fn session_id(&self) -> &str {
        self.journal.session_id()
    }

    /// The conversation as the model gets it.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The system prompt.
    pub fn system(&self) -> &str {
        &self.system
    }

    /// The tools it has.
    pub fn tools(&self) -> &Toolbox {
        &self.tools
    }

    /// Asks models.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// What fills the window, by the newest count of the provider.
    pub fn newest_usage(&self) -> Option<Usage> {
        self.newest
    }

    /// How often the conversation was made shorter in this process.
    pub fn compactions(&self) -> u32 {
        self.compactions
    }

    /// Asks other models from now on. The conversation stays.
    pub fn use_caller(&mut self, caller: Caller) {
        self.caller = caller;
        self.newest = None;
        self.estimator = Estimator::default();
    }

    /// Changes how much models should think.
    pub fn set_effort(&mut self, effort: Option<Effort>) {
        self.rules.effort = effort;
    }

    /// What background commands of this conversation have to say, taken out, in words for the model.
    pub fn take_news(&mut self) -> Option<String> {
        let session = self.journal.session_id().to_owned();
        let mut news = std::mem::take(&mut self.kept_news);
        let fresh = self.news.drain(&session);
        news.extend(fresh.iter().map(Notification::text));
        self.kept_ends = false;
        (!news.is_empty()).then(|| news.join("\n\n"))
    }

    /// What background commands have to say, for the user; the model gets it with the next message.
    pub fn look_at_news(&mut self) -> Option<String> {
        let session = self.journal.session_id().to_owned();
        let fresh = self.news.drain(&session);
        self.kept_ends |= fresh.iter().any(|note| note.news.is_the_end());
        self.kept_news.extend(fresh.iter().map(Notification::text));
        let shown: Vec<String> = fresh.iter().map(Notification::shown).collect();
        (!shown.is_empty()).then(|| shown.join("\n\n"))
    }

    /// Where background commands say what they have to say.
    pub fn news(&self) -> &Notifications {
        &self.news
    }

    /// What it shares with its helpers.
    pub fn family(&self) -> &Family {
        &self.family
    }

    /// Ends helpers that still work in the background, and waits until what they did is on record.
    pub fn close(&self) -> impl Future<Output = ()> + Send + 'static {
        let family = self.family.clone();
        async move { family.close().await }
    }

    /// Whether something is over that is worth a turn of its own.
    pub fn has_ends(&self) -> bool {
        self.kept_ends
    }

    /// What a call of this turn belongs to. Helpers spend what their agent has.
    pub(crate) fn scope(&self, turn: &str, purpose: Purpose) -> Scope {
        let account = self.family.account(self.session_id(), turn);
        Scope { turn: account.turn, session: account.session, day: (self.clock)().date(), purpose }
    }

    /// Counts tokens as this model's provider does, by what it has counted so far.
    pub fn estimator(&self) -> Estimator {
        self.estimator
    }

    /// Masks secrets in what leaves the conversation.
    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// How much the model should think.
    pub fn effort(&self) -> Option<Effort> {
        self.rules.effort
    }

    /// Takes the last `turns` questions and all that came of them out of the conversation, and gives the oldest of them
    /// back. Nothing is destroyed.
    pub fn undo(&mut self, turns: usize) -> Result<Option<Message>, JournalError> {
        let Some(place) = self.history.user_from_end(turns) else { return Ok(None) };
        let entry = &self.history.entries[place];
        self.journal.rewind(entry.row)?;
        let question = entry.message.clone();
        self.history.entries.truncate(place);
        self.newest = None;
        Ok(Some(question))
    }

    /// The question the conversation ends with.
    pub fn last_question(&self) -> Option<RowId> {
        self.question_from_end(1)
    }

    fn question_from_end(&self, n: usize) -> Option<RowId> {
        self.history.user_from_end(n).map(|place| self.history.entries[place].row)
    }

    /// Lets the conversation end with this question again, where one step does it: taking the last exchange back, or
    /// bringing back what was taken last. Otherwise nothing changes.
    pub fn end_with(&mut self, question: Option<RowId>) -> Result<Step, JournalError> {
        if self.last_question() == question {
            return Ok(Step::None);
        }
        if self.last_question().is_some() && self.question_from_end(2) == question {
            self.undo(1)?;
            return Ok(Step::TookBack);
        }
        let Some(history) = self.journal.unrewind()? else { return Ok(Step::None) };
        self.newest = None;
        self.history = history;
        if self.last_question() == question {
            return Ok(Step::BroughtBack);
        }
        self.undo(1)?;
        Ok(Step::None)
    }

    /// Puts back what the last summary stands for. False when there is none.
    pub fn uncompact(&mut self) -> Result<bool, JournalError> {
        let Some(history) = self.journal.uncompact()? else { return Ok(false) };
        self.history = history;
        self.newest = None;
        Ok(true)
    }
}

/// What [`Agent::end_with`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Nothing.
    None,
    /// The last exchange was taken out of the conversation.
    TookBack,
    /// What was taken out last is part of it again.
    BroughtBack,
}

impl std::fmt::Debug for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Agent")
            .field("session", &self.session_id())
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}
