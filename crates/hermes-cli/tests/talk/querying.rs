//! `hermes chat -q`: one question with its work in view.

use super::support::{Talk, runs};

fn script() -> String {
    format!(
        "say \"Let me look.\"\n{}\n---\nsay \"All good.\"\n---\nalways\nsay \"A title\"",
        runs("for n in $(seq 1 30); do echo line$n; done")
    )
}

#[test]
fn the_words_are_on_stdout_and_the_work_on_stderr() {
    let talk = Talk::with(&script());
    let done = talk.run(&["chat", "-q", "go", "--yolo"]);
    done.success()
        .stdout_is("Let me look.\nAll good.\n")
        .stderr_has("terminal")
        .stderr_has("ok")
        .stderr_lacks("line7");
    done.stderr_has("Continue with: hermes --resume ");
    assert!(!done.err().contains('\u{1b}'), "no colours without a terminal");
}

#[test]
fn more_is_shown_on_request() {
    let talk = Talk::with(&script());
    talk.run(&["chat", "-v", "-q", "go", "--yolo"])
        .success()
        .stderr_has("line7")
        .stderr_has("more lines")
        .stderr_lacks("line29");
}

#[test]
fn quiet_means_the_answer_alone() {
    let talk = Talk::with(&script());
    let done = talk.run(&["chat", "-Q", "-q", "go", "--yolo"]);
    done.success().stdout_is("All good.\n").stderr_has("session_id: ").stderr_lacks("terminal");
    talk.run(&["chat", "-Q"]).code(2);
}

#[test]
fn an_empty_question_is_none() {
    let talk = Talk::with("say \"never\"");
    talk.run(&["chat", "-q", "  "]).code(2).stderr_has("question");
    assert!(talk.server.requests().is_empty());
}

#[test]
fn what_the_model_prints_cannot_steer_the_terminal() {
    let talk = Talk::with(&format!(
        "{}\n---\nsay \"ok\"\n---\nalways\nsay \"t\"",
        runs("printf '\\033]0;owned\\007\\033[2J'; : \u{1b}[31m")
    ));
    let done = talk.run(&["chat", "-v", "-q", "go", "--yolo"]);
    assert!(!done.success().err().contains('\u{1b}'), "{:?}", done.err());
}

#[test]
fn keys_do_not_show() {
    let key = format!("ghp_{}", "a1B2".repeat(9));
    let script =
        format!("{}\n---\nsay \"It is {key}.\"\n---\nalways\nsay \"t\"", runs(&format!("echo {key}")));
    for args in [
        &["chat", "-q", "go", "--yolo"][..],
        &["chat", "-v", "-q", "go", "--yolo"],
        &["chat", "-Q", "-q", "go", "--yolo"],
    ] {
        let talk = Talk::with(&script);
        let done = talk.run(args);
        done.success().stdout_is("It is ghp_a1...a1B2.\n");
        assert!(!done.err().contains("a1B2a1B2"), "{}", done.err());
    }
}
