//! Agents that work for an agent.

use super::super::spec::{flag, int, secret, settings, text};

settings! {
    /// Model of delegated agents; empty is the parent's.
    MODEL: String = text("delegation.model", "");
    /// Provider of delegated agents; empty is the parent's.
    PROVIDER: String = text("delegation.provider", "");
    /// Endpoint of delegated agents; empty is the parent's.
    BASE_URL: String = text("delegation.base_url", "");
    /// Key for that endpoint.
    API_KEY: Option<String> = secret("delegation.api_key");
    /// Wire format of that endpoint.
    API_MODE: String = text("delegation.api_mode", "");
    /// Thinking effort of delegated agents; empty is the parent's.
    REASONING_EFFORT: String = text("delegation.reasoning_effort", "");
    /// Whether delegated agents may use the parent's MCP tools.
    INHERIT_MCP_TOOLSETS: bool = flag("delegation.inherit_mcp_toolsets", true);
    /// Most model calls of a delegated agent.
    MAX_ITERATIONS: i64 = int("delegation.max_iterations", 50).at_least(1);
    /// Characters of its report the parent sees.
    MAX_SUMMARY_CHARS: i64 = int("delegation.max_summary_chars", 24_000).at_least(100);
    /// Most tokens of a delegated agent, prompts included; 0 sets no limit. The budgets of turn, session, day and month hold besides.
    MAX_TOKENS: i64 = int("delegation.max_tokens", 0).at_least(0);
    /// Seconds a delegated agent may take; 0 sets no limit.
    CHILD_TIMEOUT_SECONDS: i64 = int("delegation.child_timeout_seconds", 0).at_least(0).env("DELEGATION_CHILD_TIMEOUT_SECONDS");
    /// Delegated agents that may run at once.
    MAX_CONCURRENT_CHILDREN: i64 = int("delegation.max_concurrent_children", 3).at_least(1).env("DELEGATION_MAX_CONCURRENT_CHILDREN");
    /// How deep delegated agents may delegate.
    MAX_SPAWN_DEPTH: i64 = int("delegation.max_spawn_depth", 1).at_least(0).at_most(10);
    /// Whether a delegated agent may be one that delegates.
    ORCHESTRATOR_ENABLED: bool = flag("delegation.orchestrator_enabled", true);
    /// Whether dangerous commands of delegated agents run without asking.
    SUBAGENT_AUTO_APPROVE: bool = flag("delegation.subagent_auto_approve", false);
}
