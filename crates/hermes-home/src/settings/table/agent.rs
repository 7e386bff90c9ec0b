//! How a turn runs: limits, guidance and loop guards.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::spec::{choice, flag, int, list, optional_int, settings, table, text, tree, tree_or};

settings! {
    /// Most model calls in one turn.
    MAX_TURNS: i64 = int("agent.max_turns", 90).at_least(1).env("HERMES_MAX_ITERATIONS").was(&["max_turns"]);
    /// How often a failed model call is tried again.
    API_MAX_RETRIES: i64 = int("agent.api_max_retries", 3).at_least(0);
    /// Priority tier to ask the provider for; empty asks for none.
    SERVICE_TIER: String = text("agent.service_tier", "");
    /// How much a model should think: empty, none, minimal, low, medium, high or xhigh.
    REASONING_EFFORT: String = text("agent.reasoning_effort", "");
    /// Thinking effort for single models, by name.
    REASONING_OVERRIDES: BTreeMap<String, String> = table("agent.reasoning_overrides");
    /// Whether the prompt insists on using tools: auto, true, false or a list of model names.
    TOOL_USE_ENFORCEMENT: Value = tree_or("agent.tool_use_enforcement", "auto");
    /// Whether a turn that only announces work is asked to go on.
    INTENT_ACK_CONTINUATION: Value = tree_or("agent.intent_ack_continuation", "auto");
    /// Whether the prompt asks to finish the whole task.
    TASK_COMPLETION_GUIDANCE: bool = flag("agent.task_completion_guidance", true);
    /// Whether the prompt asks for independent tool calls in one message.
    PARALLEL_TOOL_CALL_GUIDANCE: bool = flag("agent.parallel_tool_call_guidance", true);
    /// Whether the prompt says what the sandbox offers.
    ENVIRONMENT_PROBE: bool = flag("agent.environment_probe", true);
    /// A sentence of your own about the environment, for the prompt.
    ENVIRONMENT_HINT: String = text("agent.environment_hint", "");
    /// Whether coding instructions are added: auto, true or false.
    CODING_CONTEXT: String = choice("agent.coding_context", &["auto", "true", "false", "on", "off"], "auto");
    /// Coding instructions of your own.
    CODING_INSTRUCTIONS: String = text("agent.coding_instructions", "");
    /// Whether the prompt asks to verify work before claiming it is done.
    VERIFY_GUIDANCE: bool = flag("agent.verify_guidance", true);
    /// How often in a turn unverified work is sent back.
    MAX_VERIFY_NUDGES: i64 = int("agent.max_verify_nudges", 3).at_least(0);
    /// Whether a turn that changed files must verify them before it ends.
    VERIFY_ON_STOP: String = choice("agent.verify_on_stop", &["auto", "true", "false", "on", "off"], "auto");
    /// How images reach the model: auto, native or text.
    IMAGE_INPUT_MODE: String = choice("agent.image_input_mode", &["auto", "native", "text"], "auto");
    /// Toolsets that are never offered.
    DISABLED_TOOLSETS: Vec<String> = list("agent.disabled_toolsets", &[]);
    /// Seconds a chat turn may take in the gateway; 0 sets no limit.
    GATEWAY_TIMEOUT: i64 = int("agent.gateway_timeout", 1800).at_least(0);
    /// Seconds after which the user is told that a turn takes long; 0 never.
    GATEWAY_TIMEOUT_WARNING: i64 = int("agent.gateway_timeout_warning", 900).at_least(0);
    /// Seconds between notes that a turn is still running; 0 sends none.
    GATEWAY_NOTIFY_INTERVAL: i64 = int("agent.gateway_notify_interval", 180).at_least(0);
    /// Seconds running turns may take to finish when the gateway restarts.
    RESTART_DRAIN_TIMEOUT: i64 = int("agent.restart_drain_timeout", 0).at_least(0);
    /// Seconds after which an interrupted turn is not continued by itself any more.
    GATEWAY_AUTO_CONTINUE_FRESHNESS: i64 = int("agent.gateway_auto_continue_freshness", 3600).at_least(0);
    /// Seconds a question to the user stays open.
    CLARIFY_TIMEOUT: i64 = int("agent.clarify_timeout", 3600).at_least(0);
    /// Seconds of silence after which a stream of a local server counts as broken.
    LOCAL_STREAM_STALE_TIMEOUT: i64 = int("agent.local_stream_stale_timeout", 900).at_least(1);
    /// Text added to the system prompt.
    SYSTEM_PROMPT: String = text("agent.system_prompt", "").env("HERMES_EPHEMERAL_SYSTEM_PROMPT");
    /// Personalities of your own, by name.
    AGENT_PERSONALITIES: Value = tree("agent.personalities");
    /// Whether repeated failures of a tool call are pointed out to the model.
    GUARDRAIL_WARNINGS: bool = flag("tool_loop_guardrails.warnings_enabled", true);
    /// Whether a tool loop that goes nowhere ends the turn.
    GUARDRAIL_HARD_STOP: bool = flag("tool_loop_guardrails.hard_stop_enabled", false);
    /// Warn after so many identical calls that failed.
    WARN_EXACT_FAILURE: i64 = int("tool_loop_guardrails.warn_after.exact_failure", 2).at_least(1);
    /// Warn after so many failures of one tool.
    WARN_SAME_TOOL_FAILURE: i64 = int("tool_loop_guardrails.warn_after.same_tool_failure", 3).at_least(1);
    /// Warn after so many identical calls with the same result.
    WARN_NO_PROGRESS: i64 = int("tool_loop_guardrails.warn_after.idempotent_no_progress", 2).at_least(1);
    /// Stop after so many identical calls that failed.
    STOP_EXACT_FAILURE: i64 = int("tool_loop_guardrails.hard_stop_after.exact_failure", 5).at_least(1);
    /// Stop after so many failures of one tool.
    STOP_SAME_TOOL_FAILURE: i64 = int("tool_loop_guardrails.hard_stop_after.same_tool_failure", 8).at_least(1);
    /// Stop after so many identical calls with the same result.
    STOP_NO_PROGRESS: i64 = int("tool_loop_guardrails.hard_stop_after.idempotent_no_progress", 5).at_least(1);
    /// Turns a goal may take before it is given up.
    GOAL_MAX_TURNS: i64 = int("goals.max_turns", 20).at_least(1);
    /// File with messages every new session starts with.
    PREFILL_MESSAGES_FILE: String = text("prefill_messages_file", "").env("HERMES_PREFILL_MESSAGES_FILE");
    /// Time zone for dates the agent sees; empty is the system's.
    TIMEZONE: String = text("timezone", "").env("HERMES_TIMEZONE");
    /// Most sessions that may run at once; unset sets no limit.
    MAX_CONCURRENT_SESSIONS: Option<i64> = optional_int("max_concurrent_sessions");
    /// Most sessions that are kept in memory.
    MAX_LIVE_SESSIONS: i64 = int("max_live_sessions", 16).at_least(1);
}
