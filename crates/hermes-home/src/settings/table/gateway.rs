//! The always-on process: chats, delivery, the API server.

use serde_json::Value;

use super::super::spec::{choice, flag, float, int, list, settings, text, tree};

settings! {
    /// Whether deliveries are written down before they are made.
    DELIVERY_LEDGER: bool = flag("gateway.delivery_ledger", true);
    /// Seconds a platform may take to connect.
    PLATFORM_CONNECT_TIMEOUT: i64 = int("gateway.platform_connect_timeout", 30).at_least(1).restart();
    /// Whether the map of chats to sessions is also written as JSON.
    WRITE_SESSIONS_JSON: bool = flag("gateway.write_sessions_json", true);
    /// Minutes without work after which the gateway ends where something else starts it again.
    SCALE_TO_ZERO_IDLE: i64 = int("gateway.scale_to_zero.idle_timeout_minutes", 5).at_least(0);
    /// Restarts within the window below that count as a loop.
    RESTART_LOOP_MAX: i64 = int("gateway.restart_loop_guard.max_restarts", 3).at_least(1);
    /// That window, in seconds.
    RESTART_LOOP_WINDOW: i64 = int("gateway.restart_loop_guard.window_seconds", 60).at_least(1);
    /// Starts within the window below that count as a storm.
    RESPAWN_STORM_MAX: i64 = int("gateway.respawn_storm.max_starts", 5).at_least(1);
    /// That window, in seconds.
    RESPAWN_STORM_WINDOW: i64 = int("gateway.respawn_storm.window_seconds", 120).at_least(1);
    /// Whether messages reach the model with their time.
    MESSAGE_TIMESTAMPS: bool = flag("gateway.message_timestamps.enabled", false);
    /// Bytes an incoming file may have.
    MAX_INBOUND_MEDIA_BYTES: i64 = int("gateway.max_inbound_media_bytes", 134_217_728).at_least(0);
    /// Whether a platform that fails stops the whole gateway.
    STRICT: bool = flag("gateway.strict", false).restart();
    /// Directories files may be sent from.
    MEDIA_DELIVERY_ALLOW_DIRS: Vec<String> = list("gateway.media_delivery_allow_dirs", &[]);
    /// Whether files written a moment ago may be sent from anywhere.
    TRUST_RECENT_FILES: bool = flag("gateway.trust_recent_files", true);
    /// How long a moment is, in seconds.
    TRUST_RECENT_FILES_SECONDS: i64 = int("gateway.trust_recent_files_seconds", 600).at_least(0);
    /// Requests the API server works on at once.
    API_MAX_CONCURRENT_RUNS: i64 = int("gateway.api_server.max_concurrent_runs", 10).at_least(1).restart();
    /// Platforms and how they are reached, by name.
    GATEWAY_PLATFORMS: Value = tree("gateway.platforms");
    /// The older place of the same.
    PLATFORMS: Value = tree("platforms");
    /// Whether answers in chats appear while they are written.
    STREAMING_ENABLED: bool = flag("streaming.enabled", false);
    /// How they appear: auto, edit or draft.
    STREAMING_TRANSPORT: String = text("streaming.transport", "auto");
    /// Seconds between two changes of a message.
    STREAMING_EDIT_INTERVAL: f64 = float("streaming.edit_interval", 0.8).within(0.05, 60.0);
    /// Characters gathered before a message is changed.
    STREAMING_BUFFER_THRESHOLD: i64 = int("streaming.buffer_threshold", 24).at_least(1);
    /// What stands at the end of an unfinished message.
    STREAMING_CURSOR: String = text("streaming.cursor", " \u{2589}");
    /// Seconds after which the final answer is a new message; 0 never.
    STREAMING_FRESH_FINAL: f64 = float("streaming.fresh_final_after_seconds", 0.0).within(0.0, 86_400.0);
    /// Whether answers are delayed as if a person typed.
    HUMAN_DELAY_MODE: String = choice("human_delay.mode", &["off", "natural", "custom"], "off");
    /// Shortest such delay, in milliseconds.
    HUMAN_DELAY_MIN: i64 = int("human_delay.min_ms", 800).at_least(0);
    /// Longest such delay, in milliseconds.
    HUMAN_DELAY_MAX: i64 = int("human_delay.max_ms", 2500).at_least(0);
}
