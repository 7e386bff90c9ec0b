//! The board and its dispatcher.

use super::super::spec::{flag, int, optional_int, settings, text};

settings! {
    /// Whether the gateway dispatches cards.
    DISPATCH_IN_GATEWAY: bool = flag("kanban.dispatch_in_gateway", true);
    /// Seconds between two looks at the board.
    DISPATCH_INTERVAL_SECONDS: i64 = int("kanban.dispatch_interval_seconds", 60).at_least(1);
    /// Failures after which a card is blocked.
    FAILURE_LIMIT: i64 = int("kanban.failure_limit", 2).at_least(1);
    /// Most cards that may be running at once; unset sets no limit.
    MAX_IN_PROGRESS: Option<i64> = optional_int("kanban.max_in_progress");
    /// Most workers that may run at once on all boards of this machine; 0 sets no limit.
    MAX_IN_PROGRESS_HOST: i64 = int("kanban.max_in_progress_host", 2).at_least(0);
    /// Most cards of a board that may be running for another to be started; unset sets no limit.
    MAX_SPAWN: Option<i64> = optional_int("kanban.max_spawn");
    /// Most cards of one profile that may be running at once; unset sets no limit.
    MAX_IN_PROGRESS_PER_PROFILE: Option<i64> = optional_int("kanban.max_in_progress_per_profile");
    /// Profile that takes cards nobody was named for.
    DEFAULT_ASSIGNEE: String = text("kanban.default_assignee", "");
    /// Failures around a card (programs, directories, sandboxes, keys) after which it is blocked.
    INFRASTRUCTURE_FAILURE_LIMIT: i64 = int("kanban.infrastructure_failure_limit", 5).at_least(1);
    /// Times a provider may refuse a card for its limits before the card is blocked.
    QUOTA_LIMIT: i64 = int("kanban.quota_limit", 8).at_least(1);
    /// Seconds before a failed card is tried again; doubled with every failure in a row.
    RETRY_BACKOFF_SECONDS: i64 = int("kanban.retry_backoff_seconds", 15).at_least(0);
    /// Most seconds before a failed card is tried again.
    RETRY_BACKOFF_MAX_SECONDS: i64 = int("kanban.retry_backoff_max_seconds", 3600).at_least(0);
    /// Profile that puts together what a split card's parts came to; empty is the profile in use.
    ORCHESTRATOR_PROFILE: String = text("kanban.orchestrator_profile", "");
    /// Whether cards in triage are split by themselves, each as a card of its own.
    AUTO_DECOMPOSE: bool = flag("kanban.auto_decompose", false);
    /// Cards in triage that are split at once; 0 is none.
    AUTO_DECOMPOSE_PER_TICK: i64 = int("kanban.auto_decompose_per_tick", 3).at_least(0);
    /// Whether the parts of a split card begin by themselves; otherwise each is blocked until somebody unblocks it.
    AUTO_PROMOTE_CHILDREN: bool = flag("kanban.auto_promote_children", true);
    /// Seconds without a sign of life after which a running card counts as stale; 0 never.
    DISPATCH_STALE_TIMEOUT_SECONDS: i64 = int("kanban.dispatch_stale_timeout_seconds", 14_400).at_least(0);
    /// Bytes at which a worker's log is rotated.
    WORKER_LOG_ROTATE_BYTES: i64 = int("kanban.worker_log_rotate_bytes", 2_097_152).at_least(1024);
    /// Rotated logs that are kept.
    WORKER_LOG_BACKUP_COUNT: i64 = int("kanban.worker_log_backup_count", 1).at_least(0);
    /// Failures in a row from which `hermes kanban diagnostics` speaks of them; unset is `kanban.failure_limit`.
    DIAGNOSTICS_FAILURE_THRESHOLD: Option<i64> = optional_int("kanban.diagnostics.failure_threshold");
    /// An old name of that.
    DIAGNOSTICS_SPAWN_FAILURE_THRESHOLD: Option<i64> = optional_int("kanban.diagnostics.spawn_failure_threshold");
    /// Crashes in a row from which it does; unset is 2.
    DIAGNOSTICS_CRASH_THRESHOLD: Option<i64> = optional_int("kanban.diagnostics.crash_threshold");
    /// Hours that a card may be blocked without a word; unset is 24.
    DIAGNOSTICS_BLOCKED_STALE_HOURS: Option<i64> = optional_int("kanban.diagnostics.blocked_stale_hours");
    /// Seconds that a card may be ready without being taken; unset is 1800.
    DIAGNOSTICS_STRANDED_THRESHOLD_SECONDS: Option<i64> = optional_int("kanban.diagnostics.stranded_threshold_seconds");
    /// Times that a card may be unblocked within the window; unset is 3.
    DIAGNOSTICS_BLOCK_CYCLE_THRESHOLD: Option<i64> = optional_int("kanban.diagnostics.block_cycle_threshold");
    /// Seconds of that window; unset is a day.
    DIAGNOSTICS_BLOCK_CYCLE_WINDOW_SECONDS: Option<i64> = optional_int("kanban.diagnostics.block_cycle_window_seconds");
}
