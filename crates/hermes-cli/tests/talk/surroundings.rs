//! Odd surroundings: closed streams, homes that cannot be written, many at once, questions of any shape.

use std::os::unix::fs::PermissionsExt;

use hermes_testkit::model::{Answer, Matcher};
use hermes_testkit::{Hermes, TestHome};

use super::support::{HERMES, Talk};

#[test]
fn questions_of_any_shape_arrive_as_they_are() {
    let talk = Talk::with("always\nsay \"ok\"");
    for question in
        ["-1 + 2", "--help me", "say \"$HOME\" 'now' \\n", "@file:nothing-there", "/help", "日本語 👩‍🚀\ttab"]
    {
        talk.run(&["-z", question]).success();
        assert_eq!(talk.server.last_call().newest_user_text(), question);
        talk.run(&["chat", "-Q", "-q", question]).success();
        assert_eq!(talk.server.last_call().newest_user_text(), question);
    }
    for slip in ["--json", "-v"] {
        talk.run(&["-z", slip]).code(2).stderr_has("flag");
    }
    let long = "word ".repeat(100_000);
    talk.command(&["-z", "-"]).stdin(long.clone()).run().success();
    assert_eq!(talk.server.last_call().newest_user_text().trim_end(), long.trim_end());
    talk.command(&["-z", "-"]).stdin(b"a\0b".to_vec()).run().success();
    assert!(talk.server.last_call().newest_user_text().starts_with('a'));
}

#[test]
fn closed_streams_are_survived() {
    let talk = Talk::with("always\nsay \"ok\"");
    let shell = |script: String| Hermes::new("/bin/sh", &talk.home).args(["-c", &script]).run();
    shell(format!("{HERMES} -z go <&-")).success().stdout_is("ok\n");
    shell(format!("{HERMES} -z go 2>&-")).success().stdout_is("ok\n");
    shell(format!("{HERMES} -z go >&-; test $? -lt 2")).success().stderr_lacks("panicked");
}

#[test]
fn a_home_that_cannot_hold_the_session_is_said_before_the_model_is_asked() {
    let talk = Talk::with("always\nsay \"ok\"");
    talk.home.write("state.db", "this is no database, but somebody's notes");
    talk.run(&["-z", "go"]).code(1).stdout_is("").stderr_has("state.db");
    assert_eq!(talk.home.read("state.db"), "this is no database, but somebody's notes");
    assert!(talk.server.calls().is_empty());
}

#[test]
fn a_home_of_somebody_else_is_said() {
    if rustix::process::geteuid().is_root() {
        return;
    }
    let talk = Talk::with("always\nsay \"ok\"");
    std::fs::set_permissions(talk.home.path(), std::fs::Permissions::from_mode(0o500)).unwrap();
    let done = talk.run(&["-z", "go"]);
    std::fs::set_permissions(talk.home.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    done.code(1).stdout_is("").stderr_has("state.db");
}

#[test]
fn many_at_once_do_not_disturb_each_other() {
    let talk = Talk::with("");
    for number in 0..8 {
        let question = || Matcher::User(format!("question {number}."));
        let call = Answer::new().call("terminal", serde_json::json!({"command": "echo worked"}));
        talk.server.add(call.when(question()));
        talk.server.add(Answer::new().say(format!("answer {number}")).when(question()));
    }
    std::thread::scope(|scope| {
        for number in 0..8 {
            let talk = &talk;
            scope.spawn(move || {
                let done = talk.command(&["-z", &format!("question {number}.")]).run();
                done.success().stdout_is(&format!("answer {number}\n"));
            });
        }
    });
    talk.server.assert_done();
}

#[test]
fn a_directory_that_is_gone_is_said() {
    let talk = Talk::with("always\nsay \"ok\"");
    let script = format!("mkdir gone && cd gone && rmdir ../gone && {HERMES} -z go");
    Hermes::new("/bin/sh", &talk.home).args(["-c", &script]).run().code(1).stderr_has("directory");
}

#[test]
fn a_server_of_ones_own_needs_no_name_of_a_model() {
    let talk = Talk::with("always\nsay \"ok\"");
    talk.server.set_models(["only-one"]);
    talk.home.config(format!("model:\n  provider: custom\n  base_url: {}\n", talk.server.openai_url()));
    talk.run(&["-z", "go"]).success().stdout_is("ok\n");
    assert_eq!(talk.server.last_call().model(), "only-one");
    let several = TestHome::new();
    talk.server.set_models(["first", "second"]);
    several.config(format!("model:\n  provider: custom\n  base_url: {}\n", talk.server.openai_url()));
    let done = Hermes::new(HERMES, &several).args(["-z", "go"]).run();
    done.code(1).stderr_has("first").stderr_has("second").stderr_has("hermes model");
}
