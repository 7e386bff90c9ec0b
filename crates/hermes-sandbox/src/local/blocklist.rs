//! Variables that hold credentials, ours or the user's, and must not reach a command.

use super::shapes;

/// Credentials and endpoints of model providers. No setting can let these through: a command that a model
/// wrote must never be able to read the key the model is paid with.
pub const PROVIDER: &[&str] = &[
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_TOKEN",
    "AWS_BEARER_TOKEN_BEDROCK",
    "COHERE_API_KEY",
    "DEEPSEEK_API_KEY",
    "FIREWORKS_API_KEY",
    "GOOGLE_API_KEY",
    "GEMINI_API_KEY",
    "GROQ_API_KEY",
    "HELICONE_API_KEY",
    "LLM_MODEL",
    "MISTRAL_API_KEY",
    "OPENAI_API_BASE",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OPENAI_ORGANIZATION",
    "OPENAI_ORG_ID",
    "OPENROUTER_API_KEY",
    "PERPLEXITY_API_KEY",
    "TOGETHER_API_KEY",
    "VERTEX_CREDENTIALS_PATH",
    "XAI_API_KEY",
];

/// Credentials and addresses of chat platforms and tools. A skill or the user may let single ones through.
pub const OTHER: &[&str] = &[
    "DAYTONA_API_KEY",
    "DISCORD_AUTO_THREAD",
    "DISCORD_BOT_TOKEN",
    "DISCORD_FREE_RESPONSE_CHANNELS",
    "DISCORD_HOME_CHANNEL",
    "DISCORD_HOME_CHANNEL_NAME",
    "DISCORD_REQUIRE_MENTION",
    "EMAIL_ADDRESS",
    "EMAIL_HOME_ADDRESS",
    "EMAIL_HOME_ADDRESS_NAME",
    "EMAIL_IMAP_HOST",
    "EMAIL_PASSWORD",
    "EMAIL_SMTP_HOST",
    "FIRECRAWL_API_KEY",
    "FIRECRAWL_API_URL",
    "GATEWAY_ALLOWED_USERS",
    "GATEWAY_RELAY_DELIVERY_KEY",
    "GATEWAY_RELAY_ID",
    "GATEWAY_RELAY_SECRET",
    "GH_TOKEN",
    "GITHUB_APP_ID",
    "GITHUB_APP_INSTALLATION_ID",
    "GITHUB_APP_PRIVATE_KEY_PATH",
    "GITHUB_TOKEN",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "HASS_TOKEN",
    "HASS_URL",
    "HERMES_DASHBOARD_SESSION_TOKEN",
    "MODAL_TOKEN_ID",
    "MODAL_TOKEN_SECRET",
    "PARALLEL_API_KEY",
    "SIGNAL_ACCOUNT",
    "SIGNAL_ALLOWED_USERS",
    "SIGNAL_GROUP_ALLOWED_USERS",
    "SIGNAL_HOME_CHANNEL",
    "SIGNAL_HOME_CHANNEL_NAME",
    "SIGNAL_HTTP_URL",
    "SIGNAL_IGNORE_STORIES",
    "SLACK_ALLOWED_USERS",
    "SLACK_APP_TOKEN",
    "SLACK_BOT_TOKEN",
    "SLACK_HOME_CHANNEL",
    "SLACK_HOME_CHANNEL_NAME",
    "SUDO_PASSWORD",
    "TELEGRAM_BOT_TOKEN",
    "TELEGRAM_HOME_CHANNEL",
    "TELEGRAM_HOME_CHANNEL_NAME",
    "WHATSAPP_ALLOWED_USERS",
    "WHATSAPP_ENABLED",
    "WHATSAPP_MODE",
];

/// Names that are credentials of ours by their shape, whatever the middle says.
pub fn is_secret_shape(name: &str) -> bool {
    let auxiliary = name
        .strip_prefix("AUXILIARY_")
        .is_some_and(|rest| rest.ends_with("_API_KEY") || rest.ends_with("_BASE_URL"));
    let relay = name
        .strip_prefix("GATEWAY_RELAY_")
        .is_some_and(|rest| ["SECRET", "KEY", "TOKEN"].iter().any(|end| rest.ends_with(end)));
    auxiliary || relay
}

/// Which list a name is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// None.
    Free,
    /// Blocked unless let through by name.
    Blocked,
    /// Blocked whatever anyone says.
    Never,
}

/// Judges a name. `private` are credentials that are known elsewhere; they are as strict as the providers',
/// unless we know that they are a tool's.
pub fn judge(name: &str, private: &[String]) -> Verdict {
    if PROVIDER.contains(&name) || is_secret_shape(name) {
        Verdict::Never
    } else if OTHER.contains(&name) {
        Verdict::Blocked
    } else if private.iter().any(|known| known == name) {
        Verdict::Never
    } else if shapes::is_secret(name) {
        Verdict::Blocked
    } else {
        Verdict::Free
    }
}
