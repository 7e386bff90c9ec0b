//! What is done with cards.

use hermes_board::act::Report;
use hermes_board::card::{BlockKind, GoalMode};
use hermes_board::complete::Completed;
use hermes_board::{Card, CardId};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::Call;
use super::desk::{now, said};
use super::judge::{Goal, Judgement};
use crate::fields;

/// Why a worker with a goal may stop before it is reached.
const GOAL_BLOCKS: [BlockKind; 2] = [BlockKind::Dependency, BlockKind::NeedsInput];

/// What is said of finished work.
fn words(call: &Call) -> Result<(Option<String>, Option<String>), String> {
    let (summary, result) =
        (fields::text(&call.arguments, "summary")?, fields::text(&call.arguments, "result")?);
    if summary.is_none() && result.is_none() {
        return Err("say what came of it: \"summary\", or \"result\"".to_owned());
    }
    Ok((summary, result))
}

/// Whether a card with a goal has reached it, by the judge. Without a judge, or one that cannot say, the worker is
/// believed.
pub(super) async fn agreed(call: &Call, cancel: &CancellationToken) -> Result<(), String> {
    let Some(judge) = call.desk.judge() else { return Ok(()) };
    let (summary, result) = words(call)?;
    let (id, _) = call.desk.own_card(&call.arguments)?;
    let card = call.desk.board(&call.arguments)?.card(&id).map_err(said)?;
    if card.goal_mode == GoalMode::Off {
        return Ok(());
    }
    let goal = Goal::of(&card);
    let answer = [summary, result].into_iter().flatten().collect::<Vec<_>>().join("\n\n");
    let judged = tokio::select! {
        judged = judge.judge(&goal, &answer) => judged,
        () = cancel.cancelled() => return Err("interrupted: nothing was completed".to_owned()),
    };
    match judged {
        Judgement::Done | Judgement::Unknown => Ok(()),
        Judgement::NotYet { why } => Err(format!(
            "nothing was completed: the judge of this card's goal says it is not reached: {why}. Go on, or say in the \
             summary what shows that it is"
        )),
    }
}

/// Finishes a card.
pub(super) fn complete(call: &Call) -> Result<Value, String> {
    let arguments = &call.arguments;
    let (id, by) = call.desk.own_card(arguments)?;
    let (summary, result) = words(call)?;
    let report = Report {
        summary: summary.map(|text| call.desk.masked(&text)),
        result: result.map(|text| call.desk.masked(&text)),
        metadata: Some(metadata(call)?),
        created_cards: fields::texts(arguments, "created_cards")?
            .unwrap_or_default()
            .into_iter()
            .map(CardId::new)
            .collect(),
        artifacts: fields::texts(arguments, "artifacts")?.unwrap_or_default(),
    };
    let done = call.desk.board(arguments)?.finish(&id, &report, by, now()).map_err(said)?;
    let mut told = json!({ "ok": true, "task_id": id, "run_id": done.run });
    match done.then {
        Completed::Done => {}
        Completed::Checking(check) => {
            let note =
                format!("done once `{}` succeeds; it is run when you have stopped: stop now", check.command);
            told["note"] = note.into();
        }
        Completed::Review => told["note"] = "somebody else looks at it before it is done: stop now".into(),
    }
    Ok(told)
}

/// What else is kept, with the conversation the work was done in.
fn metadata(call: &Call) -> Result<Value, String> {
    let mut map = match call.arguments.get("metadata") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(map)) => map.clone(),
        Some(_) => return Err("\"metadata\" must be an object".to_owned()),
    };
    map.entry("worker_session_id").or_insert_with(|| call.session.clone().into());
    Ok(call.desk.masked_value(&Value::Object(map)))
}

/// Says that a card cannot go on.
pub(super) fn block(call: &Call) -> Result<Value, String> {
    let arguments = &call.arguments;
    let (id, by) = call.desk.own_card(arguments)?;
    let reason = fields::needed(arguments, "reason", "say what is missing, for whoever can help")?;
    let mut board = call.desk.board(arguments)?;
    let card = board.card(&id).map_err(said)?;
    let kind = kind(call, &card)?;
    let status = board.block(&id, Some(&call.desk.masked(&reason)), kind, by, now()).map_err(said)?;
    let run = card.current_run.or_else(|| newest_run(&mut board, &id));
    Ok(json!({ "ok": true, "task_id": id, "run_id": run, "status": status, "block_kind": kind }))
}

fn newest_run(board: &mut hermes_board::Board, id: &CardId) -> Option<hermes_board::RunId> {
    board.details(id).ok()?.attempts.last().map(|attempt| attempt.id)
}

fn kind(call: &Call, card: &Card) -> Result<Option<BlockKind>, String> {
    let Some(word) = fields::text(&call.arguments, "kind")? else { return Ok(None) };
    let kind = BlockKind::parse(&word).ok_or_else(|| {
        let all: Vec<&str> = BlockKind::ALL.iter().map(|kind| kind.as_str()).collect();
        format!("there is no kind \"{word}\": it is one of {}", all.join(", "))
    })?;
    if card.goal_mode == GoalMode::On && !GOAL_BLOCKS.contains(&kind) {
        return Err(format!(
            "this card has a goal and is not blocked for \"{kind}\": go on, or block it for dependency or needs_input"
        ));
    }
    Ok(Some(kind))
}

/// Says that the worker is alive.
pub(super) fn heartbeat(call: &Call) -> Result<Value, String> {
    let arguments = &call.arguments;
    let (id, by) = call.desk.own_card(arguments)?;
    let run = match by {
        hermes_board::act::By::Attempt(run) => Some(run),
        hermes_board::act::By::Anybody => None,
    };
    let note = fields::text(arguments, "note")?.map(|note| call.desk.masked(&note));
    let mut board = call.desk.board(arguments)?;
    let alive = board.heartbeat(&id, run, note.as_deref(), now()).map_err(said)?;
    if !alive {
        return Err(format!("{id} does not run, or belongs to another attempt now: stop working on it"));
    }
    if let Some(lock) = call.desk.lock() {
        board.renew(&id, lock, call.desk.claim_seconds(), now()).map_err(said)?;
    }
    Ok(json!({ "ok": true, "task_id": id }))
}

/// Says something about a card.
pub(super) fn comment(call: &Call) -> Result<Value, String> {
    let id = CardId::new(fields::needed(&call.arguments, "task_id", "a comment is about a card")?);
    let body = fields::needed(&call.arguments, "body", "a comment says something")?;
    let mut board = call.desk.board(&call.arguments)?;
    let comment = board.comment(&id, call.desk.author(), &call.desk.masked(&body), now()).map_err(said)?;
    Ok(json!({ "ok": true, "task_id": id, "comment_id": comment }))
}

/// Lets a card wait for another.
pub(super) fn link(call: &Call) -> Result<Value, String> {
    let id = |name| fields::needed(&call.arguments, name, "two cards are linked").map(CardId::new);
    let (parent, child) = (id("parent_id")?, id("child_id")?);
    let mut board = call.desk.board(&call.arguments)?;
    board.link(&parent, &child, hermes_board::links::LinkKind::default(), now()).map_err(said)?;
    Ok(json!({ "ok": true, "parent_id": parent, "child_id": child }))
}

/// Lets a blocked card go on.
pub(super) fn unblock(call: &Call) -> Result<Value, String> {
    if let super::Role::Worker { .. } = call.desk.role() {
        return Err("a worker cannot unblock cards: leave a comment with kanban_comment".to_owned());
    }
    let id = CardId::new(fields::needed(&call.arguments, "task_id", "which card goes on?")?);
    let status = call.desk.board(&call.arguments)?.unblock(&id, None, now()).map_err(said)?;
    Ok(json!({ "ok": true, "task_id": id, "status": status }))
}
