//! Parts whose inside is checked by their own reader, and marks the program leaves for itself.

use serde_json::Value;

use super::super::spec::{flag, optional_int, settings, tree};

settings! {
    /// Layout version the file was last written for; kept for programs that migrate it.
    CONFIG_VERSION: Option<i64> = optional_int("_config_version");
    /// Whether hooks run without being confirmed first.
    HOOKS_AUTO_ACCEPT: bool = flag("hooks_auto_accept", false).env("HERMES_ACCEPT_HOOKS");
    /// Commands of your own for the chat.
    QUICK_COMMANDS: Value = tree("quick_commands");
    /// Commands that run at certain events.
    HOOKS: Value = tree("hooks");
    /// Personalities of your own.
    PERSONALITIES: Value = tree("personalities");
    /// Notes about platforms for the prompt.
    PLATFORM_HINTS: Value = tree("platform_hints");
    /// Asking several models and joining their answers.
    MOA: Value = tree("moa");
    /// Models on AWS Bedrock.
    BEDROCK: Value = tree("bedrock");
    /// Models on Google Vertex.
    VERTEX: Value = tree("vertex");
    /// Where the list of models comes from.
    MODEL_CATALOG: Value = tree("model_catalog");
    /// Password stores that secrets are fetched from.
    SECRETS: Value = tree("secrets");
    /// The Honcho memory service.
    HONCHO: Value = tree("honcho");
    /// Plugins that are switched on or off.
    PLUGINS: Value = tree("plugins");
    /// What you were already told.
    ONBOARDING: Value = tree("onboarding");
    /// Speech output: devices, services and voices.
    TTS: Value = tree("tts");
    /// Speech input: devices, services and voices.
    STT: Value = tree("stt");
    /// Recording: devices, services and voices.
    VOICE: Value = tree("voice");
    /// How Telegram behaves.
    TELEGRAM: Value = tree("telegram");
    /// How Discord behaves.
    DISCORD: Value = tree("discord");
    /// How Slack behaves.
    SLACK: Value = tree("slack");
    /// How WhatsApp behaves.
    WHATSAPP: Value = tree("whatsapp");
    /// How Signal behaves.
    SIGNAL: Value = tree("signal");
    /// How Mattermost behaves.
    MATTERMOST: Value = tree("mattermost");
    /// How Matrix behaves.
    MATRIX: Value = tree("matrix");
    /// How E-mail behaves.
    EMAIL: Value = tree("email");
    /// Incoming webhooks.
    WEBHOOK: Value = tree("webhook");
    /// Control of the screen.
    COMPUTER_USE: Value = tree("computer_use");
    /// The desktop program.
    DESKTOP: Value = tree("desktop");
}
