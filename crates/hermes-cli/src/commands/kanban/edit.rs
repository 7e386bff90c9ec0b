//! `hermes kanban edit`: changing what a card says.

use std::io::IsTerminal;
use std::process::ExitCode;

use anyhow::Context;
use hermes_board::card::{CardId, GoalMode};
use hermes_board::edit::{Change, Others, Set};
use hermes_board::{Board, Card, Seconds};
use serde_json::{Value, json};

use super::act::object;
use super::create::{Workspace, workspace};
use super::text::{parse_span, parse_time};
use super::{Desk, text};
use crate::ui;

/// Change what a card says
///
/// Everything that `create` takes can be changed; "none" takes away what a card need not have. While somebody edits a
/// card (--editor, --lock) it is not started.
#[derive(Debug, clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of its own on the command line")]
pub struct Args {
    /// The card
    task_id: String,
    /// What it is about
    #[arg(long)]
    title: Option<String>,
    /// What is to be done; "" takes it away
    #[arg(long)]
    body: Option<String>,
    /// The profile that works on it
    #[arg(long)]
    assignee: Option<String>,
    /// Larger comes sooner
    #[arg(long, allow_negative_numbers = true)]
    priority: Option<i64>,
    /// A name space of its own
    #[arg(long, value_parser = words)]
    tenant: Option<Set<String>>,
    /// Where it is worked on: scratch, worktree, worktree:PATH or dir:PATH
    #[arg(long, value_parser = workspace)]
    workspace: Option<Workspace>,
    /// The branch of a worktree
    #[arg(long, value_parser = words)]
    branch: Option<Set<String>>,
    /// The project it belongs to
    #[arg(long, value_parser = words)]
    project: Option<Set<String>>,
    /// If there is a card with this key already, that one is meant
    #[arg(long, value_name = "KEY", value_parser = words)]
    idempotency_key: Option<Set<String>>,
    /// Longest time of one attempt: 300, 90s, 30m, 2h, 1d
    #[arg(long, value_name = "SPAN", value_parser = or_none(parse_span))]
    max_runtime: Option<Set<i64>>,
    /// The skills the worker loads, with commas between
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    skills: Option<Vec<String>>,
    /// Failures in a row before nobody tries any more
    #[arg(long, value_name = "N", value_parser = or_none(number))]
    max_retries: Option<Set<i64>>,
    /// A judge looks at every answer until the goal is reached
    #[arg(long, conflicts_with = "no_goal")]
    goal: bool,
    /// No judge looks at answers
    #[arg(long)]
    no_goal: bool,
    /// Most turns of that
    #[arg(long, value_name = "N", value_parser = or_none(number))]
    goal_max_turns: Option<Set<i64>>,
    /// The model the worker uses
    #[arg(long, value_parser = words)]
    model: Option<Set<String>>,
    /// The provider the worker uses
    #[arg(long, value_parser = words)]
    provider: Option<Set<String>>,
    /// The toolsets the worker has, with commas between
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    toolsets: Option<Vec<String>>,
    /// Most tokens of all attempts
    #[arg(long, value_name = "N", value_parser = or_none(number))]
    max_tokens: Option<Set<i64>>,
    /// Most money of all attempts, in dollars
    #[arg(long, value_name = "USD", value_parser = or_none(money))]
    max_cost: Option<Set<f64>>,
    /// When it should be finished: 2h, 14:30, 2026-12-24
    #[arg(long, value_name = "TIME", value_parser = or_none(parse_time))]
    deadline: Option<Set<Seconds>>,
    /// When a scheduled card becomes ready
    #[arg(long, value_name = "TIME", value_parser = or_none(parse_time))]
    run_at: Option<Set<Seconds>>,
    /// Who looks at the work: a profile, "human", or "command:..."
    #[arg(long, value_name = "WHO", value_parser = words)]
    reviewer: Option<Set<String>>,
    /// A command that must succeed before the card is done
    #[arg(long, value_name = "COMMAND", value_parser = words)]
    accept: Option<Set<String>>,
    /// Write title and text in your editor ($VISUAL, $EDITOR); the card is not started meanwhile
    #[arg(long, conflicts_with_all = ["title", "body", "lock", "unlock"])]
    editor: bool,
    /// Keep the card from being started for so long, because you edit it
    #[arg(long, value_name = "SPAN", num_args = 0..=1, default_missing_value = "1h", value_parser = parse_span)]
    lock: Option<i64>,
    /// Let the card be started again
    #[arg(long, conflicts_with = "lock")]
    unlock: bool,
    /// What came of a finished card, anew
    #[arg(long)]
    result: Option<String>,
    /// What those who go on from a finished card should know, anew
    #[arg(long, requires = "result")]
    summary: Option<String>,
    /// A JSON object of facts about a finished card, anew
    #[arg(long, value_parser = object, requires = "result")]
    metadata: Option<Value>,
}

/// How long an editor may be open.
const EDITING: Seconds = 3600;

fn words(text: &str) -> Result<Set<String>, String> {
    or_none(|text| Ok(text.to_owned()))(text)
}

/// Reads a value; "none" and nothing at all take it away.
fn or_none<T: Clone>(
    read: impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static,
) -> impl Fn(&str) -> Result<Set<T>, String> + Clone + Send + Sync + 'static {
    move |text| match text.trim() {
        "" | "none" => Ok(Set::Clear),
        text => read(text).map(Set::To),
    }
}

fn number(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| format!("\"{text}\" is no whole number"))
}

/// Reads an amount of money.
pub fn money(text: &str) -> Result<f64, String> {
    let amount = text.trim_start_matches('$').parse::<f64>().ok().filter(|amount| amount.is_finite());
    amount.ok_or_else(|| format!("\"{text}\" is no amount of dollars: say 2.50"))
}

/// Changes a card.
pub fn run(desk: &Desk<'_>, args: &Args) -> anyhow::Result<ExitCode> {
    let id = CardId::new(&args.task_id);
    let mut change = wanted(desk, args)?;
    let only_lock = args.lock.is_some() || args.unlock;
    if change == Change::default()
        && !only_lock
        && !args.editor
        && args.result.is_none()
        && args.assignee.is_none()
    {
        let text =
            "say what to change: --title, --body, --editor, ...; `hermes kanban edit --help` lists it all";
        return Err(ui::WrongUsage(text.to_owned()).into());
    }
    let mut board = desk.board()?;
    let mut fields: Vec<&str> = Vec::new();
    if let Some(span) = args.lock {
        board.hold_for_edit(&id, desk.now + span, Others::Overruled, desk.now)?;
    }
    if args.editor {
        let (title, body) = in_editor(desk, &mut board, &id)?;
        change.title = Some(title);
        change.body = if body.is_empty() { Set::Clear } else { Set::To(body) };
    }
    let changed = apply(desk, &mut board, &id, args, &change, &mut fields);
    if args.unlock || args.editor {
        board.release_edit(&id, desk.now)?;
    }
    changed?;
    let text = match (fields.as_slice(), args.lock) {
        ([], Some(span)) => format!("{id} is not started until {}", text::at(desk.now + span)),
        ([], None) if args.unlock => format!("{id} may be started again"),
        ([], None) => format!("{id} says that already"),
        (fields, _) => format!("Edited {id} ({})", fields.join(", ")),
    };
    desk.say(
        &text,
        || json!({ "task_id": id, "fields": fields, "editing_until": args.lock.map(|span| desk.now + span) }),
    )
}

fn apply(
    desk: &Desk<'_>,
    board: &mut Board,
    id: &CardId,
    args: &Args,
    change: &Change,
    fields: &mut Vec<&str>,
) -> anyhow::Result<()> {
    if let Some(name) = &args.assignee {
        let to = (name != "none" && !name.is_empty()).then_some(name.as_str());
        if board.card(id)?.assignee.as_deref() != to {
            board.assign(id, to, desk.now)?;
            fields.push("assignee");
        }
    }
    if *change != Change::default() {
        fields.extend(board.change(id, change, desk.now)?);
    }
    if let Some(result) = &args.result {
        board.edit(id, result, args.summary.as_deref(), args.metadata.as_ref(), desk.now)?;
        fields.push("result");
    }
    Ok(())
}

fn wanted(desk: &Desk<'_>, args: &Args) -> anyhow::Result<Change> {
    let place = match &args.workspace {
        Some(place) => {
            let path = place.path.as_deref().map(|path| desk.absolute(path)).transpose()?;
            Some((place.kind, path))
        }
        None => None,
    };
    let names = |names: &Option<Vec<String>>| {
        names.as_ref().map(|names| {
            names.iter().filter(|name| !name.is_empty() && *name != "none").cloned().collect::<Vec<_>>()
        })
    };
    Ok(Change {
        title: args.title.clone(),
        body: match args.body.as_deref() {
            None => Set::Keep,
            Some("") => Set::Clear,
            Some(body) => Set::To(body.to_owned()),
        },
        priority: args.priority,
        tenant: args.tenant.clone().unwrap_or_default(),
        workspace: place,
        branch: args.branch.clone().unwrap_or_default(),
        project: args.project.clone().unwrap_or_default(),
        idempotency_key: args.idempotency_key.clone().unwrap_or_default(),
        max_runtime: args.max_runtime.clone().unwrap_or_default(),
        skills: names(&args.skills),
        max_retries: args.max_retries.clone().unwrap_or_default(),
        goal_mode: match (args.goal, args.no_goal) {
            (true, _) => Some(GoalMode::On),
            (_, true) => Some(GoalMode::Off),
            _ => None,
        },
        goal_max_turns: args.goal_max_turns.clone().unwrap_or_default(),
        model: args.model.clone().unwrap_or_default(),
        provider: args.provider.clone().unwrap_or_default(),
        toolsets: names(&args.toolsets),
        max_tokens: args.max_tokens.clone().unwrap_or_default(),
        max_cost: args.max_cost.clone().unwrap_or_default(),
        deadline: args.deadline.clone().unwrap_or_default(),
        run_at: args.run_at.clone().unwrap_or_default(),
        reviewer: args.reviewer.clone().unwrap_or_default(),
        acceptance: args.accept.clone().unwrap_or_default(),
    })
}

/// Lets somebody write title and text in an editor. What was written is not lost if it cannot be kept.
fn in_editor(desk: &Desk<'_>, board: &mut Board, id: &CardId) -> anyhow::Result<(String, String)> {
    let editor =
        ["VISUAL", "EDITOR"].into_iter().find_map(|v| desk.app.var(v).filter(|e| !e.trim().is_empty()));
    if editor.is_none() && !std::io::stdin().is_terminal() {
        anyhow::bail!("there is no terminal to edit on: set EDITOR, or use --title and --body");
    }
    let editor = editor.unwrap_or("vi");
    let before = board.hold_for_edit(id, desk.now + EDITING, Others::Respected, desk.now)?;
    let written = write(editor, id, &before);
    let after = board.card(id)?;
    let same = (&after.title, &after.body) == (&before.title, &before.body);
    match written {
        Ok((text, _)) if same => {
            let (title, body) = text.split_once('\n').unwrap_or((&text, ""));
            Ok((title.trim().to_owned(), body.trim().to_owned()))
        }
        Ok((_, file)) => {
            let kept =
                file.keep().map_or_else(|error| error.to_string(), |(_, path)| path.display().to_string());
            board.release_edit(id, desk.now)?;
            anyhow::bail!(
                "somebody else changed {id} meanwhile: nothing was changed, what you wrote is in {kept}"
            )
        }
        Err(error) => {
            board.release_edit(id, desk.now)?;
            Err(error)
        }
    }
}

fn write(editor: &str, id: &CardId, card: &Card) -> anyhow::Result<(String, tempfile::NamedTempFile)> {
    let file = tempfile::Builder::new().prefix(&format!("{id}-")).suffix(".md").tempfile()?;
    let body = card.body.as_deref().unwrap_or_default();
    std::fs::write(file.path(), format!("{}\n\n{body}\n", card.title))?;
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or("vi");
    let status =
        std::process::Command::new(program).args(words).arg(file.path()).status().with_context(|| {
            format!("cannot start the editor \"{editor}\": set EDITOR to one that is installed")
        })?;
    if !status.success() {
        anyhow::bail!("the editor \"{editor}\" ended with {status}: nothing was changed");
    }
    Ok((std::fs::read_to_string(file.path())?, file))
}
