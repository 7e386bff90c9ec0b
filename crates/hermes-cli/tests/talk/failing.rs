//! What goes wrong is said on stderr with what to do, and the exit code tells.

use hermes_testkit::{Answer, ModelServer, TestHome};

use super::support::Talk;

#[test]
fn a_refused_key_says_so() {
    let talk = Talk::with("status 401");
    let done = talk.run(&["-z", "go"]);
    done.code(1)
        .stdout_is("")
        .stderr_has("401")
        .stderr_has("key")
        .output_lacks(hermes_testkit::home::API_KEY);
    assert_eq!(talk.server.calls().len(), 1, "a refused key is not tried again");
    talk.run(&["chat", "-q", "go"]).code(1).stdout_is("");
    talk.run(&["chat", "-Q", "-q", "go"]).code(1).stdout_is("").stderr_has("session_id: ");
}

#[test]
fn a_broken_server_is_tried_again_and_then_reported() {
    let talk =
        Talk::with_settings("status 500\nheader retry-after=0\nalways", "agent:\n  api_max_retries: 2\n");
    talk.run(&["-z", "go"]).code(1).stdout_is("").stderr_has("500");
    assert!(talk.server.calls().len() >= 2, "{}", talk.server.calls().len());
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let talk = Talk::with_settings("", "agent:\n  api_max_retries: 1\n");
    let config = talk.home.read("config.yaml");
    let address = talk.server.openai_url();
    drop(talk.server);
    talk.home.config(config);
    let done = hermes_testkit::Hermes::new(super::support::HERMES, &talk.home).args(["-z", "go"]).run();
    done.code(1).stdout_is("").stderr_has(address.trim_end_matches("/v1").trim_start_matches("http://"));
}

#[test]
fn without_a_model_it_says_exactly_what_to_do() {
    let home = TestHome::new();
    let run = |args: &[&str]| hermes_testkit::Hermes::new(super::support::HERMES, &home).args(args).run();
    for args in [&["-z", "go"][..], &["chat", "-q", "go"], &["chat", "-Q", "-q", "go"]] {
        run(args)
            .code(1)
            .stdout_is("")
            .stderr_has("hermes setup")
            .stderr_has("hermes model")
            .stderr_has("-m");
    }
    run(&["-z", "go", "--provider", "openrouter"]).code(2).stderr_has("-m");
    run(&["-z", "go", "--provider", "openrouter", "-m", "a/b"]).code(1).stderr_has("OPENROUTER_API_KEY");
    run(&["-z", "go", "--provider", "nowhere", "-m", "a/b"]).code(1).stderr_has("nowhere");
    assert!(!home.path().join("state.db").exists(), "nothing was begun");
}

#[test]
fn settings_that_cannot_be_read_are_not_ignored() {
    let talk = Talk::with("say \"never\"");
    talk.home.config("model: [\n");
    talk.run(&["-z", "go"]).code(1).stderr_has("config.yaml");
    assert!(talk.server.requests().is_empty());
}

#[test]
fn the_next_model_of_the_chain_takes_over() {
    let second = ModelServer::start(
        hermes_testkit::Script::new().answer(Answer::new().say("from the second").always()),
    );
    let talk = Talk::with_settings(
        "status 503\nheader retry-after=0\nalways",
        &format!(
            "agent:\n  api_max_retries: 1\nfallback_providers:\n  - provider: custom\n    model: other-model\n    base_url: {}\n    api_key: sk-other-0123456789abcdef0123456789\n",
            second.openai_url()
        ),
    );
    let done = talk.run(&["-z", "go"]);
    done.success()
        .stdout_is("from the second\n")
        .stderr_has("warning: ")
        .stderr_has("other-model")
        .stderr_has("503");
    assert_eq!(second.last_call().model(), "other-model");
    assert_eq!(second.last_call().key(), Some("sk-other-0123456789abcdef0123456789"));
    talk.run(&["chat", "-q", "go"]).success().stdout_is("from the second\n").stderr_has("other-model");
}

#[test]
fn a_budget_stops_the_next_run() {
    let talk = Talk::with_settings(
        "say \"first\"\nusage in=90000 out=20000\n---\nsay \"never\"",
        "budget:\n  day:\n    tokens: 100000\n",
    );
    talk.run(&["-z", "go"]).success().stdout_is("first\n");
    talk.run(&["-z", "go"])
        .code(1)
        .stdout_is("")
        .stderr_has("110000")
        .stderr_has("100000")
        .stderr_has("budget.day");
    talk.run(&["chat", "-q", "go"]).code(1).stderr_has("budget.day");
    assert_eq!(talk.server.calls().len(), 1, "the limit is checked before the call");
}

#[test]
fn an_answer_that_breaks_off_is_gone_on_with() {
    let script = "say \"half of an\"\ncut\n---\nsay \" answer\"";
    let talk = Talk::with_settings(script, "agent:\n  api_max_retries: 2\n");
    talk.run(&["-z", "go"]).success().stdout_is("half of an answer\n");
}
