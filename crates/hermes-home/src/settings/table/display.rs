//! What the person sees.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::spec::{choice, flag, float, int, list, settings, table, text, tree};

settings! {
    /// Whether answers appear while they are written.
    STREAMING: bool = flag("display.streaming", false);
    /// Fewer blank lines and frames.
    COMPACT: bool = flag("display.compact", false);
    /// The manner the agent speaks in.
    PERSONALITY: String = text("display.personality", "");
    /// How much of a resumed session is shown: full, minimal or none.
    RESUME_DISPLAY: String = text("display.resume_display", "full");
    /// Exchanges of a resumed session that are shown.
    RESUME_EXCHANGES: i64 = int("display.resume_exchanges", 10).at_least(0);
    /// Characters shown of each of your messages in it.
    RESUME_MAX_USER_CHARS: i64 = int("display.resume_max_user_chars", 300).at_least(0);
    /// Characters shown of each answer in it.
    RESUME_MAX_ASSISTANT_CHARS: i64 = int("display.resume_max_assistant_chars", 200).at_least(0);
    /// Lines shown of each answer in it.
    RESUME_MAX_ASSISTANT_LINES: i64 = int("display.resume_max_assistant_lines", 3).at_least(0);
    /// Whether answers that are only tool calls are left out of it.
    RESUME_SKIP_TOOL_ONLY: bool = flag("display.resume_skip_tool_only", true);
    /// What typing while the agent works does.
    BUSY_INPUT_MODE: String = choice("display.busy_input_mode", &["interrupt", "queue", "steer"], "interrupt");
    /// Whether a steering message is acknowledged.
    BUSY_STEER_ACK: bool = flag("display.busy_steer_ack_enabled", true);
    /// Which interface `hermes` opens.
    INTERFACE: String = choice("display.interface", &["cli", "tui"], "cli");
    /// Whether the full-screen interface resumes the newest session.
    TUI_AUTO_RESUME: bool = flag("display.tui_auto_resume_recent", false);
    /// Whether the full-screen interface points at running agents.
    TUI_AGENTS_NUDGE: bool = flag("display.tui_agents_nudge", true);
    /// How the full-screen interface shows that it is working.
    TUI_STATUS_INDICATOR: String = text("display.tui_status_indicator", "kaomoji");
    /// Ring the bell when an answer is complete.
    BELL_ON_COMPLETE: bool = flag("display.bell_on_complete", false);
    /// Whether the model's thinking is shown.
    SHOW_REASONING: bool = flag("display.show_reasoning", true);
    /// Whether it is shown whole.
    REASONING_FULL: bool = flag("display.reasoning_full", false);
    /// How it is shown in chats.
    REASONING_STYLE: String = text("display.reasoning_style", "code");
    /// Whether changes of the memory are mentioned: on, off or verbose.
    MEMORY_NOTIFICATIONS: String = text("display.memory_notifications", "on");
    /// Whether messages show their time.
    TIMESTAMPS: bool = flag("display.timestamps", false);
    /// How that time is written.
    TIMESTAMP_FORMAT: String = text("display.timestamp_format", "%H:%M");
    /// What happens to markdown in final answers: strip, render or raw.
    FINAL_RESPONSE_MARKDOWN: String = text("display.final_response_markdown", "strip");
    /// Whether the screen is restored after a redraw.
    PERSISTENT_OUTPUT: bool = flag("display.persistent_output", true);
    /// Lines that are restored.
    PERSISTENT_OUTPUT_MAX_LINES: i64 = int("display.persistent_output_max_lines", 200).at_least(0);
    /// Whether questions and their answers stay on the screen.
    PERSIST_PROMPTS: bool = flag("display.persist_prompts", true);
    /// Whether changes of files are shown as diffs.
    INLINE_DIFFS: bool = flag("display.inline_diffs", true);
    /// Whether claimed changes of files are checked against the disk.
    FILE_MUTATION_VERIFIER: bool = flag("display.file_mutation_verifier", true);
    /// Whether low credit is mentioned.
    CREDITS_NOTICES: bool = flag("display.credits_notices", true);
    /// Whether an unusual end of a turn is explained.
    TURN_COMPLETION_EXPLAINER: bool = flag("display.turn_completion_explainer", true);
    /// Whether the cost is shown.
    SHOW_COST: bool = flag("display.show_cost", false);
    /// Colours and symbols.
    SKIN: String = text("display.skin", "default");
    /// Language of the interface.
    LANGUAGE: String = text("display.language", "en").env("HERMES_LANGUAGE");
    /// Seconds between two refreshes of the status line.
    CLI_REFRESH_INTERVAL: f64 = float("display.cli_refresh_interval", 1.0).within(0.0, 60.0);
    /// First lines shown of a long message of yours.
    PREVIEW_FIRST_LINES: i64 = int("display.user_message_preview.first_lines", 2).at_least(0);
    /// Last lines shown of it.
    PREVIEW_LAST_LINES: i64 = int("display.user_message_preview.last_lines", 2).at_least(0);
    /// Whether text between tool calls is shown.
    INTERIM_ASSISTANT_MESSAGES: bool = flag("display.interim_assistant_messages", true);
    /// Whether remarks of the model are shown.
    SHOW_COMMENTARY: bool = flag("display.show_commentary", true);
    /// How tool calls are shown: all, new, verbose or off.
    TOOL_PROGRESS: String = text("display.tool_progress", "all");
    /// Whether chats have a command to change how tool calls are shown.
    TOOL_PROGRESS_COMMAND: bool = flag("display.tool_progress_command", false);
    /// The same by platform.
    TOOL_PROGRESS_OVERRIDES: BTreeMap<String, String> = table("display.tool_progress_overrides");
    /// Whether tool calls in chats are gathered in one message.
    TOOL_PROGRESS_GROUPING: String = text("display.tool_progress_grouping", "accumulate");
    /// Characters shown of a tool call; 0 shows the default.
    TOOL_PREVIEW_LENGTH: i64 = int("display.tool_preview_length", 0).at_least(0);
    /// Whether tools are shown by plain names.
    FRIENDLY_TOOL_LABELS: bool = flag("display.friendly_tool_labels", true);
    /// Phrases for the status line.
    STATUS_PHRASES: Value = tree("display.status_phrases");
    /// Seconds after which status messages in chats are removed; 0 keeps them.
    EPHEMERAL_SYSTEM_TTL: i64 = int("display.ephemeral_system_ttl", 0).at_least(0);
    /// The same settings by platform.
    PLATFORMS: Value = tree("display.platforms");
    /// Whether answers end with a line about model and context.
    RUNTIME_FOOTER_ENABLED: bool = flag("display.runtime_footer.enabled", false);
    /// What that line shows.
    RUNTIME_FOOTER_FIELDS: Vec<String> = list("display.runtime_footer.fields", &["model", "context_pct", "cwd"]);
    /// Which key copies.
    COPY_SHORTCUT: String = text("display.copy_shortcut", "auto");
    /// The companion on the screen.
    PET: Value = tree("display.pet");
}
