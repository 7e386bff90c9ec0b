//! Tools: which are offered, and the limits of each.

use serde_json::Value;

use super::super::spec::{choice, flag, float, int, list, optional_int, settings, text, tree};

settings! {
    /// Toolsets a session starts with.
    TOOLSETS: Vec<String> = list("toolsets", &["hermes-cli"]);
    /// Toolsets by platform.
    PLATFORM_TOOLSETS: Value = tree("platform_toolsets");
    /// Characters of tool output the model sees.
    OUTPUT_MAX_BYTES: i64 = int("tool_output.max_bytes", 50_000).at_least(1000);
    /// Lines of a file the model sees at once.
    OUTPUT_MAX_LINES: i64 = int("tool_output.max_lines", 2000).at_least(10);
    /// Characters of one line the model sees.
    OUTPUT_MAX_LINE_LENGTH: i64 = int("tool_output.max_line_length", 2000).at_least(80);
    /// Characters one file read may return.
    FILE_READ_MAX_CHARS: i64 = int("file_read_max_chars", 100_000).at_least(1000);
    /// Characters of a context file (AGENTS.md and the like) that enter the prompt; unset uses the built-in limit.
    CONTEXT_FILE_MAX_CHARS: Option<i64> = optional_int("context_file_max_chars");
    /// Where scripts of execute_code run: in the project or in a directory of their own.
    CODE_EXECUTION_MODE: String = choice("code_execution.mode", &["project", "strict", "isolated"], "project");
    /// Seconds a script may take.
    CODE_EXECUTION_TIMEOUT: i64 = int("code_execution.timeout", 300).at_least(1);
    /// Tool calls a script may make.
    CODE_EXECUTION_MAX_TOOL_CALLS: i64 = int("code_execution.max_tool_calls", 50).at_least(0);
    /// Whether rarely used tools are found by search instead of being listed: auto, true or false.
    TOOL_SEARCH_ENABLED: String = choice("tools.tool_search.enabled", &["auto", "true", "false", "on", "off"], "auto");
    /// Share of the context window, in percent, above which tools are found by search.
    TOOL_SEARCH_THRESHOLD: i64 = int("tools.tool_search.threshold_pct", 10).at_least(0).at_most(100);
    /// Tools a search returns unless told otherwise.
    TOOL_SEARCH_DEFAULT_LIMIT: i64 = int("tools.tool_search.search_default_limit", 5).at_least(1);
    /// Most tools a search may return.
    TOOL_SEARCH_MAX_LIMIT: i64 = int("tools.tool_search.max_search_limit", 20).at_least(1);
    /// Service for web search and page text, when the two below are empty.
    WEB_BACKEND: String = text("web.backend", "");
    /// Service for web search.
    WEB_SEARCH_BACKEND: String = text("web.search_backend", "");
    /// Service that turns pages into text.
    WEB_EXTRACT_BACKEND: String = text("web.extract_backend", "");
    /// Characters of a page the model sees.
    WEB_EXTRACT_CHAR_LIMIT: i64 = int("web.extract_char_limit", 15_000).at_least(100);
    /// Seconds of silence after which a browser is closed.
    BROWSER_INACTIVITY_TIMEOUT: i64 = int("browser.inactivity_timeout", 120).at_least(1);
    /// Seconds one browser action may take.
    BROWSER_COMMAND_TIMEOUT: i64 = int("browser.command_timeout", 30).at_least(1);
    /// Whether browser sessions are recorded.
    BROWSER_RECORD_SESSIONS: bool = flag("browser.record_sessions", false);
    /// Whether the browser shows a window.
    BROWSER_HEADED: bool = flag("browser.headed", false);
    /// Whether the browser may open private and local addresses.
    BROWSER_ALLOW_PRIVATE_URLS: bool = flag("browser.allow_private_urls", false);
    /// Which browser program is driven.
    BROWSER_ENGINE: String = text("browser.engine", "auto").env("AGENT_BROWSER_ENGINE");
    /// Whether private addresses are opened in the local browser although a remote one is set.
    BROWSER_AUTO_LOCAL: bool = flag("browser.auto_local_for_private_urls", true);
    /// Address of a running browser to attach to.
    BROWSER_CDP_URL: String = text("browser.cdp_url", "");
    /// Whether scripts in pages may do what is usually refused.
    BROWSER_ALLOW_UNSAFE_EVALUATE: bool = flag("browser.allow_unsafe_evaluate", false);
    /// Whether scripts in pages are refused.
    BROWSER_RESTRICT_EVALUATE: bool = flag("browser.restrict_evaluate", false);
    /// What happens to dialogs of a page.
    BROWSER_DIALOG_POLICY: String = text("browser.dialog_policy", "must_respond");
    /// Seconds a dialog waits.
    BROWSER_DIALOG_TIMEOUT: i64 = int("browser.dialog_timeout_s", 300).at_least(0);
    /// The Camofox browser service.
    BROWSER_CAMOFOX: Value = tree("browser.camofox");
    /// Whether language servers check files after edits.
    LSP_ENABLED: bool = flag("lsp.enabled", true);
    /// What an edit waits for.
    LSP_WAIT_MODE: String = text("lsp.wait_mode", "document");
    /// Seconds it waits.
    LSP_WAIT_TIMEOUT: f64 = float("lsp.wait_timeout", 5.0).within(0.0, 600.0);
    /// Whether missing language servers are installed.
    LSP_INSTALL_STRATEGY: String = text("lsp.install_strategy", "auto");
    /// Language servers of your own.
    LSP_SERVERS: Value = tree("lsp.servers");
    /// MCP servers, by name.
    MCP_SERVERS: Value = tree("mcp_servers");
    /// Seconds the start waits for MCP servers.
    MCP_DISCOVERY_TIMEOUT: f64 = float("mcp_discovery_timeout", 1.5).within(0.0, 600.0);
    /// Whether a change of `mcp_servers` is picked up while running.
    MCP_AUTO_RELOAD: bool = flag("mcp.auto_reload_on_config_change", true);
    /// Model for searches on X.
    X_SEARCH_MODEL: String = text("x_search.model", "grok-4.5");
    /// Thinking effort for searches on X.
    X_SEARCH_EFFORT: String = text("x_search.reasoning_effort", "");
    /// Seconds a search on X may take.
    X_SEARCH_TIMEOUT: i64 = int("x_search.timeout_seconds", 180).at_least(1);
    /// How often a search on X is tried again.
    X_SEARCH_RETRIES: i64 = int("x_search.retries", 2).at_least(0);
}
