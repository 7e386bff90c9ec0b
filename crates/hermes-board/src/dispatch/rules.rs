//! What the dispatcher goes by, from the settings. Read anew for every look at the board.

use hermes_home::Settings;
use hermes_home::settings::table::{kanban as table, model, terminal};
use hermes_home::settings::{Def, SettingError};
use sha2::Digest;

use crate::card::{Seconds, assignee};
use crate::claim::CLAIM_SECONDS;
use crate::triage::AutoSplit;

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// Most running cards of a board.
    pub max_in_progress: Option<u32>,
    /// Most running cards of a board for another to be started.
    pub max_spawn: Option<u32>,
    /// Most running cards of one profile, on all boards.
    pub per_profile: Option<u32>,
    /// Most running cards of all boards.
    pub host_cap: Option<u32>,
    /// Who gets cards that nobody was named for.
    pub default_assignee: Option<String>,
    /// Failures of the work itself before nobody tries any more.
    pub failure_limit: u32,
    /// The same, of what is around it.
    pub infra_limit: u32,
    /// The same, of the provider's limits.
    pub quota_limit: u32,
    /// How long the first failure makes a card wait; doubled each time.
    pub backoff: Seconds,
    /// The longest wait.
    pub backoff_most: Seconds,
    /// How long a worker may be silent.
    pub stale_seconds: Option<Seconds>,
    /// How long a claim holds if nobody renews it.
    pub claim_seconds: Seconds,
    /// How long a worker that is not seen yet is given.
    pub crash_grace: Seconds,
    /// How long the provider is left alone at first.
    pub quota_cooldown: Seconds,
    /// When a worker's log is rotated.
    pub log_rotate_bytes: u64,
    /// Rotated logs that are kept.
    pub log_backups: u32,
    /// Time between two looks at the whole board.
    pub interval_seconds: u64,
    /// Whether cards in triage are split by themselves.
    pub auto_split: Option<AutoSplit>,
    /// Tells these settings from others, as far as they decide whether a failed card can do better.
    pub fingerprint: String,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            max_in_progress: None,
            max_spawn: None,
            per_profile: None,
            host_cap: Some(2),
            default_assignee: None,
            failure_limit: 2,
            infra_limit: 5,
            quota_limit: 8,
            backoff: 15,
            backoff_most: 3600,
            stale_seconds: Some(14_400),
            claim_seconds: CLAIM_SECONDS,
            crash_grace: 30,
            quota_cooldown: 300,
            log_rotate_bytes: 2_097_152,
            log_backups: 1,
            interval_seconds: 60,
            auto_split: None,
            fingerprint: String::new(),
        }
    }
}

impl Rules {
    /// Reads them. A cap that is no number above zero is no cap, and is warned about: a slip of the pen must not stop
    /// the board.
    pub fn read(
        settings: &Settings,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<(Self, Vec<String>), SettingError> {
        let mut warnings = Vec::new();
        let mut cap = |def: &Def<Option<i64>>| match settings.get(def) {
            Ok(None) => None,
            Ok(Some(number)) if number > 0 => Some(u32::try_from(number).unwrap_or(u32::MAX)),
            Ok(Some(number)) => {
                warnings
                    .push(format!("{} is {number}, which is no cap: use a number above zero", def.spec.key));
                None
            }
            Err(error) => {
                warnings.push(format!("{error}; it is taken as no cap"));
                None
            }
        };
        let max_in_progress = cap(&table::MAX_IN_PROGRESS);
        let max_spawn = cap(&table::MAX_SPAWN);
        let per_profile = cap(&table::MAX_IN_PROGRESS_PER_PROFILE);
        let count =
            |def: &Def<i64>| settings.get(def).map(|number| u32::try_from(number).unwrap_or(u32::MAX));
        let mut seconds = |name: &str, least: Seconds, usual: Seconds| match env(name) {
            Some(text) if !text.trim().is_empty() => match text.trim().parse::<Seconds>() {
                Ok(number) if number >= least => number,
                _ => {
                    warnings.push(format!("{name} is no number of {least} or more: {usual} is used"));
                    usual
                }
            },
            _ => usual,
        };
        let usual = Self::default();
        let rules = Self {
            max_in_progress,
            max_spawn,
            per_profile,
            claim_seconds: seconds("HERMES_KANBAN_CLAIM_TTL_SECONDS", 1, usual.claim_seconds),
            crash_grace: seconds("HERMES_KANBAN_CRASH_GRACE_SECONDS", 0, usual.crash_grace),
            quota_cooldown: seconds("HERMES_KANBAN_RATE_LIMIT_COOLDOWN_SECONDS", 0, usual.quota_cooldown),
            host_cap: Some(count(&table::MAX_IN_PROGRESS_HOST)?).filter(|cap| *cap > 0),
            default_assignee: assignee(&settings.get(&table::DEFAULT_ASSIGNEE)?),
            failure_limit: count(&table::FAILURE_LIMIT)?,
            infra_limit: count(&table::INFRASTRUCTURE_FAILURE_LIMIT)?,
            quota_limit: count(&table::QUOTA_LIMIT)?,
            backoff: settings.get(&table::RETRY_BACKOFF_SECONDS)?,
            backoff_most: settings.get(&table::RETRY_BACKOFF_MAX_SECONDS)?,
            stale_seconds: Some(settings.get(&table::DISPATCH_STALE_TIMEOUT_SECONDS)?)
                .filter(|limit| *limit > 0),
            log_rotate_bytes: settings.get(&table::WORKER_LOG_ROTATE_BYTES)?.unsigned_abs(),
            log_backups: count(&table::WORKER_LOG_BACKUP_COUNT)?,
            interval_seconds: settings.get(&table::DISPATCH_INTERVAL_SECONDS)?.unsigned_abs(),
            auto_split: auto_split(settings)?,
            fingerprint: fingerprint(settings),
        };
        Ok((rules, warnings))
    }

    /// How many more a board may start, as far as its own caps and the machine's say; nothing if none does.
    pub(crate) fn room(&self, running: usize) -> Option<usize> {
        let caps = [self.max_in_progress, self.max_spawn, self.host_cap];
        let least = caps.into_iter().flatten().min()?;
        Some((least as usize).saturating_sub(running))
    }

    /// How long a card waits after so many failures in a row.
    pub(crate) fn wait(&self, first: Seconds, failures: i64) -> Seconds {
        let doublings = u32::try_from(failures.clamp(1, 32) - 1).unwrap_or(0);
        first.saturating_mul(1 << doublings).min(self.backoff_most.max(first))
    }
}

/// Cards in triage are split by the profile that puts their parts together, or by whoever gets what nobody was named for.
fn auto_split(settings: &Settings) -> Result<Option<AutoSplit>, SettingError> {
    let at_once = u32::try_from(settings.get(&table::AUTO_DECOMPOSE_PER_TICK)?).unwrap_or(u32::MAX);
    if !settings.get(&table::AUTO_DECOMPOSE)? || at_once == 0 {
        return Ok(None);
    }
    let named = [settings.get(&table::ORCHESTRATOR_PROFILE)?, settings.get(&table::DEFAULT_ASSIGNEE)?];
    let profile = named.iter().find_map(|name| assignee(name)).unwrap_or_else(|| "default".to_owned());
    Ok(Some(AutoSplit { at_once, profile }))
}

/// What a failed card could do better under: limits, models, and where its programs run.
fn fingerprint(settings: &Settings) -> String {
    let mut hash = sha2::Sha256::new();
    let specs = [
        &table::FAILURE_LIMIT.spec,
        &table::INFRASTRUCTURE_FAILURE_LIMIT.spec,
        &table::QUOTA_LIMIT.spec,
        &model::DEFAULT.spec,
        &model::PROVIDER.spec,
        &model::BASE_URL.spec,
        &terminal::BACKEND.spec,
        &terminal::DOCKER_IMAGE.spec,
    ];
    for spec in specs {
        let value = settings.resolve(spec).map(|found| found.value.to_string()).unwrap_or_default();
        hash.update(format!("{}={value}\n", spec.key));
    }
    let first = hash.finalize().iter().take(6).fold(0_u64, |number, byte| (number << 8) | u64::from(*byte));
    format!("{first:012x}")
}
