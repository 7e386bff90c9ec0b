//! Why a card is not started: every gate it has to pass, whether it does, and what would open it.

use hermes_store::rusqlite::{self, Connection, OptionalExtension};
use serde::Serialize;

use crate::board::Board;
use crate::card::{CardId, Seconds, Status};
use crate::dispatch::plan::{Plan, World};
use crate::dispatch::snapshot::{Candidate, Snapshot, used_up};
use crate::dispatch::why::{Cap, CapKind, Named, Why};
use crate::dispatch::{Rules, plan};
use crate::error::BoardError;
use crate::links::LinkKind;
use crate::query::Details;
use crate::review::Reviewer;

/// Something a card has to pass before it is started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Gate {
    /// Which.
    pub gate: &'static str,
    /// Whether it does.
    pub passed: bool,
    /// How it stands.
    pub says: String,
    /// What would open it.
    pub opens: Option<String>,
}

/// Whether a dispatcher looks at the boards of this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dispatcher {
    /// One does.
    There,
    /// None does.
    Nobody,
}

/// What is known when a card is asked about.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    /// The board.
    pub snapshot: &'a Snapshot,
    /// The settings.
    pub rules: &'a Rules,
    /// The rest.
    pub world: &'a World,
    /// Whether anybody looks.
    pub dispatcher: Dispatcher,
    /// Now.
    pub now: Seconds,
}

/// The answer for a card.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The card.
    pub details: Details,
    /// Every gate, in the order they are passed.
    pub gates: Vec<Gate>,
    /// The profile it is started for at the next look, and how many are started before it.
    pub starts: Option<(String, usize)>,
}

impl Answer {
    /// The first gate that is closed.
    pub fn closed(&self) -> Option<&Gate> {
        self.gates.iter().find(|gate| !gate.passed)
    }
}

/// What only the dispatcher keeps of a card.
#[derive(Debug, Default)]
struct Kept {
    tripped: Option<String>,
    review_by: Option<String>,
    produced_by: Option<String>,
}

impl Board {
    /// Why a card is not started, or that it is.
    pub fn why(&mut self, id: &CardId, seen: &Seen<'_>) -> Result<Answer, BoardError> {
        let details = self.details(id)?;
        let kept = self.read(|tx| kept(tx, id))?;
        let plan = plan(seen.snapshot, seen.rules, seen.world, seen.now);
        let before = plan.start.iter().position(|start| start.card == *id);
        let starts = before.and_then(|at| Some((plan.start.get(at)?.profile.clone(), at)));
        let asked = Asked { details: &details, kept: &kept, seen, plan: &plan };
        let gates = asked.gates();
        Ok(Answer { details, gates, starts })
    }
}

fn kept(db: &Connection, id: &CardId) -> rusqlite::Result<Kept> {
    let found = db
        .prepare_cached(
            "SELECT tripped, coalesce(review_by, reviewer), produced_by FROM hx_cards WHERE task_id = ?1",
        )?
        .query_row([id], |row| {
            Ok(Kept { tripped: row.get(0)?, review_by: row.get(1)?, produced_by: row.get(2)? })
        })
        .optional()?;
    Ok(found.unwrap_or_default())
}

/// A card that is asked about.
struct Asked<'a> {
    details: &'a Details,
    kept: &'a Kept,
    seen: &'a Seen<'a>,
    plan: &'a Plan,
}

fn open(gate: &'static str, says: impl Into<String>) -> Gate {
    Gate { gate, passed: true, says: says.into(), opens: None }
}

fn closed(gate: &'static str, says: impl Into<String>, opens: impl Into<String>) -> Gate {
    Gate { gate, passed: false, says: says.into(), opens: Some(opens.into()) }
}

impl Asked<'_> {
    fn gates(&self) -> Vec<Gate> {
        let mut gates = vec![self.status()];
        let over = matches!(self.details.card.status, Status::Done | Status::Archived | Status::Running);
        if over {
            return gates;
        }
        gates.extend([self.parents(), self.time(), self.breaker(), self.dispatcher(), self.mode()]);
        gates.push(if self.details.card.status == Status::Review {
            self.reviewer()
        } else {
            self.assignee()
        });
        gates.extend([self.leaving(), self.editing(), self.back_off(), self.budget(), self.guard()]);
        gates.extend(self.caps());
        gates
    }

    fn candidate(&self) -> Option<&Candidate> {
        let Snapshot { ready, review, free, due, .. } = self.seen.snapshot;
        let due = due.iter().map(|due| &due.candidate);
        let mut all = ready.iter().chain(review).chain(free).chain(due);
        all.find(|candidate| candidate.card == self.details.card.id)
    }

    fn status(&self) -> Gate {
        let card = &self.details.card;
        let id = &card.id;
        let reason = self.blocked_for().map(|why| format!(": {why}")).unwrap_or_default();
        match card.status {
            Status::Ready => open("status", "ready"),
            Status::Review => open("status", "waits to be looked at"),
            Status::Running => open("status", "a worker has it"),
            Status::Done => closed("status", "it is done", "nothing: it is done"),
            Status::Archived => closed("status", "it was put away", "nothing: it was put away"),
            Status::Todo => open("status", "waits for others; it becomes ready by itself"),
            Status::Scheduled => open("status", "put off"),
            Status::Triage => closed(
                "status",
                format!("it is not understood well enough yet{reason}"),
                format!("hermes kanban specify {id}, or hermes kanban promote {id}"),
            ),
            Status::Blocked => {
                closed("status", format!("blocked{reason}"), format!("hermes kanban unblock {id}"))
            }
        }
    }

    /// What was said when it was blocked.
    fn blocked_for(&self) -> Option<String> {
        let blocks = ["blocked", "gave_up", "block_loop_detected"];
        let event = self.details.events.iter().rev().find(|event| blocks.contains(&event.kind.as_str()))?;
        let payload = event.payload.as_ref()?;
        let said = ["reason", "error"].iter().find_map(|key| payload[*key].as_str())?;
        Some(said.to_owned())
    }

    /// Those it needs all of, and those of which one is enough, are told apart.
    fn parents(&self) -> Gate {
        let of = |kind: LinkKind| self.details.parent_links.iter().filter(move |(_, is, _)| *is == kind);
        let frees = |status: Option<Status>| status.is_none_or(Status::frees_children);
        let name = |(id, _, status): &(CardId, LinkKind, Option<Status>)| {
            format!("{id} ({})", status.map_or("gone", Status::as_str))
        };
        let needed: Vec<String> =
            of(LinkKind::Hard).filter(|(.., status)| !frees(*status)).map(name).collect();
        let one_done = of(LinkKind::Any).any(|(.., status)| frees(*status));
        let any: Vec<String> = of(LinkKind::Any).map(name).collect();
        let mut waits = Vec::new();
        if !needed.is_empty() {
            waits.push(format!("waits for all of {}", needed.join(", ")));
        }
        if !any.is_empty() && !one_done {
            waits.push(format!("waits for one of {}", any.join(", ")));
        }
        if waits.is_empty() {
            let count = self.details.parent_links.len();
            return open(
                "parents",
                if count == 0 { "it waits for nothing" } else { "what it waits for is finished" },
            );
        }
        let id = &self.details.card.id;
        closed(
            "parents",
            waits.join("; "),
            format!(
                "finish those, or hermes kanban promote {id} --force, or hermes kanban unlink PARENT {id}"
            ),
        )
    }

    fn time(&self) -> Gate {
        let card = &self.details.card;
        let run_at = self.details.extras.run_at;
        match (card.status, run_at) {
            (Status::Scheduled, Some(at)) if at > self.seen.now => closed(
                "time",
                format!("put off for {} more", span(at - self.seen.now)),
                format!("time, or hermes kanban unblock {}", card.id),
            ),
            (Status::Scheduled, Some(_)) => open("time", "its time has come: the next look makes it ready"),
            (Status::Scheduled, None) => {
                closed("time", "put off until somebody says so", format!("hermes kanban unblock {}", card.id))
            }
            _ => open("time", "it may begin at once"),
        }
    }

    fn breaker(&self) -> Gate {
        let card = &self.details.card;
        match &self.kept.tripped {
            Some(why) if card.status == Status::Blocked => closed(
                "failures",
                format!("nobody tries it any more: {why}"),
                format!(
                    "hermes kanban unblock {}; a finished parent or other settings of models and limits do it too",
                    card.id
                ),
            ),
            _ if card.failures > 0 => {
                let limit = card.max_retries.unwrap_or(i64::from(self.seen.rules.failure_limit));
                open("failures", format!("{} of {limit} in a row", card.failures))
            }
            _ => open("failures", "none in a row"),
        }
    }

    fn dispatcher(&self) -> Gate {
        match self.seen.dispatcher {
            Dispatcher::There => open("dispatcher", "one looks at the boards of this machine"),
            Dispatcher::Nobody => closed(
                "dispatcher",
                "no dispatcher runs on this machine",
                "hermes kanban daemon, or hermes kanban dispatch for one look",
            ),
        }
    }

    fn mode(&self) -> Gate {
        let mode = self.seen.snapshot.state.mode;
        if mode.starts_cards() {
            return open("board", "its cards are started");
        }
        closed("board", Why::Mode(mode).to_string(), "hermes kanban resume")
    }

    fn assignee(&self) -> Gate {
        let card = &self.details.card;
        let (name, named) = match (&card.assignee, &self.seen.rules.default_assignee) {
            (Some(name), _) => (name, Named::ByCard),
            (None, Some(name)) => (name, Named::ByDefault),
            (None, None) => {
                let opens = format!("hermes kanban assign {} PROFILE", card.id);
                return closed("assignee", Why::Unassigned.to_string(), opens);
            }
        };
        if !self.seen.world.profiles.contains(name) {
            let why = Why::NoProfile { profile: name.clone(), named };
            let opens = format!("hermes profile create {name}, or hermes kanban assign {} PROFILE", card.id);
            return closed("assignee", why.to_string(), opens);
        }
        open(
            "assignee",
            match named {
                Named::ByCard => name.clone(),
                Named::ByDefault => format!("it goes to \"{name}\" (kanban.default_assignee)"),
            },
        )
    }

    /// Who looks at finished work: never who did it.
    fn reviewer(&self) -> Gate {
        let id = &self.details.card.id;
        let by_hand = format!("hermes kanban approve {id}, or hermes kanban reject {id} REASON");
        let author = self.kept.produced_by.as_deref();
        let name = match self.kept.review_by.as_deref().and_then(Reviewer::parse) {
            Some(Reviewer::Profile(name)) => name,
            Some(_) => return closed("reviewer", Why::NeedsHuman.to_string(), by_hand),
            None if author.is_some() => return closed("reviewer", Why::NeedsHuman.to_string(), by_hand),
            None => match &self.details.card.assignee {
                Some(name) => name.clone(),
                None => return closed("reviewer", Why::Unassigned.to_string(), by_hand),
            },
        };
        if author == Some(name.as_str()) {
            return closed("reviewer", Why::ReviewerIsAuthor(name).to_string(), by_hand);
        }
        if !self.seen.world.profiles.contains(&name) {
            let why = Why::NoProfile { profile: name, named: Named::ByCard };
            return closed("reviewer", why.to_string(), by_hand);
        }
        open("reviewer", name)
    }

    fn leaving(&self) -> Gate {
        let id = &self.details.card.id;
        if self.seen.world.leaving.contains(id) {
            return closed(
                "last worker",
                Why::Leaving.to_string(),
                "nothing but a little time: it is ended after a minute",
            );
        }
        open("last worker", "it is gone, or there was none")
    }

    fn editing(&self) -> Gate {
        match self.details.extras.editing_until.filter(|until| *until > self.seen.now) {
            Some(until) => closed(
                "editing",
                format!("{} (for {} more)", Why::Editing { until }, span(until - self.seen.now)),
                format!("hermes kanban edit {} --unlock", self.details.card.id),
            ),
            None => open("editing", "nobody edits it"),
        }
    }

    fn back_off(&self) -> Gate {
        match self.details.extras.not_before.filter(|at| *at > self.seen.now) {
            Some(at) => closed(
                "back-off",
                format!("{} (for {} more)", Why::NotBefore { at }, span(at - self.seen.now)),
                // Assigning it anew or unblocking it forgets the wait.
                format!(
                    "time, or hermes kanban block {0} and hermes kanban unblock {0}",
                    self.details.card.id
                ),
            ),
            None => open("back-off", "it need not wait"),
        }
    }

    fn budget(&self) -> Gate {
        let extras = &self.details.extras;
        let id = &self.details.card.id;
        match used_up(extras.max_tokens, extras.max_cost, &self.details.usage) {
            Some(what) => closed(
                "budget",
                Why::UsedUp(what).to_string(),
                format!("hermes kanban edit {id} --max-tokens N --max-cost USD"),
            ),
            None if extras.max_tokens.is_none() && extras.max_cost.is_none() => {
                open("budget", "it has none of its own")
            }
            None => open("budget", "not used up"),
        }
    }

    fn guard(&self) -> Gate {
        match self.candidate().and_then(|candidate| candidate.guard) {
            Some(guard) => closed(
                "respawn guard",
                format!(
                    "{} ({}, for {} more)",
                    Why::Guarded(guard),
                    guard.word(),
                    span(guard.until() - self.seen.now)
                ),
                format!(
                    "time, or hermes kanban block {0} and hermes kanban unblock {0}",
                    self.details.card.id
                ),
            ),
            None => open("respawn guard", "nothing speaks against starting it"),
        }
    }

    /// The caps, with how many run. Cards that come first may take what is free.
    fn caps(&self) -> Vec<Gate> {
        let (rules, world) = (self.seen.rules, self.seen.world);
        let here = count(self.seen.snapshot.running.len());
        let profile = self.profile();
        let of_profile = profile.as_deref().map_or(0, |name| {
            let here = self.seen.snapshot.running.iter();
            let here = here.filter(|running| running.profile.as_deref() == Some(name)).count();
            count(here) + world.elsewhere.by_profile.get(name).copied().unwrap_or(0)
        });
        let behind =
            self.plan.skip.iter().find(|skip| skip.card == self.details.card.id).map(|skip| &skip.why);
        let mut gates = Vec::new();
        let mut cap = |gate: &'static str, setting: &str, limit: Option<u32>, running: u32, full: bool| {
            let Some(limit) = limit else {
                gates.push(open(gate, format!("{running} running, no limit ({setting})")));
                return;
            };
            if running >= limit {
                let says = format!("{running} running of {limit} ({setting})");
                gates.push(closed(gate, says, format!("one that ends, or a larger {setting}")));
            } else if full {
                let says = format!("{running} running of {limit} ({setting}), and others come first");
                gates.push(closed(
                    gate,
                    says,
                    format!("those that come first, a higher priority, or a larger {setting}"),
                ));
            } else {
                gates.push(open(gate, format!("{running} running of {limit} ({setting})")));
            }
        };
        let reached = |kind: CapKind| matches!(behind, Some(Why::Cap(Cap { kind: is, .. })) if *is == kind);
        let total = here + world.elsewhere.total;
        cap("host cap", CapKind::Host.setting(), rules.host_cap, total, reached(CapKind::Host));
        cap("board cap", CapKind::Board.setting(), rules.max_in_progress, here, reached(CapKind::Board));
        if rules.max_spawn.is_some() {
            cap("spawn cap", CapKind::Spawn.setting(), rules.max_spawn, here, reached(CapKind::Spawn));
        }
        let full = matches!(behind, Some(Why::ProfileCap { .. }));
        cap("profile cap", "kanban.max_in_progress_per_profile", rules.per_profile, of_profile, full);
        gates
    }

    /// For whom it would be started.
    fn profile(&self) -> Option<String> {
        let card = &self.details.card;
        if card.status == Status::Review
            && let Some(Reviewer::Profile(name)) = self.kept.review_by.as_deref().and_then(Reviewer::parse)
        {
            return Some(name);
        }
        card.assignee.clone().or_else(|| self.seen.rules.default_assignee.clone())
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// A span in words.
fn span(seconds: Seconds) -> String {
    match seconds {
        ..120 => format!("{} seconds", seconds.max(0)),
        120..7200 => format!("{} minutes", seconds / 60),
        7200..172_800 => format!("{} hours", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}
