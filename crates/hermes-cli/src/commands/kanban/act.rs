//! What people do with cards: assign, link, say, claim, finish, block, let go, put away.

use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use hermes_board::act::Report;
use hermes_board::card::{BlockKind, CardId, Status};
use hermes_board::claim::{CLAIM_SECONDS, Claimed, Claimer};
use hermes_board::complete::Completed;
use hermes_board::links::LinkKind;
use hermes_board::transition::Force;
use hermes_board::{Board, BoardError};
use serde_json::{Value, json};

use super::Desk;
use super::screen::line;
use super::text::{parse_span, parse_time};
use crate::ui;

/// Give a card to a profile
#[derive(Debug, clap::Args)]
pub struct AssignArgs {
    /// The card
    task_id: String,
    /// The profile; "none" takes it away from everybody
    // Its own name: clap takes it for the global `--profile` otherwise.
    #[arg(id = "assignee", value_name = "PROFILE")]
    assignee: String,
}

/// Gives a card to a profile.
pub fn assign(desk: &Desk<'_>, args: &AssignArgs) -> anyhow::Result<ExitCode> {
    give(desk, &CardId::new(&args.task_id), &args.assignee)
}

/// Gives a card to a profile, or with "none" to nobody.
pub fn give(desk: &Desk<'_>, id: &CardId, profile: &str) -> anyhow::Result<ExitCode> {
    let to = (profile != "none").then_some(profile);
    desk.board()?.assign(id, to, desk.now)?;
    let to = to.map(|name| name.trim().to_lowercase());
    let text = match &to {
        Some(name) => format!("Assigned {id} to {}", line(name, 60)),
        None => format!("Unassigned {id}"),
    };
    if to.as_deref().is_some_and(|name| !desk.has_profile(name)) {
        ui::note("there is no such profile here: nobody is started for it");
    }
    desk.say(&text, || json!({ "task_id": id, "assignee": to }))
}

/// Make a card wait for another
#[derive(Debug, clap::Args)]
pub struct LinkArgs {
    /// The card that comes first
    parent: String,
    /// The card that waits
    child: String,
    /// hard: waits for it; any: waits for one of those linked this way; soft: belongs to it and does not wait
    #[arg(long, default_value = "hard", value_parser = PossibleValuesParser::new(["hard", "any", "soft"]))]
    kind: String,
}

/// Makes a card wait.
pub fn link(desk: &Desk<'_>, args: &LinkArgs) -> anyhow::Result<ExitCode> {
    let (parent, child) = (CardId::new(&args.parent), CardId::new(&args.child));
    desk.board()?.link(&parent, &child, LinkKind::parse(&args.kind).unwrap_or_default(), desk.now)?;
    let value = || json!({ "parent": parent, "child": child, "kind": args.kind });
    desk.say(&format!("Linked {parent} -> {child}"), value)
}

/// Let a card no longer wait for another
#[derive(Debug, clap::Args)]
pub struct UnlinkArgs {
    /// The card that comes first
    parent: String,
    /// The card that waits
    child: String,
}

/// Lets a card no longer wait.
pub fn unlink(desk: &Desk<'_>, args: &UnlinkArgs) -> anyhow::Result<ExitCode> {
    let (parent, child) = (CardId::new(&args.parent), CardId::new(&args.child));
    if !desk.board()?.unlink(&parent, &child, desk.now)? {
        anyhow::bail!(
            "{child} does not wait for {parent}: `hermes kanban show {child}` says for what it does"
        );
    }
    desk.say(&format!("Unlinked {parent} -> {child}"), || json!({ "parent": parent, "child": child }))
}

/// Say something about a card
#[derive(Debug, clap::Args)]
pub struct CommentArgs {
    /// The card
    task_id: String,
    /// What
    #[arg(required = true)]
    text: Vec<String>,
    /// Who says it
    #[arg(long)]
    author: Option<String>,
    /// Cut it to so many characters
    #[arg(long, value_name = "N")]
    max_len: Option<usize>,
}

/// Says something.
pub fn comment(desk: &Desk<'_>, args: &CommentArgs) -> anyhow::Result<ExitCode> {
    let id = CardId::new(&args.task_id);
    let text: String = args.text.join(" ").chars().take(args.max_len.unwrap_or(usize::MAX)).collect();
    let author = desk.author(args.author.as_deref());
    let number = desk.board()?.comment(&id, &author, &text, desk.now)?;
    let value = || json!({ "task_id": id, "comment_id": number, "author": author });
    desk.say(&format!("Comment added to {id}"), value)
}

/// Take a ready card
#[derive(Debug, clap::Args)]
pub struct ClaimArgs {
    /// The card
    task_id: String,
    /// How long it is yours if you do not renew it, in seconds
    #[arg(long, default_value_t = CLAIM_SECONDS)]
    ttl: i64,
}

/// Takes a card.
pub fn claim(desk: &Desk<'_>, args: &ClaimArgs) -> anyhow::Result<ExitCode> {
    let id = CardId::new(&args.task_id);
    let claimer = Claimer { host: host(), pid: std::process::id() };
    match desk.board()?.claim(&id, &claimer, args.ttl, desk.now)? {
        Claimed::Yes(claim) => {
            let own = || desk.root.workspaces(&desk.slug).join(id.as_str()).display().to_string();
            let path = claim.card.workspace_path.clone().unwrap_or_else(own);
            let text = format!("Claimed {id} (run {})\nWorkspace: {}", claim.run, line(&path, 1000));
            desk.say(&text, || {
                json!({
                    "task_id": id, "run_id": claim.run, "workspace": path, "claim_lock": claim.lock,
                    "claim_expires": claim.expires,
                })
            })
        }
        Claimed::Waits => anyhow::bail!("{id} waits for cards that are not finished: it went back to todo"),
    }
}

/// This machine's name, as it stands in locks.
pub fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Say that a running card is worked on
#[derive(Debug, clap::Args)]
pub struct HeartbeatArgs {
    /// The card
    task_id: String,
    /// How it goes
    #[arg(long)]
    note: Option<String>,
}

/// Says that a card is worked on.
pub fn heartbeat(desk: &Desk<'_>, args: &HeartbeatArgs) -> anyhow::Result<ExitCode> {
    let id = CardId::new(&args.task_id);
    if !desk.board()?.heartbeat(&id, None, args.note.as_deref(), desk.now)? {
        anyhow::bail!("{id} is not running: nobody works on it");
    }
    desk.say(&format!("Heartbeat of {id}"), || json!({ "task_id": id, "note": args.note }))
}

/// Finish cards
#[derive(Debug, clap::Args)]
pub struct CompleteArgs {
    /// The cards; a summary and metadata go with one card only
    #[arg(required = true)]
    task_ids: Vec<String>,
    /// What came of it
    #[arg(long)]
    result: Option<String>,
    /// What those who go on from here should know
    #[arg(long)]
    summary: Option<String>,
    /// A JSON object of facts
    #[arg(long, value_parser = object)]
    metadata: Option<Value>,
}

/// Finishes cards.
pub fn complete(desk: &Desk<'_>, args: &CompleteArgs) -> anyhow::Result<ExitCode> {
    if args.task_ids.len() > 1 && (args.summary.is_some() || args.metadata.is_some()) {
        let text = "--summary and --metadata say something about one card: finish the others on their own";
        return Err(ui::WrongUsage(text.to_owned()).into());
    }
    let report = Report {
        summary: args.summary.clone(),
        result: args.result.clone(),
        metadata: args.metadata.clone(),
        ..Report::default()
    };
    desk.each(&args.task_ids, |board, id| {
        let done = board.finish(id, &report, desk.by(id), desk.now)?;
        Ok(match done.then {
            Completed::Done => format!("Completed {id}"),
            _ => format!("Handed in {id}: it is looked at before it is done"),
        })
    })
}

/// Say that cards cannot go on
#[derive(Debug, clap::Args)]
pub struct BlockArgs {
    /// The card
    task_id: String,
    /// Why; kept as a comment too
    reason: Vec<String>,
    /// More cards, for the same reason
    #[arg(long, num_args = 1..)]
    ids: Vec<String>,
    /// What kind of reason
    #[arg(long, value_parser = block_kinds())]
    kind: Option<String>,
}

fn block_kinds() -> PossibleValuesParser {
    PossibleValuesParser::new(BlockKind::ALL.iter().map(|kind| kind.as_str()))
}

/// Blocks cards.
pub fn block(desk: &Desk<'_>, args: &BlockArgs) -> anyhow::Result<ExitCode> {
    let kind = args.kind.as_deref().and_then(BlockKind::parse);
    let reason = words(&args.reason);
    let author = desk.author(None);
    desk.each(&all(&args.task_id, &args.ids), |board, id| {
        if board.card(id)?.status == Status::Review {
            return Err(BoardError::Input(format!(
                "{id} waits to be looked at: `hermes kanban reject {id} REASON` sends it back, `hermes kanban approve {id}` \
                 says that it is done, `hermes kanban archive {id}` puts it away"
            )));
        }
        let status = board.block(id, reason.as_deref(), kind, desk.by(id), desk.now)?;
        if let Some(reason) = &reason {
            board.comment(id, &author, &format!("BLOCKED: {reason}"), desk.now)?;
        }
        Ok(format!("Blocked {id} ({status})"))
    })
}

/// Put cards off
#[derive(Debug, clap::Args)]
pub struct ScheduleArgs {
    /// The card
    task_id: String,
    /// Why
    reason: Vec<String>,
    /// More cards, for the same reason
    #[arg(long, num_args = 1..)]
    ids: Vec<String>,
    /// Until so long from now: 90s, 30m, 2h, 1d; without it, until somebody unblocks it
    #[arg(long, value_parser = parse_span, value_name = "SPAN")]
    r#in: Option<i64>,
    /// Until then: 14:30, 2026-12-24, "2026-12-24 14:30"
    #[arg(long, value_parser = parse_time, value_name = "TIME", conflicts_with = "in")]
    at: Option<i64>,
}

/// Puts cards off.
pub fn schedule(desk: &Desk<'_>, args: &ScheduleArgs) -> anyhow::Result<ExitCode> {
    let reason = words(&args.reason);
    let at = args.at.or(args.r#in.map(|span| desk.now + span));
    if let Some(at) = at.filter(|at| *at <= desk.now) {
        return Err(ui::WrongUsage(format!("{} is over already", super::text::at(at))).into());
    }
    desk.each(&all(&args.task_id, &args.ids), |board, id| {
        board.schedule(id, reason.as_deref(), at, desk.now)?;
        Ok(match at {
            Some(at) => format!("Scheduled {id} for {}", super::text::at(at)),
            None => format!("Scheduled {id}"),
        })
    })
}

/// Let blocked or scheduled cards go on
#[derive(Debug, clap::Args)]
pub struct UnblockArgs {
    /// The cards
    #[arg(required = true)]
    task_ids: Vec<String>,
    /// Why
    #[arg(long)]
    reason: Option<String>,
}

/// Lets cards go on.
pub fn unblock(desk: &Desk<'_>, args: &UnblockArgs) -> anyhow::Result<ExitCode> {
    desk.each(&args.task_ids, |board, id| {
        let status = board.unblock(id, args.reason.as_deref(), desk.now)?;
        Ok(format!("Unblocked {id} ({status})"))
    })
}

/// Let waiting or blocked cards go on by hand
#[derive(Debug, clap::Args)]
pub struct PromoteArgs {
    /// The card
    task_id: String,
    /// Why
    reason: Vec<String>,
    /// More cards, for the same reason
    #[arg(long, num_args = 1..)]
    ids: Vec<String>,
    /// Even if it waits for others
    #[arg(long)]
    force: bool,
    /// Only say whether it could be done
    #[arg(long)]
    dry_run: bool,
}

/// Lets cards go on by hand.
pub fn promote(desk: &Desk<'_>, args: &PromoteArgs) -> anyhow::Result<ExitCode> {
    let force = if args.force { Force::Yes } else { Force::No };
    let (reason, actor) = (words(&args.reason), desk.author(None));
    let mut board = desk.board()?;
    let mut answers = Vec::new();
    let mut code = ExitCode::SUCCESS;
    for id in all(&args.task_id, &args.ids).iter().map(CardId::new) {
        let done = if args.dry_run {
            board.can_promote(&id, force)
        } else {
            board.promote(&id, &actor, reason.as_deref(), force, desk.now)
        };
        let error = done.err().map(|error| error.to_string());
        if error.is_some() {
            code = ExitCode::from(ui::FAILED);
        }
        if !desk.json {
            match &error {
                Some(error) => ui::note(&format!("hermes: {error}")),
                None if args.dry_run => ui::print(&format!("Would promote {id} -> ready"))?,
                None => ui::print(&format!("Promoted {id} -> ready"))?,
            }
        }
        answers.push(json!({
            "task_id": id, "promoted": error.is_none() && !args.dry_run, "dry_run": args.dry_run,
            "forced": args.force, "reason": reason, "error": error,
        }));
    }
    if desk.json {
        match answers.as_slice() {
            [one] => ui::print_json(one)?,
            all => ui::print_json(&all)?,
        }
    }
    Ok(code)
}

/// Put cards away
#[derive(Debug, clap::Args)]
pub struct ArchiveArgs {
    /// The cards
    #[arg(required = true)]
    task_ids: Vec<String>,
    /// Remove archived cards for good
    #[arg(long)]
    rm: bool,
}

/// Puts cards away, or removes those that were.
pub fn archive(desk: &Desk<'_>, args: &ArchiveArgs) -> anyhow::Result<ExitCode> {
    desk.each(&args.task_ids, |board, id| {
        if !args.rm {
            let run = board.card(id)?.current_run;
            board.archive(id, desk.now)?;
            if let Some(run) = run {
                super::stop::dismiss(desk, board, id, run)?;
            }
            board.put_away(id)?;
            return Ok(format!("Archived {id}"));
        }
        let files = board.delete(id, desk.now)?;
        let inside = desk.root.attachments(&desk.slug);
        for file in files.iter().map(std::path::Path::new).filter(|file| file.starts_with(&inside)) {
            if let Err(error) = std::fs::remove_file(file) {
                ui::warn(&format!("{} stays: {error}", file.display()));
            }
        }
        Ok(format!("Removed {id}"))
    })
}

impl Desk<'_> {
    /// Does something to each card; the others are still done if one cannot be.
    pub fn each(
        &self,
        ids: &[String],
        mut deed: impl FnMut(&mut Board, &CardId) -> Result<String, BoardError>,
    ) -> anyhow::Result<ExitCode> {
        let mut board = self.board()?;
        let mut answers = Vec::new();
        let mut code = ExitCode::SUCCESS;
        for id in ids.iter().map(CardId::new) {
            let done = deed(&mut board, &id);
            let error = done.as_ref().err().map(ToString::to_string);
            match &done {
                Ok(text) if !self.json => ui::print(text)?,
                Ok(_) => {}
                Err(error) => {
                    ui::note(&format!("hermes: {error}"));
                    code = ExitCode::from(ui::FAILED);
                }
            }
            if self.json {
                let status = board.card(&id).ok().map(|card| card.status);
                let ok = error.is_none();
                answers.push(json!({ "task_id": id, "ok": ok, "status": status, "error": error }));
            }
        }
        if self.json {
            match answers.as_slice() {
                [one] => ui::print_json(one)?,
                all => ui::print_json(&all)?,
            }
        }
        Ok(code)
    }
}

fn all(first: &str, more: &[String]) -> Vec<String> {
    std::iter::once(first.to_owned()).chain(more.iter().cloned()).collect()
}

/// Words as a sentence, if there are any.
pub fn words(words: &[String]) -> Option<String> {
    let text = words.join(" ");
    (!text.trim().is_empty()).then(|| text.trim().to_owned())
}

/// Reads a JSON object.
pub fn object(text: &str) -> Result<Value, String> {
    match serde_json::from_str(text) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err("it must be a JSON object, such as {\"tests_run\": 12}".to_owned()),
        Err(error) => Err(format!("it is no JSON: {error}")),
    }
}
