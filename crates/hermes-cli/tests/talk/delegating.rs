//! Helpers of the real program: real commands at the same time, questions, interrupts, kills, and what comes back by
//! itself.

use hermes_store::sessions::{Kind, SessionId, SessionStore};
use hermes_testkit::crash::{KillPoint, Rng, kill_at};
use hermes_testkit::model::Request;
use hermes_testkit::{Answer, Signal, wait_until};
use serde_json::{Value, json};

use super::support::{LIMIT, Talk, events, runs, session_of};
use super::terminal::Terminal;

/// Titles are asked for whenever the model is free.
const TITLE: &str = "when system \"a title\"\nalways\nsay \"A title\"\n---\n";

/// A script in which the agent gives these goals to helpers, each of which runs a command and says that it is done.
fn script(helpers: &[(&str, &str)]) -> String {
    let tasks: Vec<Value> = helpers.iter().map(|(goal, _)| json!({"goal": goal})).collect();
    let helper = |(goal, command): &(&str, &str)| {
        format!("when \"{goal}\"\n{}\n---\nwhen \"{goal}\"\nsay \"{goal}: done.\"\n---\n", runs(command))
    };
    format!(
        "{TITLE}when \"go\"\ncall delegate_task {}\n---\n{}when \"go\"\nsay \"All done.\"",
        json!({"tasks": tasks}),
        helpers.iter().map(helper).collect::<String>()
    )
}

/// What the agent was told about its helpers.
fn told(talk: &Talk) -> Value {
    let asks = |call: &Request| call.newest_user_text().contains("go");
    let call = talk.server.calls().into_iter().rfind(asks).unwrap();
    serde_json::from_str(&call.tool_results()[0].1).unwrap()
}

#[test]
fn helpers_run_commands_at_the_same_time_and_the_result_says_what_they_ran() {
    let meet =
        |own: &str, other: &str| format!("touch {own}; while ! test -e {other}; do sleep 0.02; done; exit 3");
    let (left, right) = (meet("left", "right"), meet("right", "left"));
    let talk = Talk::with(&script(&[("check left", &left), ("check right", &right)]));
    let done = talk.run(&["-z", "go", "--json"]);
    let printed = done.success().out();
    let told = told(&talk);
    let results = told["results"].as_array().unwrap();
    assert_eq!(results[0]["summary"], "check left: done.");
    assert_eq!(results[1]["summary"], "check right: done.");
    assert_eq!(
        results[0]["verified"],
        json!([{"command": left, "exit_code": 3}]),
        "what it claims can be checked"
    );
    let live: String = events(&printed)
        .iter()
        .filter(|event| event["type"] == "tool_output")
        .filter_map(|event| event["text"].as_str().map(str::to_owned))
        .collect();
    assert!(live.contains("[1 check left]") && live.contains("[2 check right]"), "{live}");
    let report = events(&printed).pop().unwrap();
    assert_eq!(report["report"]["spending"]["calls"], 6, "{report}");
}

#[test]
fn the_last_conversation_is_never_that_of_a_helper() {
    let talk = Talk::with(&script(&[("look around", "echo here")]));
    let done = talk.run(&["chat", "-Q", "--yolo", "-q", "go"]);
    let said = done.success().err();
    let parent = said.lines().find_map(|line| line.strip_prefix("session_id: ")).unwrap().to_owned();
    let helper = told(&talk)["results"][0]["session_id"].as_str().unwrap().to_owned();
    talk.server.add(Answer::new().say("still here"));
    let next = talk.run(&["-z", "next", "--json", "-c"]);
    assert_eq!(session_of(&next.success().out()), parent);
    talk.run(&["sessions", "show", &helper])
        .success()
        .stdout_has("look around")
        .stdout_has("look around: done.");
    let mut store = SessionStore::open(&talk.home.path().join("state.db")).unwrap();
    assert_eq!(store.row(&SessionId::from(helper.as_str())).unwrap().kind, Kind::Delegated);
}

#[test]
fn who_watches_sees_what_helpers_do_and_is_asked_in_their_name() {
    let talk = Talk::with(&script(&[("make a file", DANGEROUS)]));
    let mut terminal = Terminal::start(&talk.home, &["chat", "-q", "go"]);
    terminal
        .expect("[make a file]")
        .expect("touch made-by-helper")
        .expect("The helper \"make a file\" wants this.");
    assert!(!talk.file("made-by-helper").exists());
    terminal.expect("> ").line("1").expect("All done.");
    assert!(terminal.end().success());
    assert!(talk.file("made-by-helper").exists());
}

#[test]
fn with_nobody_to_ask_helpers_are_refused_unless_the_user_said_otherwise() {
    let talk = Talk::with(&script(&[("make a file", DANGEROUS)]));
    talk.run(&["chat", "-q", "go"]).success();
    assert!(!talk.file("made-by-helper").exists());
    let talk = Talk::with_settings(
        &script(&[("make a file", DANGEROUS)]),
        "delegation:\n  subagent_auto_approve: true\n",
    );
    talk.run(&["chat", "-q", "go"]).success();
    assert!(talk.file("made-by-helper").exists());
}

/// Something nobody runs without a yes.
const DANGEROUS: &str = "rm -rf leftovers; touch made-by-helper";

const LONG: &str =
    "bash -c '(setsid sleep 5432101 </dev/null >/dev/null 2>&1 &)'; echo begun; touch begun; sleep 5432102";

#[test]
fn an_interrupt_ends_everything_helpers_started() {
    let talk = Talk::with(&script(&[("wait long", LONG)]));
    let mut running = talk.command(&["-z", "go", "--json"]).spawn();
    wait_until(LIMIT, "the command runs", || talk.file("begun").exists());
    running.signal(Signal::INT);
    let done = running.wait(LIMIT);
    done.code(130);
    talk.nothing_runs_with("543210");
    talk.server.add(Answer::new().say("back"));
    talk.run(&["-z", "and now?", "-r", &session_of(&done.out())]).success();
    let result = talk.server.last_call().tool_results()[0].1.clone();
    assert!(result.contains("interrupted") && result.contains("hermes sessions show"), "{result}");
}

#[test]
fn a_kill_during_delegation_leaves_sessions_that_go_on_and_nothing_that_runs() {
    let talk = Talk::with(&script(&[("wait long", LONG)]));
    let killed = kill_at(
        &talk.command(&["-z", "go", "--json"]),
        &KillPoint::Path(talk.file("begun")),
        &mut Rng::seeded(1),
    );
    assert!(killed.was_hit(), "{killed:?}");
    talk.nothing_runs_with("543210");
    talk.run(&["sessions", "repair", "--check"]).success();
    let parent = session_of(&killed.stdout);
    talk.server.add(Answer::new().say("back"));
    talk.run(&["-z", "and now?", "-r", &parent]).success().stdout_is("back\n");
    let results = talk.server.last_call().tool_results();
    assert!(results[0].1.contains("interrupted"), "{results:?}");
    let call = talk.server.calls().into_iter().find(|call| call.newest_user_text().contains("wait long"));
    assert!(call.is_some(), "the helper had begun");
}

#[test]
fn the_end_of_a_background_command_gets_a_turn_of_its_own() {
    let command = "while ! test -e built; do sleep 0.05; done; echo result-4711";
    let call = json!({"command": command, "background": true, "notify_on_complete": true});
    let talk = Talk::with(&format!(
        "{TITLE}when \"build it\"\ncall terminal {call}\n---\nwhen \"build it\"\nsay \"It builds.\"\n---\n\
         when \"result-4711\"\nsay \"The build is done.\""
    ));
    let mut terminal = Terminal::start(&talk.home, &["--yolo"]);
    terminal.expect("Write a message").keys("build it\r").expect("It builds.");
    std::fs::write(talk.file("built"), "").unwrap();
    terminal.expect("The build is done.").keys("/quit\r");
    assert!(terminal.end().success());
}

#[test]
fn what_the_user_ends_is_no_reason_for_a_turn() {
    let call = json!({"command": "sleep 5432103", "background": true, "notify_on_complete": true});
    let talk = Talk::with(&format!(
        "{TITLE}when \"build it\"\ncall terminal {call}\n---\nwhen \"build it\"\nsay \"It builds.\"\n---\n\
         when \"and now\"\nsay \"It was ended.\""
    ));
    let mut terminal = Terminal::start(&talk.home, &["--yolo"]);
    terminal.expect("Write a message").keys("build it\r").expect("It builds.");
    terminal.keys("/agents\r").expect("sleep 5432103");
    terminal.keys("/stop\r").expect("Ended 1 background process.").expect("ended with");
    terminal.keys("and now\r").expect("It was ended.").keys("/quit\r");
    assert!(terminal.end().success());
    let told = |call: &Request| call.newest_user_text().contains("ended with");
    let told: Vec<Request> = talk.server.calls().into_iter().filter(told).collect();
    assert!(told.iter().all(|call| call.newest_user_text().contains("and now")), "it went on by itself");
    assert!(!told.is_empty(), "the model learns of it with the next message");
}

#[test]
fn helpers_in_the_background_report_by_themselves_and_end_with_the_chat() {
    let waits = "while ! test -e found; do sleep 0.05; done";
    let call = |goal: &str| format!("call delegate_task {}", json!({"goal": goal, "background": true}));
    let talk = Talk::with(&format!(
        "{TITLE}when \"go\"\n{}\n{}\n---\nwhen \"search\"\n{}\n---\nwhen \"wait long\"\n{}\n---\nwhen \"go\"\nsay \"They search.\"\n---\n\
         when \"search\"\nsay \"found-4711\"\n---\nwhen \"found-4711\"\nsay \"The search is over.\"",
        call("search"),
        call("wait long"),
        runs(waits),
        runs(LONG),
    ));
    let mut terminal = Terminal::start(&talk.home, &["--yolo"]);
    terminal.expect("Write a message").keys("go\r").expect("They search.");
    std::fs::write(talk.file("found"), "").unwrap();
    terminal.expect("The search is over.");
    wait_until(LIMIT, "the other helper works", || talk.file("begun").exists());
    terminal.keys("/agents\r").expect("wait long").keys("/quit\r");
    assert!(terminal.end().success());
    talk.nothing_runs_with("543210");
    let ids: Vec<String> = talk
        .server
        .calls()
        .iter()
        .flat_map(Request::tool_results)
        .filter_map(|(_, text)| serde_json::from_str::<Value>(&text).ok())
        .filter_map(|value| value["session_ids"][0].as_str().map(str::to_owned))
        .collect();
    let mut store = SessionStore::open(&talk.home.path().join("state.db")).unwrap();
    let ends: Vec<Option<String>> =
        ids.iter().map(|id| store.row(&SessionId::from(id.as_str())).unwrap().end_reason).collect();
    assert!(
        ends.contains(&Some("completed".into())) && ends.contains(&Some("interrupted".into())),
        "{ends:?}"
    );
}
