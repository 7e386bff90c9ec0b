//! `hermes kanban create`

use std::process::ExitCode;

use clap::ValueEnum;
use hermes_board::Seconds;
use hermes_board::card::{Card, CardId, GoalMode, Status, WorkspaceKind};
use hermes_board::create::{Beginning, Made, NewCard};
use hermes_board::extras::Extras;

use super::screen::line;
use super::text::{parse_span, parse_time};
use super::{Desk, json, text};
use crate::ui;

/// Make a card
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What it is about
    title: String,
    /// What is to be done
    #[arg(long)]
    body: Option<String>,
    /// The profile that works on it
    #[arg(long)]
    assignee: Option<String>,
    /// A card it waits for; may be given several times
    #[arg(long, value_name = "CARD")]
    parent: Vec<String>,
    /// Where it is worked on: scratch, worktree, worktree:PATH or dir:PATH
    #[arg(long, default_value = "scratch", value_parser = workspace)]
    workspace: Workspace,
    /// The branch of a worktree
    #[arg(long)]
    branch: Option<String>,
    /// The project it belongs to
    #[arg(long)]
    project: Option<String>,
    /// A name space of its own
    #[arg(long)]
    tenant: Option<String>,
    /// Larger comes sooner
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    priority: i64,
    /// Not understood well enough yet: somebody looks at it first
    #[arg(long)]
    triage: bool,
    /// If there is a card with this key already, that one is meant
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    /// Longest time of one attempt: 300, 90s, 30m, 2h, 1d
    #[arg(long, value_parser = parse_span, value_name = "SPAN")]
    max_runtime: Option<i64>,
    /// Who makes it
    #[arg(long, default_value = "user", value_name = "NAME")]
    created_by: String,
    /// A skill the worker loads; may be given several times
    #[arg(long)]
    skill: Vec<String>,
    /// Failures in a row before nobody tries any more
    #[arg(long, value_name = "N")]
    max_retries: Option<i64>,
    /// A judge looks at every answer until the goal is reached
    #[arg(long)]
    goal: bool,
    /// Most turns of that
    #[arg(long, value_name = "N")]
    goal_max_turns: Option<i64>,
    /// Where it begins
    #[arg(long, value_enum, default_value = "running")]
    initial_status: Initial,
    /// The model the worker uses
    #[arg(long)]
    model: Option<String>,
    /// The provider the worker uses
    #[arg(long)]
    provider: Option<String>,
    /// The toolsets the worker has, with commas between
    #[arg(long, alias = "toolset", value_delimiter = ',', value_name = "NAMES")]
    toolsets: Vec<String>,
    /// Most tokens of all attempts
    #[arg(long, value_name = "N")]
    max_tokens: Option<i64>,
    /// Most money of all attempts, in dollars
    #[arg(long, value_name = "USD", value_parser = super::edit::money)]
    max_cost: Option<f64>,
    /// When it should be finished: 2h, 14:30, 2026-12-24, "2026-12-24 14:30"
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    deadline: Option<Seconds>,
    /// Begin only then
    #[arg(long, value_name = "TIME", value_parser = parse_time, conflicts_with = "triage")]
    run_at: Option<Seconds>,
    /// Who looks at the work before it is done: a profile, "human", or "command:..."
    #[arg(long, value_name = "WHO")]
    reviewer: Option<String>,
    /// A command that must succeed before the card is done
    #[arg(long, value_name = "COMMAND")]
    accept: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Initial {
    /// Ready, or waiting for what it waits for
    Running,
    /// Blocked until somebody lets it go
    Blocked,
}

/// Where a card is worked on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// How.
    pub kind: WorkspaceKind,
    /// The directory.
    pub path: Option<String>,
}

/// Reads where a card is worked on.
pub fn workspace(text: &str) -> Result<Workspace, String> {
    let (kind, path) = text.split_once(':').map_or((text, None), |(kind, path)| (kind, Some(path)));
    let path = path.filter(|path| !path.is_empty()).map(str::to_owned);
    match (WorkspaceKind::parse(kind), &path) {
        (Some(WorkspaceKind::Dir), None) => Err("say which directory: dir:/path".to_owned()),
        (Some(WorkspaceKind::Scratch), Some(_)) => {
            Err("a scratch directory has no path of its own".to_owned())
        }
        (Some(kind), _) => Ok(Workspace { kind, path }),
        (None, _) => Err("say scratch, worktree, worktree:PATH or dir:PATH".to_owned()),
    }
}

/// Makes a card.
pub fn run(desk: &Desk<'_>, args: &Args) -> anyhow::Result<ExitCode> {
    let path = args.workspace.path.as_deref().map(|path| desk.absolute(path)).transpose()?;
    let new = NewCard {
        body: args.body.clone(),
        assignee: args.assignee.clone(),
        created_by: Some(args.created_by.clone()),
        workspace_kind: args.workspace.kind,
        workspace_path: path,
        branch_name: args.branch.clone(),
        tenant: args.tenant.clone().or_else(|| desk.app.var("HERMES_TENANT").map(str::to_owned)),
        priority: args.priority,
        parents: args.parent.iter().map(CardId::new).collect(),
        beginning: match (args.initial_status, args.triage) {
            (Initial::Blocked, _) => Beginning::Blocked,
            (Initial::Running, true) => Beginning::Triage,
            (Initial::Running, false) => Beginning::Usual,
        },
        idempotency_key: args.idempotency_key.clone(),
        max_runtime_seconds: args.max_runtime,
        skills: args.skill.clone(),
        max_retries: args.max_retries,
        goal_mode: if args.goal { GoalMode::On } else { GoalMode::Off },
        goal_max_turns: args.goal_max_turns,
        project_id: args.project.clone(),
        session_id: desk.app.var("HERMES_SESSION_ID").map(str::to_owned),
        model: args.model.clone(),
        extras: Extras {
            provider: args.provider.clone(),
            toolsets: args.toolsets.iter().filter(|name| !name.trim().is_empty()).cloned().collect(),
            max_tokens: args.max_tokens,
            max_cost: args.max_cost,
            deadline: args.deadline,
            run_at: args.run_at,
            reviewer: args.reviewer.clone(),
            acceptance: args.accept.clone().filter(|command| !command.trim().is_empty()),
            ..Extras::default()
        },
        ..NewCard::new(&args.title)
    };
    if new.assignee.is_none() {
        // Settings that cannot be read are told before anything is made: whoever tries again makes no second card.
        desk.default_assignee()?;
    }
    let created = desk.board()?.create(&new, desk.now)?;
    let card = &created.card;
    if desk.json {
        ui::print_json(&json::card(card, desk.fallback([card])?.as_deref()))?;
        return Ok(ExitCode::SUCCESS);
    }
    // Chat platforms read this line.
    let assignee = card.assignee.as_deref().map_or_else(|| "-".to_owned(), |name| line(name, 60));
    ui::print(&format!("Created {}  ({}, assignee={assignee})", card.id, card.status))?;
    if created.made == Made::Before {
        ui::note("it was there already, with the same key");
    }
    hints(desk, card, &new.extras)
}

/// What somebody who just made a card should know.
fn hints(desk: &Desk<'_>, card: &Card, extras: &Extras) -> anyhow::Result<ExitCode> {
    let open = !matches!(card.status, Status::Done | Status::Archived);
    if card.assignee.is_none() && open {
        match desk.default_assignee()? {
            Some(name) => ui::note(&format!("it will go to \"{name}\" (kanban.default_assignee)")),
            None => ui::note(&format!(
                "nobody will take it: `hermes kanban assign {} PROFILE` names somebody",
                card.id
            )),
        }
    } else if let Some(name) = card.assignee.as_deref().filter(|name| !desk.has_profile(name)) {
        ui::note(&format!("there is no profile \"{}\" here: nobody is started for it", line(name, 60)));
    }
    if let Some(at) = extras.deadline.filter(|at| *at <= desk.now) {
        ui::note(&format!("its deadline, {}, is over already", text::at(at)));
    }
    let reviewer = extras.reviewer.as_deref().filter(|who| *who != "human" && !who.starts_with("command:"));
    if let Some(name) = reviewer.filter(|name| !desk.has_profile(&name.trim().to_lowercase())) {
        ui::note(&format!("there is no profile \"{}\" here to look at the work", line(name, 60)));
    }
    Ok(ExitCode::SUCCESS)
}

impl Desk<'_> {
    /// A path as it is from everywhere.
    pub fn absolute(&self, path: &str) -> anyhow::Result<String> {
        let path = match path.strip_prefix("~/") {
            Some(rest) => self.app.user_home().join(rest),
            None => std::path::absolute(path)?,
        };
        Ok(path.display().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workspaces_are_read() {
        let kind = |text: &str| workspace(text).map(|workspace| (workspace.kind, workspace.path));
        assert_eq!(kind("scratch"), Ok((WorkspaceKind::Scratch, None)));
        assert_eq!(kind("worktree:/a:b"), Ok((WorkspaceKind::Worktree, Some("/a:b".into()))));
        assert_eq!(kind("dir:/a"), Ok((WorkspaceKind::Dir, Some("/a".into()))));
        for bad in ["dir", "dir:", "scratch:/a", "", "elsewhere"] {
            assert!(kind(bad).is_err(), "{bad}");
        }
    }
}
