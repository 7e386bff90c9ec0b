//! A model for one kind of side work that belongs to no conversation: it is asked once, within the budget, and question
//! and answer are kept as a session of their own.

use std::time::Duration;

use hermes_guard::{Policy, Redactor};
use hermes_home::settings::{Def, table::auxiliary};
use hermes_home::{Home, Settings};
use hermes_model::budget::{Purpose, Scope};
use hermes_model::provider::Wanted;
use hermes_model::{Ask, CacheMarks, Caller, Finish, GaveUp, Message, Request, Route};
use hermes_store::sessions::{Kind, NewSession, SessionId, SessionStore};
use jiff::{Timestamp, Zoned};
use tokio_util::sync::CancellationToken;

use super::{OpenError, caller_for, routes, side};
use crate::journal::{Journal, JournalError, Said, SharedStore, StoreJournal, Used};
use crate::report::Spending;

/// A kind of side work that belongs to no conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SideWork {
    /// Cards are written out.
    Specify,
    /// Cards are split.
    Decompose,
    /// Answers are compared with a goal.
    JudgeGoal,
}

impl SideWork {
    /// What it is called in the settings and in the records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Specify => "triage_specifier",
            Self::Decompose => "kanban_decomposer",
            Self::JudgeGoal => "goal_judge",
        }
    }

    fn timeout(self) -> &'static Def<i64> {
        match self {
            Self::Specify => &auxiliary::TRIAGE_SPECIFIER_TIMEOUT,
            Self::Decompose => &auxiliary::KANBAN_DECOMPOSER_TIMEOUT,
            Self::JudgeGoal => &auxiliary::GOAL_JUDGE_TIMEOUT,
        }
    }
}

/// See the module.
pub struct SideModel {
    work: SideWork,
    caller: Caller,
    issuer: String,
    store: SharedStore,
    redactor: Redactor,
    patience: Duration,
    profile: Option<String>,
    spent: Spending,
}

/// A question for side work.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// What the model is told to do.
    pub instructions: String,
    /// What it is asked.
    pub text: String,
    /// Longest answer, in tokens.
    pub max_tokens: u64,
    /// How freely it answers.
    pub temperature: f64,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The model was asked in vain.
    #[error(transparent)]
    Model(#[from] GaveUp),
    /// It took too long.
    #[error(
        "the model did not answer within {seconds} s: 'auxiliary.{work}.timeout' sets how long it may take"
    )]
    Late {
        /// How long it was waited for.
        seconds: u64,
        /// The kind of work.
        work: &'static str,
    },
    /// The answer is not whole.
    #[error("the model's answer was cut off after {0} tokens")]
    CutOff(u64),
    /// It could not be written down.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The system refused something.
    #[error("the system cannot give what is needed: {0}")]
    System(#[from] std::io::Error),
}

impl SideModel {
    /// Makes the model of this work ready: the one its settings name, else the main one. Gives what the user should know
    /// too.
    pub fn open(home: &Home, settings: &Settings, work: SideWork) -> Result<(Self, Vec<String>), OpenError> {
        let mut notices = Vec::new();
        let routes = match side::routes_of(work, home, settings, &mut notices)? {
            Some(own) => own,
            None => routes(home, settings, &Wanted::default())?.0,
        };
        let issuer = routes.first().ok_or(OpenError::NoModel)?.endpoint.issuer().to_owned();
        let store = SharedStore::new(SessionStore::open(&home.path("state.db"))?);
        let caller = caller_for(home, settings, routes, &store)?;
        let seconds = settings.get(work.timeout())?;
        let profile = home.profile().as_str();
        let model = Self {
            work,
            caller,
            issuer,
            store,
            redactor: Redactor::new(settings.secret_values()),
            patience: Duration::from_secs(seconds.unsigned_abs()),
            profile: (profile != "default").then(|| profile.to_owned()),
            spent: Spending::default(),
        };
        Ok((model, notices))
    }

    /// What its answers took so far.
    pub fn spent(&self) -> Spending {
        self.spent
    }

    /// Asks, and gives the words of the answer.
    pub async fn ask(&mut self, question: &Question, cancel: &CancellationToken) -> Result<String, AskError> {
        let session = self.session(&question.instructions)?;
        let id = session.id.to_string();
        let mut journal = StoreJournal::begin(self.store.clone(), session, self.issuer.clone());
        let text = self.redactor.redact(&question.text, Policy::Log).into_owned();
        let asked = Message::user(text);
        journal.append(&Said { message: &asked, finish: None, at: Timestamp::now() })?;
        let mut request = Request::new(String::new());
        request.system.clone_from(&question.instructions);
        request.messages = vec![asked];
        request.max_tokens = Some(question.max_tokens);
        request.temperature = Some(question.temperature);
        request.cache = CacheMarks::Off;
        let scope = Scope {
            turn: format!("{id}/{}", self.work.name()),
            session: id,
            day: Zoned::now().date(),
            purpose: Purpose::Auxiliary(self.work.name().to_owned()),
        };
        let ask = Ask { request: &request, scope: &scope, shortened: 0 };
        let stop = cancel.child_token();
        let mut unheard = |_| {};
        let asking = self.caller.call(ask, &stop, &mut unheard);
        let Ok(answered) = tokio::time::timeout(self.patience, asking).await else {
            return Err(AskError::Late { seconds: self.patience.as_secs(), work: self.work.name() });
        };
        let answered = answered?;
        let answer = &answered.answer;
        self.spent.count(&answer.usage, answered.cost);
        journal.append(&Said {
            message: &answer.message(),
            finish: Some(&answer.finish),
            at: Timestamp::now(),
        })?;
        journal.add_usage(&Used {
            provider: &answered.provider,
            base_url: "",
            model: &answered.model,
            usage: answer.usage,
            cost: answered.cost,
            side_task: None,
        })?;
        match answer.finish {
            Finish::Length | Finish::Interrupted => Err(AskError::CutOff(answer.usage.output)),
            _ => Ok(answer.text()),
        }
    }

    fn session(&self, instructions: &str) -> Result<NewSession, AskError> {
        let mut random = [0; 3];
        rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())
            .map_err(std::io::Error::from)?;
        let now = Zoned::now();
        let mut session = NewSession::new(SessionId::new(&now, random), "kanban", now.timestamp());
        session.kind = Kind::OneShot;
        session.model = self.caller.route().map(|route: &Route| route.model.clone());
        session.system_prompt = Some(instructions.to_owned());
        session.profile.clone_from(&self.profile);
        Ok(session)
    }
}
