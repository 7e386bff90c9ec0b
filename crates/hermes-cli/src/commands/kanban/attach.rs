//! `hermes kanban attach`, `attachments` and `attach-rm`.

use std::path::PathBuf;
use std::process::ExitCode;

use hermes_board::attachments::Attachment;
use hermes_board::card::CardId;
use serde_json::{Value, json};

use super::screen::{line, table};
use super::{Desk, text};
use crate::ui;

/// Keep a copy of a file with a card
#[derive(Debug, clap::Args)]
pub struct AttachArgs {
    /// The card
    task_id: String,
    /// The file, up to 25 MiB
    path: PathBuf,
    /// Who gives it
    #[arg(long)]
    author: Option<String>,
}

/// List the files of a card
#[derive(Debug, clap::Args)]
pub struct ListArgs {
    /// The card
    task_id: String,
}

/// Take a file away from its card
#[derive(Debug, clap::Args)]
pub struct RemoveArgs {
    /// Its number, as `attachments` shows it
    number: i64,
}

/// Keeps a file.
pub fn attach(desk: &Desk<'_>, args: &AttachArgs) -> anyhow::Result<ExitCode> {
    let id = CardId::new(&args.task_id);
    let by = desk.author(args.author.as_deref());
    let file = desk.board()?.attach_file(&id, &args.path, &by, desk.now)?;
    let text = format!("Attached {} to {id} (number {})", line(&file.filename, 200), file.id);
    desk.say(&text, || value(&file))
}

/// Lists files.
pub fn list(desk: &Desk<'_>, args: &ListArgs) -> anyhow::Result<ExitCode> {
    let id = CardId::new(&args.task_id);
    let files = match desk.look()? {
        Some(mut board) => board.attachments(&id)?,
        None => return Err(hermes_board::BoardError::NoCard(vec![id]).into()),
    };
    if files.is_empty() {
        return desk.say("No files.", || json!([]));
    }
    let row = |file: &Attachment| {
        vec![
            file.id.to_string(),
            line(&file.filename, 60),
            ui::size(file.size),
            line(file.uploaded_by.as_deref().unwrap_or("-"), 20),
            text::at(file.created_at),
            line(&file.stored_path.display().to_string(), 300),
        ]
    };
    let rows: Vec<Vec<String>> = files.iter().map(row).collect();
    let text = table(&["#", "NAME", "SIZE", "BY", "WHEN", "PATH"], &rows);
    desk.say(&text, || files.iter().map(value).collect())
}

/// Takes a file away.
pub fn remove(desk: &Desk<'_>, args: &RemoveArgs) -> anyhow::Result<ExitCode> {
    let gone = desk.board()?.detach(args.number, desk.now)?;
    let text = format!("Removed {} from {}", line(&gone.filename, 200), gone.card);
    desk.say(&text, || value(&gone))
}

fn value(file: &Attachment) -> Value {
    json!({
        "id": file.id, "task_id": file.card, "filename": file.filename, "stored_path": file.stored_path,
        "content_type": file.content_type, "size": file.size, "uploaded_by": file.uploaded_by,
        "created_at": file.created_at,
    })
}
