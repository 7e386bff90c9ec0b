//! `hermes setup` where nobody can be asked.

use super::hermes;
use hermes_testkit::TestHome;
use hermes_testkit::model::ModelServer;

#[test]
fn what_is_missing_is_named_with_the_commands_that_set_it() {
    let home = TestHome::new();
    let said = hermes(&home, &["setup", "--non-interactive"]);
    said.code(1)
        .stdout_has("MISSING")
        .stdout_has("→ hermes model NAME --provider")
        .stdout_has("ok: commands run on this machine");
    assert!(home.snapshot().is_empty());
    home.config("model: {default: m, provider: zai}\n");
    hermes(&home, &["setup"]).code(1).stdout_has("BROKEN").stdout_has("→ hermes config set GLM_API_KEY");
    home.env_file("GLM_API_KEY=glm-key-0123456789abcdef\n");
    hermes(&home, &["setup", "--non-interactive"]).success().stdout_has("ok: m of zai");
    home.config("model: {default: m, provider: zai}\nterminal: {backend: ssh}\n");
    hermes(&home, &["setup", "terminal", "--non-interactive"])
        .code(1)
        .stdout_has("BROKEN")
        .stdout_has("ssh_host");
}

#[test]
fn parts_without_questions_say_so() {
    let home = TestHome::new();
    for section in ["tts", "gateway", "tools", "agent"] {
        hermes(&home, &["setup", section])
            .code(1)
            .stderr_has("no questions about")
            .stderr_has("hermes config");
    }
    hermes(&home, &["setup", "nothing"]).code(2);
}

#[test]
fn a_reset_wants_a_yes_and_keeps_a_copy() {
    let home = TestHome::new();
    let server = ModelServer::scripted("say \"unused\"");
    home.config_for(&server);
    let before = format!("{}terminal: {{backend: local, timeout: 7}}\n", home.read("config.yaml"));
    home.config(&before);
    hermes(&home, &["setup", "--reset"]).code(2).stderr_has("--yes");
    assert_eq!(home.read("config.yaml"), before);
    hermes(&home, &["setup", "--reset", "--yes"]).code(1).stderr_has("model.default").stdout_has("MISSING");
    assert_eq!(home.read("config.yaml.before-reset"), before);
    let after = home.read("config.yaml");
    assert!(
        after.contains("timeout: 7") && !after.contains("test-model") && !after.contains("backend"),
        "{after}"
    );
}
