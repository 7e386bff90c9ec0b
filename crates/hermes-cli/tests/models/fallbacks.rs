//! `hermes fallback`.

use super::hermes;
use hermes_testkit::TestHome;

fn home() -> TestHome {
    let home = TestHome::new();
    home.config("# mine\nmodel: {default: main, provider: zai}\n");
    home.env_file("GLM_API_KEY=glm-key-0123456789abcdef\nXAI_API_KEY=xai-key-0123456789abcdef\n");
    home
}

#[test]
fn entries_are_added_in_order_listed_and_removed() {
    let home = home();
    hermes(&home, &["fallback"]).success().stdout_has("No fallbacks");
    hermes(&home, &["fallback", "add", "glm-4.6"]).success().stdout_has("glm-4.6");
    hermes(&home, &["fallback", "add", "grok-4", "--provider", "grok"]).success().stdout_has("XAI_API_KEY");
    let url = "http://127.0.0.1:9/v1";
    hermes(&home, &["fallback", "add", "local", "--base-url", url, "--position", "1"]).success();
    let listed = hermes(&home, &["fallback", "list", "--json"]).success().json();
    let names: Vec<String> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| format!("{} {} {}", entry["provider"], entry["model"], entry["usable"]).replace('"', ""))
        .collect();
    assert_eq!(names, ["custom local true", "zai glm-4.6 true", "xai grok-4 true"]);
    assert!(home.read("config.yaml").starts_with("# mine\n"));
    hermes(&home, &["fallback", "remove", "zai/glm-4.6"]).success().stdout_lacks("glm-4.6");
    hermes(&home, &["fallback", "remove", "1"]).success().stdout_lacks("local");
    hermes(&home, &["fallback", "clear"]).code(1).stderr_has("--yes");
    hermes(&home, &["fallback", "clear", "--yes"]).success().stdout_has("No fallbacks");
    assert!(!home.read("config.yaml").contains("fallback"));
}

#[test]
fn what_would_not_help_is_refused() {
    let home = home();
    let before = home.read("config.yaml");
    for (args, said) in [
        (&["add", "m", "--provider", "nowhere"][..], "no provider 'nowhere'"),
        (&["add", "m", "--provider", "anthropic"], "ANTHROPIC_API_KEY"),
        (&["add", "main"], "the model in use"),
        (&["remove", "7"], "no fallback '7'"),
    ] {
        let args: Vec<&str> = ["fallback"].iter().chain(args).copied().collect();
        hermes(&home, &args).code(1).stderr_has(said);
    }
    hermes(&home, &["fallback", "add"]).code(2).stderr_has("no model was named");
    assert_eq!(home.read("config.yaml"), before);
    hermes(&home, &["fallback", "add", "m", "--provider", "anthropic", "--no-check"])
        .success()
        .stdout_has("NOT USABLE");
    hermes(&home, &["fallback", "add", "glm-4.6"]).success();
    hermes(&home, &["fallback", "add", "glm-4.6"]).code(1).stderr_has("already, as number 2");
}

#[test]
fn the_older_form_is_read_and_becomes_the_newer() {
    let home = home();
    home.config("model: {default: main, provider: zai}\nfallback_model:\n  provider: xai\n  model: grok-4\n  note: kept\n");
    hermes(&home, &["fallback"]).success().stdout_has("grok-4").stdout_has("ready");
    hermes(&home, &["config", "check"]).success().stdout_lacks("fallback_model");
    hermes(&home, &["fallback", "add", "glm-4.6"]).success();
    let config = home.read("config.yaml");
    assert!(
        !config.contains("fallback_model")
            && config.contains("fallback_providers")
            && config.contains("kept"),
        "{config}"
    );
}
