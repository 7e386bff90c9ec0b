//! What every call of a model took, for budgets: by turn, session, day and month.

use jiff::Timestamp;
use jiff::civil::Date;
use rusqlite::Transaction;

use super::SessionStore;
use super::error::SessionError;
use super::ids::{SessionId, seconds};
use super::own::SPEND;

/// One call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpendEntry {
    /// The session it belongs to.
    pub session: SessionId,
    /// The turn it belongs to, unlike that of any other session.
    pub turn: String,
    /// The day, in the user's time zone.
    pub day: Date,
    /// What side work it was for; nothing for the conversation itself.
    pub auxiliary: Option<String>,
    /// Who answered.
    pub provider: String,
    /// Which model.
    pub model: String,
    /// Tokens sent, without those from the cache.
    pub input: u64,
    /// Tokens received.
    pub output: u64,
    /// Tokens read from the provider's cache.
    pub cache_read: u64,
    /// Tokens written to the provider's cache.
    pub cache_write: u64,
    /// Tokens of thought.
    pub reasoning: u64,
    /// What counts as its size, prompt and output together.
    pub tokens: u64,
    /// What it cost, in millionths of a dollar; nothing if nobody knows.
    pub micro_dollars: Option<u64>,
    /// Whether the counts are a guess of ours.
    pub guessed: bool,
    /// When.
    pub at: Timestamp,
}

/// A stretch of time or work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SpendSpan {
    /// A turn.
    Turn(String),
    /// A session.
    Session(SessionId),
    /// A day.
    Day(Date),
    /// A month.
    Month {
        /// The year.
        year: i16,
        /// The month, from 1.
        month: i8,
    },
}

/// What was spent in a stretch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spend {
    /// Tokens, prompt and output.
    pub tokens: u64,
    /// Money, in millionths of a dollar.
    pub micro_dollars: u64,
    /// Tokens whose price nobody knew.
    pub unpriced: u64,
}

impl SessionStore {
    /// Records one call.
    pub fn record_spend(&mut self, entry: &SpendEntry) -> Result<(), SessionError> {
        Ok(self.db.write(|tx| {
            SPEND.ensure(tx)?;
            insert(tx, entry)
        })?)
    }

    /// What was spent in a stretch so far.
    pub fn spent(&mut self, span: &SpendSpan) -> Result<Spend, SessionError> {
        Ok(self.db.read(|tx| if SPEND.exists(tx)? { sum(tx, span) } else { Ok(Spend::default()) })?)
    }
}

fn insert(tx: &Transaction<'_>, entry: &SpendEntry) -> rusqlite::Result<()> {
    let mut statement = tx.prepare_cached(
        "INSERT INTO hermes_rs_spend (session_id, turn, day, purpose, provider, model, input, output, cache_read,
             cache_write, reasoning, tokens, micro_dollars, guessed, at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
    )?;
    let day = entry.day.to_string();
    statement.execute(rusqlite::params![
        entry.session.as_str(),
        entry.turn,
        day,
        entry.auxiliary.as_deref().unwrap_or_default(),
        entry.provider,
        entry.model,
        entry.input as i64,
        entry.output as i64,
        entry.cache_read as i64,
        entry.cache_write as i64,
        entry.reasoning as i64,
        entry.tokens as i64,
        entry.micro_dollars.map(|money| money as i64),
        i64::from(entry.guessed),
        seconds(entry.at),
    ])?;
    Ok(())
}

fn sum(tx: &Transaction<'_>, span: &SpendSpan) -> rusqlite::Result<Spend> {
    // Days are kept as text, so that the days of a month are those that sort between its bounds.
    let (column, from, to) = match span {
        SpendSpan::Turn(turn) => ("turn", turn.clone(), turn.clone()),
        SpendSpan::Session(id) => ("session_id", id.as_str().to_owned(), id.as_str().to_owned()),
        SpendSpan::Day(day) => ("day", day.to_string(), day.to_string()),
        SpendSpan::Month { year, month } => {
            ("day", format!("{year:04}-{month:02}-00"), format!("{year:04}-{month:02}-99"))
        }
    };
    let mut statement = tx.prepare_cached(&format!(
        "SELECT ifnull(sum(tokens), 0), ifnull(sum(micro_dollars), 0),
                ifnull(sum(iif(micro_dollars IS NULL, tokens, 0)), 0)
         FROM hermes_rs_spend WHERE {column} BETWEEN ?1 AND ?2"
    ))?;
    statement.query_row([from, to], |row| {
        let count = |index| row.get::<_, i64>(index).map(|count| count.max(0) as u64);
        Ok(Spend { tokens: count(0)?, micro_dollars: count(1)?, unpriced: count(2)? })
    })
}
