//! Making cards.

use hermes_board::card::{GoalMode, WorkspaceKind};
use hermes_board::create::{Beginning, NewCard};
use hermes_board::{Card, CardId};
use serde_json::{Value, json};

use super::Call;
use super::desk::{now, said};
use crate::{fields, toolsets};

/// Makes a card.
pub(super) fn create(call: &Call) -> Result<Value, String> {
    let mut board = call.desk.board(&call.arguments)?;
    let own = call.desk.own(&mut board);
    let new = read(call, own.as_ref())?;
    let made = board.create(&new, now()).map_err(said)?;
    // Whoever could be told when it is done is not known here.
    Ok(json!({ "ok": true, "task_id": made.card.id, "status": made.card.status, "subscribed": false }))
}

fn read(call: &Call, own: Option<&Card>) -> Result<NewCard, String> {
    let arguments = &call.arguments;
    let text = |name: &str| fields::text(arguments, name);
    let mut new =
        NewCard::new(call.desk.masked(&fields::needed(arguments, "title", "what is the card about?")?));
    new.assignee = Some(fields::needed(arguments, "assignee", "which profile should do it?")?);
    new.body = text("body")?.map(|body| call.desk.masked(&body));
    new.parents =
        fields::texts(arguments, "parents")?.unwrap_or_default().into_iter().map(CardId::new).collect();
    new.created_by = Some(call.desk.author().to_owned());
    new.tenant = text("tenant")?.or_else(|| call.desk.tenant());
    new.session_id = Some(call.session.clone());
    new.priority = fields::whole(arguments, "priority")?.unwrap_or_default();
    new.idempotency_key = text("idempotency_key")?;
    new.max_runtime_seconds = fields::whole(arguments, "max_runtime_seconds")?;
    new.skills = skills(fields::texts(arguments, "skills")?.unwrap_or_default())?;
    new.beginning = beginning(call)?;
    new.goal_mode =
        if fields::flag(arguments, "goal_mode")?.unwrap_or(false) { GoalMode::On } else { GoalMode::Off };
    new.goal_max_turns = fields::whole(arguments, "goal_max_turns")?;
    new.project_id = text("project")?.or_else(|| own.and_then(|own| own.project_id.clone()));
    workspace(&mut new, call, own)?;
    Ok(new)
}

/// Where it is worked on: as the call says, else where the worker that makes it works. A scratch workspace goes with its
/// card, so only a card that waits for it gets that.
fn workspace(new: &mut NewCard, call: &Call, own: Option<&Card>) -> Result<(), String> {
    let path = fields::text(&call.arguments, "workspace_path")?;
    if let Some(word) = fields::text(&call.arguments, "workspace_kind")? {
        new.workspace_kind = WorkspaceKind::parse(&word).ok_or_else(|| {
            format!("there is no workspace \"{word}\": it is one of scratch, dir, worktree")
        })?;
        new.workspace_path = path;
        return Ok(());
    }
    if path.is_some() {
        new.workspace_kind = WorkspaceKind::Dir;
        new.workspace_path = path;
        return Ok(());
    }
    let inherited =
        own.filter(|own| own.workspace_kind != WorkspaceKind::Scratch || new.parents.contains(&own.id));
    if let Some(own) = inherited {
        new.workspace_kind = own.workspace_kind;
        new.workspace_path.clone_from(&own.workspace_path);
        new.branch_name.clone_from(&own.branch_name);
    }
    Ok(())
}

fn beginning(call: &Call) -> Result<Beginning, String> {
    let blocked = match fields::text(&call.arguments, "initial_status")?.as_deref() {
        None | Some("running") => false,
        Some("blocked") => true,
        Some(word) => {
            return Err(format!("a card does not begin as \"{word}\": leave it out, or say blocked"));
        }
    };
    let triage = fields::flag(&call.arguments, "triage")?.unwrap_or(false);
    Ok(match (blocked, triage) {
        (true, _) => Beginning::Blocked,
        (false, true) => Beginning::Triage,
        (false, false) => Beginning::Usual,
    })
}

/// Skills are no toolsets: a slip that would otherwise show only when the worker starts.
fn skills(names: Vec<String>) -> Result<Vec<String>, String> {
    let wrong: Vec<&str> = names
        .iter()
        .map(String::as_str)
        .filter(|name| toolsets::find(&name.to_lowercase()).is_some())
        .collect();
    if wrong.is_empty() {
        return Ok(names);
    }
    Err(format!(
        "{} are toolsets, no skills: leave them out, a worker has its profile's tools",
        wrong.join(", ")
    ))
}
