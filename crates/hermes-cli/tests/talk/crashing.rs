//! kill -9 at any point of a turn: the next process has everything that was shown, and nothing runs on.

use std::time::Duration;

use hermes_testkit::crash::{KillPoint, Rng, kill_at};
use hermes_testkit::{Answer, Hermes, ModelServer};
use serde_json::Value;

use super::support::{HERMES, LIMIT, Talk, runs, session_of};

/// What was shown of answers: the text of all `text` events.
fn shown(printed: &str) -> String {
    let events = printed.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    events
        .filter(|event| event["type"] == "text")
        .filter_map(|event| event["delta"].as_str().map(str::to_owned))
        .collect()
}

/// Goes on with a session and gives the texts of the messages the model then gets.
fn resumed(talk: &Talk, id: &str) -> Vec<(String, String)> {
    talk.server.add(Answer::new().say("back"));
    talk.run(&["-z", "and now?", "-r", id]).success().stdout_is("back\n");
    let text = |message: &Value| {
        (
            message["role"].as_str().unwrap().to_owned(),
            message["content"].as_str().unwrap_or_default().to_owned(),
        )
    };
    talk.server.last_call().messages().iter().map(text).collect()
}

#[test]
fn during_the_answer_nothing_that_was_shown_is_lost() {
    let words: Vec<String> = (0..60).map(|number| format!("word{number}")).collect();
    for last in ["word0 ", "word7 ", "word23 ", "word55 "] {
        let talk = Talk::with(&format!("slow 4ms\nsay \"{}\"", words.join(" ")));
        let command = talk.command(&["-z", "go", "--json"]);
        let killed = kill_at(&command, &KillPoint::Output(last.to_owned()), &mut Rng::seeded(1));
        assert!(killed.was_hit(), "{killed:?}");
        let shown = shown(&killed.stdout);
        let messages = resumed(&talk, &session_of(&killed.stdout));
        let kept = messages.iter().find(|(role, _)| role == "assistant").map(|(_, text)| text.clone());
        let kept = kept.unwrap_or_default();
        assert!(kept.starts_with(shown.trim_end()), "shown {shown:?}, kept {kept:?}");
    }
}

#[test]
fn during_a_tool_the_call_is_kept_and_its_processes_end() {
    let command = "bash -c '(setsid sleep 8765431 </dev/null >/dev/null 2>&1 &)'; touch begun; sleep 8765432";
    let talk = Talk::with(&format!("say \"I start.\"\n{}", runs(command)));
    let hermes = talk.command(&["-z", "go", "--json"]);
    let killed = kill_at(&hermes, &KillPoint::Path(talk.file("begun")), &mut Rng::seeded(1));
    assert!(killed.was_hit(), "{killed:?}");
    talk.nothing_runs_with("876543");
    let messages = resumed(&talk, &session_of(&killed.stdout));
    assert!(
        messages.iter().any(|(role, text)| role == "assistant" && text.contains("I start.")),
        "{messages:?}"
    );
    assert!(
        messages.iter().any(|(role, text)| role == "tool" && text.contains("interrupted")),
        "{messages:?}"
    );
}

#[test]
fn right_after_a_tool_its_result_is_kept() {
    let talk = Talk::with(&format!("{}\n---\nwhen \"go\"\nstall", runs("echo precious-result")));
    let mut running = talk.command(&["-z", "go", "--json"]).spawn();
    running.line_with("tool_finished", LIMIT);
    running.kill9();
    let messages = resumed(&talk, &session_of(&running.stdout_so_far()));
    assert!(
        messages.iter().any(|(role, text)| role == "tool" && text.contains("precious-result")),
        "{messages:?}"
    );
}

#[test]
fn at_any_moment_the_next_process_can_go_on() {
    let script = format!("say \"I look.\"\n{}\n---\nslow 3ms\nsay \"one two three\"", runs("echo looked"));
    let mut rng = Rng::seeded(7);
    let range = Duration::ZERO..Duration::from_millis(300);
    let mut begun = 0;
    for _ in 0..12 {
        let Talk { home, server } = Talk::with(&script);
        let command = Hermes::new(HERMES, &home).args(["-z", "go", "--json"]);
        let killed = kill_at(&command, &KillPoint::After(range.clone()), &mut rng);
        drop(server);
        if !killed.stdout.contains('\n') {
            continue;
        }
        begun += 1;
        // A server of its own: what was not asked for before must not be the answer now.
        let talk = Talk { home, server: ModelServer::scripted("") };
        talk.home.config_for(&talk.server);
        let messages = resumed(&talk, &session_of(&killed.stdout));
        assert!(messages.iter().any(|(role, text)| role == "user" && text.contains("go")), "{messages:?}");
        let kept: String = messages.iter().map(|(_, text)| text.as_str()).collect();
        let shown = shown(&killed.stdout);
        for words in shown.split_inclusive('.') {
            assert!(kept.contains(words.trim_end()), "shown {shown:?}, kept {messages:?}");
        }
        talk.run(&["sessions", "repair", "--check"]).success();
        talk.nothing_runs_with("echo looked");
    }
    assert!(begun > 0, "no turn began before its process was killed");
}
