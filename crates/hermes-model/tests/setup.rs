//! From a home to an answer: settings, keys, fallbacks, and the list of models.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use hermes_home::{Home, Profile, Settings};
use hermes_model::budget::{Purpose, Scope};
use hermes_model::list::{self, Offer};
use hermes_model::provider::{StoredKeys, Wanted};
use hermes_model::setup::{self, SetupError};
use hermes_model::{Ask, CacheMarks, CallError, Caller, Class, Client, Effort, MicroDollars, Wire};
use hermes_testkit::model::ModelServer;
use support::{RawServer, WIRES, endpoint, read_request, request};
use tokio_util::sync::CancellationToken;

fn settings(config: &str, dotenv: &str) -> (tempfile::TempDir, Settings) {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("config.yaml"), config).unwrap();
    fs::write(dir.path().join(".env"), dotenv).unwrap();
    let home = Home::at(dir.path(), Profile::Default);
    let settings = Settings::load(&home, &BTreeMap::new()).unwrap();
    (dir, settings)
}

#[tokio::test]
async fn a_home_gives_an_answer_through_its_fallback() {
    let first = ModelServer::scripted("status 401");
    let second = ModelServer::scripted("say \"hi\"\nusage in=1000 out=100");
    let config = format!(
        "model: {{default: a, provider: custom, base_url: '{}', api_key: key-a}}\n\
         fallback_providers:\n  - {{provider: mybox, model: b}}\n  - {{provider: nowhere, model: c}}\n\
         providers:\n  mybox: {{api: '{}', api_mode: anthropic_messages, key_env: MY_KEY, models: {{b: {{price: {{input: 1, output: 10}}}}}}}}\n",
        first.openai_url(),
        second.url(),
    );
    let (_dir, settings) = settings(&config, "MY_KEY=key-b\n");
    let chain = setup::chain(&settings, &Wanted::default(), &StoredKeys::default()).unwrap();
    assert_eq!((chain.routes.len(), chain.problems.len()), (2, 1));
    let client = Arc::new(Client::new(setup::client_options(&settings).unwrap()));
    let mut caller = Caller::new(client, chain.routes, setup::retry_policy(&settings).unwrap());
    let scope = Scope {
        turn: "t".into(),
        session: "s".into(),
        day: "2026-01-05".parse().unwrap(),
        purpose: Purpose::Main,
    };
    let ask = Ask { request: &request(), scope: &scope, shortened: 0 };
    let answered = caller.call(ask, &CancellationToken::new(), &mut |_| {}).await.unwrap();
    assert_eq!((answered.answer.text().as_str(), answered.provider.as_str()), ("hi", "mybox"));
    assert_eq!(answered.cost.amount(), Some(MicroDollars(2000)));
    assert_eq!((first.last_call().key(), second.last_call().key()), (Some("key-a"), Some("key-b")));
    assert_eq!((second.last_call().path.as_str(), second.last_call().model()), ("/v1/messages", "b"));
}

#[test]
fn settings_shape_the_calls() {
    let config = "
model: {default: claude-sonnet-4-5, provider: anthropic}
agent: {api_max_retries: 5, reasoning_effort: low, reasoning_overrides: {o3: high}}
prompt_caching: {cache_ttl: 1h}
network: {force_ipv4: true}
";
    let dotenv = "ANTHROPIC_API_KEY=sk-ant-1\nHERMES_API_TIMEOUT=60\nHERMES_CA_BUNDLE=/etc/ca.pem\n";
    let (_dir, settings) = settings(config, dotenv);
    let chain = setup::chain(&settings, &Wanted::default(), &StoredKeys::default()).unwrap();
    let route = &chain.routes[0];
    assert_eq!((route.window, route.endpoint.wire), (Some(200_000), Wire::Messages));
    assert_eq!(route.price.unwrap().input, 3_000_000);
    assert_eq!(route.patience.total, Duration::from_mins(1));
    assert_eq!(setup::retry_policy(&settings).unwrap().tries, 5);
    assert_eq!(setup::cache_marks(&settings).unwrap(), CacheMarks::OneHour);
    assert_eq!(setup::effort(&settings, "o3").unwrap(), Some(Effort::High));
    assert_eq!(setup::effort(&settings, "gpt-5").unwrap(), Some(Effort::Low));
    assert!(setup::client_options(&settings).unwrap().ca_bundle.is_some());
}

#[test]
fn without_a_model_it_says_what_to_do() {
    let (_dir, empty) = settings("", "");
    let error = setup::chain(&empty, &Wanted::default(), &StoredKeys::default()).unwrap_err();
    assert!(error.to_string().contains("run `hermes model`"), "{error}");
    let (_dir, keyed) = settings("", "OPENROUTER_API_KEY=k\n");
    let error = setup::chain(&keyed, &Wanted::default(), &StoredKeys::default()).unwrap_err();
    assert!(matches!(&error, SetupError::NoModel(provider) if provider == "openrouter"), "{error}");
}

#[tokio::test]
async fn the_list_of_models_is_asked_for_in_every_format() {
    let server = ModelServer::scripted("say \"unused\"");
    server.set_models(["one", "two"]);
    for wire in WIRES {
        let endpoint = endpoint(&server, wire);
        let key = hermes_guard::Secret::new("the-key");
        let offers =
            list::fetch(&Client::default(), &endpoint, Some(&key), &CancellationToken::new()).await.unwrap();
        assert_eq!(offers.iter().map(|offer: &Offer| offer.id.as_str()).collect::<Vec<_>>(), ["one", "two"]);
        let asked = server.requests().pop().unwrap();
        assert_eq!(
            (asked.method.as_str(), asked.path.as_str(), asked.key()),
            ("GET", "/v1/models", Some("the-key"))
        );
    }
}

#[tokio::test]
async fn a_wrong_key_shows_when_the_list_is_asked_for() {
    use std::io::Write;
    for (answer, class) in [
        ("HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n", Class::Auth),
        ("HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n<html>", Class::Timeout),
    ] {
        let server = RawServer::start(move |_, mut stream| {
            read_request(&mut stream);
            let _written = stream.write_all(answer.as_bytes());
        });
        let endpoint = support::endpoint_at(&server.url(), Wire::Chat);
        let failed = list::fetch(&Client::default(), &endpoint, None, &CancellationToken::new()).await;
        assert!(matches!(&failed, Err(CallError::Failed(failure)) if failure.class == class), "{failed:?}");
    }
}
