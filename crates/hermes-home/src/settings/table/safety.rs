//! What the agent may do, what it may see, and how to undo it.

use super::super::spec::{choice, flag, int, list, settings, text};

settings! {
    /// Who decides about dangerous commands: you (manual), a model first and then you (smart), or nobody (off).
    APPROVALS_MODE: String = choice("approvals.mode", &["manual", "smart", "off"], "smart");
    /// Seconds a question about a command waits for an answer; 0, the default, waits for ever.
    APPROVALS_TIMEOUT: i64 = int("approvals.timeout", 0).at_least(0);
    /// Seconds such a question waits in a chat; 0 waits for ever.
    APPROVALS_GATEWAY_TIMEOUT: i64 = int("approvals.gateway_timeout", 300).at_least(0);
    /// What happens to dangerous commands of scheduled jobs.
    APPROVALS_CRON_MODE: String = choice("approvals.cron_mode", &["deny", "approve"], "deny");
    /// Commands that are always refused, as patterns over the line or a command in it; case does not matter.
    APPROVALS_DENY: Vec<String> = list("approvals.deny", &[]);
    /// Whether reloading MCP servers asks first.
    APPROVALS_MCP_RELOAD_CONFIRM: bool = flag("approvals.mcp_reload_confirm", true);
    /// Whether slash commands that lose something ask first.
    APPROVALS_DESTRUCTIVE_SLASH_CONFIRM: bool = flag("approvals.destructive_slash_confirm", true);
    /// Commands that never ask, as patterns; those with shell operators only word for word.
    COMMAND_ALLOWLIST: Vec<String> = list("command_allowlist", &[]);
    /// Skip every question about commands, for this process.
    YOLO_MODE: bool = flag("HERMES_YOLO_MODE", false).env_only();
    /// Whether secrets are masked in everything that goes to the model, the logs and the screen.
    REDACT_SECRETS: bool = flag("security.redact_secrets", true).env("HERMES_REDACT_SECRETS").restart();
    /// Whether the agent may open private and local addresses.
    ALLOW_PRIVATE_URLS: bool = flag("security.allow_private_urls", false).env("HERMES_ALLOW_PRIVATE_URLS");
    /// Whether web sites of the block list are refused.
    WEBSITE_BLOCKLIST_ENABLED: bool = flag("security.website_blocklist.enabled", false);
    /// Domains of the block list.
    WEBSITE_BLOCKLIST_DOMAINS: Vec<String> = list("security.website_blocklist.domains", &[]);
    /// Files with further domains, one a line.
    WEBSITE_BLOCKLIST_FILES: Vec<String> = list("security.website_blocklist.shared_files", &[]);
    /// Whether an external scanner looks at commands first; not here: the rules are built in.
    TIRITH_ENABLED: bool = flag("security.tirith_enabled", true);
    /// The scanner's program.
    TIRITH_PATH: String = text("security.tirith_path", "tirith");
    /// Seconds the scanner may take.
    TIRITH_TIMEOUT: i64 = int("security.tirith_timeout", 5).at_least(1);
    /// Whether commands run when the scanner fails.
    TIRITH_FAIL_OPEN: bool = flag("security.tirith_fail_open", true);
    /// Security notices you have read.
    ACKED_ADVISORIES: Vec<String> = list("security.acked_advisories", &[]);
    /// Whether missing helpers may be installed when they are first needed.
    ALLOW_LAZY_INSTALLS: bool = flag("security.allow_lazy_installs", true);
    /// The only directory the agent may write to; empty sets no limit.
    WRITE_SAFE_ROOT: String = text("HERMES_WRITE_SAFE_ROOT", "").env_only();
    /// Whether personal data in chats is masked before it reaches the model.
    REDACT_PII: bool = flag("privacy.redact_pii", false);
    /// Whether files are snapshotted before they are changed, for /rollback.
    CHECKPOINTS_ENABLED: bool = flag("checkpoints.enabled", false);
    /// Snapshots kept per directory.
    CHECKPOINTS_MAX_SNAPSHOTS: i64 = int("checkpoints.max_snapshots", 20).at_least(1);
    /// Megabytes all snapshots together may take.
    CHECKPOINTS_MAX_TOTAL_SIZE_MB: i64 = int("checkpoints.max_total_size_mb", 500).at_least(1);
    /// Larger files are left out of snapshots, in megabytes.
    CHECKPOINTS_MAX_FILE_SIZE_MB: i64 = int("checkpoints.max_file_size_mb", 10).at_least(1);
    /// Whether old snapshots are removed by themselves.
    CHECKPOINTS_AUTO_PRUNE: bool = flag("checkpoints.auto_prune", true);
    /// Days a snapshot is kept.
    CHECKPOINTS_RETENTION_DAYS: i64 = int("checkpoints.retention_days", 7).at_least(1);
    /// Whether snapshots of directories that are gone are removed.
    CHECKPOINTS_DELETE_ORPHANS: bool = flag("checkpoints.delete_orphans", true);
    /// Hours between two clean-ups of snapshots.
    CHECKPOINTS_MIN_INTERVAL_HOURS: i64 = int("checkpoints.min_interval_hours", 24).at_least(0);
}
