//! The web pages.

use serde_json::Value;

use super::super::spec::{flag, int, secret, settings, text, tree};

settings! {
    /// Colours of the pages.
    THEME: String = text("dashboard.theme", "default");
    /// Address the pages are reached at from outside.
    PUBLIC_URL: String = text("dashboard.public_url", "").restart();
    /// Whether token figures are shown.
    SHOW_TOKEN_ANALYTICS: bool = flag("dashboard.show_token_analytics", false);
    /// Whether each turn runs in a process of its own.
    TURN_ISOLATION: bool = flag("dashboard.turn_isolation", false).restart();
    /// Seconds between two signs of life of such a process.
    COMPUTE_HOST_HEARTBEAT: i64 = int("dashboard.compute_host_heartbeat_secs", 15).at_least(1);
    /// How often such a process is started again.
    COMPUTE_HOST_RESPAWN_MAX: i64 = int("dashboard.compute_host_respawn_max", 3).at_least(0);
    /// Signing in through an outside service.
    OAUTH: Value = tree("dashboard.oauth");
    /// Name to sign in with.
    BASIC_AUTH_USERNAME: String = text("dashboard.basic_auth.username", "").restart();
    /// Hash of the password to sign in with.
    BASIC_AUTH_PASSWORD_HASH: Option<String> = secret("dashboard.basic_auth.password_hash").restart();
    /// The password itself, when there is no hash.
    BASIC_AUTH_PASSWORD: Option<String> = secret("dashboard.basic_auth.password").restart();
    /// Key that signs sessions; empty makes a new one at each start.
    BASIC_AUTH_SECRET: Option<String> = secret("dashboard.basic_auth.secret").restart();
    /// Seconds a session lasts; 0 uses the built-in limit.
    BASIC_AUTH_TTL: i64 = int("dashboard.basic_auth.session_ttl_seconds", 0).at_least(0).restart();
    /// Scope of tokens that may drain the program.
    DRAIN_AUTH_SCOPE: String = text("dashboard.drain_auth.scope", "drain").restart();
    /// Shortest secret such tokens may be signed with.
    DRAIN_AUTH_MIN_SECRET: i64 = int("dashboard.drain_auth.min_secret_chars", 43).at_least(1).restart();
}
