//! Scheduled jobs.

use serde_json::Value;

use super::super::spec::{flag, int, optional_int, settings, text, tree};

settings! {
    /// Who keeps the schedule; empty is this program.
    PROVIDER: String = text("cron.provider", "");
    /// An outside service that keeps the schedule.
    CHRONOS: Value = tree("cron.chronos");
    /// Whether results are delivered with a line that says which job they are from.
    WRAP_RESPONSE: bool = flag("cron.wrap_response", true);
    /// Whether a delivered result also enters the chat's session.
    MIRROR_DELIVERY: bool = flag("cron.mirror_delivery", false);
    /// Jobs that may run at once; unset sets no limit.
    MAX_PARALLEL_JOBS: Option<i64> = optional_int("cron.max_parallel_jobs");
    /// Results kept per job.
    OUTPUT_RETENTION: i64 = int("cron.output_retention", 50).at_least(0);
    /// Seconds a job waits for the session store.
    SESSION_DB_TIMEOUT_SECONDS: i64 = int("cron.session_db_timeout_seconds", 10).at_least(1);
}
