//! Fitting a long conversation into the context window.

use super::super::spec::{choice, flag, float, int, settings, text};

settings! {
    /// Whether a long conversation is summarised before it fills the window.
    ENABLED: bool = flag("compression.enabled", true);
    /// Share of the window at which that happens.
    THRESHOLD: f64 = float("compression.threshold", 0.5).within(0.05, 1.0);
    /// Share of that threshold the newest messages may take afterwards.
    TARGET_RATIO: f64 = float("compression.target_ratio", 0.2).within(0.01, 1.0);
    /// Newest messages that stay as they are.
    PROTECT_LAST_N: i64 = int("compression.protect_last_n", 20).at_least(0);
    /// First messages that stay as they are.
    PROTECT_FIRST_N: i64 = int("compression.protect_first_n", 3).at_least(0);
    /// Messages in a chat session after which it is summarised in any case.
    HYGIENE_HARD_MESSAGE_LIMIT: i64 = int("compression.hygiene_hard_message_limit", 5000).at_least(10);
    /// Whether a turn ends when the summary cannot be made, instead of going on without it.
    ABORT_ON_SUMMARY_FAILURE: bool = flag("compression.abort_on_summary_failure", false);
    /// Whether the summary stays in the same session.
    IN_PLACE: bool = flag("compression.in_place", true);
    /// Whether the threshold is raised for one model of OpenAI that handles long contexts.
    CODEX_AUTORAISE: bool = flag("compression.codex_gpt55_autoraise", true);
    /// Whether that is mentioned.
    CODEX_AUTORAISE_NOTICE: bool = flag("compression.codex_gpt55_autoraise_notice", true);
    /// Who summarises when the app server of OpenAI is used.
    CODEX_APP_SERVER_AUTO: String = text("compression.codex_app_server_auto", "native");
    /// What manages the context.
    ENGINE: String = text("context.engine", "compressor");
    /// Whether old sessions are removed by themselves.
    SESSIONS_AUTO_PRUNE: bool = flag("sessions.auto_prune", false);
    /// Days a session is kept when they are.
    SESSIONS_RETENTION_DAYS: i64 = int("sessions.retention_days", 90).at_least(1);
    /// Whether the store is compacted afterwards.
    SESSIONS_VACUUM: bool = flag("sessions.vacuum_after_prune", true);
    /// Hours between two removals.
    SESSIONS_MIN_INTERVAL_HOURS: i64 = int("sessions.min_interval_hours", 24).at_least(0);
    /// Whether each session is also written as a JSON file.
    SESSIONS_JSON_SNAPSHOTS: bool = flag("sessions.write_json_snapshots", false);
    /// Lines from which a paste is shown folded.
    PASTE_COLLAPSE_THRESHOLD: i64 = int("paste_collapse_threshold", 5).at_least(0);
    /// The same for terminals that cannot tell a paste from typing.
    PASTE_COLLAPSE_FALLBACK: i64 = int("paste_collapse_threshold_fallback", 5).at_least(0);
    /// Characters from which a paste is shown folded.
    PASTE_COLLAPSE_CHARS: i64 = int("paste_collapse_char_threshold", 2000).at_least(0);
    /// Backup before an update: quick, full or off.
    PRE_UPDATE_BACKUP: String = choice("updates.pre_update_backup", &["quick", "full", "off", "true", "false"], "quick");
    /// Such backups that are kept.
    BACKUP_KEEP: i64 = int("updates.backup_keep", 5).at_least(0);
    /// What an unattended update does with local changes.
    UPDATE_LOCAL_CHANGES: String = text("updates.non_interactive_local_changes", "stash");
    /// Whether an update also refreshes the computer-use driver.
    UPDATE_CUA_DRIVER: bool = flag("updates.refresh_cua_driver", true);
}
