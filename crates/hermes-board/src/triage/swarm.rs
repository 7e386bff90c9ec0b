//! A swarm: several work on one goal at once, one checks what they did, one puts it together. The first card is finished
//! at once and stays as the place where they leave notes for each other.

use hermes_store::rusqlite::{self, Transaction};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::comment;
use crate::act;
use crate::attempt::{self, End};
use crate::board::{Board, Trouble};
use crate::card::{CardId, Outcome, Seconds, assignee};
use crate::create::{Beginning, Made, NewCard, create_as};
use crate::error::BoardError;
use crate::event::record;

/// Marks a comment that is a note for the others.
pub const NOTE: &str = "[swarm:blackboard] ";
/// Most workers at once.
const MOST_WORKERS: usize = 40;

/// A swarm to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// What it is for.
    pub goal: String,
    /// Who work on it at once.
    pub workers: Vec<Worker>,
    /// Who checks.
    pub verifier: Member,
    /// Who puts it together.
    pub synthesizer: Member,
    /// Who makes it.
    pub created_by: String,
    /// A name space of its own.
    pub tenant: Option<String>,
    /// Larger comes sooner.
    pub priority: i64,
    /// What tells it from a second one for the same thing.
    pub idempotency_key: Option<String>,
}

/// One of those who work at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    /// What about.
    pub title: String,
    /// Who.
    pub member: Member,
}

/// Somebody with a part in a swarm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The profile.
    pub profile: String,
    /// Skills it loads.
    pub skills: Vec<String>,
}

/// The cards of a swarm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Swarm {
    /// The one that is finished at once.
    pub root_id: CardId,
    /// Those worked on at once.
    pub worker_ids: Vec<CardId>,
    /// The check.
    pub verifier_id: CardId,
    /// The end.
    pub synthesizer_id: CardId,
}

impl Worker {
    /// Reads `profile:title` or `profile:title:skill,skill`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("\"{text}\" is no worker: say PROFILE:TITLE or PROFILE:TITLE:SKILL,SKILL");
        let (profile, rest) = text.split_once(':').ok_or_else(wrong)?;
        let (title, skills) = rest.rsplit_once(':').map_or((rest, ""), |(title, skills)| (title, skills));
        let profile = assignee(profile).ok_or_else(wrong)?;
        let title = title.trim();
        if title.is_empty() {
            return Err(wrong());
        }
        let skills = skills.split(',').map(str::trim).filter(|skill| !skill.is_empty()).map(str::to_owned);
        Ok(Self { title: title.to_owned(), member: Member { profile, skills: skills.collect() } })
    }
}

impl Board {
    /// Makes all cards of a swarm, or finds those that were made with the same key.
    pub fn swarm(&mut self, order: &Order, now: Seconds) -> Result<(Swarm, Made), BoardError> {
        check(order)?;
        self.write(|tx| make(tx, order, now))
    }
}

fn check(order: &Order) -> Result<(), BoardError> {
    let wrong = |text: String| Err(BoardError::Input(text));
    if order.goal.trim().is_empty() {
        return wrong("a swarm needs a goal".to_owned());
    }
    if order.workers.is_empty() {
        return wrong("a swarm needs a worker: --worker PROFILE:TITLE".to_owned());
    }
    if order.workers.len() > MOST_WORKERS {
        return wrong(format!("a swarm has {MOST_WORKERS} workers at most, not {}", order.workers.len()));
    }
    for (who, member) in [("verifier", &order.verifier), ("synthesizer", &order.synthesizer)] {
        if assignee(&member.profile).is_none() {
            return wrong(format!("the {who} is empty: name a profile"));
        }
    }
    Ok(())
}

fn make(tx: &Transaction<'_>, order: &Order, now: Seconds) -> Result<(Swarm, Made), Trouble> {
    let goal = order.goal.trim();
    let root = NewCard {
        body: Some(format!(
            "Several work on this goal at once. This card is finished from the start: it is where they leave notes for \
             each other.\n\nGoal: {goal}"
        )),
        assignee: assignee(&order.created_by),
        idempotency_key: order.idempotency_key.clone().filter(|key| !key.trim().is_empty()),
        ..card(order, &format!("Swarm: {goal}"))
    };
    let root = create_as(tx, &root, &json!({}), now)?;
    if root.made == Made::Before {
        return Ok((made_before(tx, &root.card.id)?, Made::Before));
    }
    let root = root.card.id;
    finish(tx, order, &root, goal, now)?;
    let common = format!(
        "\n\nThis is part of a swarm. Goal of all: {goal}\n\
         - Read what {root} and the cards before this one say first.\n\
         - What others must know goes on {root} as a comment.\n\
         - Facts that a program can read go into the metadata when the card is finished."
    );
    let mut worker_ids = Vec::new();
    for worker in &order.workers {
        let body = format!("{}{common}", worker.title);
        worker_ids.push(member(
            tx,
            order,
            &worker.title,
            &body,
            &worker.member,
            std::slice::from_ref(&root),
            now,
        )?);
    }
    let body = format!(
        "Check what every card before this one claims, and every note on {root}. Finish this card with the metadata \
         {{\"gate\": \"pass\"}} only if it holds; otherwise block it and say exactly what is missing.{common}"
    );
    let verifier_id =
        member(tx, order, "Verify what the swarm did", &body, &order.verifier, &worker_ids, now)?;
    let body = format!("Put together what was checked into the result that the goal asks for.{common}");
    let before = [verifier_id.clone()];
    let title = "Put the swarm's results together";
    let synthesizer_id = member(tx, order, title, &body, &order.synthesizer, &before, now)?;
    let swarm = Swarm { root_id: root, worker_ids, verifier_id, synthesizer_id };
    let topology = json!({
        "goal": goal, "root_id": swarm.root_id, "synthesizer_id": swarm.synthesizer_id,
        "verifier_id": swarm.verifier_id, "worker_ids": swarm.worker_ids,
    });
    let note = format!("{NOTE}{}", json!({ "key": "topology", "value": topology }));
    comment(tx, &swarm.root_id, &order.created_by, &note, now)?;
    Ok((swarm, Made::New))
}

fn card(order: &Order, title: &str) -> NewCard {
    NewCard {
        created_by: Some(order.created_by.clone()),
        tenant: order.tenant.clone(),
        priority: order.priority,
        ..NewCard::new(title)
    }
}

fn member(
    tx: &Transaction<'_>,
    order: &Order,
    title: &str,
    body: &str,
    member: &Member,
    parents: &[CardId],
    now: Seconds,
) -> Result<CardId, Trouble> {
    let new = NewCard {
        body: Some(body.to_owned()),
        assignee: assignee(&member.profile),
        skills: member.skills.clone(),
        parents: parents.to_vec(),
        beginning: Beginning::Usual,
        ..card(order, title)
    };
    Ok(create_as(tx, &new, &json!({}), now)?.card.id)
}

/// The first card is done before the others begin.
fn finish(
    tx: &Transaction<'_>,
    order: &Order,
    root: &CardId,
    goal: &str,
    now: Seconds,
) -> Result<(), Trouble> {
    let summary = "The swarm is laid out; notes go here.";
    let metadata = json!({ "kind": "kanban_swarm_v1", "goal": goal, "worker_count": order.workers.len() });
    let end = End { summary: Some(summary), metadata: Some(&metadata), error: None };
    let run = attempt::finish(tx, &act::card(tx, root)?, Outcome::Completed, &end, now)?;
    tx.execute(
        "UPDATE tasks SET status = 'done', completed_at = ?2 WHERE id = ?1",
        rusqlite::params![root, now],
    )?;
    record(tx, root, run, "completed", &json!({ "result_len": 0, "summary": summary }), now)?;
    Ok(())
}

/// The swarm that was made with the same key.
fn made_before(tx: &Transaction<'_>, root: &CardId) -> Result<Swarm, Trouble> {
    let mut statement =
        tx.prepare_cached("SELECT body FROM task_comments WHERE task_id = ?1 ORDER BY id DESC")?;
    let notes: Vec<String> = statement.query_map([root], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let topology = |note: &String| -> Option<Swarm> {
        let value: serde_json::Value = serde_json::from_str(note.strip_prefix(NOTE)?).ok()?;
        (value["key"] == "topology").then(|| serde_json::from_value(value["value"].clone()).ok())?
    };
    notes.iter().find_map(topology).ok_or_else(|| {
        BoardError::Input(format!(
            "{root} has this key and is no whole swarm: choose another key, or `hermes kanban archive {root}` first"
        ))
        .into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_are_read() {
        let read = |text: &str| {
            Worker::parse(text).map(|worker| (worker.member.profile, worker.title, worker.member.skills))
        };
        assert_eq!(read("A:North"), Ok(("a".into(), "North".into(), vec![])));
        assert_eq!(
            read("b: South side :one, two,"),
            Ok(("b".into(), "South side".into(), vec!["one".into(), "two".into()]))
        );
        assert_eq!(read("b:a:b:c"), Ok(("b".into(), "a:b".into(), vec!["c".into()])));
        for bad in ["", "a", "a:", ":b", " : ", "a: :x"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
