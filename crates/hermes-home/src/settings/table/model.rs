//! Which model answers, where it is reached, and what happens when it does not.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::spec::{choice, flag, float, int, list, optional_int, secret, settings, table, text, tree};

settings! {
    /// The model that answers. `model: NAME` in config.yaml is a short form of it.
    DEFAULT: String = text("model.default", "").env("HERMES_INFERENCE_MODEL").also(&["model", "model.model"]);
    /// The provider that serves the model; `auto` takes the first one with a key.
    PROVIDER: String = text("model.provider", "auto").env("HERMES_INFERENCE_PROVIDER").was(&["provider"]);
    /// Address of a plain endpoint, used with the provider `custom`.
    BASE_URL: String = text("model.base_url", "").env("CUSTOM_BASE_URL").was(&["base_url"]);
    /// Key for that endpoint; better kept in `.env` and named with `model.key_env`.
    API_KEY: Option<String> = secret("model.api_key");
    /// Name of the variable that holds the endpoint's key.
    KEY_ENV: String = text("model.key_env", "").also(&["model.api_key_env"]);
    /// Wire format of the endpoint; empty finds it out from the address.
    API_MODE: String = choice("model.api_mode", &["", "chat_completions", "anthropic_messages", "codex_responses", "bedrock_converse", "codex_app_server"], "");
    /// What the model costs in dollars per million tokens: `input`, `output`, `cache_read`, `cache_write`.
    PRICE: Value = tree("model.price");
    /// Size of the context window in tokens, when the built-in table does not know it.
    CONTEXT_LENGTH: Option<i64> = optional_int("model.context_length").was(&["context_length"]);
    /// Most tokens one answer may have.
    MAX_TOKENS: Option<i64> = optional_int("model.max_tokens");
    /// Context window to ask an Ollama server for.
    OLLAMA_NUM_CTX: Option<i64> = optional_int("model.ollama_num_ctx");
    /// Whether the model understands images, when the built-in table does not know it.
    SUPPORTS_VISION: String = choice("model.supports_vision", &["auto", "true", "false"], "auto");
    /// How models of OpenAI are run.
    OPENAI_RUNTIME: String = text("model.openai_runtime", "");
    /// Endpoints of your own, by name.
    PROVIDERS: Value = tree("providers");
    /// The older list form of `providers`.
    CUSTOM_PROVIDERS: Value = tree("custom_providers");
    /// Short names for models.
    MODEL_ALIASES: Value = tree("model_aliases");
    /// Models to try in order when the first one fails.
    FALLBACK_PROVIDERS: Value = tree("fallback_providers");
    /// The older form of `fallback_providers`, one entry or a list; it is tried after them.
    FALLBACK_MODEL: Value = tree("fallback_model");
    /// Most that may be spent per `turn`, `session`, `day` and `month`, each in `tokens`, `dollars` or both.
    BUDGET: Value = tree("budget");
    /// How keys of one provider take turns: fill_first, round_robin, random or least_used.
    CREDENTIAL_POOL_STRATEGIES: BTreeMap<String, String> = table("credential_pool_strategies");
    /// How long a prompt cache mark is asked to live.
    CACHE_TTL: String = choice("prompt_caching.cache_ttl", &["5m", "1h"], "5m");
    /// Whether OpenRouter may answer a repeated request from its cache.
    RESPONSE_CACHE: bool = flag("openrouter.response_cache", true);
    /// Seconds such a cached answer stays valid.
    RESPONSE_CACHE_TTL: i64 = int("openrouter.response_cache_ttl", 300).at_least(1);
    /// Lowest coding score of models OpenRouter may route to.
    MIN_CODING_SCORE: f64 = float("openrouter.min_coding_score", 0.65).within(0.0, 1.0);
    /// Which upstream providers OpenRouter may use.
    ROUTING_ONLY: Vec<String> = list("provider_routing.only", &[]);
    /// Which upstream providers OpenRouter must not use.
    ROUTING_IGNORE: Vec<String> = list("provider_routing.ignore", &[]);
    /// The order in which OpenRouter tries upstream providers.
    ROUTING_ORDER: Vec<String> = list("provider_routing.order", &[]);
    /// What OpenRouter prefers: price, throughput or latency.
    ROUTING_SORT: String = text("provider_routing.sort", "");
    /// Only upstream providers that honour every parameter of the request.
    ROUTING_REQUIRE_PARAMETERS: bool = flag("provider_routing.require_parameters", false);
    /// Whether upstream providers that keep data are allowed: allow or deny.
    ROUTING_DATA_COLLECTION: String = text("provider_routing.data_collection", "");
    /// Use only IPv4 for outgoing connections.
    FORCE_IPV4: bool = flag("network.force_ipv4", false).restart();
    /// Seconds a whole answer may take.
    API_TIMEOUT: i64 = int("HERMES_API_TIMEOUT", 1800).at_least(1).env_only();
    /// Seconds of silence after which a stream counts as broken.
    STREAM_STALE_TIMEOUT: i64 = int("HERMES_STREAM_STALE_TIMEOUT", 180).at_least(1).env_only();
    /// Seconds to wait for the next bytes of a stream.
    STREAM_READ_TIMEOUT: i64 = int("HERMES_STREAM_READ_TIMEOUT", 120).at_least(1).env_only();
    /// How often a stream that broke is started again.
    STREAM_RETRIES: i64 = int("HERMES_STREAM_RETRIES", 2).at_least(0).env_only();
    /// Certificates to trust instead of the system's, as a file.
    CA_BUNDLE: String = text("HERMES_CA_BUNDLE", "").env_only();
}
