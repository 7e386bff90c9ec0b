//! What should be done about a board, decided from what was seen of it. Nothing is changed here: a dry run is this, printed.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::card::{CardId, RunId, Seconds, Status};
use crate::claim::Lane;
use crate::dispatch::Rules;
use crate::dispatch::judge::{PATIENCE, judge, next_look};
use crate::dispatch::snapshot::{Candidate, Running, Snapshot};
use crate::dispatch::why::{Cap, CapKind, Named, Why};
use crate::ending::{Ending, Stop};
use crate::review::Reviewer;
use crate::transition::Parents;

/// What is known of the world outside the board.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct World {
    /// This machine's name, as it stands in locks.
    pub host: String,
    /// The profiles there are, `default` among them.
    pub profiles: BTreeSet<String>,
    /// What is known of the process behind each attempt: the worker's, or if none began, that of whoever took the card.
    pub alive: HashMap<RunId, Liveness>,
    /// Cards that are nobody's and whose last worker is still there.
    pub leaving: BTreeSet<CardId>,
    /// What runs on other boards.
    pub elsewhere: Elsewhere,
}

/// What is known of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liveness {
    /// It is there.
    Alive,
    /// It is not there any more.
    Dead,
    /// It is on another machine, or cannot be told.
    Unknown,
}

/// Cards running on other boards.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Elsewhere {
    /// By profile.
    pub by_profile: BTreeMap<String, u32>,
    /// In all.
    pub total: u32,
}

impl Elsewhere {
    /// Adds what runs on one more board.
    pub fn add(&mut self, other: &Self) {
        self.total += other.total;
        for (profile, count) in &other.by_profile {
            *self.by_profile.entry(profile.clone()).or_default() += count;
        }
    }
}

/// See the module.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Plan {
    /// What becomes of attempts under way. Those that simply go on are not here.
    pub attempts: Vec<Judged>,
    /// Cards whose time has come, and where they stand then.
    pub due: Vec<(CardId, Status)>,
    /// Cards that were given up under other settings.
    pub rules_changed: Vec<CardId>,
    /// Cards that need not wait any more.
    pub promote: Vec<CardId>,
    /// Workers to be started, in this order.
    pub start: Vec<Start>,
    /// Every other card that could have been, and why it is not.
    pub skip: Vec<Skip>,
    /// Cards that carry a reason which does not hold any more.
    pub cleared: Vec<CardId>,
    /// Cards in triage that get a card for splitting them.
    pub split: Vec<CardId>,
    /// When it is worth looking again, if nothing happens before.
    pub wake_at: Option<Seconds>,
}

/// What becomes of an attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The attempt as it was seen.
    pub running: Running,
    /// What becomes of it.
    pub fate: Fate,
}

/// See [`Judged`].
#[derive(Debug, Clone, PartialEq)]
pub enum Fate {
    /// The worker is alive and holds it longer.
    Extend,
    /// Nobody ever began: the card goes back and it costs nothing.
    Release,
    /// The claim ran out and nobody is there: the card goes back.
    Expire {
        /// Whether the claim was made on this machine.
        local: bool,
    },
    /// The worker ended, and how.
    End(Ending),
    /// The worker should end; whoever looks after it does that.
    Stop(Stop),
    /// A worker that another program started should end: it is sent a signal now and looked at again later.
    Signal {
        /// Which.
        how: Signal,
        /// Why.
        why: &'static str,
    },
}

/// A signal to a worker that another program started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// It is asked to end.
    Ask,
    /// It is killed.
    Kill,
}

/// A worker to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// For this card.
    pub card: CardId,
    /// The profile.
    pub profile: String,
    /// Whether the settings named it and the card is to be given to it.
    pub assigned: Assigned,
    /// To work, or to look at work.
    pub lane: Lane,
    /// Where, if that is known.
    pub workspace: Option<String>,
}

/// Who gave a card to a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Assigned {
    /// The card had it already.
    Before,
    /// The settings say so.
    ByDefault,
}

/// A card that is not started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skip {
    /// Which.
    pub card: CardId,
    /// Why.
    pub why: Why,
    /// What the card says of it already.
    pub said: Option<String>,
    /// To whom the settings give it all the same.
    pub assign: Option<String>,
}

/// Decides. The order is that of the other program: what runs, what need not wait any more, what can be started, what is
/// to be looked at.
pub fn plan(snapshot: &Snapshot, rules: &Rules, world: &World, now: Seconds) -> Plan {
    let attempts: Vec<Judged> = snapshot
        .running
        .iter()
        .filter_map(|running| {
            Some(Judged { running: running.clone(), fate: judge(running, rules, world, now)? })
        })
        .collect();
    let over: BTreeSet<&CardId> =
        attempts.iter().filter(|judged| judged.fate.is_over()).map(|judged| &judged.running.card).collect();
    let signals = attempts.iter().any(|judged| matches!(judged.fate, Fate::Signal { .. }));
    let looks = snapshot.running.iter().filter_map(|running| next_look(running, now));
    let wake_at = looks.chain(snapshot.wake_at).chain(signals.then_some(now + PATIENCE)).min();
    let mut plan = Plan { wake_at, ..Plan::default() };
    let to = |parents| if parents == Parents::Finished { Status::Ready } else { Status::Todo };
    plan.due = snapshot.due.iter().map(|due| (due.candidate.card.clone(), to(due.parents))).collect();
    plan.rules_changed.clone_from(&snapshot.rules_changed);
    plan.promote = snapshot.free.iter().map(|candidate| candidate.card.clone()).collect();
    let mut caps = Caps::new(
        snapshot.running.iter().filter(|running| !over.contains(&running.card)),
        rules,
        &world.elsewhere,
    );
    // Whoever is still there takes room, whatever became of the card.
    caps.running += world.leaving.len() as u32;
    let mut ready: Vec<&Candidate> = snapshot.ready.iter().chain(&snapshot.free).collect();
    ready
        .extend(snapshot.due.iter().filter(|due| due.parents == Parents::Finished).map(|due| &due.candidate));
    ready.sort_by_key(|candidate| order(candidate));
    let mut gate = Gate { snapshot, rules, world, now, caps: &mut caps };
    for candidate in ready {
        let outcome = gate.work(candidate);
        plan.note(candidate, outcome);
    }
    let mut review: Vec<&Candidate> = snapshot.review.iter().collect();
    review.sort_by_key(|candidate| order(candidate));
    for candidate in review {
        let outcome = gate.review(candidate);
        plan.note(candidate, outcome);
    }
    if snapshot.state.mode.starts_cards() {
        plan.split.clone_from(&snapshot.triage);
    }
    if !world.leaving.is_empty() {
        plan.wake_at = Some(plan.wake_at.map_or(now + LEAVING, |at| at.min(now + LEAVING)));
    }
    plan.attempts = attempts;
    plan
}

/// How soon it is looked again whether a worker that is about to end is gone. Mostly its guard says so sooner.
const LEAVING: Seconds = 5;

/// Larger priorities first, then what must be finished sooner, then what was made earlier.
fn order(candidate: &Candidate) -> (std::cmp::Reverse<i64>, Seconds, Seconds, i64) {
    let deadline = candidate.deadline.unwrap_or(Seconds::MAX);
    (std::cmp::Reverse(candidate.priority), deadline, candidate.created_at, candidate.row)
}

impl Fate {
    /// Whether nobody works on the card once this is done.
    pub fn is_over(&self) -> bool {
        matches!(self, Self::Release | Self::Expire { .. } | Self::End(_))
    }
}

/// What is decided about a candidate.
enum Decided {
    Start(Start),
    Skip { why: Why, assign: Option<String> },
}

impl Plan {
    fn note(&mut self, candidate: &Candidate, decided: Decided) {
        match decided {
            Decided::Start(start) => {
                self.clear(candidate);
                self.start.push(start);
            }
            Decided::Skip { why, assign } => {
                let until = match &why {
                    Why::Editing { until } | Why::NotBefore { at: until } => Some(*until),
                    Why::Guarded(guard) => Some(guard.until()),
                    _ => None,
                };
                self.wake_at = [self.wake_at, until].into_iter().flatten().min();
                // A cap says nothing of the card itself: what stands on it may hold still.
                if why.to_write().is_none() && !matches!(why, Why::Cap(_) | Why::Mode(_)) {
                    self.clear(candidate);
                }
                self.skip.push(Skip {
                    card: candidate.card.clone(),
                    why,
                    said: candidate.skip_reason.clone(),
                    assign,
                });
            }
        }
    }

    fn clear(&mut self, candidate: &Candidate) {
        if candidate.skip_reason.is_some() {
            self.cleared.push(candidate.card.clone());
        }
    }
}

/// How many run, and how many may.
struct Caps<'a> {
    rules: &'a Rules,
    elsewhere: &'a Elsewhere,
    /// On this board, those to be started among them.
    running: u32,
    /// On all boards.
    by_profile: BTreeMap<String, u32>,
}

impl<'a> Caps<'a> {
    fn new(running: impl Iterator<Item = &'a Running>, rules: &'a Rules, elsewhere: &'a Elsewhere) -> Self {
        let mut caps = Self { rules, elsewhere, running: 0, by_profile: elsewhere.by_profile.clone() };
        for running in running {
            caps.count(running.profile.as_deref());
        }
        caps
    }

    fn count(&mut self, profile: Option<&str>) {
        self.running += 1;
        if let Some(profile) = profile {
            *self.by_profile.entry(profile.to_owned()).or_default() += 1;
        }
    }

    /// The first cap that is reached.
    fn reached(&self) -> Option<Cap> {
        let all = [
            (CapKind::Host, self.rules.host_cap, self.running + self.elsewhere.total),
            (CapKind::Board, self.rules.max_in_progress, self.running),
            (CapKind::Spawn, self.rules.max_spawn, self.running),
        ];
        all.into_iter().find_map(|(kind, limit, running)| {
            let limit = limit?;
            (running >= limit).then_some(Cap { kind, limit, running })
        })
    }

    fn profile_reached(&self, profile: &str) -> Option<Why> {
        let limit = self.rules.per_profile?;
        let current = self.by_profile.get(profile).copied().unwrap_or(0);
        (current >= limit).then(|| Why::ProfileCap { profile: profile.to_owned(), current, limit })
    }
}

/// What a candidate must pass.
struct Gate<'a, 'b> {
    snapshot: &'a Snapshot,
    rules: &'a Rules,
    world: &'a World,
    now: Seconds,
    caps: &'b mut Caps<'a>,
}

impl Gate<'_, '_> {
    /// A card to be worked on.
    fn work(&mut self, candidate: &Candidate) -> Decided {
        let skip = |why| Decided::Skip { why, assign: None };
        if let Some(why) = self.closed() {
            return skip(why);
        }
        let (profile, assigned) = match self.whose(candidate) {
            Ok(found) => found,
            Err(why) => return skip(why),
        };
        if let Some(why) = self.held_back(candidate) {
            return skip(why);
        }
        // Whether as many run as may is asked before a card is given to anybody.
        if assigned == Assigned::ByDefault
            && let Some(cap) = self.caps.reached()
        {
            return skip(Why::Cap(cap));
        }
        if let Some(why) = self.caps.profile_reached(&profile) {
            let assign = (assigned == Assigned::ByDefault).then_some(profile);
            return Decided::Skip { why, assign };
        }
        if let Some(guard) = candidate.guard {
            let assign = (assigned == Assigned::ByDefault).then_some(profile);
            return Decided::Skip { why: Why::Guarded(guard), assign };
        }
        if let Some(cap) = self.caps.reached() {
            return skip(Why::Cap(cap));
        }
        self.start(candidate, profile, assigned, Lane::Work)
    }

    /// A card to be looked at.
    fn review(&mut self, candidate: &Candidate) -> Decided {
        let skip = |why| Decided::Skip { why, assign: None };
        if let Some(why) = self.closed() {
            return skip(why);
        }
        let profile = match self.reviewer(candidate) {
            Ok(profile) => profile,
            Err(why) => return skip(why),
        };
        if let Some(why) = self.held_back(candidate) {
            return skip(why);
        }
        if let Some(why) = self.caps.profile_reached(&profile) {
            return skip(why);
        }
        if let Some(cap) = self.caps.reached() {
            return skip(Why::Cap(cap));
        }
        self.start(candidate, profile, Assigned::Before, Lane::Review)
    }

    fn closed(&self) -> Option<Why> {
        let mode = self.snapshot.state.mode;
        (!mode.starts_cards()).then_some(Why::Mode(mode))
    }

    /// Who works on a card: whom it names, or whom the settings name.
    fn whose(&self, candidate: &Candidate) -> Result<(String, Assigned), Why> {
        let (profile, assigned, named) = match (&candidate.assignee, &self.rules.default_assignee) {
            (Some(name), _) => (name, Assigned::Before, Named::ByCard),
            (None, Some(name)) => (name, Assigned::ByDefault, Named::ByDefault),
            (None, None) => return Err(Why::Unassigned),
        };
        if !self.world.profiles.contains(profile) {
            return Err(Why::NoProfile { profile: profile.clone(), named });
        }
        Ok((profile.clone(), assigned))
    }

    /// Who looks at a card: never who did the work. One that another program put there is its profile's own affair.
    fn reviewer(&self, candidate: &Candidate) -> Result<String, Why> {
        let profile = match candidate.reviewer.as_deref().and_then(Reviewer::parse) {
            Some(Reviewer::Profile(name)) => name,
            Some(Reviewer::Human | Reviewer::Command(_)) => return Err(Why::NeedsHuman),
            None if candidate.produced_by.is_some() => return Err(Why::NeedsHuman),
            None => candidate.assignee.clone().ok_or(Why::Unassigned)?,
        };
        if candidate.produced_by.as_deref() == Some(profile.as_str()) {
            return Err(Why::ReviewerIsAuthor(profile));
        }
        if !self.world.profiles.contains(&profile) {
            return Err(Why::NoProfile { profile, named: Named::ByCard });
        }
        Ok(profile)
    }

    fn held_back(&self, candidate: &Candidate) -> Option<Why> {
        if self.world.leaving.contains(&candidate.card) {
            return Some(Why::Leaving);
        }
        if let Some(until) = candidate.editing_until.filter(|until| *until > self.now) {
            return Some(Why::Editing { until });
        }
        if let Some(guard @ crate::dispatch::why::Guard::Cooldown { .. }) = candidate.guard {
            return Some(Why::Guarded(guard));
        }
        if let Some(at) = candidate.not_before.filter(|at| *at > self.now) {
            return Some(Why::NotBefore { at });
        }
        candidate.used_up.clone().map(Why::UsedUp)
    }

    fn start(&mut self, candidate: &Candidate, profile: String, assigned: Assigned, lane: Lane) -> Decided {
        self.caps.count(Some(&profile));
        Decided::Start(Start {
            card: candidate.card.clone(),
            profile,
            assigned,
            lane,
            workspace: candidate.workspace.clone(),
        })
    }
}
