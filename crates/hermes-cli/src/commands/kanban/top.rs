//! `hermes kanban top`: the workers that run, live.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use hermes_board::query::{Archived, Filter, Sort};
use hermes_board::workers::Worker;
use hermes_board::{Board, Card, CardId, Slug, Status, boards};
use serde_json::{Value, json};

use super::screen::{Screen, line, table};
use super::{Desk, text};
use crate::commands::sessions::text::{dollars, tokens};
use crate::ui;
use hermes_cli::chat::text::fit;

/// Show the workers that run: profile, age, progress, tokens, money, and the last thing each said
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print once and end
    #[arg(long)]
    once: bool,
    /// The workers of all boards
    #[arg(long)]
    all: bool,
    /// Seconds between looks
    #[arg(long, default_value_t = 1.0, value_name = "SECONDS")]
    interval: f64,
}

/// A running card, and its worker if this program started it.
struct Running {
    board: Slug,
    card: Card,
    worker: Option<Worker>,
}

/// Shows the workers, again and again on a terminal.
pub fn run(desk: &Desk<'_>, args: &Args) -> anyhow::Result<ExitCode> {
    let pause = super::follow::pause(args.interval)?;
    let screen = desk.screen();
    if desk.json || args.once || screen.height.is_none() {
        let running = look(desk, args)?;
        let text = frame(desk, &running, args, &screen);
        return desk.say(&text, || running.iter().map(value).collect());
    }
    live(desk, args, pause)
}

fn live(desk: &Desk<'_>, args: &Args, pause: Duration) -> anyhow::Result<ExitCode> {
    loop {
        // The window may have changed its size.
        let screen = desk.screen();
        let now = jiff::Timestamp::now().as_second();
        let desk = Desk { app: desk.app, root: desk.root.clone(), slug: desk.slug.clone(), now, json: false };
        let text = frame(&desk, &look(&desk, args)?, args, &screen);
        let most = screen.height.unwrap_or(24).saturating_sub(1);
        let shown: String = text.lines().take(most).flat_map(|row| [row, "\u{1b}[K\n"]).collect();
        // Drawn over the last one, so that nothing flickers; what is left below goes away.
        ui::print(&format!("\u{1b}[H{shown}\u{1b}[J"))?;
        std::thread::sleep(pause);
    }
}

fn look(desk: &Desk<'_>, args: &Args) -> anyhow::Result<Vec<Running>> {
    let slugs: Vec<Slug> = if args.all {
        boards::list(&desk.root, Archived::Hidden).into_iter().map(|board| board.slug).collect()
    } else {
        vec![desk.slug.clone()]
    };
    let mut all = Vec::new();
    for slug in slugs {
        let Some(mut board) = Board::look(&desk.root, &slug)? else { continue };
        let mut workers: BTreeMap<CardId, Worker> =
            board.workers()?.into_iter().map(|worker| (worker.card.clone(), worker)).collect();
        let filter = Filter { status: Some(Status::Running), ..Filter::default() };
        for card in board.list(&filter, Sort::Updated)? {
            let worker = workers.remove(&card.id).filter(|worker| card.current_run == Some(worker.run));
            all.push(Running { board: slug.clone(), card, worker });
        }
    }
    Ok(all)
}

fn frame(desk: &Desk<'_>, running: &[Running], args: &Args, screen: &Screen) -> String {
    // The sum of nothing would be a negative zero.
    let money: f64 =
        running.iter().filter_map(|one| Some(one.worker.as_ref()?.usage.cost_usd)).fold(0.0, |a, b| a + b);
    let used: i64 = running.iter().filter_map(|one| Some(one.worker.as_ref()?.usage.tokens())).sum();
    let what = if args.all { "all boards".to_owned() } else { format!("board \"{}\"", desk.slug) };
    let mut out = format!(
        "{} of {what}, {} tokens, {}\n",
        ui::count(running.len() as u64, "running card"),
        tokens(used.unsigned_abs()),
        dollars(money)
    );
    if running.is_empty() {
        let _ = writeln!(out, "Nothing runs. `hermes kanban status` says why.");
        return out;
    }
    let rows: Vec<Vec<String>> = running.iter().map(|one| row(desk, one, args)).collect();
    let head: &[&str] = if args.all {
        &["BOARD", "CARD", "PROFILE", "AGE", "PROGRESS", "TOKENS", "MONEY", "TITLE", "LAST SAID"]
    } else {
        &["CARD", "PROFILE", "AGE", "PROGRESS", "TOKENS", "MONEY", "TITLE", "LAST SAID"]
    };
    for (n, words) in table(head, &rows).lines().enumerate() {
        let words = fit(words, screen.width);
        let _ = writeln!(out, "{}", if n == 0 { screen.paint.faint(&words) } else { words });
    }
    out
}

fn row(desk: &Desk<'_>, one: &Running, args: &Args) -> Vec<String> {
    let card = &one.card;
    let began = card.started_at.unwrap_or(desk.now);
    let worker = one.worker.as_ref();
    let heard = worker.and_then(|worker| worker.progress_at).or(card.last_heartbeat_at);
    let stopping = worker.is_some_and(|worker| worker.stop.is_some());
    let mut cells = vec![
        card.id.to_string(),
        line(card.assignee.as_deref().unwrap_or("-"), 20),
        text::span(desk.now - began),
        match heard {
            _ if stopping => "stopping".to_owned(),
            Some(at) => format!("{} ago", text::span(desk.now - at)),
            None => "-".to_owned(),
        },
        worker.map_or_else(|| "-".to_owned(), |worker| tokens(worker.usage.tokens().unsigned_abs())),
        worker.map_or_else(|| "-".to_owned(), |worker| dollars(worker.usage.cost_usd)),
        line(&card.title, 40),
        line(worker.and_then(|worker| worker.last_line.as_deref()).unwrap_or("-"), 100),
    ];
    if args.all {
        cells.insert(0, one.board.to_string());
    }
    cells
}

fn value(one: &Running) -> Value {
    let worker = one.worker.as_ref();
    json!({
        "board": one.board.as_str(),
        "task_id": one.card.id,
        "title": one.card.title,
        "profile": one.card.assignee,
        "run_id": one.card.current_run,
        "pid": one.card.worker_pid,
        "started_at": one.card.started_at,
        "last_heartbeat_at": one.card.last_heartbeat_at,
        "progress_at": worker.and_then(|worker| worker.progress_at),
        "usage": worker.map(|worker| super::json::usage(&worker.usage)),
        "last_line": worker.and_then(|worker| worker.last_line.clone()),
        "session_id": worker.and_then(|worker| worker.session_id.clone()),
        "stopping": worker.is_some_and(|worker| worker.stop.is_some()),
    })
}
