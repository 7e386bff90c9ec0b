//! From settings to endpoints: who is asked, where, with which key, and where keys never go.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use hermes_home::Settings;
use hermes_home::settings::Sources;
use hermes_home::settings::dotenv::DotEnv;
use hermes_home::yaml;
use hermes_model::Wire;
use hermes_model::keys::Strategy;
use hermes_model::provider::{
    ModelConfig, ResolveError, Resolved, StoredKeys, Wanted, fallback_chain, resolve,
};
use serde_json::{Value, json};

/// Settings of a home with this config.yaml and these variables.
fn settings(config: &str, env: &[(&str, &str)]) -> Settings {
    let env: BTreeMap<String, String> = env.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let document = yaml::parse(config).unwrap();
    Settings::from_sources(Sources { env, document, dotenv: DotEnv::default(), ..Sources::default() })
}

struct World {
    settings: Settings,
    stored: StoredKeys,
}

impl World {
    fn new(config: &str, env: &[(&str, &str)]) -> Self {
        Self { settings: settings(config, env), stored: StoredKeys::default() }
    }

    fn config(&self) -> ModelConfig {
        ModelConfig::from_settings(&self.settings).unwrap()
    }

    fn resolve(&self, wanted: &Wanted) -> Result<Resolved, ResolveError> {
        let variables = |name: &str| self.settings.variable(name).map(str::to_owned);
        resolve(&self.config(), wanted, &variables, &self.stored)
    }

    fn default(&self) -> Result<Resolved, ResolveError> {
        self.resolve(&Wanted::default())
    }
}

fn provider(name: &str) -> Wanted {
    Wanted { provider: Some(name.into()), ..Wanted::default() }
}

/// Provider, address, format, model, and the keys with their origins.
fn shown(resolved: &Resolved) -> (String, String, Wire, String, Vec<(String, String)>) {
    let keys = resolved.keys.iter().map(|key| (key.origin.clone(), key.secret.expose().to_owned())).collect();
    let endpoint = &resolved.endpoint;
    (endpoint.provider.clone(), endpoint.base_url.to_string(), endpoint.wire, resolved.model.clone(), keys)
}

fn origins(resolved: &Resolved) -> Vec<String> {
    resolved.keys.iter().map(|key| key.origin.clone()).collect()
}

#[test]
fn a_plain_endpoint_works_with_nothing_else() {
    let config = "model: {default: mock-model, provider: custom, base_url: http://127.0.0.1:18733/v1, api_key: sk-local-test}";
    let resolved = World::new(config, &[("OPENAI_API_KEY", "sk-openai")]).default().unwrap();
    let expected = (
        "custom".to_owned(),
        "http://127.0.0.1:18733/v1".to_owned(),
        Wire::Chat,
        "mock-model".to_owned(),
        vec![("config.yaml, model.api_key".to_owned(), "sk-local-test".to_owned())],
    );
    assert_eq!(shown(&resolved), expected);
    let without_key = "model: {default: m, provider: ollama, ollama_num_ctx: 65536}";
    let resolved = World::new(without_key, &[("OPENAI_API_KEY", "sk-openai")]).default().unwrap();
    assert_eq!(resolved.endpoint.base_url.to_string(), "http://127.0.0.1:11434/v1");
    assert_eq!(resolved.endpoint.extra_body["options"]["num_ctx"], 65_536);
    assert!(resolved.keys.is_empty(), "this machine gets no vendor's key");
}

#[test]
fn keys_of_vendors_go_only_to_their_own_hosts() {
    let env =
        [("OPENAI_API_KEY", "sk-openai"), ("OPENROUTER_API_KEY", "sk-or-1"), ("EVIL_API_KEY", "for-evil")];
    for (address, keys) in [
        ("https://api.openai.com/v1", vec!["OPENAI_API_KEY"]),
        ("https://openai.evil.test/v1", vec!["EVIL_API_KEY"]),
        ("https://openai.xyz/v1", vec![]),
        ("https://203.0.113.9/v1", vec![]),
        ("http://localhost:9/v1", vec![]),
    ] {
        let config = format!("model: {{default: m, provider: custom, base_url: '{address}'}}");
        assert_eq!(origins(&World::new(&config, &env).default().unwrap()), keys, "{address}");
    }
    let config = "model: {default: m, provider: openrouter, base_url: 'https://collector.test/v1'}";
    let refused = World::new(config, &env).default().unwrap_err();
    let host = "collector.test".to_owned();
    assert_eq!(refused, ResolveError::ForeignHost { provider: "openrouter".into(), host });
    let named =
        "model: {default: m, provider: openrouter, base_url: 'https://collector.test/v1', key_env: MINE}";
    let resolved = World::new(named, &[("MINE", "k"), ("OPENROUTER_API_KEY", "sk-or-1")]).default().unwrap();
    assert_eq!(origins(&resolved), ["MINE"]);
    let wanted = Wanted { base_url: Some("https://collector.test/v1".into()), ..provider("anthropic") };
    let refused = World::new("", &[("ANTHROPIC_API_KEY", "sk-ant-1")]).resolve(&wanted);
    assert!(matches!(refused, Err(ResolveError::ForeignHost { .. })), "{refused:?}");
}

#[test]
fn a_providers_own_variable_may_point_elsewhere() {
    let env = [("OPENAI_API_KEY", "proxy-key"), ("OPENAI_BASE_URL", "http://127.0.0.1:4000/v1")];
    let resolved = World::new("model: m", &env).resolve(&provider("openai")).unwrap();
    assert_eq!(resolved.endpoint.base_url.to_string(), "http://127.0.0.1:4000/v1");
    assert_eq!((resolved.endpoint.wire, origins(&resolved)), (Wire::Chat, vec!["OPENAI_API_KEY".to_owned()]));
    let custom = [("OPENROUTER_API_KEY", "sk-or-1"), ("CUSTOM_BASE_URL", "http://127.0.0.1:4000/v1")];
    let resolved = World::new("model: {default: m, provider: openrouter}", &custom).default().unwrap();
    assert_eq!(resolved.endpoint.base_url.host(), "openrouter.ai", "that variable is for plain endpoints");
}

#[test]
fn when_nobody_chose_an_address_decides_and_then_a_key() {
    let auto =
        |config: &str, env: &[(&str, &str)]| World::new(config, env).default().map(|r| r.endpoint.provider);
    let local = "model: {default: m, base_url: 'http://127.0.0.1:1/v1'}";
    assert_eq!(auto(local, &[("OPENROUTER_API_KEY", "sk-or-1")]).unwrap(), "custom");
    assert_eq!(auto("model: m", &[("OPENROUTER_API_KEY", "a"), ("ZAI_API_KEY", "b")]).unwrap(), "openrouter");
    assert_eq!(auto("model: m", &[("OPENAI_API_KEY", "sk-proj-1")]).unwrap(), "openai-api");
    assert_eq!(auto("model: m", &[("OPENAI_API_KEY", "sk-or-1")]).unwrap(), "openrouter");
    assert_eq!(auto("model: m", &[("Z_AI_API_KEY", "b")]).unwrap(), "zai");
    let own = "model: m\nproviders: {mybox: {api: 'http://gpu:8000/v1'}}";
    assert_eq!(auto(own, &[]).unwrap(), "mybox");
    for env in [
        vec![],
        vec![("LM_API_KEY", "x")],
        vec![("ANTHROPIC_TOKEN", "sk-ant-oat-login")],
        vec![("GH_TOKEN", "x")],
    ] {
        assert_eq!(auto("model: m", &env), Err(ResolveError::NothingChosen), "{env:?}");
    }
    let text = ResolveError::NothingChosen.to_string();
    assert!(text.contains("hermes model"), "{text}");
}

#[test]
fn the_users_own_endpoints_are_found_by_name() {
    let config = "
model: {default: big, provider: mybox}
providers:
  mybox:
    api: http://192.168.1.5:8000/v1
    key_env: MY_KEY
    default_model: small
    stale_timeout_seconds: 7
    models: {big: {context_length: 50000, price: {input: 1, output: 2}}}
custom_providers:
  - {name: Old One, base_url: 'https://llm.corp.test/anthropic', api_key: old-key, model: claude-x}
";
    let world = World::new(config, &[("MY_KEY", "mine"), ("CORP_API_KEY", "corp")]);
    let resolved = world.default().unwrap();
    assert_eq!((resolved.endpoint.provider.as_str(), resolved.model.as_str()), ("mybox", "big"));
    assert_eq!((origins(&resolved), resolved.options.window), (vec!["MY_KEY".to_owned()], Some(50_000)));
    assert_eq!(resolved.options.price.unwrap().output, 2_000_000);
    assert_eq!(resolved.options.stale.unwrap().as_secs(), 7);
    let old = world.resolve(&provider("custom:old one")).unwrap();
    assert_eq!((old.endpoint.wire, old.model.as_str()), (Wire::Messages, "claude-x"));
    assert_eq!(origins(&old), ["config.yaml, providers.Old One"]);
    let named = Wanted { model: Some("other".into()), ..provider("MyBox") };
    assert_eq!(world.resolve(&named).unwrap().model, "other");
}

#[test]
fn an_entry_without_address_changes_a_known_provider() {
    let config = "
model: {default: some/model, provider: openrouter}
providers:
  openrouter: {request_timeout_seconds: 33, extra_body: {x: 1}, headers: {X-Team: a}}
provider_routing: {only: [one], sort: price}
credential_pool_strategies: {openrouter: round_robin}
";
    let resolved = World::new(config, &[("OPENROUTER_API_KEY", "k")]).default().unwrap();
    assert_eq!(resolved.options.total.unwrap().as_secs(), 33);
    assert_eq!(resolved.endpoint.extra_body["x"], 1);
    assert_eq!(resolved.endpoint.extra_body["provider"], json!({"only": ["one"], "sort": "price"}));
    assert_eq!(resolved.endpoint.headers, [("X-Team".to_owned(), "a".to_owned())]);
    assert_eq!(resolved.strategy, Strategy::RoundRobin);
}

#[test]
fn formats_follow_the_address_the_model_and_the_word_in_the_settings() {
    let env = [
        ("OPENCODE_ZEN_API_KEY", "a"),
        ("MINIMAX_API_KEY", "b"),
        ("KIMI_API_KEY", "sk-kimi-new"),
        ("GEMINI_API_KEY", "g"),
    ];
    let world = World::new("", &env);
    let wire = |name: &str, model: &str| {
        let wanted = Wanted { model: Some(model.into()), ..provider(name) };
        let resolved = world.resolve(&wanted).unwrap();
        (resolved.endpoint.wire, resolved.endpoint.base_url.to_string())
    };
    assert_eq!(wire("opencode-zen", "claude-sonnet-4-5").0, Wire::Messages);
    assert_eq!(wire("opencode-zen", "gpt-5-codex").0, Wire::Responses);
    assert_eq!(wire("opencode-zen", "glm-5").0, Wire::Chat);
    assert_eq!(wire("minimax", "MiniMax-M2").0, Wire::Messages);
    assert_eq!(wire("kimi", "k2"), (Wire::Messages, "https://api.kimi.com/coding".to_owned()));
    assert_eq!(wire("google", "gemini-2.5-pro").1, "https://generativelanguage.googleapis.com/v1beta/openai");
    let old = World::new("", &[("KIMI_API_KEY", "sk-old")]).resolve(&provider("moonshot")).unwrap();
    assert_eq!((old.endpoint.wire, old.endpoint.base_url.host()), (Wire::Chat, "api.moonshot.ai"));
    let explicit = "model: {default: m, provider: openai-api, api_mode: chat_completions}";
    let resolved = World::new(explicit, &[("OPENAI_API_KEY", "k")]).default().unwrap();
    assert_eq!(resolved.endpoint.wire, Wire::Chat);
    let native = World::new(
        "",
        &[("GEMINI_API_KEY", "g"), ("GEMINI_BASE_URL", "https://generativelanguage.googleapis.com/v1beta")],
    );
    assert!(
        native
            .resolve(&provider("gemini"))
            .unwrap()
            .endpoint
            .base_url
            .to_string()
            .ends_with("/v1beta/openai")
    );
}

#[test]
fn all_keys_of_a_provider_are_used_and_stored_ones_too() {
    let mut world =
        World::new("model: {default: m, provider: zai}", &[("ZAI_API_KEY", "two"), ("GLM_API_KEY", "one")]);
    let entry = json!({"auth_type": "api_key", "label": "third", "source": "manual", "access_token": "three",
        "base_url": "https://api.z.ai/api/paas/v4"});
    world.stored = StoredKeys::read(&json!({"credential_pool": {"zai": [entry]}}));
    let resolved = world.default().unwrap();
    assert_eq!(origins(&resolved), ["GLM_API_KEY", "ZAI_API_KEY", "auth.json, third"]);
    let only_stored = World { settings: settings("model: m", &[]), stored: world.stored };
    assert_eq!(only_stored.default().unwrap().endpoint.provider, "zai");
}

#[test]
fn mistakes_say_what_to_do() {
    let error =
        |config: &str, name: &str| World::new(config, &[]).resolve(&provider(name)).unwrap_err().to_string();
    assert!(error("", "openruter").contains("did you mean 'openrouter'?"));
    assert!(error("", "copilot").contains("reached with a login"));
    assert!(error("", "anthropic").contains("set ANTHROPIC_API_KEY or ANTHROPIC_TOKEN"));
    assert!(error("", "custom").contains("'model.base_url'"));
    assert!(error("", "azure").contains("AZURE_FOUNDRY_BASE_URL"));
    assert!(error("providers: {a: {key_env: X}}", "a").contains("'providers.a.base_url'"));
    assert!(
        error("providers: {a: {api: 'not an address'}}", "a").contains("the address of 'a' cannot be used")
    );
}

#[test]
fn aliases_stand_for_models() {
    let config = "
model: {default: smart, provider: openrouter}
model_aliases:
  smart: {model: big-model, provider: mybox}
  quick: small/model
providers: {mybox: {api: 'http://gpu:8000/v1'}}
";
    let world = World::new(config, &[("OPENROUTER_API_KEY", "k")]);
    let resolved = world.default().unwrap();
    assert_eq!((resolved.endpoint.provider.as_str(), resolved.model.as_str()), ("mybox", "big-model"));
    let quick = Wanted { model: Some("quick".into()), ..Wanted::default() };
    let resolved = world.resolve(&quick).unwrap();
    assert_eq!((resolved.endpoint.provider.as_str(), resolved.model.as_str()), ("openrouter", "small/model"));
}

#[test]
fn the_model_of_the_settings_is_not_asked_of_another_provider() {
    let config = "model: {default: claude-sonnet-4-5, provider: anthropic, context_length: 1000}";
    let world = World::new(config, &[("ANTHROPIC_API_KEY", "a"), ("DEEPSEEK_API_KEY", "d")]);
    assert_eq!(world.default().unwrap().options.window, Some(1000));
    let other = world.resolve(&provider("deepseek")).unwrap();
    assert_eq!((other.model.as_str(), other.options.window), ("", None));
    assert_eq!(world.resolve(&provider("claude")).unwrap().model, "claude-sonnet-4-5");
}

fn chain(world: &World) -> (Vec<(String, String)>, Vec<ResolveError>) {
    let variables = |name: &str| world.settings.variable(name).map(str::to_owned);
    let first = world.default().unwrap();
    let (chain, problems) = fallback_chain(&world.config(), &first, &variables, &world.stored);
    (chain.into_iter().map(|next| (next.endpoint.provider, next.model)).collect(), problems)
}

#[test]
fn the_chain_is_walked_in_order_without_repetitions() {
    let config = "
model: {default: a, provider: openrouter}
fallback_providers:
  - {provider: openrouter, model: a}
  - {provider: openrouter, model: b}
  - {provider: deepseek, model: deepseek-chat}
  - {provider: missing, model: x}
  - {provider: custom, model: local, base_url: 'http://127.0.0.1:9/v1', api_key_env: LOCAL_KEY}
  - {provider: openrouter, model: b}
";
    let world =
        World::new(config, &[("OPENROUTER_API_KEY", "k"), ("DEEPSEEK_API_KEY", "d"), ("LOCAL_KEY", "l")]);
    let (found, problems) = chain(&world);
    let pair = |p: &str, m: &str| (p.to_owned(), m.to_owned());
    assert_eq!(found, [pair("openrouter", "b"), pair("deepseek", "deepseek-chat"), pair("custom", "local")]);
    assert!(matches!(problems.as_slice(), [ResolveError::UnknownProvider { .. }]), "{problems:?}");
    let single = World::new(
        "model: {default: a, provider: openrouter}\nfallback_model: {provider: openrouter, model: c}",
        &[("OPENROUTER_API_KEY", "k")],
    );
    assert_eq!(chain(&single).0, [pair("openrouter", "c")]);
}

#[test]
fn a_key_beside_one_model_is_not_sent_for_another() {
    let config = "
model: {default: a, provider: custom, base_url: 'https://one.test/v1', api_key: key-of-one}
fallback_providers:
  - {provider: custom, model: b, base_url: 'https://two.test/v1'}
  - {provider: custom, model: c, base_url: 'https://three.test/v1', key_env: THREE}
";
    let world = World::new(config, &[("THREE", "key-of-three")]);
    let variables = |name: &str| world.settings.variable(name).map(str::to_owned);
    let first = world.default().unwrap();
    let (chain, _) = fallback_chain(&world.config(), &first, &variables, &world.stored);
    assert_eq!(origins(&first), ["config.yaml, model.api_key"]);
    assert_eq!(chain.iter().map(origins).collect::<Vec<_>>(), [vec![], vec!["THREE".to_owned()]]);
    let wanted = Wanted { base_url: Some("https://four.test/v1".into()), ..provider("custom") };
    assert!(world.resolve(&wanted).unwrap().keys.is_empty());
    assert_eq!(Value::Null, ModelConfig::default().aliases);
}
