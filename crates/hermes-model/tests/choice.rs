//! Choosing a model: what it changes in a home, whether a key is any good, and what is remembered.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use hermes_guard::Secret;
use hermes_home::{Home, Profile, Settings, settings};
use hermes_model::budget::{Period, Purpose, Scope};
use hermes_model::choice::{Choice, KeyChoice, KeyPlace};
use hermes_model::list::{self, ListCache};
use hermes_model::probe::{self, Proof, Verdict};
use hermes_model::provider::{ModelConfig, StoredKeys, TABLE, Wanted};
use hermes_model::setup::{self, SetupError};
use hermes_model::window::WindowCache;
use hermes_model::{Ask, Caller, Client, GaveUp, MicroDollars, Wire};
use hermes_testkit::model::{KeyFor, ModelServer};
use support::{WIRES, endpoint, request};
use tokio_util::sync::CancellationToken;

fn load(dir: &Path) -> Settings {
    Settings::load(&Home::at(dir, Profile::Default), &BTreeMap::new()).unwrap()
}

fn home(config: &str, dotenv: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("config.yaml"), config).unwrap();
    fs::write(dir.path().join(".env"), dotenv).unwrap();
    dir
}

fn save(dir: &Path, choice: &Choice) -> String {
    let settings = load(dir);
    let config = ModelConfig::from_settings(&settings).unwrap();
    choice.resolve(&config, &settings, &StoredKeys::default()).unwrap();
    choice.save(&Home::at(dir, Profile::Default), &config, &settings).unwrap();
    fs::read_to_string(dir.join("config.yaml")).unwrap()
}

fn choice(provider: &str, model: &str) -> Choice {
    Choice { provider: provider.into(), model: model.into(), base_url: None, key: KeyChoice::AsItIs }
}

#[test]
fn every_variable_of_a_provider_is_a_declared_setting_that_counts() {
    for spec in TABLE {
        let names = spec.key_env.iter().chain([&spec.base_url_env]).filter(|name| !name.is_empty());
        for name in names {
            let declared = settings::find(name).unwrap_or_else(|| panic!("{name} is not declared"));
            assert!(settings::table::is_read(declared), "{name} is not marked as read");
        }
    }
}

#[test]
fn a_choice_takes_away_what_belonged_to_the_old_endpoint() {
    let before = "# mine\nmodel:\n  default: m  # the model\n  provider: custom\n  base_url: http://127.0.0.1:1/v1\n  \
                  key_env: OLD\n  api_mode: anthropic_messages\n  context_length: 4096\n  max_tokens: 77\nterminal: {timeout: 9}\n";
    let dir = home(before, "OPENROUTER_API_KEY=sk-or-v1-000000000000000\n");
    let after = save(dir.path(), &choice("openrouter", "a/b"));
    for kept in
        ["# mine", "default: a/b  # the model", "provider: openrouter", "max_tokens: 77", "timeout: 9"]
    {
        assert!(after.contains(kept), "{kept} is missing in {after}");
    }
    for gone in ["base_url", "OLD", "api_mode", "context_length"] {
        assert!(!after.contains(gone), "{gone} is still in {after}");
    }
    let same = save(dir.path(), &choice("openrouter", "a/b"));
    assert_eq!(same, after);
}

#[test]
fn another_model_of_the_same_endpoint_keeps_its_key() {
    let dir = home(
        "model: {default: m, provider: custom, base_url: 'http://127.0.0.1:1/v1', key_env: K, context_length: 5}\n",
        "K=key-of-the-endpoint\n",
    );
    let other = Choice { base_url: Some("http://127.0.0.1:1/v1".into()), ..choice("custom", "n") };
    let after = save(dir.path(), &other);
    assert!(
        after.contains("key_env: K") && after.contains("default: n") && !after.contains("context_length"),
        "{after}"
    );
}

#[test]
fn new_keys_go_to_the_env_file() {
    let secret = "sk-0123456789abcdef-secret";
    let cases = [
        (choice("deepseek", "d"), "DEEPSEEK_API_KEY", None),
        (choice("mybox", "d"), "MYBOX_API_KEY", None),
        (choice("custom", "d"), "HERMES_MODEL_API_KEY", Some("http://127.0.0.1:9/v1")),
        (choice("deepseek", "d"), "HERMES_MODEL_API_KEY", Some("http://127.0.0.1:9/v1")),
    ];
    for (chosen, variable, url) in cases {
        let dir = home("providers:\n  mybox: {api: 'http://127.0.0.1:2/v1'}\n", "OTHER=1\n");
        let chosen =
            Choice { key: KeyChoice::New(Secret::new(secret)), base_url: url.map(str::to_owned), ..chosen };
        let config = save(dir.path(), &chosen);
        assert!(!config.contains(secret), "{config}");
        let dotenv = fs::read_to_string(dir.path().join(".env")).unwrap();
        assert_eq!(dotenv, format!("OTHER=1\n{variable}={secret}\n"));
        let chain = setup::open(dir.path(), &load(dir.path()), &Wanted::default()).unwrap();
        assert_eq!(chain.routes[0].model, "d");
        let resolved_key = hermes_model::provider::resolve(
            &ModelConfig::from_settings(&load(dir.path())).unwrap(),
            &Wanted::default(),
            &|name: &str| load(dir.path()).variable(name).map(str::to_owned),
            &StoredKeys::default(),
        );
        assert!(resolved_key.unwrap().keys[0].secret.matches(secret), "{variable}");
    }
}

#[test]
fn a_named_variable_is_written_only_where_the_provider_does_not_look() {
    let dir = home("", "TEAM_KEY=team-key-000\nZAI_API_KEY=zai-key-000\n");
    let named = |name: &str| Choice { key: KeyChoice::Variable(name.into()), ..choice("zai", "glm-5") };
    assert!(!save(dir.path(), &named("ZAI_API_KEY")).contains("key_env"));
    assert!(save(dir.path(), &named("TEAM_KEY")).contains("key_env: TEAM_KEY"));
    let settings = load(dir.path());
    let config = ModelConfig::from_settings(&settings).unwrap();
    assert_eq!(choice("zai", "g").key_place(&config), KeyPlace::Variable("GLM_API_KEY".into()));
}

#[tokio::test]
async fn keys_are_tested_by_what_only_they_open() {
    let (good, bad) = (Secret::new("good-key"), Secret::new("bad-key"));
    let cancel = CancellationToken::new();
    let client = Client::default();
    for wire in WIRES {
        let server = ModelServer::scripted("say \"OK\"");
        server.require_key("good-key", KeyFor::All);
        let endpoint = endpoint(&server, wire);
        let offered = probe::offered(&client, &endpoint, Some(&good), &cancel).await.unwrap();
        assert_eq!((offered.proof, offered.models.len()), (Proof::Shown, 1));
        let refused = probe::offered(&client, &endpoint, Some(&bad), &cancel).await.unwrap_err();
        assert_eq!(probe::verdict(&refused), Verdict::WrongKey);
        let refused = probe::one_word(&client, &endpoint, Some(&bad), "m", &cancel).await.unwrap_err();
        assert_eq!(probe::verdict(&refused), Verdict::WrongKey);
        probe::one_word(&client, &endpoint, Some(&good), "m", &cancel).await.unwrap();
        assert_eq!(server.last_call().model(), "m");

        server.require_key("good-key", KeyFor::Answers);
        let offered = probe::offered(&client, &endpoint, Some(&bad), &cancel).await.unwrap();
        assert_eq!(offered.proof, Proof::Open, "a list for everybody proves nothing");
    }
}

#[tokio::test]
async fn refusals_are_told_apart() {
    let cancel = CancellationToken::new();
    for (script, verdict) in [
        (
            "status 402 body=\"{\\\"error\\\":{\\\"message\\\":\\\"insufficient credits\\\"}}\"",
            Verdict::KeyIsGood,
        ),
        ("status 429", Verdict::KeyIsGood),
        (
            "status 404 body=\"{\\\"error\\\":{\\\"message\\\":\\\"model not found\\\",\\\"code\\\":\\\"model_not_found\\\"}}\"",
            Verdict::WrongModel,
        ),
    ] {
        let server = ModelServer::scripted(script);
        let endpoint = endpoint(&server, Wire::Chat);
        let key = Secret::new("k");
        let error =
            probe::one_word(&Client::default(), &endpoint, Some(&key), "m", &cancel).await.unwrap_err();
        assert_eq!(probe::verdict(&error), verdict, "{script}: {error}");
    }
    let nobody = support::endpoint_at("http://127.0.0.1:1/v1", Wire::Chat);
    let error = probe::offered(&Client::default(), &nobody, None, &cancel).await.unwrap_err();
    assert_eq!(probe::verdict(&error), Verdict::Unreachable, "{error}");
}

#[tokio::test]
async fn a_local_server_with_one_model_needs_no_choice() {
    let server = ModelServer::scripted("say \"unused\"");
    server.set_models(["only"]);
    let dir = home(&format!("model: {{base_url: '{}'}}\n", server.openai_url()), "");
    let (client, cancel) = (Client::default(), CancellationToken::new());
    let settings = load(dir.path());
    assert!(matches!(setup::open(dir.path(), &settings, &Wanted::default()), Err(SetupError::NoModel(_))));
    for _ in 0..2 {
        let chain = setup::ready(dir.path(), &settings, &Wanted::default(), &client, &cancel).await.unwrap();
        assert_eq!(chain.routes[0].model, "only");
    }
    assert_eq!(server.requests().len(), 1, "the answer is remembered");

    server.set_models(["one", "two"]);
    ListCache::in_home(dir.path()).clear().unwrap();
    let error = setup::ready(dir.path(), &settings, &Wanted::default(), &client, &cancel).await.unwrap_err();
    assert!(error.to_string().contains("one, two"), "{error}");
    assert!(!error.is_nothing_set_up());
}

#[tokio::test]
async fn nothing_set_up_says_exactly_what_to_do() {
    let dir = home("", "");
    let error = setup::ready(
        dir.path(),
        &load(dir.path()),
        &Wanted::default(),
        &Client::default(),
        &CancellationToken::new(),
    )
    .await
    .unwrap_err();
    assert!(error.is_nothing_set_up());
    for command in ["hermes setup", "hermes model", "--key-stdin"] {
        assert!(error.explained().contains(command), "{}", error.explained());
    }
}

#[tokio::test]
async fn what_the_endpoint_says_about_its_models_is_remembered() {
    let server = ModelServer::scripted("overflow");
    server.set_models(["m", "n"]);
    server.set_window("m", 20_000);
    let dir = home(&format!("model: {{default: m, base_url: '{}'}}\n", server.openai_url()), "");
    let settings = load(dir.path());
    let open = || setup::open(dir.path(), &settings, &Wanted::default()).unwrap().routes;
    assert_eq!(open()[0].window, None, "unknown stays unknown");

    let route = &open()[0];
    let offers =
        list::fetch(&Client::default(), &route.endpoint, None, &CancellationToken::new()).await.unwrap();
    ListCache::in_home(dir.path()).put(&route.endpoint, None, &offers, std::time::SystemTime::now()).unwrap();
    assert_eq!(open()[0].window, Some(20_000));

    let windows = WindowCache::in_home(dir.path());
    let policy = setup::retry_policy(&settings).unwrap();
    let mut caller = Caller::new(Arc::new(Client::default()), open(), policy).with_windows(windows.clone());
    let scope = Scope {
        turn: "t".into(),
        session: "s".into(),
        day: "2026-01-05".parse().unwrap(),
        purpose: Purpose::Main,
    };
    let ask = Ask { request: &request(), scope: &scope, shortened: 0 };
    let gave_up = caller.call(ask, &CancellationToken::new(), &mut |_| {}).await.unwrap_err();
    let GaveUp::TooLong(failure) = gave_up else { panic!("{gave_up}") };
    let learned = failure.quoted_window.expect("the error quotes the window");
    assert_eq!(windows.get("m", &route.endpoint.base_url), Some(learned));
    assert_eq!(open()[0].window, Some(learned), "what was learned beats the list");
}

#[test]
fn the_user_has_the_first_word_about_windows_and_prices() {
    let dir = home(
        "model: {default: claude-opus-4-8, provider: anthropic, context_length: 1234, price: {input: 1, output: 2.5}}\n\
         fallback_model: {provider: anthropic, model: claude-haiku-4-5}\nbudget: {day: {dollars: 5, tokens: 100}}\n",
        "ANTHROPIC_API_KEY=sk-ant-api-000000\n",
    );
    let settings = load(dir.path());
    let chain = setup::open(dir.path(), &settings, &Wanted::default()).unwrap();
    let price = chain.routes[0].price.unwrap();
    assert_eq!((chain.routes[0].window, price.input, price.output), (Some(1234), 1_000_000, 2_500_000));
    assert_eq!((chain.routes[1].model.as_str(), chain.routes[1].window), ("claude-haiku-4-5", Some(200_000)));
    let day = setup::limits(&settings).unwrap().of(Period::Day);
    assert_eq!((day.money, day.tokens), (Some(MicroDollars(5_000_000)), Some(100)));

    fs::write(dir.path().join("config.yaml"), "model: {default: m, price: cheap}\nbudget: {dya: 5}\n")
        .unwrap();
    let settings = load(dir.path());
    let error = setup::open(dir.path(), &settings, &Wanted::default()).unwrap_err().to_string();
    assert!(error.contains("model.price") && error.contains("config.yaml:1"), "{error}");
    assert!(setup::limits(&settings).unwrap_err().to_string().contains("budget.dya"));
}

#[test]
fn short_names_follow_the_keys_there_are() {
    let resolve = |config: &str, dotenv: &str, model: &str| {
        let dir = home(config, dotenv);
        let wanted = Wanted { model: Some(model.into()), ..Wanted::default() };
        let route =
            setup::open(dir.path(), &load(dir.path()), &wanted).map(|mut chain| chain.routes.remove(0));
        route.map(|route| route.names()).map_err(|error| error.to_string())
    };
    let both = "OPENROUTER_API_KEY=sk-or-v1-0\nANTHROPIC_API_KEY=sk-ant-api-0\n";
    let names = |provider: &str, model: &str| Ok((provider.to_owned(), model.to_owned()));
    assert_eq!(resolve("", both, "opus"), names("openrouter", "anthropic/claude-opus-4.8"));
    assert_eq!(
        resolve("model: {provider: anthropic}\n", both, "opus"),
        names("anthropic", "claude-opus-4-8")
    );
    let zai = format!("{both}GLM_API_KEY=zai-0\n");
    assert_eq!(resolve("model: {provider: zai}\n", &zai, "opus"), names("anthropic", "claude-opus-4-8"));
    assert_eq!(
        resolve("model_aliases: {opus: {model: mine, provider: zai}}\n", &zai, "opus"),
        names("zai", "mine")
    );
    let local = "model: {provider: custom, base_url: 'http://127.0.0.1:1/v1'}\n";
    assert_eq!(
        resolve(local, both, "qwen"),
        names("custom", "qwen"),
        "a name is a name on a server of one's own"
    );
    assert!(resolve("", "", "opus").unwrap_err().contains("ANTHROPIC_API_KEY"));
}

#[test]
fn a_key_beside_the_model_survives_a_move_from_another_endpoint() {
    let dir = home(
        "model: {default: m, provider: custom, base_url: 'http://127.0.0.1:1/v1', api_key: '${HERMES_MODEL_API_KEY}'}\n",
        "HERMES_MODEL_API_KEY=old-key-of-the-first\n",
    );
    let moved = Choice {
        base_url: Some("http://127.0.0.1:2/v1".into()),
        key: KeyChoice::New(Secret::new("new-key-of-the-second")),
        ..choice("custom", "n")
    };
    let config = save(dir.path(), &moved);
    assert!(config.contains("${HERMES_MODEL_API_KEY}") && config.contains("127.0.0.1:2"), "{config}");
    let dotenv = fs::read_to_string(dir.path().join(".env")).unwrap();
    assert_eq!(dotenv, "HERMES_MODEL_API_KEY=new-key-of-the-second\n");
    let gone =
        save(dir.path(), &Choice { base_url: Some("http://127.0.0.1:3/v1".into()), ..choice("custom", "n") });
    assert!(!gone.contains("api_key"), "a key is not taken along to another address: {gone}");
}

#[test]
fn an_endpoint_of_ones_own_names_its_key_in_its_entry() {
    let dir = home(
        "providers:\n  my.box: {api: 'http://127.0.0.1:1/v1'}\ncustom_providers:\n  - name: older\n    base_url: http://127.0.0.1:2/v1\n",
        "TEAM_KEY=team-key-000\n",
    );
    for name in ["my.box", "older"] {
        let named = Choice { key: KeyChoice::Variable("TEAM_KEY".into()), ..choice(name, "m") };
        let config = save(dir.path(), &named);
        assert!(config.contains("key_env: TEAM_KEY"), "{config}");
        let settings = load(dir.path());
        let config = ModelConfig::from_settings(&settings).unwrap();
        let resolved = choice(name, "m").resolve(&config, &settings, &StoredKeys::default()).unwrap();
        assert_eq!(resolved.keys[0].origin, "TEAM_KEY", "{name}");
    }
}
