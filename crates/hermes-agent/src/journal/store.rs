//! A conversation in the home's `state.db`.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use hermes_model::budget::{Entry as Call, Ledger, LedgerError, Purpose, Span, Spent};
use hermes_model::{Cost, Message, MicroDollars};
use hermes_store::sessions::{
    MessageId, NewSession, SessionError, SessionId, SessionStore, SpendEntry, SpendSpan, UsageDelta, View,
};
use jiff::Timestamp;

use super::draft::Draft;
use super::indexer::Indexer;
use super::rows::{from_row, to_row};
use super::{Journal, JournalError, Said, Used};
use crate::history::{Entry, History, RowId};

/// The home's sessions, shared by all who need them in this process.
#[derive(Debug, Clone)]
pub struct SharedStore(Arc<Shared>);

/// The indexer goes first, so that the store is closed by whoever has it last, and not by the indexer.
#[derive(Debug)]
struct Shared {
    indexer: OnceLock<Indexer>,
    store: Arc<Mutex<SessionStore>>,
}

impl SharedStore {
    /// Counts a call to a model for a session.
    pub(crate) fn add_usage(&self, session: &SessionId, used: &Used<'_>) -> Result<(), JournalError> {
        self.lock().add_usage(session, &delta(used), Timestamp::now()).map_err(written)
    }

    /// Shares a store.
    pub fn new(store: SessionStore) -> Self {
        Self(Arc::new(Shared { indexer: OnceLock::new(), store: Arc::new(Mutex::new(store)) }))
    }

    /// The store, for one use.
    pub fn lock(&self) -> MutexGuard<'_, SessionStore> {
        self.0.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something was said, and is to be indexed when there is time.
    fn wrote(&self) {
        self.0.indexer.get_or_init(|| Indexer::start(Arc::downgrade(&self.0.store))).wrote();
    }
}

/// A conversation in `state.db`. A new one is not there until something is said in it.
#[derive(Debug)]
pub struct StoreJournal {
    store: SharedStore,
    id: SessionId,
    unborn: Option<NewSession>,
    issuer: String,
    draft: Draft,
}

impl StoreJournal {
    /// A conversation that begins.
    pub fn begin(store: SharedStore, session: NewSession, issuer: impl Into<String>) -> Self {
        let id = session.id.clone();
        Self { store, id, unborn: Some(session), issuer: issuer.into(), draft: Draft::default() }
    }

    /// A conversation that goes on, with what was said. An answer that was being written when its process was killed is
    /// part of it as far as it got.
    pub fn resume(
        store: SharedStore,
        id: SessionId,
        issuer: impl Into<String>,
    ) -> Result<(Self, History), JournalError> {
        let mut journal = Self { store, id, unborn: None, issuer: issuer.into(), draft: Draft::default() };
        journal.store.lock().reopen(&journal.id).map_err(written)?;
        journal.store.lock().mark_conversation(&journal.id).map_err(written)?;
        journal.take_over_draft()?;
        let history = journal.load()?;
        Ok((journal, history))
    }

    fn load(&self) -> Result<History, JournalError> {
        let rows = self.store.lock().messages(&self.id, View::Active).map_err(read)?;
        let entries: Vec<Entry> = rows.into_iter().filter_map(|row| from_row(row, &self.issuer)).collect();
        Ok(History { entries })
    }

    fn take_over_draft(&mut self) -> Result<(), JournalError> {
        let (draft, text) = Draft::find(&mut self.store.lock(), &self.id).map_err(read)?;
        self.draft = draft;
        let stored = self.load()?.entries.pop().map(|entry| entry.message);
        let is_there = matches!(&stored, Some(Message::Assistant(_)))
            && stored.is_some_and(|message| message.text().starts_with(&text));
        if !is_there && !text.trim().is_empty() {
            let message = Message::assistant(text);
            let row = to_row(&message, Some(&hermes_model::Finish::Interrupted), Timestamp::now());
            self.store.lock().append(&self.id, &row).map_err(written)?;
        }
        self.draft.clear(&mut self.store.lock(), &self.id).map_err(written)
    }
}

impl Journal for StoreJournal {
    fn session_id(&self) -> &str {
        self.id.as_str()
    }

    fn append(&mut self, said: &Said<'_>) -> Result<RowId, JournalError> {
        let mut store = self.store.lock();
        if let Some(session) = self.unborn.take() {
            store.create(&session).map_err(written)?;
        }
        let row = to_row(said.message, said.finish, said.at);
        let id = store.append(&self.id, &row).map_err(written)?;
        self.draft.clear(&mut store, &self.id).map_err(written)?;
        self.store.wrote();
        Ok(RowId(id.0))
    }

    fn add_usage(&mut self, used: &Used<'_>) -> Result<(), JournalError> {
        self.store.add_usage(&self.id, used)
    }

    fn keep_prompt(&mut self, system: &str) -> Result<(), JournalError> {
        match &mut self.unborn {
            Some(session) => session.system_prompt = Some(system.to_owned()),
            None => self.store.lock().set_system_prompt(&self.id, system).map_err(written)?,
        }
        Ok(())
    }

    fn keep_draft(&mut self, text: Option<&str>) -> Result<(), JournalError> {
        let mut store = self.store.lock();
        let kept = match text {
            Some(text) => self.draft.keep(&mut store, &self.id, text),
            None => self.draft.clear(&mut store, &self.id),
        };
        kept.map_err(written)
    }

    fn rewind(&mut self, to: RowId) -> Result<usize, JournalError> {
        let rewound = self.store.lock().rewind(&self.id, MessageId(to.0)).map_err(written)?;
        Ok(rewound.hidden.len())
    }

    fn unrewind(&mut self) -> Result<Option<History>, JournalError> {
        let brought_back = self.store.lock().restore(&self.id);
        match brought_back {
            Ok(_) => self.load().map(Some),
            Err(SessionError::NothingTakenBack { .. }) => Ok(None),
            Err(error) => Err(written(error)),
        }
    }

    fn compact(&mut self, hidden: &[RowId], inserted: &[Message]) -> Result<History, JournalError> {
        let at = Timestamp::now();
        let hidden: Vec<MessageId> = hidden.iter().map(|row| MessageId(row.0)).collect();
        let inserted: Vec<_> = inserted.iter().map(|message| to_row(message, None, at)).collect();
        self.store.lock().compact(&self.id, &hidden, &inserted, at).map_err(written)?;
        self.store.wrote();
        self.load()
    }

    fn uncompact(&mut self) -> Result<Option<History>, JournalError> {
        let taken_back = self.store.lock().uncompact(&self.id);
        match taken_back {
            Ok(_) => self.load().map(Some),
            Err(SessionError::NothingCompacted { .. }) => Ok(None),
            Err(error) => Err(written(error)),
        }
    }
}

/// A call as the store counts it.
pub(crate) fn delta(used: &Used<'_>) -> UsageDelta {
    let dollars = |amount: MicroDollars| amount.0 as f64 / 1e6;
    let (estimated, actual, status, source) = match used.cost {
        Cost::Charged(amount) => (None, Some(dollars(amount)), "actual", "provider"),
        Cost::Estimated(amount) => (Some(dollars(amount)), None, "estimated", "price_table"),
        Cost::Unknown => (None, None, "unknown", "none"),
    };
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    UsageDelta {
        input: used.usage.input,
        output: used.usage.output,
        cache_read: used.usage.cache_read,
        cache_write: used.usage.cache_write,
        reasoning: used.usage.reasoning,
        api_calls: 1,
        estimated_cost_usd: estimated,
        actual_cost_usd: actual,
        cost_status: some(status),
        cost_source: some(source),
        model: some(used.model),
        billing_provider: some(used.provider),
        billing_base_url: some(used.base_url),
        billing_mode: None,
        task: used.side_task.map(str::to_owned),
    }
}

/// The record of spending, in the same file.
#[derive(Debug, Clone)]
pub struct StoreLedger(SharedStore);

impl StoreLedger {
    /// In this store.
    pub fn new(store: SharedStore) -> Self {
        Self(store)
    }
}

impl Ledger for StoreLedger {
    fn spent(&self, span: &Span) -> Result<Spent, LedgerError> {
        let span = match span {
            Span::Turn(turn) => SpendSpan::Turn(turn.clone()),
            Span::Session(session) => SpendSpan::Session(SessionId::from(session.as_str())),
            Span::Day(day) => SpendSpan::Day(*day),
            Span::Month { year, month } => SpendSpan::Month { year: *year, month: *month },
        };
        let spend = self.0.lock().spent(&span).map_err(|error| ledger_error("read", &error))?;
        Ok(Spent { tokens: spend.tokens, money: MicroDollars(spend.micro_dollars), unpriced: spend.unpriced })
    }

    fn record(&self, entry: &Call) -> Result<(), LedgerError> {
        let usage = entry.usage;
        let spend = SpendEntry {
            session: SessionId::from(entry.scope.session.as_str()),
            turn: entry.scope.turn.clone(),
            day: entry.scope.day,
            auxiliary: match &entry.scope.purpose {
                Purpose::Main => None,
                Purpose::Auxiliary(task) => Some(task.clone()),
            },
            provider: entry.provider.clone(),
            model: entry.model.clone(),
            input: usage.input,
            output: usage.output,
            cache_read: usage.cache_read,
            cache_write: usage.cache_write,
            reasoning: usage.reasoning,
            tokens: usage.total(),
            micro_dollars: entry.cost.amount().map(|amount| amount.0),
            guessed: entry.counted == hermes_model::budget::Counted::Guessed,
            at: Timestamp::now(),
        };
        self.0.lock().record_spend(&spend).map_err(|error| ledger_error("written", &error))
    }
}

fn ledger_error(doing: &'static str, error: &SessionError) -> LedgerError {
    LedgerError { doing, reason: error.to_string() }
}

#[allow(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn written(error: SessionError) -> JournalError {
    JournalError { doing: "written", reason: error.to_string() }
}

#[allow(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn read(error: SessionError) -> JournalError {
    JournalError { doing: "read", reason: error.to_string() }
}
