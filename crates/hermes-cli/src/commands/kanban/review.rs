//! `hermes kanban approve` and `reject`: a person looks at finished work.

use std::process::ExitCode;

use hermes_board::act::{By, Report};
use hermes_board::transition::{Refusal, Words};
use hermes_board::{Board, BoardError, CardId, Status};
use serde_json::json;

use super::{Desk, screen::line};

/// Say that work which waits to be looked at is good: the card is done
#[derive(Debug, clap::Args)]
pub struct ApproveArgs {
    /// The card
    task_id: String,
    /// What you want to say about it
    comment: Vec<String>,
    /// Who says it
    #[arg(long)]
    author: Option<String>,
}

/// Send work that waits to be looked at back to its author
#[derive(Debug, clap::Args)]
pub struct RejectArgs {
    /// The card
    task_id: String,
    /// What has to change
    #[arg(required = true)]
    reason: Vec<String>,
    /// Who says it
    #[arg(long)]
    author: Option<String>,
}

/// Lets work count.
pub fn approve(desk: &Desk<'_>, args: &ApproveArgs) -> anyhow::Result<ExitCode> {
    let id = CardId::new(&args.task_id);
    let mut board = desk.board()?;
    waits(&mut board, &id, "approved")?;
    let comment = args.comment.join(" ");
    if !comment.trim().is_empty() {
        board.comment(&id, &desk.author(args.author.as_deref()), &comment, desk.now)?;
    }
    board.complete(&id, &Report::default(), By::Anybody, desk.now)?;
    desk.say(&format!("Approved {id} (done)"), || json!({ "task_id": id, "status": Status::Done }))
}

/// Sends work back.
pub fn reject(desk: &Desk<'_>, args: &RejectArgs) -> anyhow::Result<ExitCode> {
    let id = CardId::new(&args.task_id);
    let reason = args.reason.join(" ");
    if reason.trim().is_empty() {
        return Err(crate::ui::WrongUsage("say what has to change".to_owned()).into());
    }
    let mut board = desk.board()?;
    waits(&mut board, &id, "rejected")?;
    let author = desk.author(args.author.as_deref());
    let status = board.send_back(&id, &author, reason.trim(), By::Anybody, desk.now)?;
    let whom = board.card(&id)?.assignee.map(|name| format!(" to {}", line(&name, 60))).unwrap_or_default();
    let text = match status {
        Status::Blocked => format!("Rejected {id}: it was sent back too often and is blocked now"),
        status => format!("Rejected {id}: it goes back{whom} ({status})"),
    };
    desk.say(&text, || json!({ "task_id": id, "status": status }))
}

fn waits(board: &mut Board, id: &CardId, done: &'static str) -> Result<(), BoardError> {
    let status = board.card(id)?.status;
    if status == Status::Review {
        return Ok(());
    }
    let refusal = Refusal::NotFrom { status, from: Words(&[Status::Review]), done };
    Err(BoardError::Refused { id: id.clone(), refusal })
}
