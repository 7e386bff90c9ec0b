//! `hermes model NAME`.

use super::{KEY, WRONG, command, hermes, openrouter};
use hermes_testkit::model::{KeyFor, ModelServer};
use hermes_testkit::{Hermes, TestHome};

fn with_key(home: &TestHome, key: &str, args: &[&str]) -> hermes_testkit::Finished {
    command(home, args).stdin(format!("{key}\n")).run()
}

#[test]
fn a_key_is_tested_saved_and_never_shown() {
    let home = TestHome::new();
    let server = openrouter(&home, "say \"unused\"", KeyFor::All);
    let done = with_key(&home, KEY, &["model", "alpha/two", "--provider", "openrouter", "--key-stdin"]);
    done.success().output_lacks(KEY).stdout_is("").stderr_has("(not set) → alpha/two");
    let config = home.read("config.yaml");
    assert!(config.contains("default: alpha/two") && config.contains("provider: openrouter"), "{config}");
    assert!(home.read(".env").contains(&format!("OPENROUTER_API_KEY={KEY}\n")));
    assert_eq!(home.mode(".env"), 0o600);
    assert!(home.read("context_length_cache.yaml").contains("65536"));
    assert!(server.calls().is_empty(), "the list is proof enough, no answer is paid for");
    hermes(&home, &["model", "alpha/two"]).success().stderr_has("nothing to change");
}

#[test]
fn a_refused_key_changes_nothing() {
    for what in [KeyFor::All, KeyFor::Answers] {
        let home = TestHome::new();
        let _server = openrouter(&home, "say \"unused\"", what);
        let before = home.read(".env");
        let args = ["model", "alpha/two", "--provider", "openrouter", "--key-stdin"];
        with_key(&home, WRONG, &args)
            .code(1)
            .output_lacks(WRONG)
            .stderr_has("refuses the key")
            .stderr_has("--no-test");
        assert_eq!(home.read(".env"), before);
        assert!(!home.path().join("config.yaml").exists());
    }
}

#[test]
fn a_list_for_everybody_proves_nothing_so_the_model_is_asked() {
    let home = TestHome::new();
    let server = openrouter(&home, "say \"OK\"", KeyFor::Answers);
    let args = ["model", "alpha/one", "--provider", "openrouter", "--key-stdin"];
    with_key(&home, KEY, &args).success();
    assert_eq!(server.last_call().model(), "alpha/one");
    server.assert_done();
}

#[test]
fn what_works_is_not_replaced_without_a_yes() {
    let home = TestHome::new();
    let server = ModelServer::scripted("always\nsay \"OK\"");
    server.set_models(["first", "second"]);
    home.config_for(&server);
    let before = home.read("config.yaml");
    hermes(&home, &["model", "second"]).code(1).stderr_has("test-model → second").stderr_has("--yes");
    assert_eq!(home.read("config.yaml"), before);
    hermes(&home, &["model", "second", "--yes"]).success().stderr_has("Saved to");
    let after = home.read("config.yaml");
    assert!(after.contains("default: second") && after.contains("api_key"), "the endpoint stays: {after}");
    assert!(!after.contains("context_length"), "the size was that of the other model: {after}");
}

#[test]
fn a_server_of_ones_own_needs_only_its_address() {
    let home = TestHome::new();
    let server = ModelServer::scripted("say \"unused\"");
    server.set_models(["only"]);
    let url = server.openai_url();
    hermes(&home, &["model", "--base-url", &url]).success().stderr_has("only");
    let config = home.read("config.yaml");
    assert!(
        config.contains("default: only") && config.contains("provider: custom") && config.contains(&url),
        "{config}"
    );
    hermes(&home, &["model", "show"]).success().stdout_has("only").stdout_has("unknown");
}

#[test]
fn a_model_that_is_not_there_is_named_with_what_is() {
    let home = TestHome::new();
    let script = "status 404 body=\"{\\\"error\\\":{\\\"message\\\":\\\"model not found\\\",\\\"code\\\":\\\"model_not_found\\\"}}\"";
    let _server = openrouter(&home, script, KeyFor::All);
    let args = ["model", "alpha/tow", "--provider", "openrouter", "--key-stdin"];
    with_key(&home, KEY, &args).code(1).stderr_has("does not have this model").stderr_has("alpha/two");
    assert!(!home.path().join("config.yaml").exists());
}

#[test]
fn mistakes_are_named() {
    let home = TestHome::new();
    hermes(&home, &["model", "m", "--provider", "opnrouter"]).code(1).stderr_has("did you mean 'openrouter'");
    hermes(&home, &["model", "m", "--provider", "anthropic"])
        .code(1)
        .stderr_has("ANTHROPIC_API_KEY")
        .stderr_has("--key-stdin");
    hermes(&home, &["model", "m", "--provider", "copilot"]).code(1).stderr_has("login of another program");
    hermes(&home, &["model", "m", "--provider", "zai", "--key-env", "MINE"])
        .code(2)
        .stderr_has("MINE is not set");
    hermes(&home, &["model", "m", "--base-url", "127.0.0.1:1/v1"]).code(1).stderr_has("cannot be reached");
    let two = with_key(&home, "one two", &["model", "m", "--provider", "zai", "--key-stdin"]);
    two.code(2).stderr_has("no blanks");
    assert_eq!(home.snapshot().keys().filter(|path| path.ends_with("config.yaml")).count(), 0);
}

#[test]
fn untested_choices_can_be_saved_on_request() {
    let home = TestHome::new();
    home.env_file("TEAM_KEY=team-key-0123456789abcdef\n");
    let args = ["model", "glm", "--provider", "zai", "--key-env", "TEAM_KEY", "--no-test"];
    hermes(&home, &args).success();
    let config = home.read("config.yaml");
    assert!(config.contains("key_env: TEAM_KEY") && config.contains("default: glm-5.2"), "{config}");
}

#[test]
fn a_variable_that_hides_the_choice_is_told() {
    let home = TestHome::new();
    let server = ModelServer::scripted("say \"unused\"");
    server.set_models(["only"]);
    Hermes::new(env!("CARGO_BIN_EXE_hermes"), &home)
        .args(["model", "only", "--base-url", &server.openai_url(), "--yes"])
        .env("HERMES_INFERENCE_MODEL", "other")
        .run()
        .success()
        .stderr_has("HERMES_INFERENCE_MODEL overrides it");
}
