//! Small jobs that may have a model of their own.

use serde_json::Value;

use super::super::spec::{flag, int, optional_int, secret, settings, text, tree};

settings! {
    /// How often an auxiliary call that failed is tried again.
    TRANSIENT_RETRIES: i64 = int("auxiliary.transient_retries", 2).at_least(0);
    /// Provider for looking at images; `auto` uses the main one where it can.
    VISION_PROVIDER: String = text("auxiliary.vision.provider", "auto");
    /// Model for looking at images; empty picks one.
    VISION_MODEL: String = text("auxiliary.vision.model", "");
    /// Endpoint for looking at images; empty is the provider's.
    VISION_BASE_URL: String = text("auxiliary.vision.base_url", "");
    /// Key for that endpoint.
    VISION_API_KEY: Option<String> = secret("auxiliary.vision.api_key");
    /// Seconds that looking at images may take.
    VISION_TIMEOUT: i64 = int("auxiliary.vision.timeout", 120).at_least(1);
    /// Further fields for requests of looking at images.
    VISION_EXTRA_BODY: Value = tree("auxiliary.vision.extra_body");
    /// Thinking effort for looking at images.
    VISION_REASONING_EFFORT: String = text("auxiliary.vision.reasoning_effort", "");
    /// Provider for condensing web pages; `auto` uses the main one where it can.
    WEB_EXTRACT_PROVIDER: String = text("auxiliary.web_extract.provider", "auto");
    /// Model for condensing web pages; empty picks one.
    WEB_EXTRACT_MODEL: String = text("auxiliary.web_extract.model", "");
    /// Endpoint for condensing web pages; empty is the provider's.
    WEB_EXTRACT_BASE_URL: String = text("auxiliary.web_extract.base_url", "");
    /// Key for that endpoint.
    WEB_EXTRACT_API_KEY: Option<String> = secret("auxiliary.web_extract.api_key");
    /// Seconds that condensing web pages may take.
    WEB_EXTRACT_TIMEOUT: i64 = int("auxiliary.web_extract.timeout", 360).at_least(1);
    /// Further fields for requests of condensing web pages.
    WEB_EXTRACT_EXTRA_BODY: Value = tree("auxiliary.web_extract.extra_body");
    /// Thinking effort for condensing web pages.
    WEB_EXTRACT_REASONING_EFFORT: String = text("auxiliary.web_extract.reasoning_effort", "");
    /// Provider for summarising long conversations; `auto` uses the main one where it can.
    COMPRESSION_PROVIDER: String = text("auxiliary.compression.provider", "auto");
    /// Model for summarising long conversations; empty picks one.
    COMPRESSION_MODEL: String = text("auxiliary.compression.model", "");
    /// Endpoint for summarising long conversations; empty is the provider's.
    COMPRESSION_BASE_URL: String = text("auxiliary.compression.base_url", "");
    /// Key for that endpoint.
    COMPRESSION_API_KEY: Option<String> = secret("auxiliary.compression.api_key");
    /// Seconds that summarising long conversations may take.
    COMPRESSION_TIMEOUT: i64 = int("auxiliary.compression.timeout", 120).at_least(1);
    /// Further fields for requests of summarising long conversations.
    COMPRESSION_EXTRA_BODY: Value = tree("auxiliary.compression.extra_body");
    /// Thinking effort for summarising long conversations.
    COMPRESSION_REASONING_EFFORT: String = text("auxiliary.compression.reasoning_effort", "");
    /// Provider for searching skills; `auto` uses the main one where it can.
    SKILLS_HUB_PROVIDER: String = text("auxiliary.skills_hub.provider", "auto");
    /// Model for searching skills; empty picks one.
    SKILLS_HUB_MODEL: String = text("auxiliary.skills_hub.model", "");
    /// Endpoint for searching skills; empty is the provider's.
    SKILLS_HUB_BASE_URL: String = text("auxiliary.skills_hub.base_url", "");
    /// Key for that endpoint.
    SKILLS_HUB_API_KEY: Option<String> = secret("auxiliary.skills_hub.api_key");
    /// Seconds that searching skills may take.
    SKILLS_HUB_TIMEOUT: i64 = int("auxiliary.skills_hub.timeout", 30).at_least(1);
    /// Further fields for requests of searching skills.
    SKILLS_HUB_EXTRA_BODY: Value = tree("auxiliary.skills_hub.extra_body");
    /// Thinking effort for searching skills.
    SKILLS_HUB_REASONING_EFFORT: String = text("auxiliary.skills_hub.reasoning_effort", "");
    /// Provider for judging commands; `auto` uses the main one where it can.
    APPROVAL_PROVIDER: String = text("auxiliary.approval.provider", "auto");
    /// Model for judging commands; empty picks one.
    APPROVAL_MODEL: String = text("auxiliary.approval.model", "");
    /// Endpoint for judging commands; empty is the provider's.
    APPROVAL_BASE_URL: String = text("auxiliary.approval.base_url", "");
    /// Key for that endpoint.
    APPROVAL_API_KEY: Option<String> = secret("auxiliary.approval.api_key");
    /// Seconds that judging commands may take.
    APPROVAL_TIMEOUT: i64 = int("auxiliary.approval.timeout", 30).at_least(1);
    /// Further fields for requests of judging commands.
    APPROVAL_EXTRA_BODY: Value = tree("auxiliary.approval.extra_body");
    /// Thinking effort for judging commands.
    APPROVAL_REASONING_EFFORT: String = text("auxiliary.approval.reasoning_effort", "");
    /// Provider for requests of MCP servers; `auto` uses the main one where it can.
    MCP_PROVIDER: String = text("auxiliary.mcp.provider", "auto");
    /// Model for requests of MCP servers; empty picks one.
    MCP_MODEL: String = text("auxiliary.mcp.model", "");
    /// Endpoint for requests of MCP servers; empty is the provider's.
    MCP_BASE_URL: String = text("auxiliary.mcp.base_url", "");
    /// Key for that endpoint.
    MCP_API_KEY: Option<String> = secret("auxiliary.mcp.api_key");
    /// Seconds that requests of MCP servers may take.
    MCP_TIMEOUT: i64 = int("auxiliary.mcp.timeout", 30).at_least(1);
    /// Further fields for requests of requests of MCP servers.
    MCP_EXTRA_BODY: Value = tree("auxiliary.mcp.extra_body");
    /// Thinking effort for requests of MCP servers.
    MCP_REASONING_EFFORT: String = text("auxiliary.mcp.reasoning_effort", "");
    /// Provider for naming sessions; `auto` uses the main one where it can.
    TITLE_GENERATION_PROVIDER: String = text("auxiliary.title_generation.provider", "auto");
    /// Model for naming sessions; empty picks one.
    TITLE_GENERATION_MODEL: String = text("auxiliary.title_generation.model", "");
    /// Endpoint for naming sessions; empty is the provider's.
    TITLE_GENERATION_BASE_URL: String = text("auxiliary.title_generation.base_url", "");
    /// Key for that endpoint.
    TITLE_GENERATION_API_KEY: Option<String> = secret("auxiliary.title_generation.api_key");
    /// Seconds that naming sessions may take.
    TITLE_GENERATION_TIMEOUT: i64 = int("auxiliary.title_generation.timeout", 30).at_least(1);
    /// Further fields for requests of naming sessions.
    TITLE_GENERATION_EXTRA_BODY: Value = tree("auxiliary.title_generation.extra_body");
    /// Thinking effort for naming sessions.
    TITLE_GENERATION_REASONING_EFFORT: String = text("auxiliary.title_generation.reasoning_effort", "");
    /// Provider for rephrasing memory queries; `auto` uses the main one where it can.
    MEMORY_QUERY_REWRITE_PROVIDER: String = text("auxiliary.memory_query_rewrite.provider", "auto");
    /// Model for rephrasing memory queries; empty picks one.
    MEMORY_QUERY_REWRITE_MODEL: String = text("auxiliary.memory_query_rewrite.model", "");
    /// Endpoint for rephrasing memory queries; empty is the provider's.
    MEMORY_QUERY_REWRITE_BASE_URL: String = text("auxiliary.memory_query_rewrite.base_url", "");
    /// Key for that endpoint.
    MEMORY_QUERY_REWRITE_API_KEY: Option<String> = secret("auxiliary.memory_query_rewrite.api_key");
    /// Seconds that rephrasing memory queries may take.
    MEMORY_QUERY_REWRITE_TIMEOUT: i64 = int("auxiliary.memory_query_rewrite.timeout", 8).at_least(1);
    /// Further fields for requests of rephrasing memory queries.
    MEMORY_QUERY_REWRITE_EXTRA_BODY: Value = tree("auxiliary.memory_query_rewrite.extra_body");
    /// Provider for marking up speech; `auto` uses the main one where it can.
    TTS_AUDIO_TAGS_PROVIDER: String = text("auxiliary.tts_audio_tags.provider", "auto");
    /// Model for marking up speech; empty picks one.
    TTS_AUDIO_TAGS_MODEL: String = text("auxiliary.tts_audio_tags.model", "");
    /// Endpoint for marking up speech; empty is the provider's.
    TTS_AUDIO_TAGS_BASE_URL: String = text("auxiliary.tts_audio_tags.base_url", "");
    /// Key for that endpoint.
    TTS_AUDIO_TAGS_API_KEY: Option<String> = secret("auxiliary.tts_audio_tags.api_key");
    /// Seconds that marking up speech may take.
    TTS_AUDIO_TAGS_TIMEOUT: i64 = int("auxiliary.tts_audio_tags.timeout", 30).at_least(1);
    /// Further fields for requests of marking up speech.
    TTS_AUDIO_TAGS_EXTRA_BODY: Value = tree("auxiliary.tts_audio_tags.extra_body");
    /// Thinking effort for marking up speech.
    TTS_AUDIO_TAGS_REASONING_EFFORT: String = text("auxiliary.tts_audio_tags.reasoning_effort", "");
    /// Provider for specifying cards; `auto` uses the main one where it can.
    TRIAGE_SPECIFIER_PROVIDER: String = text("auxiliary.triage_specifier.provider", "auto");
    /// Model for specifying cards; empty picks one.
    TRIAGE_SPECIFIER_MODEL: String = text("auxiliary.triage_specifier.model", "");
    /// Endpoint for specifying cards; empty is the provider's.
    TRIAGE_SPECIFIER_BASE_URL: String = text("auxiliary.triage_specifier.base_url", "");
    /// Key for that endpoint.
    TRIAGE_SPECIFIER_API_KEY: Option<String> = secret("auxiliary.triage_specifier.api_key");
    /// Seconds that specifying cards may take.
    TRIAGE_SPECIFIER_TIMEOUT: i64 = int("auxiliary.triage_specifier.timeout", 120).at_least(1);
    /// Further fields for requests of specifying cards.
    TRIAGE_SPECIFIER_EXTRA_BODY: Value = tree("auxiliary.triage_specifier.extra_body");
    /// Thinking effort for specifying cards.
    TRIAGE_SPECIFIER_REASONING_EFFORT: String = text("auxiliary.triage_specifier.reasoning_effort", "");
    /// Provider for splitting cards; `auto` uses the main one where it can.
    KANBAN_DECOMPOSER_PROVIDER: String = text("auxiliary.kanban_decomposer.provider", "auto");
    /// Model for splitting cards; empty picks one.
    KANBAN_DECOMPOSER_MODEL: String = text("auxiliary.kanban_decomposer.model", "");
    /// Endpoint for splitting cards; empty is the provider's.
    KANBAN_DECOMPOSER_BASE_URL: String = text("auxiliary.kanban_decomposer.base_url", "");
    /// Key for that endpoint.
    KANBAN_DECOMPOSER_API_KEY: Option<String> = secret("auxiliary.kanban_decomposer.api_key");
    /// Seconds that splitting cards may take.
    KANBAN_DECOMPOSER_TIMEOUT: i64 = int("auxiliary.kanban_decomposer.timeout", 180).at_least(1);
    /// Further fields for requests of splitting cards.
    KANBAN_DECOMPOSER_EXTRA_BODY: Value = tree("auxiliary.kanban_decomposer.extra_body");
    /// Thinking effort for splitting cards.
    KANBAN_DECOMPOSER_REASONING_EFFORT: String = text("auxiliary.kanban_decomposer.reasoning_effort", "");
    /// Provider for describing profiles; `auto` uses the main one where it can.
    PROFILE_DESCRIBER_PROVIDER: String = text("auxiliary.profile_describer.provider", "auto");
    /// Model for describing profiles; empty picks one.
    PROFILE_DESCRIBER_MODEL: String = text("auxiliary.profile_describer.model", "");
    /// Endpoint for describing profiles; empty is the provider's.
    PROFILE_DESCRIBER_BASE_URL: String = text("auxiliary.profile_describer.base_url", "");
    /// Key for that endpoint.
    PROFILE_DESCRIBER_API_KEY: Option<String> = secret("auxiliary.profile_describer.api_key");
    /// Seconds that describing profiles may take.
    PROFILE_DESCRIBER_TIMEOUT: i64 = int("auxiliary.profile_describer.timeout", 60).at_least(1);
    /// Further fields for requests of describing profiles.
    PROFILE_DESCRIBER_EXTRA_BODY: Value = tree("auxiliary.profile_describer.extra_body");
    /// Thinking effort for describing profiles.
    PROFILE_DESCRIBER_REASONING_EFFORT: String = text("auxiliary.profile_describer.reasoning_effort", "");
    /// Provider for judging goals; `auto` uses the main one where it can.
    GOAL_JUDGE_PROVIDER: String = text("auxiliary.goal_judge.provider", "auto");
    /// Model for judging goals; empty picks one.
    GOAL_JUDGE_MODEL: String = text("auxiliary.goal_judge.model", "");
    /// Endpoint for judging goals; empty is the provider's.
    GOAL_JUDGE_BASE_URL: String = text("auxiliary.goal_judge.base_url", "");
    /// Key for that endpoint.
    GOAL_JUDGE_API_KEY: Option<String> = secret("auxiliary.goal_judge.api_key");
    /// Seconds that judging goals may take.
    GOAL_JUDGE_TIMEOUT: i64 = int("auxiliary.goal_judge.timeout", 60).at_least(1);
    /// Further fields for requests of judging goals.
    GOAL_JUDGE_EXTRA_BODY: Value = tree("auxiliary.goal_judge.extra_body");
    /// Thinking effort for judging goals.
    GOAL_JUDGE_REASONING_EFFORT: String = text("auxiliary.goal_judge.reasoning_effort", "");
    /// Provider for tidying skills up; `auto` uses the main one where it can.
    CURATOR_PROVIDER: String = text("auxiliary.curator.provider", "auto");
    /// Model for tidying skills up; empty picks one.
    CURATOR_MODEL: String = text("auxiliary.curator.model", "");
    /// Endpoint for tidying skills up; empty is the provider's.
    CURATOR_BASE_URL: String = text("auxiliary.curator.base_url", "");
    /// Key for that endpoint.
    CURATOR_API_KEY: Option<String> = secret("auxiliary.curator.api_key");
    /// Seconds that tidying skills up may take.
    CURATOR_TIMEOUT: i64 = int("auxiliary.curator.timeout", 600).at_least(1);
    /// Further fields for requests of tidying skills up.
    CURATOR_EXTRA_BODY: Value = tree("auxiliary.curator.extra_body");
    /// Thinking effort for tidying skills up.
    CURATOR_REASONING_EFFORT: String = text("auxiliary.curator.reasoning_effort", "");
    /// Provider for watching over runs; `auto` uses the main one where it can.
    MONITOR_PROVIDER: String = text("auxiliary.monitor.provider", "auto");
    /// Model for watching over runs; empty picks one.
    MONITOR_MODEL: String = text("auxiliary.monitor.model", "");
    /// Endpoint for watching over runs; empty is the provider's.
    MONITOR_BASE_URL: String = text("auxiliary.monitor.base_url", "");
    /// Key for that endpoint.
    MONITOR_API_KEY: Option<String> = secret("auxiliary.monitor.api_key");
    /// Seconds that watching over runs may take.
    MONITOR_TIMEOUT: i64 = int("auxiliary.monitor.timeout", 60).at_least(1);
    /// Further fields for requests of watching over runs.
    MONITOR_EXTRA_BODY: Value = tree("auxiliary.monitor.extra_body");
    /// Thinking effort for watching over runs.
    MONITOR_REASONING_EFFORT: String = text("auxiliary.monitor.reasoning_effort", "");
    /// Provider for reviewing turns in the background; `auto` uses the main one where it can.
    BACKGROUND_REVIEW_PROVIDER: String = text("auxiliary.background_review.provider", "auto");
    /// Model for reviewing turns in the background; empty picks one.
    BACKGROUND_REVIEW_MODEL: String = text("auxiliary.background_review.model", "");
    /// Endpoint for reviewing turns in the background; empty is the provider's.
    BACKGROUND_REVIEW_BASE_URL: String = text("auxiliary.background_review.base_url", "");
    /// Key for that endpoint.
    BACKGROUND_REVIEW_API_KEY: Option<String> = secret("auxiliary.background_review.api_key");
    /// Seconds that reviewing turns in the background may take.
    BACKGROUND_REVIEW_TIMEOUT: i64 = int("auxiliary.background_review.timeout", 120).at_least(1);
    /// Further fields for requests of reviewing turns in the background.
    BACKGROUND_REVIEW_EXTRA_BODY: Value = tree("auxiliary.background_review.extra_body");
    /// Thinking effort for reviewing turns in the background.
    BACKGROUND_REVIEW_REASONING_EFFORT: String = text("auxiliary.background_review.reasoning_effort", "");
    /// Provider for giving one of several opinions; `auto` uses the main one where it can.
    MOA_REFERENCE_PROVIDER: String = text("auxiliary.moa_reference.provider", "auto");
    /// Model for giving one of several opinions; empty picks one.
    MOA_REFERENCE_MODEL: String = text("auxiliary.moa_reference.model", "");
    /// Endpoint for giving one of several opinions; empty is the provider's.
    MOA_REFERENCE_BASE_URL: String = text("auxiliary.moa_reference.base_url", "");
    /// Key for that endpoint.
    MOA_REFERENCE_API_KEY: Option<String> = secret("auxiliary.moa_reference.api_key");
    /// Seconds that giving one of several opinions may take.
    MOA_REFERENCE_TIMEOUT: i64 = int("auxiliary.moa_reference.timeout", 900).at_least(1);
    /// Further fields for requests of giving one of several opinions.
    MOA_REFERENCE_EXTRA_BODY: Value = tree("auxiliary.moa_reference.extra_body");
    /// Provider for joining several opinions; `auto` uses the main one where it can.
    MOA_AGGREGATOR_PROVIDER: String = text("auxiliary.moa_aggregator.provider", "auto");
    /// Model for joining several opinions; empty picks one.
    MOA_AGGREGATOR_MODEL: String = text("auxiliary.moa_aggregator.model", "");
    /// Endpoint for joining several opinions; empty is the provider's.
    MOA_AGGREGATOR_BASE_URL: String = text("auxiliary.moa_aggregator.base_url", "");
    /// Key for that endpoint.
    MOA_AGGREGATOR_API_KEY: Option<String> = secret("auxiliary.moa_aggregator.api_key");
    /// Seconds that joining several opinions may take.
    MOA_AGGREGATOR_TIMEOUT: i64 = int("auxiliary.moa_aggregator.timeout", 900).at_least(1);
    /// Further fields for requests of joining several opinions.
    MOA_AGGREGATOR_EXTRA_BODY: Value = tree("auxiliary.moa_aggregator.extra_body");
    /// Seconds an image may take to download.
    VISION_DOWNLOAD_TIMEOUT: i64 = int("auxiliary.vision.download_timeout", 30).at_least(1);
    /// Context window of the summarising model, when the built-in table does not know it.
    COMPRESSION_CONTEXT_LENGTH: Option<i64> = optional_int("auxiliary.compression.context_length");
    /// Whether sessions get a title by themselves.
    TITLE_GENERATION_ENABLED: bool = flag("auxiliary.title_generation.enabled", true);
    /// Language of titles; empty is the conversation's.
    TITLE_GENERATION_LANGUAGE: String = text("auxiliary.title_generation.language", "");
}
