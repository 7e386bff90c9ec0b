//! What people and workers do with cards.

use hermes_store::rusqlite::{self, Connection, Transaction, params};
use serde_json::{Value, json};

use crate::attempt::{self, End};
use crate::board::{Board, Trouble};
use crate::card::{BlockKind, Card, CardId, Outcome, RunId, Seconds, Status, assignee};
use crate::claim::Lane;
use crate::dispatch::ended::forget_failures;
use crate::error::BoardError;
use crate::event::record;
use crate::transition::{Facts, Force, Held, Move, Step, decide};
use crate::{review, rows, waiting};

/// What a worker says of finished work.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// In a few sentences.
    pub summary: Option<String>,
    /// The result itself.
    pub result: Option<String>,
    /// What else should be kept.
    pub metadata: Option<Value>,
    /// Cards that were made on the way.
    pub created_cards: Vec<CardId>,
    /// Files that are the result, in the workspace or elsewhere.
    pub artifacts: Vec<String>,
}

/// The one that acts: only its own attempt may write, or whoever is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum By {
    /// A person, or an agent that looks after the board.
    #[default]
    Anybody,
    /// A worker in this attempt.
    Attempt(RunId),
}

/// Longest first line of a summary in the record.
const PREVIEW: usize = 400;

impl Board {
    /// Says that a card cannot go on; where it stands then.
    pub fn block(
        &mut self,
        id: &CardId,
        reason: Option<&str>,
        kind: Option<BlockKind>,
        by: By,
        now: Seconds,
    ) -> Result<Status, BoardError> {
        self.write(|tx| {
            let found = self::card(tx, id)?;
            own(&found, by)?;
            // One who looks at work and does not want it sends it back.
            if review::lane(tx, id, found.current_run)? == Lane::Review {
                return review::reject(tx, &found, reason, now);
            }
            if found.status == Status::Review {
                return review::send_back(tx, &found, reason, now);
            }
            let (card, step) = stepped(tx, id, by, Step::Block(kind))?;
            let end = End { error: None, summary: reason, metadata: None };
            let run = attempt::finish(tx, &card, Outcome::Blocked, &end, now)?;
            tx.execute(
                "UPDATE tasks SET status = ?2, block_kind = ?3, block_recurrences = ?4, claim_lock = NULL, \
                 claim_expires = NULL, worker_pid = NULL, current_run_id = NULL WHERE id = ?1",
                params![id, step.to, kind, step.recurrences],
            )?;
            let mut payload = json!({ "reason": reason });
            if let Some(kind) = kind {
                payload["kind"] = json!(kind);
                if step.event != "dependency_wait" {
                    payload["recurrences"] = json!(step.recurrences);
                }
            }
            if step.event == "block_loop_detected" {
                payload["limit"] = json!(crate::transition::MOST_BLOCKS);
            }
            record(tx, id, run, step.event, &payload, now)?;
            Ok(step.to)
        })
    }

    /// Puts a card off.
    pub fn schedule(
        &mut self,
        id: &CardId,
        reason: Option<&str>,
        run_at: Option<Seconds>,
        now: Seconds,
    ) -> Result<(), BoardError> {
        self.write(|tx| {
            let (card, step) = stepped(tx, id, By::Anybody, Step::Schedule)?;
            let end = End { summary: reason, ..End::default() };
            let run = attempt::finish(tx, &card, Outcome::Scheduled, &end, now)?;
            release(tx, id, step.to)?;
            review::own_row(tx, id)?;
            tx.execute("UPDATE hx_cards SET run_at = ?2 WHERE task_id = ?1", params![id, run_at])?;
            let mut payload = json!({ "reason": reason });
            if let Some(at) = run_at {
                payload["run_at"] = json!(at);
            }
            record(tx, id, run, step.event, &payload, now)?;
            Ok(())
        })
    }

    /// Lets a blocked or scheduled card go on; where it stands then.
    pub fn unblock(&mut self, id: &CardId, reason: Option<&str>, now: Seconds) -> Result<Status, BoardError> {
        self.write(|tx| {
            let (card, step) = stepped(tx, id, By::Anybody, Step::Unblock)?;
            if let Some(run) = card.current_run {
                attempt::close(tx, id, run, Outcome::Reclaimed, &End::default(), now)?;
            }
            release(tx, id, step.to)?;
            forget_failures(tx, id)?;
            tx.execute("UPDATE hx_cards SET run_at = NULL, review_rounds = 0 WHERE task_id = ?1", [id])?;
            let mut payload = serde_json::Map::new();
            if step.to == Status::Todo {
                payload.insert("status".to_owned(), json!(step.to));
            }
            if let Some(reason) = reason {
                payload.insert("reason".to_owned(), json!(reason));
            }
            record(tx, id, None, step.event, &Value::Object(payload), now)?;
            Ok(step.to)
        })
    }

    /// Lets a card go on because somebody says so.
    pub fn promote(
        &mut self,
        id: &CardId,
        actor: &str,
        reason: Option<&str>,
        force: Force,
        now: Seconds,
    ) -> Result<(), BoardError> {
        self.write(|tx| {
            let (_, step) = stepped(tx, id, By::Anybody, Step::PromoteByHand(force))?;
            tx.execute("UPDATE tasks SET status = ?2 WHERE id = ?1", params![id, step.to])?;
            forget_failures(tx, id)?;
            tx.execute("UPDATE hx_cards SET sticky = 0, review_rounds = 0 WHERE task_id = ?1", [id])?;
            let payload = json!({ "actor": actor, "reason": reason, "forced": force == Force::Yes });
            record(tx, id, None, step.event, &payload, now)?;
            Ok(())
        })
    }

    /// Whether a card could be let go, and why not.
    pub fn can_promote(&mut self, id: &CardId, force: Force) -> Result<(), BoardError> {
        let found = self.read(|tx| {
            let Some(card) = rows::find(tx, id)? else { return Ok(None) };
            facts(tx, &card).map(Some)
        })?;
        let facts = found.ok_or_else(|| BoardError::NoCard(vec![id.clone()]))?;
        let refuse = |refusal| BoardError::Refused { id: id.clone(), refusal };
        decide(Step::PromoteByHand(force), &facts).map(drop).map_err(refuse)
    }

    /// Puts a card away.
    pub fn archive(&mut self, id: &CardId, now: Seconds) -> Result<(), BoardError> {
        self.write(|tx| {
            let (card, step) = stepped(tx, id, By::Anybody, Step::Archive)?;
            let run = card.current_run;
            if let Some(run) = run {
                attempt::close(tx, id, run, Outcome::Reclaimed, &End::default(), now)?;
            }
            release(tx, id, step.to)?;
            record(tx, id, run, step.event, &Value::Null, now)?;
            waiting::let_go_below(tx, id, now)?;
            Ok(())
        })
    }

    /// Removes an archived card and all that belongs to it. The files of its attachments are given back.
    pub fn delete(&mut self, id: &CardId, now: Seconds) -> Result<Vec<String>, BoardError> {
        self.write(|tx| {
            let card = card(tx, id)?;
            if card.status != Status::Archived {
                let refusal = crate::transition::Refusal::NotFrom {
                    status: card.status,
                    from: crate::transition::Words(&[Status::Archived]),
                    done: "removed",
                };
                return Err(BoardError::Refused { id: id.clone(), refusal }.into());
            }
            let files: Vec<String> = tx
                .prepare("SELECT stored_path FROM task_attachments WHERE task_id = ?1")?
                .query_map([id], |row| row.get(0))?
                .collect::<Result<_, _>>()?;
            for sql in [
                "DELETE FROM task_links WHERE parent_id = ?1 OR child_id = ?1",
                "DELETE FROM hx_links WHERE parent_id = ?1 OR child_id = ?1",
                "DELETE FROM task_comments WHERE task_id = ?1",
                "DELETE FROM task_events WHERE task_id = ?1",
                "DELETE FROM task_runs WHERE task_id = ?1",
                "DELETE FROM kanban_notify_subs WHERE task_id = ?1",
                "DELETE FROM task_attachments WHERE task_id = ?1",
                "DELETE FROM hx_cards WHERE task_id = ?1",
                "DELETE FROM hx_workers WHERE task_id = ?1",
                "DELETE FROM hx_jobs WHERE task_id = ?1",
                "DELETE FROM tasks WHERE id = ?1",
            ] {
                tx.execute(sql, [id])?;
            }
            waiting::let_go(tx, now)?;
            Ok(files)
        })
    }

    /// Gives a card to a profile, or to nobody.
    pub fn assign(&mut self, id: &CardId, to: Option<&str>, now: Seconds) -> Result<(), BoardError> {
        let to = match to {
            None => None,
            Some(name) => Some(assignee(name).ok_or_else(|| {
                BoardError::Input("the assignee is empty: name a profile, or say \"none\"".to_owned())
            })?),
        };
        self.write(|tx| {
            let card = card(tx, id)?;
            if card.status == Status::Running && card.claim_lock.is_some() {
                let refusal = crate::transition::Refusal::Claimed;
                return Err(BoardError::Refused { id: id.clone(), refusal }.into());
            }
            if card.assignee == to {
                return Ok(());
            }
            tx.execute("UPDATE tasks SET assignee = ?2 WHERE id = ?1", params![id, to])?;
            forget_failures(tx, id)?;
            record(tx, id, None, "assigned", &json!({ "assignee": to }), now)?;
            Ok(())
        })
    }

    /// Says something about a card.
    pub fn comment(
        &mut self,
        id: &CardId,
        author: &str,
        body: &str,
        now: Seconds,
    ) -> Result<i64, BoardError> {
        let (author, body) = (author.trim(), body.trim());
        if author.is_empty() || body.is_empty() {
            return Err(BoardError::Input("a comment needs an author and a text".to_owned()));
        }
        self.write(|tx| {
            card(tx, id)?;
            tx.execute(
                "INSERT INTO task_comments (task_id, author, body, created_at) VALUES (?1, ?2, ?3, ?4)",
                params![id, author, body, now],
            )?;
            let comment = tx.last_insert_rowid();
            let payload = json!({ "author": author, "len": body.chars().count() });
            record(tx, id, None, "commented", &payload, now)?;
            Ok(comment)
        })
    }

    /// Writes the result of a finished card anew.
    pub fn edit(
        &mut self,
        id: &CardId,
        result: &str,
        summary: Option<&str>,
        metadata: Option<&Value>,
        now: Seconds,
    ) -> Result<(), BoardError> {
        self.write(|tx| {
            let card = card(tx, id)?;
            if card.status != Status::Done {
                let refusal = crate::transition::Refusal::NotFrom {
                    status: card.status,
                    from: crate::transition::Words(&[Status::Done]),
                    done: "edited",
                };
                return Err(BoardError::Refused { id: id.clone(), refusal }.into());
            }
            tx.execute("UPDATE tasks SET result = ?2 WHERE id = ?1", params![id, result])?;
            let said = summary.unwrap_or(result);
            tx.execute(
                "UPDATE task_runs SET summary = ?2, metadata = coalesce(?3, metadata) WHERE id = \
                 (SELECT max(id) FROM task_runs WHERE task_id = ?1 AND outcome = 'completed')",
                params![id, said, metadata.map(ToString::to_string)],
            )?;
            let mut fields = vec!["result", "summary"];
            if metadata.is_some() {
                fields.push("metadata");
            }
            let payload = json!({
                "fields": fields, "result_len": result.chars().count(), "summary": first_line(said),
            });
            record(tx, id, None, "edited", &payload, now)?;
            Ok(())
        })
    }
}

/// A card, or that there is none.
pub(crate) fn card(tx: &Transaction<'_>, id: &CardId) -> Result<Card, Trouble> {
    rows::find(tx, id)?.ok_or_else(|| BoardError::NoCard(vec![id.clone()]).into())
}

/// What there is to know when a step is decided.
pub(crate) fn facts(db: &Connection, card: &Card) -> rusqlite::Result<Facts> {
    Ok(Facts {
        status: card.status,
        parents: waiting::parents(db, &card.id)?,
        held: if card.claim_lock.is_some() { Held::Claimed } else { Held::Free },
        last_block: card.block_kind,
        recurrences: card.block_recurrences,
    })
}

/// Whether a card is still that of the one who acts.
pub(crate) fn own(card: &Card, by: By) -> Result<(), BoardError> {
    match by {
        By::Attempt(run) if card.current_run != Some(run) => Err(BoardError::Superseded(card.id.clone())),
        By::Attempt(_) | By::Anybody => Ok(()),
    }
}

/// A card and where a step leads it, if the one who wants it may and the card can.
pub(crate) fn stepped(
    tx: &Transaction<'_>,
    id: &CardId,
    by: By,
    step: Step,
) -> Result<(Card, Move), Trouble> {
    let card = card(tx, id)?;
    own(&card, by)?;
    let facts = facts(tx, &card)?;
    let refuse = |refusal| BoardError::Refused { id: id.clone(), refusal };
    let step = decide(step, &facts).map_err(refuse)?;
    Ok((card, step))
}

/// Nobody holds the card any more.
pub(crate) fn release(tx: &Transaction<'_>, id: &CardId, to: Status) -> rusqlite::Result<()> {
    tx.execute(
        "UPDATE tasks SET status = ?2, claim_lock = NULL, claim_expires = NULL, worker_pid = NULL, \
         current_run_id = NULL WHERE id = ?1",
        params![id, to],
    )?;
    Ok(())
}

/// The first line of a text, not too long.
pub(crate) fn first_line(text: &str) -> Option<String> {
    let line = text.trim().lines().next()?;
    Some(line.chars().take(PREVIEW).collect())
}
