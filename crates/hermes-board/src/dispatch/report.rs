//! What a look at the board did, or would do.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::card::{CardId, Seconds};
use crate::dispatch::plan::{Assigned, Fate, Plan};
use crate::dispatch::why::Why;
use crate::ending::Ending;

/// See the module. The first names are those other programs read.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Report {
    /// Cards whose claim had run out.
    pub reclaimed: u32,
    /// Cards whose worker died.
    pub crashed: Vec<CardId>,
    /// Cards whose time was up.
    pub timed_out: Vec<CardId>,
    /// Cards of which nothing was heard.
    pub stale: Vec<CardId>,
    /// Cards that nobody tries any more.
    pub auto_blocked: Vec<CardId>,
    /// Cards that need not wait any more.
    pub promoted: u32,
    /// Workers that were started.
    pub spawned: Vec<Spawned>,
    /// Cards that nobody was named for.
    pub skipped_unassigned: Vec<CardId>,
    /// Cards of profiles that are not there.
    pub skipped_nonspawnable: Vec<CardId>,
    /// Cards of profiles that have enough.
    pub skipped_per_profile_capped: Vec<Capped>,
    /// Cards the settings gave to a profile.
    pub auto_assigned_default: Vec<CardId>,
    /// Cards that should not be started again so soon.
    pub respawn_guarded: Vec<Passed>,
    /// Cards whose provider had enough.
    pub rate_limited: Vec<CardId>,
    /// Whether another dispatcher was at it.
    pub skipped_locked: bool,
    /// Cards that were passed over for another reason.
    pub skipped: Vec<Passed>,
    /// Cards in triage that got a card for splitting them.
    pub splitting: Vec<CardId>,
    /// How many cards wait for a cap, by the cap.
    pub waiting_for_cap: BTreeMap<&'static str, u32>,
    /// When it is worth looking again, if nothing happens before.
    pub wake_at: Option<Seconds>,
}

impl Report {
    /// Whether cards can be started now that could not before.
    pub fn frees_cards(&self) -> bool {
        self.reclaimed > 0
            || ![&self.crashed, &self.timed_out, &self.stale, &self.rate_limited]
                .iter()
                .all(|cards| cards.is_empty())
    }
}

/// A worker that was started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Spawned {
    /// For this card.
    pub task_id: CardId,
    /// The profile.
    pub assignee: String,
    /// Where it works; empty as long as nobody chose it.
    pub workspace: String,
}

/// A card of a profile that has enough.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Capped {
    /// The card.
    pub task_id: CardId,
    /// The profile.
    pub assignee: String,
    /// How many it has.
    pub current: u32,
}

/// A card that was passed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Passed {
    /// The card.
    pub task_id: CardId,
    /// Why.
    pub reason: String,
}

impl Report {
    /// What a plan would do.
    pub fn of(plan: &Plan) -> Self {
        let mut report = Self::passed_over(plan);
        for judged in &plan.attempts {
            let card = judged.running.card.clone();
            match &judged.fate {
                Fate::Release | Fate::Expire { .. } => report.reclaimed += 1,
                Fate::End(Ending::TimedOut { .. }) => report.timed_out.push(card),
                Fate::End(Ending::Stale { .. }) => report.stale.push(card),
                Fate::End(_) => report.crashed.push(card),
                Fate::Extend | Fate::Stop(_) | Fate::Signal { .. } => {}
            }
        }
        let freed = plan.promote.len() + plan.due.len() + plan.rules_changed.len();
        report.promoted = u32::try_from(freed).unwrap_or(u32::MAX);
        for start in &plan.start {
            if start.assigned == Assigned::ByDefault {
                report.auto_assigned_default.push(start.card.clone());
            }
            report.spawned.push(Spawned {
                task_id: start.card.clone(),
                assignee: start.profile.clone(),
                workspace: String::new(),
            });
        }
        report.splitting.clone_from(&plan.split);
        let given = plan.skip.iter().filter(|skip| skip.assign.is_some());
        report.auto_assigned_default.extend(given.map(|skip| skip.card.clone()));
        report
    }

    /// The cards a plan passes over.
    pub(crate) fn passed_over(plan: &Plan) -> Self {
        let mut report = Self { wake_at: plan.wake_at, ..Self::default() };
        for skip in &plan.skip {
            let task_id = skip.card.clone();
            match &skip.why {
                Why::Unassigned => report.skipped_unassigned.push(task_id),
                Why::NoProfile { .. } => report.skipped_nonspawnable.push(task_id),
                Why::ProfileCap { profile, current, .. } => report.skipped_per_profile_capped.push(Capped {
                    task_id,
                    assignee: profile.clone(),
                    current: *current,
                }),
                Why::Guarded(guard) => {
                    report.respawn_guarded.push(Passed { task_id, reason: guard.word().to_owned() });
                }
                Why::Cap(cap) => *report.waiting_for_cap.entry(cap.kind.setting()).or_default() += 1,
                why => report.skipped.push(Passed { task_id, reason: why.to_string() }),
            }
        }
        report
    }
}
