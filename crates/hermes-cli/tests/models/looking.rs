//! `hermes model list`, `show`, and what is said without a terminal.

use super::{KEY, command, hermes, openrouter};
use hermes_testkit::TestHome;
use hermes_testkit::model::KeyFor;

#[test]
fn nothing_set_up_says_exactly_what_to_do() {
    let home = TestHome::new();
    for args in [&["model"][..], &["model", "show"]] {
        let said = hermes(&home, args);
        said.code(2).stdout_has("(not set)").stderr_has("no model is set up").stderr_has("hermes setup");
    }
    let shown = hermes(&home, &["model", "show", "--json"]);
    assert!(shown.code(2).json()["what_to_do"].as_str().unwrap().contains("hermes model"));
    assert!(home.snapshot().is_empty(), "looking must not write");
}

#[test]
fn the_list_comes_from_the_endpoint_once_and_then_from_disk() {
    let home = TestHome::new();
    let server = openrouter(&home, "say \"unused\"", KeyFor::All);
    let list = |more: &[&str]| {
        let args: Vec<&str> =
            ["model", "list", "--provider", "openrouter"].iter().chain(more).copied().collect();
        command(&home, &args).env("OPENROUTER_API_KEY", KEY).run()
    };
    list(&[]).success().stdout_has("alpha/two").stdout_has("65,536");
    list(&[]).success();
    assert_eq!(server.requests().len(), 1, "the second time it is on disk");
    server.set_models(["new/model"]);
    let models = list(&["--json", "--refresh"]).success().json();
    assert_eq!(models["models"][0]["id"], "new/model");
    assert_eq!(models["models"][0]["window"], serde_json::Value::Null);
    drop(server);
    list(&["--refresh"]).success().stdout_has("new/model").stderr_has("list of last time");
    list(&[]).output_lacks(KEY);
}

#[test]
fn show_says_where_everything_comes_from() {
    let home = TestHome::new();
    home.config("model:\n  default: claude-opus-4-8\n  provider: anthropic\nfallback_providers:\n  - {provider: zai, model: glm-5}\n");
    let key = "sk-ant-api03-0123456789abcdef0123456789";
    home.env_file(format!("ANTHROPIC_API_KEY={key}\n"));
    let shown = hermes(&home, &["model", "show"]);
    shown
        .success()
        .output_lacks(key)
        .stdout_has("claude-opus-4-8")
        .stdout_has("config.yaml:2")
        .stdout_has("ANTHROPIC_API_KEY")
        .stdout_has("1,000,000 tokens")
        .stdout_has("$5 in, $25 out")
        .stderr_has("a fallback leads nowhere")
        .stderr_has("GLM_API_KEY");
    let json = hermes(&home, &["model", "show", "--json"]).success().json();
    assert_eq!(json["window"]["from"], "built-in table");
    assert_eq!(json["price"]["output"], 25.0);
    home.config("model: {default: m, provider: anthropic, base_url: 'https://proxy.test'}\n");
    hermes(&home, &["model", "show"]).code(1).stderr_has("only to its own host");
    home.config("model: {default: m, provider: zai, price: cheap}\n");
    hermes(&home, &["model", "show"]).code(1).stderr_has("config.yaml:1").stderr_has("model.price");
}
