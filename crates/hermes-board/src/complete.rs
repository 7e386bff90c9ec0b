//! Finishing a card: at once, after its commands have succeeded, or after somebody looked at the work.

use hermes_store::rusqlite::{self, Transaction, params};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::act::{By, Report, first_line, own, stepped};
use crate::artifacts::Artifacts;
use crate::attempt::{self, End};
use crate::board::{Board, Trouble};
use crate::card::{Card, CardId, Outcome, RunId, Seconds};
use crate::claim::Lane;
use crate::dispatch::ended::{After, forget_failures};
use crate::error::BoardError;
use crate::event::record;
use crate::review::{self, Check};
use crate::transition::Step;
use crate::{mentions, waiting};

/// What came of saying that a card is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// The attempt, if there was one or something to say about it.
    pub run: Option<RunId>,
    /// Where the card stands.
    pub then: Completed,
}

/// Where a card stands once somebody said that it is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Completed {
    /// It is done.
    Done,
    /// A command must succeed first; it is run when the worker has ended.
    Checking(Check),
    /// Somebody looks at it first.
    Review,
}

/// What is kept of finished work until it counts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Work {
    pub summary: Option<String>,
    pub result: Option<String>,
    pub metadata: Option<Value>,
    pub created_cards: Vec<String>,
    pub artifacts: Vec<String>,
}

impl Work {
    /// In a few sentences.
    fn said(&self) -> Option<&str> {
        self.summary.as_deref().or(self.result.as_deref())
    }
}

impl Board {
    /// Says that a card is done; see [`Board::finish`]. The attempt, if there was one or something to say about it.
    pub fn complete(
        &mut self,
        id: &CardId,
        report: &Report,
        by: By,
        now: Seconds,
    ) -> Result<Option<RunId>, BoardError> {
        Ok(self.finish(id, report, by, now)?.run)
    }

    /// Says that a card is done. A person's word is the last. A worker's is not where a command must succeed first, or
    /// where somebody else is to look at the work.
    pub fn finish(
        &mut self,
        id: &CardId,
        report: &Report,
        by: By,
        now: Seconds,
    ) -> Result<Completion, BoardError> {
        let phantoms = self.phantoms(id, report, by, now)?;
        if !phantoms.is_empty() {
            return Err(BoardError::Phantom(phantoms));
        }
        let artifacts = self.artifacts(id, report, by)?;
        let work = Work {
            summary: report.summary.clone(),
            result: report.result.clone(),
            metadata: report.metadata.clone(),
            created_cards: report.created_cards.iter().map(ToString::to_string).collect(),
            artifacts: artifacts.listed.clone(),
        };
        let done = self.write(|tx| {
            let (card, _) = stepped(tx, id, by, Step::Complete)?;
            artifacts.record(tx, &card, now)?;
            let completion = accept(tx, &card, by, &work, now)?;
            suspect(tx, id, completion.run, report, now)?;
            Ok(completion)
        });
        done.inspect_err(|_| artifacts.forget())
    }

    /// The files finished work left. Only of work that may be finished: nothing is copied for an attempt that is over.
    fn artifacts(&mut self, id: &CardId, report: &Report, by: By) -> Result<Artifacts, BoardError> {
        let card = self.card(id)?;
        own(&card, by)?;
        let texts: Vec<&str> =
            [&report.summary, &report.result].into_iter().flatten().map(String::as_str).collect();
        Artifacts::keep(self, &card, &report.artifacts, &texts)
    }

    /// Cards that were said to be made and are not there, or not by this one. That it happened is written down.
    fn phantoms(
        &mut self,
        id: &CardId,
        report: &Report,
        by: By,
        now: Seconds,
    ) -> Result<Vec<CardId>, BoardError> {
        if report.created_cards.is_empty() {
            return Ok(Vec::new());
        }
        self.write(|tx| {
            let (card, _) = stepped(tx, id, by, Step::Complete)?;
            let (mut real, mut phantoms) = (Vec::new(), Vec::new());
            for made in &report.created_cards {
                let kept = if is_own(tx, &card, made)? { &mut real } else { &mut phantoms };
                kept.push(made.clone());
            }
            if !phantoms.is_empty() {
                let preview: Option<String> =
                    report.summary.as_deref().map(|text| text.chars().take(200).collect());
                let payload = json!({
                    "phantom_cards": phantoms, "verified_cards": real, "summary_preview": preview,
                });
                record(tx, id, card.current_run, "completion_blocked_hallucination", &payload, now)?;
            }
            Ok(phantoms)
        })
    }
}

/// Takes finished work: as it is from a person or from one who looked at it, otherwise as the card demands.
fn accept(
    tx: &Transaction<'_>,
    card: &Card,
    by: By,
    work: &Work,
    now: Seconds,
) -> Result<Completion, Trouble> {
    let By::Attempt(run) = by else {
        return Ok(Completion { run: finish(tx, card, work, now)?, then: Completed::Done });
    };
    if review::lane(tx, &card.id, Some(run))? == Lane::Work
        && let Some(check) = review::next_check(tx, card, &[])?
    {
        review::ask(tx, card, run, work, &check, now)?;
        return Ok(Completion { run: Some(run), then: Completed::Checking(check) });
    }
    let then = match review::settle(tx, card, run, work, now)? {
        After::Review => Completed::Review,
        _ => Completed::Done,
    };
    Ok(Completion { run: Some(run), then })
}

/// Ends the attempt of finished work.
pub(crate) fn close(
    tx: &Transaction<'_>,
    card: &Card,
    work: &Work,
    now: Seconds,
) -> rusqlite::Result<Option<RunId>> {
    let end = End { summary: work.said(), metadata: work.metadata.as_ref(), error: None };
    attempt::finish(tx, card, Outcome::Completed, &end, now)
}

/// The card is done, and what waited for it goes on.
pub(crate) fn finish(
    tx: &Transaction<'_>,
    card: &Card,
    work: &Work,
    now: Seconds,
) -> Result<Option<RunId>, Trouble> {
    let id = &card.id;
    // What one says who looked at the work is no result of it.
    let looked = review::lane(tx, id, card.current_run)? == Lane::Review && card.result.is_some();
    let result = work.result.as_deref().filter(|_| !looked);
    let run = close(tx, card, work, now)?;
    tx.execute(
        "UPDATE tasks SET status = 'done', result = coalesce(?2, result), completed_at = ?3, claim_lock = NULL, \
         claim_expires = NULL, worker_pid = NULL, current_run_id = NULL, block_recurrences = 0 WHERE id = ?1",
        params![id, result, now],
    )?;
    forget_failures(tx, id)?;
    tx.execute(
        "UPDATE hx_cards SET review_by = NULL, review_run = NULL, review_rounds = 0 WHERE task_id = ?1",
        [id],
    )?;
    let mut payload = json!({
        "result_len": work.result.as_deref().map_or(0, |text| text.chars().count()),
        "summary": work.said().and_then(first_line),
    });
    if !work.created_cards.is_empty() {
        payload["verified_cards"] = json!(work.created_cards);
    }
    if !work.artifacts.is_empty() {
        payload["artifacts"] = json!(work.artifacts);
    }
    record(tx, id, run, "completed", &payload, now)?;
    waiting::let_go_below(tx, id, now)?;
    Ok(run)
}

/// Writes down cards that a report speaks of and that are not there. It may be a slip: nothing is refused for it.
fn suspect(
    tx: &Transaction<'_>,
    id: &CardId,
    run: Option<RunId>,
    report: &Report,
    now: Seconds,
) -> rusqlite::Result<()> {
    let text =
        [report.summary.as_deref(), report.result.as_deref()].map(Option::unwrap_or_default).join("\n");
    let missing = crate::create::missing(tx, &mentions::cards(&text))?;
    if !missing.is_empty() {
        let payload = json!({ "phantom_refs": missing, "source": "completion_summary" });
        record(tx, id, run, "suspected_hallucinated_references", &payload, now)?;
    }
    Ok(())
}

/// Whether a card was made by the one that finishes, or hangs below it.
fn is_own(tx: &Transaction<'_>, card: &Card, made: &CardId) -> rusqlite::Result<bool> {
    tx.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM tasks WHERE id = ?1 AND (created_by = ?2 OR created_by = ?3 OR EXISTS \
         (SELECT 1 FROM task_links WHERE parent_id = ?3 AND child_id = ?1)))",
    )?
    .query_row(params![made, card.assignee, card.id], |row| row.get(0))
}
