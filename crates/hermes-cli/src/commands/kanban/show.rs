//! `hermes kanban show`, `runs` and `context`.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::ValueEnum;
use hermes_board::card::{Card, CardId, GoalMode};
use hermes_board::links::LinkKind;
use hermes_board::query::Details;
use hermes_board::rows::{Attempt, Happened};
use hermes_board::{Seconds, Status};
use hermes_home::settings::table::kanban as settings;

use super::screen::{line, lines as plain, pad};
use super::{Desk, diagnose, json, text};
use crate::commands::sessions::text::{dollars, tokens};
use crate::ui;

/// Events shown without being asked for all.
const EVENTS: usize = 20;

/// Show a card with all that belongs to it
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The card
    task_id: String,
    #[command(flatten)]
    which: Which,
}

/// List the attempts at a card
#[derive(Debug, clap::Args)]
pub struct RunsArgs {
    /// The card
    task_id: String,
    #[command(flatten)]
    which: Which,
}

#[derive(Debug, clap::Args)]
struct Which {
    /// Only attempts whose status or outcome is as named
    #[arg(long, value_enum, requires = "state_name")]
    state_type: Option<State>,
    /// The status or outcome
    #[arg(long, requires = "state_type", value_name = "WORD")]
    state_name: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum State {
    /// `running` or how it ended
    Status,
    /// How it ended
    Outcome,
}

impl Which {
    fn of<'a>(&self, details: &'a Details) -> Vec<&'a Attempt> {
        let wanted = |attempt: &&Attempt| match (self.state_type, &self.state_name) {
            (Some(State::Status), Some(name)) => attempt.status == *name,
            (Some(State::Outcome), Some(name)) => {
                attempt.outcome.is_some_and(|outcome| outcome.as_str() == name)
            }
            _ => true,
        };
        details.attempts.iter().filter(wanted).collect()
    }
}

/// Shows a card.
pub fn show(desk: &Desk<'_>, args: &Args) -> anyhow::Result<ExitCode> {
    let details = desk.details(&args.task_id)?;
    let attempts = args.which.of(&details);
    if desk.json {
        let fallback = desk.fallback([&details.card])?;
        ui::print_json(&json::details(&details, &attempts, fallback.as_deref()))?;
    } else {
        ui::print(&describe(desk, &details, &attempts)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Lists attempts.
pub fn runs(desk: &Desk<'_>, args: &RunsArgs) -> anyhow::Result<ExitCode> {
    let details = desk.details(&args.task_id)?;
    let attempts = args.which.of(&details);
    if desk.json {
        ui::print_json(&attempts.iter().map(|attempt| json::run(attempt)).collect::<Vec<_>>())?;
    } else if attempts.is_empty() {
        ui::print("No attempts yet.")?;
    } else {
        let mut lines = String::new();
        let _ = writeln!(lines, "{:<4}{:<12}  {:<16}  {:<8}  STARTED", "#", "OUTCOME", "PROFILE", "ELAPSED");
        for attempt in attempts {
            let profile = pad(&line(attempt.profile.as_deref().unwrap_or("-"), 16), 16);
            let elapsed = text::span(attempt.ended_at.unwrap_or(desk.now) - attempt.started_at);
            let started = text::at(attempt.started_at);
            let _ = writeln!(
                lines,
                "{:<4}{}  {profile}  {elapsed:<8}  {started}",
                attempt.id.0,
                pad(&line(outcome(attempt), 12), 12)
            );
            said(&mut lines, attempt, 100);
        }
        ui::print(&lines)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Print what a worker is told of its card
#[derive(Debug, clap::Args)]
pub struct ContextArgs {
    /// The card
    task_id: String,
}

/// Prints what a worker is told.
pub fn context(desk: &Desk<'_>, args: &ContextArgs) -> anyhow::Result<ExitCode> {
    let id = CardId::new(&args.task_id);
    let text = match desk.look()? {
        Some(mut board) => board.context(&id, desk.app.var("TERMINAL_TIMEOUT"), desk.now)?,
        None => return Err(hermes_board::BoardError::NoCard(vec![id]).into()),
    };
    desk.say(&plain(&text), || serde_json::json!({ "task_id": id, "context": text }))
}

impl Desk<'_> {
    fn details(&self, id: &str) -> anyhow::Result<Details> {
        let id = CardId::new(id);
        match self.look()? {
            Some(mut board) => Ok(board.details(&id)?),
            None => Err(hermes_board::BoardError::NoCard(vec![id]).into()),
        }
    }
}

fn outcome(attempt: &Attempt) -> &str {
    attempt.outcome.map_or(attempt.status.as_str(), |outcome| outcome.as_str())
}

fn said(lines: &mut String, attempt: &Attempt, width: usize) {
    let first =
        |text: &Option<String>| text.as_deref().and_then(|text| text.lines().next().map(|l| line(l, width)));
    if let Some(summary) = first(&attempt.summary) {
        let _ = writeln!(lines, "    → {summary}");
    }
    if let Some(error) = first(&attempt.error) {
        let _ = writeln!(lines, "    ! {error}");
    }
}

fn describe(desk: &Desk<'_>, details: &Details, attempts: &[&Attempt]) -> anyhow::Result<String> {
    let card = &details.card;
    let paint = desk.screen().paint;
    let mut out = format!("{}\n", paint.bold(&format!("Task {}: {}", card.id, line(&card.title, 200))));
    for (key, value) in facts(desk, details)? {
        let value = line(&value, 400);
        let value = if key == "status:" { paint.colour(text::colour(card.status), &value) } else { value };
        let _ = writeln!(out, "  {} {value}", paint.faint(&pad(key, 12)));
    }
    if let Some(mut board) = desk.look()? {
        for (_, wrong) in board.diagnostics(Some(&card.id), &desk.thresholds()?, desk.now)? {
            let _ = write!(out, "\nDiagnostics:\n{}", diagnose::lines(&wrong, paint));
        }
        let files = board.attachments(&card.id)?;
        if !files.is_empty() {
            let _ = writeln!(out, "\nFiles ({}):", files.len());
        }
        for file in files {
            let _ = writeln!(out, "  #{} {}  {}", file.id, line(&file.filename, 100), ui::size(file.size));
        }
    }
    let mut section = |title: &str, text: &str| {
        let _ = write!(out, "\n{title}:\n{}\n", plain(text));
    };
    if let Some(body) = &card.body {
        section("Body", body);
    }
    match (&card.result, details.latest_summary()) {
        (Some(result), _) => section("Result", result),
        (None, Some(summary)) => section("Latest summary", summary),
        (None, None) => {}
    }
    if !details.comments.is_empty() {
        let _ = writeln!(out, "\nComments ({}):", details.comments.len());
        for comment in &details.comments {
            let body = plain(&comment.body).replace('\n', "\n    ");
            let _ =
                writeln!(out, "  [{}] {}: {body}", text::at(comment.created_at), line(&comment.author, 40));
        }
    }
    let _ = writeln!(out, "\nEvents ({}):", details.events.len());
    for event in details.events.iter().skip(details.events.len().saturating_sub(EVENTS)) {
        let _ = writeln!(out, "  {}", happened(event));
    }
    if !attempts.is_empty() {
        let _ = writeln!(out, "\nRuns ({}):", attempts.len());
        for attempt in attempts {
            let elapsed = text::span(attempt.ended_at.unwrap_or(desk.now) - attempt.started_at);
            let profile = line(attempt.profile.as_deref().unwrap_or("-"), 30);
            let started = text::at(attempt.started_at);
            let _ = writeln!(
                out,
                "  #{} {} @{profile} {elapsed} {started}",
                attempt.id,
                line(outcome(attempt), 40)
            );
            said(&mut out, attempt, 160);
        }
    }
    Ok(out)
}

/// What happened, on one line.
pub fn happened(event: &Happened) -> String {
    let run = event.run_id.map(|run| format!("[run {run}] ")).unwrap_or_default();
    let payload = event.payload.as_ref().map(ToString::to_string).unwrap_or_default();
    format!("[{}] {run}{} {}", text::at(event.created_at), line(&event.kind, 60), line(&payload, 300))
        .trim_end()
        .to_owned()
}

fn facts(desk: &Desk<'_>, details: &Details) -> anyhow::Result<Vec<(&'static str, String)>> {
    let card = &details.card;
    let fallback = if card.assignee.is_none() { desk.default_assignee()? } else { None };
    let mut facts =
        vec![("status:", card.status.to_string()), ("assignee:", text::who(card, fallback.as_deref()))];
    let mut add = |key, value: Option<String>| facts.extend(value.map(|value| (key, value)));
    add("priority:", (card.priority != 0).then(|| card.priority.to_string()));
    add("tenant:", card.tenant.clone());
    add("workspace:", Some(workspace(card)));
    add("branch:", card.branch_name.clone());
    add("skills:", (!card.skills.is_empty()).then(|| card.skills.join(", ")));
    add("model:", card.model.clone());
    add("provider:", details.extras.provider.clone());
    add("toolsets:", (!details.extras.toolsets.is_empty()).then(|| details.extras.toolsets.join(", ")));
    add("project:", card.project_id.clone());
    add("goal:", goal(card));
    add("limits:", limits(details));
    add("used:", used(details));
    add("reviewer:", details.extras.reviewer.clone());
    add("acceptance:", details.extras.acceptance.clone());
    add("key:", card.idempotency_key.clone());
    add("max-retries:", Some(retries(desk, card)?));
    add("created:", {
        let by = card.created_by.as_deref().unwrap_or("somebody");
        Some(format!("{} by {by}", text::at(card.created_at)))
    });
    add("started:", card.started_at.map(text::at));
    add("completed:", card.completed_at.map(text::at));
    let later = |at: Option<Seconds>| at.filter(|at| *at > desk.now).map(text::at);
    add(
        "deadline:",
        details.extras.deadline.map(|at| {
            let late = if at < desk.now && card.status != Status::Done { " (over)" } else { "" };
            format!("{}{late}", text::at(at))
        }),
    );
    add("waits until:", details.extras.run_at.filter(|_| card.status == Status::Scheduled).map(text::at));
    add("not before:", later(details.extras.not_before));
    add("edited until:", later(details.extras.editing_until));
    add("passed over:", details.extras.skip_reason.clone().filter(|_| card.status == Status::Ready));
    add("blocked:", card.block_kind.filter(|_| card.status == Status::Blocked).map(|kind| kind.to_string()));
    add("held by:", card.claim_lock.clone());
    add("last error:", card.last_error.clone());
    add("parents:", (!details.parents.is_empty()).then(|| parents(details)));
    add("children:", (!details.children.is_empty()).then(|| text::names(&details.children)));
    Ok(facts)
}

fn parents(details: &Details) -> String {
    let one = |(id, kind, status): &(CardId, LinkKind, Option<Status>)| {
        let status = status.map_or("gone", Status::as_str);
        match kind {
            LinkKind::Hard => format!("{id} ({status})"),
            kind => format!("{id} ({}, {status})", kind.as_str()),
        }
    };
    details.parent_links.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn goal(card: &Card) -> Option<String> {
    let turns = || card.goal_max_turns.map(|most| format!(", at most {most} turns")).unwrap_or_default();
    (card.goal_mode == GoalMode::On).then(|| format!("a judge looks at every answer{}", turns()))
}

fn limits(details: &Details) -> Option<String> {
    let runtime = details.card.max_runtime_seconds.map(|most| format!("{} an attempt", text::span(most)));
    let tokens = details.extras.max_tokens.map(|most| format!("{most} tokens"));
    let money = details.extras.max_cost.map(dollars);
    let all: Vec<String> = [runtime, tokens, money].into_iter().flatten().collect();
    (!all.is_empty()).then(|| all.join(", "))
}

fn used(details: &Details) -> Option<String> {
    let usage = &details.usage;
    let count = tokens(usage.tokens().unsigned_abs());
    (usage.tokens() > 0).then(|| format!("{count} tokens, {}", dollars(usage.cost_usd)))
}

fn workspace(card: &Card) -> String {
    match &card.workspace_path {
        Some(path) => format!("{} @ {path}", card.workspace_kind),
        None => card.workspace_kind.to_string(),
    }
}

fn retries(desk: &Desk<'_>, card: &Card) -> anyhow::Result<String> {
    Ok(match card.max_retries {
        Some(limit) => format!("{limit} (card)"),
        None => format!("{} (kanban.failure_limit)", desk.app.settings()?.get(&settings::FAILURE_LIMIT)?),
    })
}
