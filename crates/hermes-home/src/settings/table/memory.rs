//! What is remembered and learnt.

use serde_json::Value;

use super::super::spec::{flag, int, list, settings, text, tree};

settings! {
    /// Whether MEMORY.md is read and written.
    MEMORY_ENABLED: bool = flag("memory.memory_enabled", true);
    /// Whether USER.md is read and written.
    USER_PROFILE_ENABLED: bool = flag("memory.user_profile_enabled", true);
    /// Whether changes of the memory wait for your consent.
    MEMORY_WRITE_APPROVAL: bool = flag("memory.write_approval", false);
    /// Characters MEMORY.md may have.
    MEMORY_CHAR_LIMIT: i64 = int("memory.memory_char_limit", 2200).at_least(100);
    /// Characters USER.md may have.
    USER_CHAR_LIMIT: i64 = int("memory.user_char_limit", 1375).at_least(100);
    /// A further memory service; empty uses the files alone.
    MEMORY_PROVIDER: String = text("memory.provider", "");
    /// Turns after which the agent is reminded to keep what it learnt; 0 never.
    MEMORY_NUDGE_INTERVAL: i64 = int("memory.nudge_interval", 10).at_least(0);
    /// Further directories with skills.
    SKILLS_EXTERNAL_DIRS: Vec<String> = list("skills.external_dirs", &[]);
    /// Skills that are switched off.
    SKILLS_DISABLED: Vec<String> = list("skills.disabled", &[]);
    /// Skills that are switched off on a platform, in place of `skills.disabled`, by platform.
    SKILLS_PLATFORM_DISABLED: Value = tree("skills.platform_disabled");
    /// Whether placeholders in skills are filled in.
    SKILLS_TEMPLATE_VARS: bool = flag("skills.template_vars", true);
    /// Whether skills may run commands while they are loaded.
    SKILLS_INLINE_SHELL: bool = flag("skills.inline_shell", false);
    /// Seconds such a command may take.
    SKILLS_INLINE_SHELL_TIMEOUT: i64 = int("skills.inline_shell_timeout", 10).at_least(1);
    /// Whether skills the agent writes are scanned first.
    SKILLS_GUARD_AGENT_CREATED: bool = flag("skills.guard_agent_created", false);
    /// Whether changes of skills wait for your consent.
    SKILLS_WRITE_APPROVAL: bool = flag("skills.write_approval", false);
    /// Tool calls after which the agent is reminded to keep a skill; 0 never.
    SKILLS_CREATION_NUDGE_INTERVAL: i64 = int("skills.creation_nudge_interval", 10).at_least(0);
    /// Values that skills ask for, by skill.
    SKILLS_CONFIG: Value = tree("skills.config");
    /// Whether skills are tidied up by themselves.
    CURATOR_ENABLED: bool = flag("curator.enabled", true);
    /// Hours between two tidy-ups.
    CURATOR_INTERVAL_HOURS: i64 = int("curator.interval_hours", 168).at_least(1);
    /// Hours without work before a tidy-up starts.
    CURATOR_MIN_IDLE_HOURS: i64 = int("curator.min_idle_hours", 2).at_least(0);
    /// Days after which an unused skill counts as stale.
    CURATOR_STALE_AFTER_DAYS: i64 = int("curator.stale_after_days", 30).at_least(1);
    /// Days after which an unused skill is archived.
    CURATOR_ARCHIVE_AFTER_DAYS: i64 = int("curator.archive_after_days", 90).at_least(1);
    /// Whether similar skills are merged.
    CURATOR_CONSOLIDATE: bool = flag("curator.consolidate", false);
    /// Whether unused built-in skills are archived too.
    CURATOR_PRUNE_BUILTINS: bool = flag("curator.prune_builtins", true);
    /// Whether skills are saved before a tidy-up.
    CURATOR_BACKUP_ENABLED: bool = flag("curator.backup.enabled", true);
    /// Such copies that are kept.
    CURATOR_BACKUP_KEEP: i64 = int("curator.backup.keep", 5).at_least(0);
}
