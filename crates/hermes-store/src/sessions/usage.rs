//! What calls of models took, per session and per model.

use jiff::Timestamp;
use rusqlite::{OptionalExtension, Row, Transaction, named_params};

use super::SessionStore;
use super::error::SessionError;
use super::ids::{SessionId, seconds};
use super::messages::failed;

/// What one or more calls took.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UsageDelta {
    /// Tokens sent, without those from the cache.
    pub input: u64,
    /// Tokens received.
    pub output: u64,
    /// Tokens read from the provider's cache.
    pub cache_read: u64,
    /// Tokens written to the provider's cache.
    pub cache_write: u64,
    /// Tokens of thought, which are part of the output.
    pub reasoning: u64,
    /// How many calls.
    pub api_calls: u64,
    /// What we think it costs.
    pub estimated_cost_usd: Option<f64>,
    /// What the provider says it costs.
    pub actual_cost_usd: Option<f64>,
    /// How sure the cost is: `estimated`, `actual`, `unknown` …
    pub cost_status: Option<String>,
    /// Where the price comes from.
    pub cost_source: Option<String>,
    /// Which model answered.
    pub model: Option<String>,
    /// Whose bill it is on.
    pub billing_provider: Option<String>,
    /// The endpoint.
    pub billing_base_url: Option<String>,
    /// How it is billed.
    pub billing_mode: Option<String>,
    /// What side work it was for: `compression`, `title_generation` … Side work does not count in the session's own totals.
    pub task: Option<String>,
}

/// The totals of one model in one session.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ModelUsage {
    /// The model.
    pub model: String,
    /// Whose bill it is on.
    pub provider: String,
    /// What side work it was for; empty for the conversation itself.
    pub task: String,
    /// How many calls.
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
    /// What it is thought to cost, or did cost where the provider said.
    pub cost_usd: f64,
}

impl ModelUsage {
    /// A row of model, provider, task, calls, the five counts of tokens and the cost, in this order.
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let count = |index| row.get::<_, i64>(index).map(|count| count.max(0) as u64);
        Ok(Self {
            model: row.get(0)?,
            provider: row.get(1)?,
            task: row.get(2)?,
            api_calls: count(3)?,
            input: count(4)?,
            output: count(5)?,
            cache_read: count(6)?,
            cache_write: count(7)?,
            reasoning: count(8)?,
            cost_usd: row.get(9)?,
        })
    }
}

impl SessionStore {
    /// Adds to what a session took.
    pub fn add_usage(
        &mut self,
        id: &SessionId,
        delta: &UsageDelta,
        at: Timestamp,
    ) -> Result<(), SessionError> {
        self.db.transact(|tx| {
            let failed = |source| failed(tx, source);
            let route = route(tx, id).map_err(failed)?.ok_or_else(|| SessionError::no_session(id))?;
            if delta.task.is_none() {
                take_first_route(tx, id, delta, &route).map_err(failed)?;
                add_to_session(tx, id, delta).map_err(failed)?;
            }
            Ok(add_to_model(tx, id, delta, &route, at).map_err(failed)?)
        })
    }

    /// What each model of a session took.
    pub fn usage(&mut self, id: &SessionId) -> Result<Vec<ModelUsage>, SessionError> {
        Ok(self.db.read(|tx| {
            let mut statement = tx.prepare_cached(
                "SELECT model, billing_provider, task, api_call_count, input_tokens, output_tokens, cache_read_tokens,
                     cache_write_tokens, reasoning_tokens, max(estimated_cost_usd, actual_cost_usd)
                 FROM session_model_usage WHERE session_id = ?1 ORDER BY first_seen, model, task",
            )?;
            let rows = statement.query_map([id.as_str()], ModelUsage::read)?;
            rows.collect::<Result<_, _>>()
        })?)
    }
}

/// How a session's calls went so far.
struct Route {
    model: Option<String>,
    provider: Option<String>,
    base_url: Option<String>,
    mode: Option<String>,
    calls: i64,
}

fn route(tx: &Transaction<'_>, id: &SessionId) -> rusqlite::Result<Option<Route>> {
    let sql = "SELECT model, billing_provider, billing_base_url, billing_mode, ifnull(api_call_count, 0)
               FROM sessions WHERE id = ?1";
    let read = |row: &rusqlite::Row<'_>| {
        Ok(Route {
            model: row.get(0)?,
            provider: row.get(1)?,
            base_url: row.get(2)?,
            mode: row.get(3)?,
            calls: row.get(4)?,
        })
    };
    tx.prepare_cached(sql)?.query_row([id.as_str()], read).optional()
}

/// A session is created with the model that was asked for. If another one answered first, that is the session's.
fn take_first_route(
    tx: &Transaction<'_>,
    id: &SessionId,
    delta: &UsageDelta,
    route: &Route,
) -> rusqlite::Result<()> {
    let differs = delta.model != route.model || delta.billing_provider != route.provider;
    if route.calls > 0 || delta.model.is_none() || delta.billing_provider.is_none() || !differs {
        return Ok(());
    }
    let sql =
        "UPDATE sessions SET model = ?2, billing_provider = ?3, billing_base_url = ?4, billing_mode = ?5
               WHERE id = ?1";
    let values =
        (id.as_str(), &delta.model, &delta.billing_provider, &delta.billing_base_url, &delta.billing_mode);
    tx.prepare_cached(sql)?.execute(values)?;
    Ok(())
}

fn add_to_session(tx: &Transaction<'_>, id: &SessionId, delta: &UsageDelta) -> rusqlite::Result<()> {
    let mut statement = tx.prepare_cached(
        "UPDATE sessions SET
             input_tokens = ifnull(input_tokens, 0) + :input, output_tokens = ifnull(output_tokens, 0) + :output,
             cache_read_tokens = ifnull(cache_read_tokens, 0) + :read,
             cache_write_tokens = ifnull(cache_write_tokens, 0) + :write,
             reasoning_tokens = ifnull(reasoning_tokens, 0) + :reasoning,
             api_call_count = ifnull(api_call_count, 0) + :calls,
             estimated_cost_usd = ifnull(estimated_cost_usd, 0) + ifnull(:estimated, 0),
             actual_cost_usd = iif(:actual IS NULL, actual_cost_usd, ifnull(actual_cost_usd, 0) + :actual),
             cost_status = ifnull(:status, cost_status), cost_source = ifnull(:source, cost_source),
             model = ifnull(model, :model), billing_provider = ifnull(billing_provider, :provider),
             billing_base_url = ifnull(billing_base_url, :url), billing_mode = ifnull(billing_mode, :mode)
         WHERE id = :id",
    )?;
    statement.execute(named_params! {
        ":id": id.as_str(), ":input": delta.input as i64, ":output": delta.output as i64,
        ":read": delta.cache_read as i64, ":write": delta.cache_write as i64,
        ":reasoning": delta.reasoning as i64, ":calls": delta.api_calls as i64,
        ":estimated": delta.estimated_cost_usd, ":actual": delta.actual_cost_usd,
        ":status": delta.cost_status, ":source": delta.cost_source, ":model": delta.model,
        ":provider": delta.billing_provider, ":url": delta.billing_base_url, ":mode": delta.billing_mode,
    })?;
    Ok(())
}

fn add_to_model(
    tx: &Transaction<'_>,
    id: &SessionId,
    delta: &UsageDelta,
    route: &Route,
    at: Timestamp,
) -> rusqlite::Result<()> {
    // Side work may run on another model than the conversation, so it does not inherit the conversation's.
    let side = delta.task.is_some();
    let known = |given: &Option<String>, session: &Option<String>| {
        given.clone().or_else(|| if side { None } else { session.clone() })
    };
    let mut statement = tx.prepare_cached(
        "INSERT INTO session_model_usage AS u (session_id, model, billing_provider, billing_base_url, billing_mode,
             task, api_call_count, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,
             reasoning_tokens, estimated_cost_usd, actual_cost_usd, cost_status, cost_source, first_seen, last_seen)
         VALUES (:id, :model, :provider, :url, :mode, :task, :calls, :input, :output, :read, :write, :reasoning,
             :estimated, :actual, :status, :source, :at, :at)
         ON CONFLICT DO UPDATE SET
             api_call_count = u.api_call_count + excluded.api_call_count,
             input_tokens = u.input_tokens + excluded.input_tokens,
             output_tokens = u.output_tokens + excluded.output_tokens,
             cache_read_tokens = u.cache_read_tokens + excluded.cache_read_tokens,
             cache_write_tokens = u.cache_write_tokens + excluded.cache_write_tokens,
             reasoning_tokens = u.reasoning_tokens + excluded.reasoning_tokens,
             estimated_cost_usd = u.estimated_cost_usd + excluded.estimated_cost_usd,
             actual_cost_usd = u.actual_cost_usd + excluded.actual_cost_usd,
             cost_status = ifnull(excluded.cost_status, u.cost_status),
             cost_source = ifnull(excluded.cost_source, u.cost_source), last_seen = excluded.last_seen",
    )?;
    statement.execute(named_params! {
        ":id": id.as_str(),
        ":model": known(&delta.model, &route.model).unwrap_or_else(|| "unknown".to_owned()),
        ":provider": known(&delta.billing_provider, &route.provider).unwrap_or_default(),
        ":url": known(&delta.billing_base_url, &route.base_url).unwrap_or_default(),
        ":mode": known(&delta.billing_mode, &route.mode).unwrap_or_default(),
        ":task": delta.task.as_deref().unwrap_or_default(),
        ":calls": delta.api_calls as i64, ":input": delta.input as i64, ":output": delta.output as i64,
        ":read": delta.cache_read as i64, ":write": delta.cache_write as i64,
        ":reasoning": delta.reasoning as i64,
        ":estimated": delta.estimated_cost_usd.unwrap_or(0.0), ":actual": delta.actual_cost_usd.unwrap_or(0.0),
        ":status": delta.cost_status, ":source": delta.cost_source, ":at": seconds(at),
    })?;
    Ok(())
}
