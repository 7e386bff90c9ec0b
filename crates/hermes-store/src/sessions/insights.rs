//! What was done and what it took, over a stretch of days.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use rusqlite::types::Value;
use rusqlite::{Row, Transaction, params_from_iter};

use super::SessionStore;
use super::error::SessionError;
use super::ids::{seconds, timestamp};
use super::usage::ModelUsage;

/// What was done and what it took.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Insights {
    /// All together.
    pub total: Totals,
    /// Per model and kind of work, the dearest first.
    pub models: Vec<ModelUsage>,
    /// Per door, the busiest first.
    pub sources: Vec<(String, Totals)>,
    /// Per tool, how often it was called, the most used first.
    pub tools: Vec<(String, u64)>,
    /// Per day in the user's time zone, oldest first; days without anything are left out.
    pub days: Vec<DayTotals>,
    /// How many sessions began in each hour of the day.
    pub hours: Vec<u64>,
}

/// Counts.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize)]
pub struct Totals {
    /// Sessions.
    pub sessions: u64,
    /// Messages that count.
    pub messages: u64,
    /// Calls of tools.
    pub tool_calls: u64,
    /// Calls of models.
    pub api_calls: u64,
    /// Tokens sent.
    pub input: u64,
    /// Tokens received.
    pub output: u64,
    /// Tokens read from the provider's cache.
    pub cache_read: u64,
    /// Tokens written to the provider's cache.
    pub cache_write: u64,
    /// Tokens of thought.
    pub reasoning: u64,
    /// What it cost, as well as anybody knows.
    pub cost_usd: f64,
    /// Sessions with calls whose cost nobody knows.
    pub unpriced_sessions: u64,
}

/// One day.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct DayTotals {
    /// The day.
    pub day: String,
    /// Its counts.
    #[serde(flatten)]
    pub totals: Totals,
}

impl Totals {
    fn add(&mut self, other: &Self) {
        self.sessions += other.sessions;
        self.messages += other.messages;
        self.tool_calls += other.tool_calls;
        self.api_calls += other.api_calls;
        self.input += other.input;
        self.output += other.output;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
        self.reasoning += other.reasoning;
        self.cost_usd += other.cost_usd;
        self.unpriced_sessions += other.unpriced_sessions;
    }
}

impl SessionStore {
    /// What was done since a point in time, perhaps through one door only.
    pub fn insights(
        &mut self,
        since: Timestamp,
        source: Option<&str>,
        zone: &TimeZone,
    ) -> Result<Insights, SessionError> {
        Ok(self.db.read(|tx| gather(tx, since, source, zone))?)
    }
}

fn gather(
    tx: &Transaction<'_>,
    since: Timestamp,
    source: Option<&str>,
    zone: &TimeZone,
) -> rusqlite::Result<Insights> {
    let mut values = vec![Value::from(seconds(since))];
    let mut which = "s.started_at >= ?1".to_owned();
    if let Some(source) = source {
        which += " AND s.source = ?2";
        values.push(Value::from(source.to_owned()));
    }
    let mut total = Totals::default();
    let mut sources: BTreeMap<String, Totals> = BTreeMap::new();
    let mut days: BTreeMap<String, Totals> = BTreeMap::new();
    let mut hours = vec![0; 24];
    let mut statement = tx.prepare_cached(&format!("{SESSIONS} WHERE {which}"))?;
    let mut rows = statement.query(params_from_iter(values.iter()))?;
    while let Some(row) = rows.next()? {
        let (source, started, totals) = session(row)?;
        let started = started.to_zoned(zone.clone());
        total.add(&totals);
        sources.entry(source).or_default().add(&totals);
        days.entry(started.date().to_string()).or_default().add(&totals);
        if let Some(hour) = hours.get_mut(usize::from(started.hour().unsigned_abs())) {
            *hour += 1;
        }
    }
    let mut sources: Vec<(String, Totals)> = sources.into_iter().collect();
    sources.sort_by_key(|(_, totals)| std::cmp::Reverse(totals.sessions));
    let days = days.into_iter().map(|(day, totals)| DayTotals { day, totals }).collect();
    let (models, tools) = (models(tx, &which, &values)?, tools(tx, &which, &values)?);
    Ok(Insights { total, models, sources, tools, days, hours })
}

const SESSIONS: &str =
    "SELECT s.source, s.started_at, ifnull(s.message_count, 0), ifnull(s.tool_call_count, 0),
     ifnull(s.api_call_count, 0), ifnull(s.input_tokens, 0), ifnull(s.output_tokens, 0),
     ifnull(s.cache_read_tokens, 0), ifnull(s.cache_write_tokens, 0), ifnull(s.reasoning_tokens, 0),
     coalesce(s.actual_cost_usd, s.estimated_cost_usd, 0), ifnull(s.cost_status, '')
 FROM sessions s";

fn session(row: &Row<'_>) -> rusqlite::Result<(String, Timestamp, Totals)> {
    let count = |index| row.get::<_, i64>(index).map(|n| n.max(0) as u64);
    let (api_calls, cost_usd): (u64, f64) = (count(4)?, row.get(10)?);
    let unpriced = api_calls > 0 && cost_usd == 0.0 && row.get::<_, String>(11)? != "included";
    let totals = Totals {
        sessions: 1,
        messages: count(2)?,
        tool_calls: count(3)?,
        api_calls,
        input: count(5)?,
        output: count(6)?,
        cache_read: count(7)?,
        cache_write: count(8)?,
        reasoning: count(9)?,
        cost_usd,
        unpriced_sessions: u64::from(unpriced),
    };
    Ok((row.get(0)?, timestamp(row.get(1)?), totals))
}

fn models(tx: &Transaction<'_>, which: &str, values: &[Value]) -> rusqlite::Result<Vec<ModelUsage>> {
    let mut statement = tx.prepare_cached(&format!(
        "SELECT u.model, u.billing_provider, u.task, sum(u.api_call_count), sum(u.input_tokens), sum(u.output_tokens),
             sum(u.cache_read_tokens), sum(u.cache_write_tokens), sum(u.reasoning_tokens),
             sum(max(u.estimated_cost_usd, u.actual_cost_usd))
         FROM sessions s JOIN session_model_usage u ON u.session_id = s.id WHERE {which}
         GROUP BY u.model, u.billing_provider, u.task ORDER BY 10 DESC, 5 + 6 DESC, 1, 3"
    ))?;
    let rows = statement.query_map(params_from_iter(values.iter()), ModelUsage::read)?;
    rows.collect()
}

fn tools(tx: &Transaction<'_>, which: &str, values: &[Value]) -> rusqlite::Result<Vec<(String, u64)>> {
    let mut statement = tx.prepare_cached(&format!(
        "SELECT m.tool_name, count(*) FROM sessions s JOIN messages m ON m.session_id = s.id
         WHERE {which} AND m.role = 'tool' AND m.tool_name IS NOT NULL AND (m.active = 1 OR m.compacted = 1)
         GROUP BY m.tool_name ORDER BY 2 DESC, 1"
    ))?;
    let rows = statement.query_map(params_from_iter(values.iter()), |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?.max(0) as u64))
    })?;
    rows.collect()
}
