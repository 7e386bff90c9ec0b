//! Commands the conversation waits for.

use std::time::Duration;

use hermes_model::ToolStatus;
use hermes_sandbox::config::BackendKind;
use hermes_tools::{Terminal, Tool};
use serde_json::json;

use crate::fixture::{Closed, Fixture, SECRET, Talk, eventually, json_of};

crate::everywhere!(
    output_and_code_come_back,
    the_shell_of_a_conversation_goes_on,
    a_time_limit_ends_everything,
    cancelling_ends_everything_and_keeps_what_was_printed,
    long_output_is_cut_and_kept_in_a_file,
    secrets_are_masked_in_results_and_on_the_way,
    odd_bytes_become_text,
    a_terminal_is_given_when_asked_for,
);

async fn output_and_code_come_back(fixture: &Fixture) {
    let talk = Talk::new(Terminal::new(fixture.place()));
    let result = talk.call(json!({ "command": "echo out; echo err >&2; exit 3" })).await;
    assert_eq!(result, json!({ "output": "out\nerr", "exit_code": 3, "error": null }));
    assert_eq!(talk.live(), "out\nerr\n");
    let output = talk.run(json!({ "command": "grep x /dev/null" })).await;
    assert_eq!(output.status, ToolStatus::Ok);
    assert!(json_of(&output)["exit_code_meaning"].is_string());
    let nowhere = talk.call(json!({ "command": "pwd", "workdir": "/no/such (directory)" })).await;
    assert_eq!(nowhere["exit_code"], 126);
    assert!(nowhere["error"].as_str().unwrap().contains("/no/such (directory)"), "{nowhere}");
}

async fn the_shell_of_a_conversation_goes_on(fixture: &Fixture) {
    let place = fixture.place();
    let (one, other) = (Talk::with(Terminal::new(place.clone()), "a"), Talk::with(Terminal::new(place), "b"));
    one.call(json!({ "command": "mkdir -p \"$HOME/d\"; cd \"$HOME/d\"; export V=1; f() { echo f; }" })).await;
    let seen = one.call(json!({ "command": "basename \"$PWD\"; echo \"$V\"; f" })).await;
    assert_eq!(seen["output"], "d\n1\nf");
    assert_eq!(other.call(json!({ "command": "echo \"[$V]\"" })).await["output"], "[]");
    let elsewhere = one.call(json!({ "command": "pwd; export W=2", "workdir": "/" })).await;
    assert_eq!(elsewhere["output"], "/");
    let back = one.call(json!({ "command": "basename \"$PWD\"; echo \"$W\"" })).await;
    assert_eq!(back["output"], "d\n2", "a directory for one call moves nothing");
}

async fn a_time_limit_ends_everything(fixture: &Fixture) {
    let talk = Talk::new(Terminal::new(fixture.place()));
    let result = talk
        .call(json!({ "command": "echo begun; bash -c 'setsid sleep 7123 & sleep 7124'", "timeout": 1 }))
        .await;
    assert_eq!(result["exit_code"], 124);
    let output = result["output"].as_str().unwrap();
    assert!(output.starts_with("begun\n[the time limit of 1 s"), "{output}");
    assert_eq!(left(&talk, "sleep 712[34]").await, "");
}

async fn cancelling_ends_everything_and_keeps_what_was_printed(fixture: &Fixture) {
    let talk = Talk::new(Terminal::new(fixture.place()));
    let run =
        talk.call(json!({ "command": "trap '' TERM; echo begun; bash -c 'setsid sleep 7125 & sleep 7126'" }));
    let cancel = async {
        eventually("the command prints", || talk.live().contains("begun")).await;
        talk.cancel.cancel();
    };
    let (result, ()) = tokio::join!(run, cancel);
    assert_eq!(result["exit_code"], 130);
    assert!(result["output"].as_str().unwrap().starts_with("begun\n[interrupted"), "{result}");
    let next = Talk::new(Terminal::new(fixture.place()));
    assert_eq!(left(&next, "sleep 712[56]").await, "");
}

/// Processes of a place whose command line matches.
pub async fn left(talk: &Talk, pattern: &str) -> String {
    let look = format!(
        "for p in /proc/[0-9]*; do {{ tr '\\0' ' ' < $p/cmdline; }} 2>/dev/null | grep -x '{pattern} '; done; true"
    );
    talk.call(json!({ "command": look })).await["output"].as_str().unwrap().to_owned()
}

async fn long_output_is_cut_and_kept_in_a_file(fixture: &Fixture) {
    let talk = Talk::new(Terminal::new(fixture.place()));
    // One the box makes a file of by itself, and one in between.
    for (last, bytes) in [(30_000, 168_894), (11_000, 54_894)] {
        let result = talk.call(json!({ "command": format!("seq 1 {last}") })).await;
        let output = result["output"].as_str().unwrap();
        assert!(
            output.len() < 51_000 && output.starts_with("1\n2\n") && output.ends_with(&format!("\n{last}"))
        );
        assert!(
            output.contains(&format!(" of {bytes} bytes are left out here; all of it is in /")),
            "{last}"
        );
        let file = output.split("all of it is in ").nth(1).unwrap().split(':').next().unwrap();
        let counted = talk.call(json!({ "command": format!("wc -c < {file}; stat -c %a {file}") })).await;
        assert_eq!(counted["output"], format!("{bytes}\n600"));
    }
}

async fn secrets_are_masked_in_results_and_on_the_way(fixture: &Fixture) {
    let talk = Talk::new(Terminal::new(fixture.place()));
    let (a, b) = SECRET.split_at(9);
    let result = talk.call(json!({ "command": format!("printf '%s' '{a}'; sleep 0.2; echo '{b}'") })).await;
    for text in [result["output"].as_str().unwrap(), &talk.live()] {
        assert!(!text.contains(SECRET) && text.starts_with("correc"), "{text}");
    }
    let dump = talk.call(json!({ "command": "MY_API_KEY=abcd1234efgh env" })).await;
    assert!(!dump["output"].as_str().unwrap().contains("abcd1234efgh"), "{dump}");
}

async fn odd_bytes_become_text(fixture: &Fixture) {
    let talk = Talk::new(Terminal::new(fixture.place()));
    let result = talk
        .call(json!({ "command": "printf '\\033[31mred\\033[0m \\377\\342\\202\\254\\r\\n  x\\n'" }))
        .await;
    assert_eq!(result["output"], "red \u{fffd}€\n  x");
}

async fn a_terminal_is_given_when_asked_for(fixture: &Fixture) {
    let talk = Talk::new(Terminal::new(fixture.place()));
    let command = "test -t 1 && echo yes || echo no";
    assert_eq!(talk.call(json!({ "command": command, "pty": true })).await["output"], "yes");
    assert_eq!(talk.call(json!({ "command": command })).await["output"], "no");
}

#[tokio::test]
async fn commands_of_this_machine_see_no_secrets() {
    let mut fixture = Fixture::local();
    fixture.context.env.set("DEPLOY_TOKEN", "made-up-one");
    fixture.context.env.set("NAMED_TOKEN", "made-up-two");
    fixture.config.local.env_passthrough = vec!["NAMED_TOKEN".to_owned()];
    let talk = Talk::new(Terminal::new(fixture.place()));
    let command = "echo \"[$DEPLOY_TOKEN] ${#NAMED_TOKEN}\"";
    for pty in [false, true] {
        assert_eq!(talk.call(json!({ "command": command, "pty": pty })).await["output"], "[] 11");
    }
    let listed = talk.call(json!({ "command": "env | cut -d= -f1" })).await;
    let listed = listed["output"].as_str().unwrap();
    assert!(listed.contains("NAMED_TOKEN") && !listed.contains("DEPLOY_TOKEN"), "{listed}");
}

#[tokio::test]
async fn nothing_happens_before_the_first_call() {
    let fixture = Fixture::local();
    let tool = Terminal::new(fixture.place());
    assert!(tool.spec().parameters.is_object() && tool.brief(&serde_json::Map::new()).is_empty());
    assert_eq!(std::fs::read_dir(fixture.context.home.as_path()).unwrap().count(), 0);
    let mut talk = Talk::new(tool);
    talk.gate = Box::new(Closed);
    let refused = talk.call(json!({ "command": "touch x" })).await;
    assert_eq!((&refused["status"], &refused["error"]), (&json!("blocked"), &json!("not today")));
    assert_eq!(
        std::fs::read_dir(fixture.context.home.as_path()).unwrap().count(),
        0,
        "a refused call opens nothing"
    );
}

#[tokio::test]
async fn a_place_that_is_not_there_is_an_error_and_nothing_runs_here() {
    let mut fixture = Fixture::local();
    fixture.config.backend = BackendKind::Docker;
    fixture.config.container.binary = Some(fixture.dir().join("no-engine"));
    let talk = Talk::new(Terminal::new(fixture.place()));
    let marker = fixture.dir().join("marker");
    let result = talk.call(json!({ "command": format!("touch {}", marker.display()) })).await;
    assert_eq!((&result["exit_code"], &result["status"]), (&json!(-1), &json!("error")));
    assert!(!marker.exists());
}

#[tokio::test]
async fn a_lost_container_is_told_to_the_model_and_the_user() {
    let Some(engine) = hermes_testkit::need("docker", hermes_testkit::Engine::get()) else { return };
    let fixture = Fixture::container(engine);
    let talk = Talk::new(Terminal::new(fixture.place()));
    talk.call(json!({ "command": "touch /tmp/here" })).await;
    fixture.remove_container();
    let result = talk.call(json!({ "command": "ls /tmp/here" })).await;
    assert!(result["notes"][0].as_str().unwrap_or_default().contains("lost"), "{result}");
    assert!(talk.notes().contains("lost"), "{}", talk.notes());
    assert_ne!(result["exit_code"], 0);
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_any_more_is_ended() {
    let fixture = Fixture::local();
    let place = fixture.place();
    let talk = Talk::new(Terminal::new(place.clone()));
    {
        let run = talk.call(json!({ "command": "echo begun; sleep 7127" }));
        let begun = eventually("the command prints", || talk.live().contains("begun"));
        tokio::select! { _ = run => panic!("it cannot be over"), () = begun => {} }
    }
    let look = "while pgrep -fx 'sleep 7127' >/dev/null; do sleep 0.05; done; echo gone";
    let seen = talk.call(json!({ "command": look, "timeout": Duration::from_secs(30).as_secs() })).await;
    assert_eq!(seen["output"], "gone");
}

#[tokio::test]
async fn where_our_program_cannot_run_the_engine_runs_commands() {
    let Some(engine) = hermes_testkit::need("docker", hermes_testkit::Engine::get()) else { return };
    let mut fixture = Fixture::container(engine);
    fixture.config.container.binary =
        Some(engine.forbidding(fixture.dir(), "/.hermes-box/bin", "hermes-box"));
    let talk = Talk::new(Terminal::new(fixture.place()));
    let first = talk.call(json!({ "command": "cd /opt; echo out; echo err >&2; exit 3" })).await;
    assert_eq!((&first["output"], &first["exit_code"]), (&json!("out\nerr"), &json!(3)), "{first}");
    assert_eq!(talk.call(json!({ "command": "pwd" })).await["output"], "/opt");
    let masked = talk.call(json!({ "command": format!("echo {SECRET}") })).await;
    assert!(!masked["output"].as_str().unwrap().contains(SECRET), "{masked}");
    let late = talk.call(json!({ "command": "echo begun; sleep 7133", "timeout": 1 })).await;
    assert_eq!(late["exit_code"], 124);
    let output = late["output"].as_str().unwrap();
    assert!(output.starts_with("begun\n") && output.contains("\n[the time limit of 1 s"), "{late}");
    assert_eq!(left(&talk, "sleep 713[3]").await, "");
    let behind = talk.call(json!({ "command": "sleep 1", "background": true })).await;
    assert!(behind["error"].as_str().unwrap().contains("cannot run"), "{behind}");
}
