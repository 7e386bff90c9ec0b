//! The settings `approvals.deny` and `command_allowlist` as they are now: a conversation that goes on obeys what was forbidden
//! meanwhile, and what is no longer allowed.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use hermes_home::Settings;
use hermes_home::settings::table::safety;
use hermes_tools::gate::ask::{ByNow, Patterns};

use super::Opening;

/// Which state of a file: when it was changed, and how long it is.
type Stamp = Option<(SystemTime, u64)>;

/// Looks whether config.yaml changed, and reads it again if so. Settings that cannot be read change nothing.
pub(super) fn by_now(opening: &Opening) -> Arc<ByNow> {
    let (home, env) = (opening.home.clone(), opening.env.clone());
    let file = opening.settings.sources().config_file.clone();
    let stamp = move || -> Stamp {
        let metadata = std::fs::metadata(&file).ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    };
    let seen: Mutex<(Stamp, Option<Patterns>)> = Mutex::new((stamp(), None));
    Arc::new(move || {
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        let now = stamp();
        if now != seen.0 {
            let read = Settings::load(&home, &env).ok().and_then(|settings| {
                let deny = settings.get(&safety::APPROVALS_DENY).ok()?;
                Some(Patterns { deny, allow: settings.get(&safety::COMMAND_ALLOWLIST).ok()? })
            });
            // Half a file is looked at again when the rest is there.
            if let Some(patterns) = read {
                *seen = (now, Some(patterns));
            }
        }
        seen.1.clone()
    })
}
