//! What a worker of the board does before anything else.

use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};

/// Ends with the process that looks after this worker: one that nobody looks after would go on without limits. What a
/// worker starts has another parent and is not meant.
pub fn end_with_guard() {
    let guard = std::env::var("HERMES_KANBAN_GUARD").ok();
    let guard = guard.and_then(|text| Pid::from_raw(text.parse().ok()?));
    if guard.is_none() || getppid() != guard {
        return;
    }
    let asked = set_parent_process_death_signal(Some(Signal::TERM));
    // It may have ended before we asked.
    if asked.is_ok() && getppid() != guard {
        std::process::exit(1);
    }
}
