//! `hermes kanban status`: whether anything happens on a board, and if not, why.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::ExitCode;

use hermes_board::claim::Claimer;
use hermes_board::daemon::status::{Presence, presence};
use hermes_board::dispatch::why::{CapKind, Why};
use hermes_board::dispatch::{Elsewhere, Plan, Rules, Scope, Snapshot, World, plan};
use hermes_board::query::Archived;
use hermes_board::state::Mode;
use hermes_board::why::Dispatcher;
use hermes_board::worker::world;
use hermes_board::{Board, Seconds, Status, boards};
use serde_json::{Value, json};

use super::screen::{Screen, line, pad};
use super::{Desk, mode, text};

/// Show whether anything happens on the board: the dispatcher, caps, what is held back and what comes next
#[derive(Debug, clap::Args)]
pub struct Args {}

/// A board as its dispatcher sees it.
pub struct View {
    /// What is on it.
    pub snapshot: Snapshot,
    /// The settings.
    pub rules: Rules,
    /// The rest.
    pub world: World,
    /// Whether a dispatcher is there.
    pub presence: Presence,
}

impl View {
    /// Whether a dispatcher looks.
    pub fn dispatcher(&self) -> Dispatcher {
        match self.presence {
            Presence::There(_) => Dispatcher::There,
            Presence::Nobody => Dispatcher::Nobody,
        }
    }
}

impl Desk<'_> {
    /// The board as its dispatcher sees it.
    pub fn view(&self, board: &mut Board) -> anyhow::Result<View> {
        let rules = self.rules()?;
        let snapshot = board.snapshot(Scope::All, &rules, self.now)?;
        let claimer = Claimer { host: super::act::host(), pid: std::process::id() };
        let world = world::see(&snapshot, &claimer, self.app.home.root(), self.elsewhere());
        Ok(View { snapshot, rules, world, presence: self.presence() })
    }

    /// Whether a dispatcher is there. What another left behind when it was killed says nothing of the one that is.
    fn presence(&self) -> Presence {
        match presence(&self.root) {
            Presence::There(Some(said)) => {
                let pid = holder(&self.root.dispatcher_lock());
                Presence::There(Some(said).filter(|said| pid.is_none_or(|pid| pid == said.pid)))
            }
            presence => presence,
        }
    }

    /// What runs on the other boards. One that cannot be read counts as one where nothing does.
    fn elsewhere(&self) -> Elsewhere {
        let mut sum = Elsewhere::default();
        if self.root.overrides().database.is_some() {
            return sum;
        }
        let number = |count: i64| u32::try_from(count).unwrap_or(0);
        for other in boards::list(&self.root, Archived::Hidden).iter().filter(|other| other.slug != self.slug)
        {
            let Ok(Some(mut board)) = Board::look(&self.root, &other.slug) else { continue };
            let Ok(stats) = board.stats(self.now) else { continue };
            sum.total += number(stats.by_status.get(&Status::Running).copied().unwrap_or(0));
            for (profile, counts) in &stats.by_assignee {
                let running = number(counts.get(&Status::Running).copied().unwrap_or(0));
                *sum.by_profile.entry(profile.clone()).or_default() += running;
            }
        }
        sum
    }
}

/// Shows how it stands.
pub fn run(desk: &Desk<'_>, _: &Args) -> anyhow::Result<ExitCode> {
    let Some(mut board) = desk.look()? else {
        let there = desk.presence();
        let text = format!(
            "Board \"{}\": no cards yet\nDispatcher: {}\n",
            desk.slug,
            dispatcher(desk, &there, desk.now)
        );
        return desk.say(&text, || {
            json!({ "board": desk.slug.as_str(), "mode": Mode::default(), "dispatcher": presence_value(desk, &there), "counts": {} })
        });
    };
    let view = desk.view(&mut board)?;
    let counts = board.stats(desk.now)?.by_status;
    let plan = plan(&view.snapshot, &view.rules, &view.world, desk.now);
    let status = Standing { desk, view: &view, plan: &plan, counts: &counts };
    let next = status.next(&mut board)?;
    desk.say(&status.page(&next, &desk.screen()), || status.value(&next))
}

/// How a board stands.
struct Standing<'a> {
    desk: &'a Desk<'a>,
    view: &'a View,
    plan: &'a Plan,
    counts: &'a BTreeMap<Status, i64>,
}

/// Cards shown of those that come next.
const NEXT: usize = 5;

impl Standing<'_> {
    /// What would be started: the card, for whom, and what it is about.
    fn next(&self, board: &mut Board) -> anyhow::Result<Vec<(String, String, String)>> {
        let first = self.plan.start.iter().take(NEXT);
        first
            .map(|start| Ok((start.card.to_string(), start.profile.clone(), board.card(&start.card)?.title)))
            .collect()
    }

    /// Why cards are held back, with how many.
    fn reasons(&self) -> Vec<(usize, String)> {
        let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
        for skip in &self.plan.skip {
            *reasons.entry(group(&skip.why)).or_default() += 1;
        }
        let mut sorted: Vec<(usize, String)> = reasons.into_iter().map(|(why, count)| (count, why)).collect();
        sorted.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        sorted
    }

    fn caps(&self) -> Vec<(&'static str, &'static str, Option<u32>, u32)> {
        let here = u32::try_from(self.view.snapshot.running.len()).unwrap_or(u32::MAX);
        let rules = &self.view.rules;
        vec![
            ("this machine", CapKind::Host.setting(), rules.host_cap, here + self.view.world.elsewhere.total),
            ("this board", CapKind::Board.setting(), rules.max_in_progress, here),
            ("this board, for another to be started", CapKind::Spawn.setting(), rules.max_spawn, here),
            ("the busiest profile", "kanban.max_in_progress_per_profile", rules.per_profile, self.busiest()),
        ]
    }

    /// How many the profile has that has most.
    fn busiest(&self) -> u32 {
        let mut by = self.view.world.elsewhere.by_profile.clone();
        for profile in self.view.snapshot.running.iter().filter_map(|running| running.profile.clone()) {
            *by.entry(profile).or_default() += 1;
        }
        by.values().copied().max().unwrap_or(0)
    }

    /// Why nothing happens, or that something does.
    fn sentence(&self) -> String {
        let count = |status| self.counts.get(&status).copied().unwrap_or(0);
        let (running, ready) = (count(Status::Running), count(Status::Ready) + count(Status::Review));
        let waiting = ready > 0 || !self.plan.promote.is_empty() || !self.plan.due.is_empty();
        let mode = self.view.snapshot.state.mode;
        if running == 0 && !waiting {
            let open = count(Status::Todo) + count(Status::Blocked) + count(Status::Scheduled);
            let triage = count(Status::Triage);
            return match (open, triage) {
                (0, 0) => "Nothing is to be done.".to_owned(),
                (0, _) => "Nothing happens: the cards in triage need somebody who looks at them.".to_owned(),
                _ => "Nothing happens: no card is ready; `hermes kanban tree` shows what waits for what."
                    .to_owned(),
            };
        }
        if waiting && !mode.starts_cards() {
            return format!("Nothing new is started: {}.", Why::Mode(mode));
        }
        if waiting && self.view.presence == Presence::Nobody {
            return "Nothing new is started: no dispatcher runs; `hermes kanban daemon` starts one."
                .to_owned();
        }
        if !self.plan.start.is_empty() {
            return "Cards are started.".to_owned();
        }
        match self.reasons().first() {
            Some((_, why)) if waiting => format!("Nothing new is started: {why}."),
            _ => "What runs goes on; nothing else is ready.".to_owned(),
        }
    }

    fn page(&self, next: &[(String, String, String)], screen: &Screen) -> String {
        let desk = self.desk;
        let paint = screen.paint;
        let key = |key: &str| paint.faint(&pad(key, 11));
        let mut out = format!("{}\n", paint.bold(&self.sentence()));
        let state = &self.view.snapshot.state;
        let _ = writeln!(out, "{} \"{}\", {}", key("board:"), desk.slug, mode::describe(state));
        let _ = writeln!(out, "{} {}", key("dispatcher:"), dispatcher(desk, &self.view.presence, desk.now));
        let counts: Vec<String> = self.counts.iter().map(|(status, n)| format!("{status} {n}")).collect();
        let counts = if counts.is_empty() { "none".to_owned() } else { counts.join(", ") };
        let _ = writeln!(out, "{} {counts}", key("cards:"));
        let mut name = "caps:";
        for (what, setting, limit, running) in self.caps() {
            let limit = limit.map_or_else(|| ", no limit".to_owned(), |limit| format!(" of {limit}"));
            let _ = writeln!(out, "{} {what}: {running} running{limit} ({setting})", key(name));
            name = "";
        }
        let mut name = "held back:";
        for (count, why) in self.reasons() {
            let _ = writeln!(out, "{} {count} {}", key(name), line(&why, 300));
            name = "";
        }
        let mut name = "next:";
        for (card, profile, title) in next {
            let _ = writeln!(out, "{} {card} → {}  {}", key(name), line(profile, 30), line(title, 80));
            name = "";
        }
        if self.plan.start.len() > next.len() {
            let _ = writeln!(out, "{} … {} more", key(""), self.plan.start.len() - next.len());
        }
        out
    }

    fn value(&self, next: &[(String, String, String)]) -> Value {
        let state = &self.view.snapshot.state;
        let caps: Vec<Value> = self
            .caps()
            .into_iter()
            .map(|(_, setting, limit, running)| json!({ "setting": setting, "limit": limit, "running": running }))
            .collect();
        let held: Vec<Value> =
            self.reasons().into_iter().map(|(count, why)| json!({ "reason": why, "count": count })).collect();
        let next: Vec<Value> = next
            .iter()
            .map(|(card, profile, title)| json!({ "task_id": card, "profile": profile, "title": title }))
            .collect();
        json!({
            "board": self.desk.slug.as_str(),
            "summary": self.sentence(),
            "mode": state.mode,
            "mode_by": state.by,
            "mode_reason": state.reason,
            "mode_since": state.since,
            "dispatcher": presence_value(self.desk, &self.view.presence),
            "counts": self.counts,
            "caps": caps,
            "held_back": held,
            "next": next,
            "would_start": self.plan.start.len(),
            "now": self.desk.now,
        })
    }
}

/// A reason without what is the card's own, so that cards can be counted by it.
fn group(why: &Why) -> String {
    match why {
        Why::UsedUp(_) => "their budget is used up".to_owned(),
        why => why.to_string(),
    }
}

/// The dispatcher in words.
fn dispatcher(desk: &Desk<'_>, presence: &Presence, now: Seconds) -> String {
    match presence {
        Presence::Nobody => "none runs: `hermes kanban daemon` starts one".to_owned(),
        Presence::There(Some(said)) => {
            let looked = said.last_tick_at.map(|at| format!(", looked {} ago", text::span(now - at)));
            let trouble = said.boards.get(desk.slug.as_str()).and_then(|board| board.trouble.clone());
            let trouble = trouble.map(|trouble| format!("; it says of this board: {}", line(&trouble, 200)));
            format!(
                "process {} since {}{}{}",
                said.pid,
                text::span(now - said.started_at),
                looked.unwrap_or_default(),
                trouble.unwrap_or_default()
            )
        }
        Presence::There(None) => match holder(&desk.root.dispatcher_lock()) {
            Some(pid) => format!("process {pid} of another program holds the lock"),
            None => "another program holds the lock".to_owned(),
        },
    }
}

fn presence_value(desk: &Desk<'_>, presence: &Presence) -> Value {
    match presence {
        Presence::Nobody => json!({ "alive": false }),
        Presence::There(said) => {
            let of = |said: &hermes_board::daemon::status::Said| {
                let board = said.boards.get(desk.slug.as_str());
                json!({
                    "alive": true, "pid": said.pid, "version": said.version, "started_at": said.started_at,
                    "last_tick_at": said.last_tick_at, "board": board,
                })
            };
            let other = || json!({ "alive": true, "pid": holder(&desk.root.dispatcher_lock()) });
            said.as_ref().map_or_else(other, of)
        }
    }
}

/// Who holds a lock, as the system says.
fn holder(path: &std::path::Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    let inode = std::fs::metadata(path).ok()?.ino().to_string();
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    locks.lines().find_map(|row| {
        let words: Vec<&str> = row.split_whitespace().collect();
        let held = words.get(1) == Some(&"FLOCK") && words.get(5)?.rsplit(':').next() == Some(&inode);
        if held { words.get(4)?.parse().ok() } else { None }
    })
}
