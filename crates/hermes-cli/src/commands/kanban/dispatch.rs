//! `hermes kanban dispatch`: one look at the board, and what comes of it.

use std::fmt::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use hermes_board::claim::Claimer;
use hermes_board::daemon::lock;
use hermes_board::dispatch::{Elsewhere, Report, Rules, Scope, Snapshot, World, plan};
use hermes_board::query::Archived;
use hermes_board::state::{Mode, State};
use hermes_board::worker::launch::Processes;
use hermes_board::worker::orphans::Cleaning;
use hermes_board::worker::world;
use hermes_board::{Board, CardId, Status, boards};

use super::Desk;
use crate::ui;

/// Look at the board once: take back, let go, start
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only say what would be done; nothing is changed
    #[arg(long)]
    dry_run: bool,
    /// Start no more when so many cards are running
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    max: Option<u32>,
    /// Failures in a row before nobody tries a card any more
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    failure_limit: Option<u32>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// How long another who looks at the board is waited for, and workers to begin.
const PATIENCE: Duration = Duration::from_secs(3);
const AGAIN: Duration = Duration::from_millis(20);

/// Looks at the board once.
pub fn run(desk: &Desk<'_>, args: &Args) -> anyhow::Result<ExitCode> {
    let mut rules = desk.rules()?;
    rules.max_spawn = args.max.or(rules.max_spawn);
    rules.failure_limit = args.failure_limit.unwrap_or(rules.failure_limit);
    let report = if args.dry_run { dry(desk, &rules)? } else { real(desk, &rules)? };
    if args.json {
        ui::print_json(&report)?;
    } else {
        ui::print(&text(&report, args.dry_run))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What would be done. A board that nobody started yet is looked at as if it were: that is what the command would do.
fn dry(desk: &Desk<'_>, rules: &Rules) -> anyhow::Result<Report> {
    let Some(mut board) = desk.look()? else { return Ok(Report::default()) };
    let mut snapshot = board.snapshot(Scope::All, rules, desk.now)?;
    if snapshot.state.mode == Mode::Parked {
        snapshot.state.mode = Mode::Active;
    }
    Ok(Report::of(&plan(&snapshot, rules, &see(desk, &snapshot)?, desk.now)))
}

fn real(desk: &Desk<'_>, rules: &Rules) -> anyhow::Result<Report> {
    let mut board = desk.board()?;
    let since = Instant::now();
    let lock = loop {
        if let Some(lock) = lock::look(&desk.root, &desk.slug)? {
            break lock;
        }
        if since.elapsed() > PATIENCE {
            ui::note("hermes: another dispatcher is looking at this board: nothing was done");
            return Ok(Report { skipped_locked: true, ..Report::default() });
        }
        std::thread::sleep(AGAIN);
    };
    let state = board.state()?;
    match state.mode {
        Mode::Parked => {
            let by = Some(desk.author(None));
            let reason = Some("dispatch".to_owned());
            board.set_state(&State { mode: Mode::Active, by, reason, since: Some(desk.now) })?;
        }
        Mode::Paused | Mode::Draining => {
            ui::warn("this board starts no cards now: `hermes kanban resume` lets it go on");
        }
        Mode::Active => {}
    }
    let snapshot = board.snapshot(Scope::All, rules, desk.now)?;
    let mut world = see(desk, &snapshot)?;
    let mut processes =
        Processes::new(std::env::current_exe()?, desk.app.home.profile().as_str(), desk.app.env.clone());
    board.end_orphans(&mut world, &mut processes, &mut Cleaning::default(), desk.now)?;
    let plan = plan(&snapshot, rules, &world, desk.now);
    let report = board.apply(&plan, rules, &claimer(), &mut processes, desk.now)?;
    drop(lock);
    wait_for_beginnings(&mut board, &report)?;
    Ok(report)
}

/// Waits until the workers that were started have begun or failed: once this program has ended, nobody could tell one
/// that is about to begin from one that never will.
fn wait_for_beginnings(board: &mut Board, report: &Report) -> anyhow::Result<()> {
    let since = Instant::now();
    for spawned in &report.spawned {
        loop {
            let card = board.card(&spawned.task_id)?;
            let begins = card.status == Status::Running && card.worker_pid.is_none();
            if !begins || since.elapsed() > PATIENCE {
                break;
            }
            std::thread::sleep(AGAIN);
        }
    }
    Ok(())
}

fn see(desk: &Desk<'_>, snapshot: &Snapshot) -> anyhow::Result<World> {
    Ok(world::see(snapshot, &claimer(), desk.app.home.root(), elsewhere(desk)?))
}

fn claimer() -> Claimer {
    Claimer { host: super::act::host(), pid: std::process::id() }
}

/// What runs on the other boards. One that cannot be read is its own dispatcher's trouble.
fn elsewhere(desk: &Desk<'_>) -> anyhow::Result<Elsewhere> {
    let mut sum = Elsewhere::default();
    if desk.root.overrides().database.is_some() {
        return Ok(sum);
    }
    for other in boards::list(&desk.root, Archived::Hidden) {
        if other.slug == desk.slug || !desk.root.database(&other.slug).exists() {
            continue;
        }
        match Board::look(&desk.root, &other.slug) {
            Ok(Some(mut board)) => sum.add(&board.running()?),
            Ok(None) => {}
            Err(error) => {
                ui::warn(&format!("what runs on the board \"{}\" is not known: {error}", other.slug));
            }
        }
    }
    Ok(sum)
}

/// What was done, or would be.
fn text(report: &Report, dry: bool) -> String {
    let mut text = String::new();
    let mut line = |label: &str, ids: &[CardId]| {
        if !ids.is_empty() {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{:<14}{}  ({})", format!("{label}:"), ids.len(), names(ids));
        }
    };
    line("Crashed", &report.crashed);
    line("Timed out", &report.timed_out);
    line("Stale", &report.stale);
    line("Rate limited", &report.rate_limited);
    line("Auto-blocked", &report.auto_blocked);
    line("Auto-assigned", &report.auto_assigned_default);
    line("Splitting", &report.splitting);
    let mut lines = format!("{:<14}{}\n{text}", "Reclaimed:", report.reclaimed);
    let _ = writeln!(lines, "{:<14}{}", "Promoted:", report.promoted);
    let _ = writeln!(lines, "{:<14}{}", "Spawned:", report.spawned.len());
    for spawned in &report.spawned {
        let place = if spawned.workspace.is_empty() { "-" } else { &spawned.workspace };
        let mark = if dry { "  (dry)" } else { "" };
        let _ = writeln!(
            lines,
            "  - {} -> {} @ {}{mark}",
            spawned.task_id,
            spawned.assignee,
            ui::harmless(place)
        );
    }
    passed_over(&mut lines, report);
    lines.truncate(lines.trim_end().len());
    lines
}

fn passed_over(lines: &mut String, report: &Report) {
    let skipped =
        [("nobody was named", &report.skipped_unassigned), ("no such profile", &report.skipped_nonspawnable)];
    for (why, ids) in skipped {
        if !ids.is_empty() {
            let _ = writeln!(lines, "Skipped, {why}: {}", names(ids));
        }
    }
    for capped in &report.skipped_per_profile_capped {
        let _ = writeln!(
            lines,
            "Deferred, per-profile cap: {} ({} has {} running)",
            capped.task_id, capped.assignee, capped.current
        );
    }
    for passed in report.respawn_guarded.iter().chain(&report.skipped) {
        let _ = writeln!(lines, "Skipped, {}: {}", ui::harmless(&passed.reason), passed.task_id);
    }
    for (cap, count) in &report.waiting_for_cap {
        let _ = writeln!(lines, "Waiting for {cap}: {count}");
    }
}

/// So many names fit on a line.
const NAMED: usize = 20;

fn names(ids: &[CardId]) -> String {
    let mut names = ids.iter().take(NAMED).map(CardId::as_str).collect::<Vec<_>>().join(", ");
    if ids.len() > NAMED {
        let _ = write!(names, ", and {} more", ids.len() - NAMED);
    }
    names
}
