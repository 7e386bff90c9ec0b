//! The flags that shape a question: model, toolsets, limits, rules, pictures.

use hermes_testkit::home::MODEL;
use serde_json::Value;

use super::support::{Talk, runs};

#[test]
fn the_model_is_taken_from_the_flag_the_environment_or_the_settings() {
    let talk = Talk::with("always\nsay \"ok\"");
    talk.run(&["-z", "go"]).success();
    assert_eq!(talk.server.last_call().model(), MODEL);
    talk.command(&["-z", "go"]).env("HERMES_INFERENCE_MODEL", "from-env").run().success();
    assert_eq!(talk.server.last_call().model(), "from-env");
    talk.command(&["-z", "go", "-m", "from-flag"]).env("HERMES_INFERENCE_MODEL", "from-env").run().success();
    assert_eq!(talk.server.last_call().model(), "from-flag");
}

#[test]
fn toolsets_are_chosen_and_slips_are_said() {
    let talk = Talk::with("always\nsay \"ok\"");
    talk.run(&["-z", "go", "-t", "terminal"]).success();
    assert_eq!(talk.server.last_call().tool_names().len(), 2);
    talk.run(&["-z", "go", "-t", "terminal,termnal"]).success().stdout_is("ok\n").stderr_has("termnal");
    let before = talk.server.calls().len();
    talk.run(&["-z", "go", "-t", "nonsense"])
        .code(2)
        .stdout_is("")
        .stderr_has("nonsense")
        .stderr_has("hermes tools list");
    talk.run(&["chat", "-q", "go", "-t", "nonsense"]).code(2);
    assert_eq!(talk.server.calls().len(), before);
    talk.run(&["-z", "go", "-t", "all"]).success();
    assert!(talk.server.last_call().tool_names().contains(&"terminal"));
}

#[test]
fn the_number_of_calls_is_limited_and_the_answer_says_how_far_it_got() {
    let call = runs("echo again; date +%N");
    let talk = Talk::with(&format!("{call}\n---\n{call}\n---\nsay \"so far\""));
    let done = talk.run(&["-z", "go", "--max-turns", "2"]);
    done.code(1).stdout_is("so far\n").stderr_has("limit of 2");
    assert_eq!(talk.server.calls().len(), 3);
    talk.run(&["-z", "go", "--max-turns", "0"]).code(2);
}

#[test]
fn rules_of_the_project_are_in_the_prompt_unless_they_are_to_be_ignored() {
    let talk = Talk::with("always\nsay \"ok\"");
    std::fs::write(talk.file("AGENTS.md"), "\u{feff}Always answer in rhymes. 👨‍👩‍👧\n").unwrap();
    talk.home.write("SOUL.md", "You are a lighthouse keeper.\n");
    talk.run(&["-z", "go"]).success().stderr_lacks("warning");
    let system = talk.server.last_call().system();
    assert!(system.contains("answer in rhymes") && system.contains("lighthouse keeper"), "{system}");
    assert!(!system.contains('\u{feff}'));
    for command in [
        talk.command(&["-z", "go", "--ignore-rules"]),
        talk.command(&["-z", "go"]).env("HERMES_IGNORE_RULES", "1"),
    ] {
        command.run().success();
        let system = talk.server.last_call().system();
        assert!(!system.contains("rhymes") && !system.contains("lighthouse"), "{system}");
    }
}

#[test]
fn settings_can_be_ignored_but_keys_still_count() {
    let talk = Talk::with("always\nsay \"ok\"");
    talk.run(&["-z", "go", "--ignore-user-config"]).code(1).stderr_has("hermes model");
    talk.home.env_file(format!(
        "OPENROUTER_API_KEY=sk-or-v1-0123456789abcdef\nOPENROUTER_BASE_URL={}\n",
        talk.server.openai_url()
    ));
    talk.run(&["-z", "go", "--ignore-user-config", "--provider", "openrouter", "-m", "a/b"]).success();
    assert_eq!(
        (talk.server.last_call().model(), talk.server.last_call().key()),
        ("a/b", Some("sk-or-v1-0123456789abcdef"))
    );
}

#[test]
fn the_session_is_named_to_the_model_only_if_wanted() {
    let talk = Talk::with("always\nsay \"ok\"");
    let id = |args: &[&str]| {
        let done = talk.run(args);
        super::support::session_of(&done.success().out())
    };
    let told = id(&["-z", "go", "--json", "--pass-session-id"]);
    assert!(talk.server.last_call().system().contains(&told));
    let untold = id(&["-z", "go", "--json"]);
    assert!(!talk.server.last_call().system().contains(&untold));
}

#[test]
fn pictures_reach_the_request_and_bad_ones_are_refused_before_it() {
    let talk = Talk::with("always\nsay \"a dot\"");
    let png = talk.file("dot.png");
    std::fs::write(&png, b"\x89PNG\r\n\x1a\nrest").unwrap();
    std::fs::write(talk.file("fake.png"), "not a picture").unwrap();
    for bad in ["fake.png", "missing.png", "."] {
        talk.run(&["-z", "what is it?", "--image", bad]).code(2).stderr_has(bad);
        talk.run(&["chat", "-q", "what is it?", "--image", bad]).code(2).stderr_has(bad);
    }
    assert!(talk.server.requests().is_empty());
    for args in [
        &["-z", "what is it?", "--image", "dot.png"][..],
        &["chat", "-q", "what is it?", "--image", "dot.png"],
    ] {
        talk.run(args).success();
        let calls = talk.server.calls();
        let asked = calls.iter().rfind(|call| call.newest_user_text() == "what is it?").unwrap();
        let content = &asked.messages().last().unwrap()["content"];
        let picture = content.as_array().unwrap().iter().find(|part| part["type"] == "image_url").unwrap();
        assert_eq!(picture["image_url"]["url"], Value::from("data:image/png;base64,iVBORw0KGgpyZXN0"));
    }
}

#[test]
fn a_source_marks_the_session() {
    let talk = Talk::with("always\nsay \"ok\"");
    talk.run(&["chat", "-Q", "-q", "go", "--source", "tool"]).success();
    talk.run(&["sessions", "list"]).success().stdout_lacks("test-model");
}
