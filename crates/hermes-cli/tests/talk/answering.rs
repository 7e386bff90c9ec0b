//! `hermes -z` and piped input: the answer on stdout, everything else on stderr.

use serde_json::Value;

use super::support::{HERMES, Talk, events, runs};
use hermes_testkit::Hermes;

#[test]
fn only_the_answer_is_on_stdout() {
    let script = format!(
        "think \"hm\"\nsay \"Let me look.\"\n{}\n---\nsay \"It is **done**.\\n\"",
        runs("echo printed")
    );
    let talk = Talk::with(&script);
    talk.run(&["-z", "go"]).success().stdout_is("It is **done**.\n").stderr_lacks("printed");
    let results = talk.server.last_call().tool_results();
    assert!(results[0].1.contains("printed"), "{results:?}");
    talk.server.assert_done();
}

#[test]
fn the_question_comes_from_the_flag_or_from_standard_input_or_both() {
    let talk = Talk::with("always\nsay \"fine\"");
    let asked = |command: Hermes| {
        command.run().success().stdout_is("fine\n");
        talk.server.last_call().newest_user_text()
    };
    assert_eq!(asked(talk.command(&["-z", "a question"])), "a question");
    assert_eq!(asked(talk.command(&["-z", "-"]).stdin("piped in")), "piped in");
    assert_eq!(asked(talk.command(&[]).stdin("piped\nlines\n")).trim(), "piped\nlines");
    assert_eq!(asked(talk.command(&["chat"]).stdin("to chat")), "to chat");
    assert_eq!(asked(talk.command(&["-z", "sum up:", "--stdin"]).stdin("1 2 3")), "sum up:\n\n1 2 3");
    // What is piped in is not read unless it is asked for: it may never end.
    assert_eq!(asked(talk.command(&["-z", "alone"]).stdin("not this")), "alone");
    assert_eq!(asked(talk.command(&["-z", "-"]).stdin(b"bytes \xff here".to_vec())), "bytes \u{fffd} here");
}

#[test]
fn without_a_question_nothing_is_asked() {
    let talk = Talk::with("say \"never\"");
    for command in [talk.command(&[]), talk.command(&["-z", "-"]), talk.command(&["-z", "  "])] {
        command.stdin(" \n").run().code(2).stdout_is("").stderr_has("no question");
    }
    assert!(talk.server.requests().is_empty());
}

#[test]
fn events_are_lines_of_json_and_end_with_the_report() {
    let script = format!(
        "say \"Look:\"\n{}\nusage in=100 out=10 cached=40\n---\nsay \"two\\nlines\"",
        runs("echo out")
    );
    let talk = Talk::with(&script);
    let done = talk.run(&["-z", "go", "--json"]);
    let events = events(&done.success().out());
    let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds[0], "turn_started");
    for kind in ["asking", "text", "tool_started", "tool_finished", "usage"] {
        assert!(kinds.contains(&kind), "no {kind} in {kinds:?}");
    }
    let report = &events.last().unwrap()["report"];
    assert_eq!((kinds.last().copied(), &report["text"]), (Some("turn_ended"), &Value::from("two\nlines")));
    assert_eq!((&report["outcome"], &report["tool_calls"]), (&"completed".into(), &1.into()));
    assert_eq!(kinds.iter().filter(|kind| **kind == "turn_ended").count(), 1);
}

#[test]
fn a_failed_turn_ends_its_events_with_a_report_too() {
    let talk = Talk::with("status 401");
    let done = talk.run(&["-z", "go", "--json"]);
    let last = events(&done.code(1).out()).pop().unwrap();
    assert_eq!((&last["type"], &last["report"]["outcome"]), (&"turn_ended".into(), &"failed".into()));
    assert!(last["report"]["error"].as_str().is_some_and(|error| !error.is_empty()), "{last}");
}

#[test]
fn what_it_took_is_written_down() {
    let talk = Talk::with("say \"ok\"\nusage in=100 out=10 cached=40 reasoning=4\n---\nstatus 401");
    let file = talk.file("usage.json");
    let read = || -> Value { serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap() };
    talk.run(&["-z", "go", "--usage-file", file.to_str().unwrap()]).success();
    let used = read();
    assert_eq!((&used["completed"], &used["failed"]), (&true.into(), &false.into()));
    assert_eq!((&used["cache_read_tokens"], &used["output_tokens"]), (&40.into(), &10.into()));
    assert_eq!((&used["input_tokens"], &used["total_tokens"]), (&60.into(), &110.into()));
    assert_eq!((&used["model"], &used["api_calls"]), (&"test-model".into(), &1.into()));
    talk.run(&["-z", "go", "--usage-file", file.to_str().unwrap()]).code(1);
    let used = read();
    assert_eq!((&used["completed"], &used["failed"]), (&false.into(), &true.into()));
    // Also when it does not even come to a question.
    for settings in ["{}\n", "model: [\n"] {
        std::fs::remove_file(&file).unwrap();
        talk.home.config(settings);
        talk.run(&["-z", "go", "--usage-file", file.to_str().unwrap()]).code(1);
        assert_eq!(read()["failed"], true, "with {settings:?}");
    }
    talk.home.config_for(&talk.server);
    talk.server.add(hermes_testkit::Answer::new().say("the answer"));
    // The answer was paid for: it is not lost with the file.
    talk.run(&["-z", "go", "--usage-file", "/no/such/dir/usage"])
        .code(1)
        .stdout_is("the answer\n")
        .stderr_has("/no/such/dir");
}

#[test]
fn a_reader_that_leaves_is_no_disaster_and_a_full_disk_is_a_failure() {
    let talk = Talk::with("always\nsay \"an answer\"");
    let shell = |script: &str| Hermes::new("/bin/sh", &talk.home).args(["-c", script]).run();
    shell(&format!("{HERMES} -z go | true")).success().stderr_lacks("panicked").stderr_lacks("Broken pipe");
    shell(&format!("{HERMES} -z go --json | true"))
        .success()
        .stderr_lacks("panicked")
        .stderr_lacks("Broken pipe");
    shell(&format!("{HERMES} chat -q go | true")).success().stderr_lacks("panicked");
    shell(&format!("{HERMES} -z go > /dev/full")).code(1).stderr_has("No space left");
    shell(&format!("{HERMES} -z go --json > /dev/full")).code(1).stderr_has("No space left");
    shell(&format!("{HERMES} chat -q go > /dev/full")).code(1).stderr_has("No space left");
}

#[test]
fn a_flood_of_output_is_bounded_in_the_request_and_can_be_read_further() {
    let talk = Talk::with(&format!("{}\n---\nsay \"seen\"", runs("seq 1 1500000")));
    talk.run(&["-z", "go"]).success();
    let result = talk.server.last_call().tool_results().remove(0).1;
    assert!(result.len() < 120_000, "{} bytes reached the model", result.len());
    assert!(result.contains("1500000"), "the end is there");
}

#[test]
fn secrets_reach_neither_the_model_nor_the_logs() {
    let secret = "sk-or-v1-5c1e77a90b3d4f6e8a2b9c0d1e2f3a4b5c6d7e8f";
    let home = "${HERMES_HOME:-$HOME/.hermes}";
    let command = format!("cat {home}/.env; cat {home}/config.yaml; env; echo $OPENROUTER_API_KEY");
    let talk = Talk::with(&format!("{}\n---\nsay \"seen\"", runs(&command)));
    talk.home.env_file(format!("OPENROUTER_API_KEY={secret}\nMY_TOKEN={secret}x\n"));
    let done = talk.run(&["-z", "go", "--json"]);
    done.success().output_lacks(secret).output_lacks(hermes_testkit::home::API_KEY);
    let body = String::from_utf8(talk.server.last_call().raw).unwrap();
    assert!(body.contains("OPENROUTER_API_KEY"), "the command did run: {body}");
    assert!(!body.contains(secret) && !body.contains(hermes_testkit::home::API_KEY), "{body}");
    assert!(!talk.logs().contains(secret));
    let stored = talk.home.snapshot().into_iter().filter(|(path, _)| path.starts_with("state.db"));
    for (path, entry) in stored {
        let hermes_testkit::home::EntryKind::File(bytes) = entry.kind else { continue };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert!(!text.contains(secret), "in {}", path.display());
    }
}
