//! `hermes config` as a user runs it: the real binary on a throw-away home.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use hermes_testkit::crash::{KillPoint, Rng, kill_repeatedly};
use hermes_testkit::{Finished, Hermes, TestHome};

fn hermes(home: &TestHome, args: &[&str]) -> Finished {
    Hermes::new(env!("CARGO_BIN_EXE_hermes"), home).args(args).run()
}

#[test]
fn a_fresh_home_needs_nothing() {
    let home = TestHome::new();
    hermes(&home, &["config"]).success().stdout_has("Nothing is set.");
    hermes(&home, &["config", "check"]).success();
    hermes(&home, &["config", "get", "terminal.timeout"]).success().stdout_is("180\n");
    assert!(!home.path().join("config.yaml").exists(), "looking must not write");
}

#[test]
fn set_keeps_the_file_as_it_was_written() {
    let home = TestHome::new();
    let before =
        "# my settings\nterminal:\n    timeout:  60   # a minute\n    'cwd': \"/srv\"\n\n\nmodel: opus\n";
    home.config(before);
    hermes(&home, &["config", "set", "terminal.timeout", "90"]).success().stdout_is("");
    assert_eq!(home.read("config.yaml"), before.replace("60 ", "90 "));
    hermes(&home, &["config", "set", "terminal.timeout", "60"]).success();
    assert_eq!(home.read("config.yaml"), before);
}

#[test]
fn secrets_go_to_the_env_file_and_are_never_shown() {
    let home = TestHome::new();
    let key = "sk-or-v1-0123456789abcdef0123456789abcdef";
    let set = Hermes::new(env!("CARGO_BIN_EXE_hermes"), &home)
        .args(["config", "set", "OPENROUTER_API_KEY"])
        .stdin(format!("{key}\n"))
        .run();
    set.success().output_lacks(key);
    assert_eq!(home.mode(".env"), 0o600);
    assert_eq!(home.read(".env"), format!("OPENROUTER_API_KEY={key}\n"));
    for args in [
        &["config"][..],
        &["config", "--json"],
        &["config", "get", "OPENROUTER_API_KEY"],
        &["config", "explain", "OPENROUTER_API_KEY"],
        &["status"],
        &["dump"],
        &["dump", "--show-keys"],
    ] {
        hermes(&home, args).success().output_lacks(key);
    }
    hermes(&home, &["config", "get", "OPENROUTER_API_KEY", "--reveal"]).success().stdout_has(key);
}

#[test]
fn mistakes_are_named_and_change_nothing() {
    let home = TestHome::new();
    home.config("terminal:\n  timeout: 60\n");
    let before = home.snapshot();
    hermes(&home, &["config", "set", "terminal.timeuot", "1"])
        .code(1)
        .stderr_has("did you mean terminal.timeout?");
    hermes(&home, &["config", "set", "terminal.timeout", "soon"]).code(1).stderr_has("whole number");
    hermes(&home, &["config", "set", "terminal.timeout", "0"]).code(1).stderr_has("at least 1");
    hermes(&home, &["config", "get", "nope.nope"]).code(1).stderr_has("no setting");
    hermes(&home, &["config", "set"]).code(2);
    hermes(&home, &["-p", "nobody", "config"]).code(1).stderr_has("no profile \"nobody\"");
    let after = home.snapshot();
    let kept = |s: &std::collections::BTreeMap<_, _>| {
        s.keys().filter(|k: &&std::path::PathBuf| !k.ends_with(".settings.lock")).count()
    };
    assert_eq!(kept(&before), kept(&after));
    assert_eq!(home.read("config.yaml"), "terminal:\n  timeout: 60\n");
}

#[test]
fn a_broken_file_is_refused_with_its_line_and_left_alone() {
    let home = TestHome::new();
    for (text, part) in [
        ("a: 1\nb: 2\na: 3\n", "line 3"),
        ("a:\n\tb: 1\n", "line 2"),
        ("- x\n", "line 1"),
        ("a: [1\n", "line"),
    ] {
        home.config(text);
        for args in [&["config"][..], &["config", "set", "terminal.timeout", "9"], &["status"]] {
            hermes(&home, args).code(1).stderr_has("config.yaml").stderr_has(part);
        }
        assert_eq!(home.read("config.yaml"), text);
    }
}

#[test]
fn what_shadows_a_setting_is_said_when_it_is_set() {
    let home = TestHome::new();
    home.env_file("TERMINAL_TIMEOUT=5\n");
    hermes(&home, &["config", "set", "terminal.timeout", "9"])
        .success()
        .stderr_has("line 1 of .env (TERMINAL_TIMEOUT) overrides it");
    hermes(&home, &["config", "get", "terminal.timeout"]).stdout_is("5\n");
    hermes(&home, &["config", "check"]).success().stdout_has("has no effect");
    hermes(&home, &["doctor"]).stdout_has("has no effect");
    hermes(&home, &["config", "unset", "TERMINAL_TIMEOUT"]).success();
    hermes(&home, &["config", "get", "terminal.timeout"]).stdout_is("9\n");
}

#[test]
fn two_writers_at_once_lose_nothing() {
    let home = TestHome::new();
    home.config("# shared\n");
    let rounds = 40;
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let home = &home;
            scope.spawn(move || {
                for round in 0..rounds {
                    let key = format!("quick_commands.w{writer}_{round}.command");
                    hermes(home, &["config", "set", &key, "echo"]).success();
                }
            });
        }
    });
    let text = home.read("config.yaml");
    assert_eq!(text.lines().filter(|l| l.contains("command: echo")).count(), 4 * rounds, "{text}");
    assert!(text.starts_with("# shared\n"));
    hermes(&home, &["config", "check"]).success();
}

#[test]
fn kill_9_leaves_the_old_or_the_new_file() {
    let home = TestHome::new();
    let filler = "# a line of a file that takes a moment to write\n".repeat(400);
    let (old, new) =
        (format!("{filler}terminal:\n  timeout: 1\n"), format!("{filler}terminal:\n  timeout: 2\n"));
    home.config(&old);
    let set = |value: &str| {
        Hermes::new(env!("CARGO_BIN_EXE_hermes"), &home).args(["config", "set", "terminal.timeout", value])
    };
    let took = set("2").run().success().elapsed;
    let tally = kill_repeatedly(
        60,
        &mut Rng::seeded(7),
        &KillPoint::After(Duration::ZERO..took),
        |_| set("2"),
        |_| {
            let text = home.read("config.yaml");
            assert!(text == old || text == new, "{text}");
            hermes(&home, &["config", "check"]).success();
            home.config(&old);
        },
    );
    assert!(tally.hit > 0, "no kill came in time: {tally:?}");
    hermes(&home, &["config", "set", "terminal.timeout", "7"]).success();
    hermes(&home, &["config", "get", "terminal.timeout"]).stdout_is("7\n");
    let left: Vec<_> =
        home.snapshot().into_keys().filter(|p| p.to_string_lossy().contains("hermes-write")).collect();
    assert!(left.is_empty(), "left behind: {left:?}");
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let home = TestHome::new();
    let script = format!("{} config --all | head -n 1", env!("CARGO_BIN_EXE_hermes"));
    let done = Hermes::new("/bin/sh", &home).args(["-c", &script]).run();
    done.success().stderr_lacks("error").stdout_has("Home:");
}

#[test]
fn the_reference_page_is_up_to_date() {
    let home = TestHome::new();
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/settings.md")).unwrap();
    let now = hermes(&home, &["config", "docs"]).out();
    assert!(page == now, "docs/settings.md is old: run `cargo run -- config docs > docs/settings.md`");
}

#[test]
fn edit_opens_the_editor_and_checks_what_it_wrote() {
    let home = TestHome::new();
    let editor = home.write("editor.sh", "#!/bin/sh\nprintf 'terminal:\\n  timeout: soon\\n' > \"$1\"\n");
    std::fs::set_permissions(&editor, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let run = |editor: &str| {
        Hermes::new(env!("CARGO_BIN_EXE_hermes"), &home).args(["config", "edit"]).env("EDITOR", editor).run()
    };
    run(editor.to_str().unwrap()).code(1).stdout_has("config.yaml:2");
    run("/no/such/editor").code(1).stderr_has("set EDITOR");
}

#[test]
fn no_answer_changes_nothing() {
    let home = TestHome::new();
    home.env_file("OPENROUTER_API_KEY=keep-me-0123456789\n");
    hermes(&home, &["config", "set", "OPENROUTER_API_KEY"]).code(1).stderr_has("nothing was changed");
    hermes(&home, &["config", "set", "display.skin"]).code(1).stderr_has("nothing was changed");
    assert_eq!(home.read(".env"), "OPENROUTER_API_KEY=keep-me-0123456789\n");
    hermes(&home, &["config", "set", "display.skin", ""]).success();
}

#[test]
fn secrets_in_odd_places_are_masked_everywhere() {
    let home = TestHome::new();
    home.config(
        "mcp_servers: {gh: {args: [\"--token\", \"MADEUP-arg-1234\"], url: \"https://mcp.example/sse?token=MADEUP-url-999\"}}\n\
         terminal: {docker_extra_args: [\"--password\", \"MADEUP-extra-2\"], docker_env: {DB_URL: \"postgres://u:MADEUP-db-pass@h/db\"}, \
         timeout: sk-MADEUPabcdefabcdefabcdefabcdef1234}\n\
         custom_providers: [{name: a, base_url: \"http://x?api_key=MADEUP-query-123\", api_key: MADEUP-custom-123}]\n",
    );
    home.env_file("CUSTOM_THING=MADEUP-thing-1\n");
    home.write("logs/errors.log", "2026-01-01 00:00:00,000 ERROR x: MADEUP-custom-123 MADEUP-thing-1\n");
    for args in [
        &["dump"][..],
        &["config"],
        &["config", "--json"],
        &["config", "check"],
        &["doctor"],
        &["config", "get", "custom_providers"],
        &["config", "get", "CUSTOM_THING"],
    ] {
        hermes(&home, args).output_lacks("MADEUP");
    }
    hermes(&home, &["config", "get", "CUSTOM_THING", "--reveal"]).success().stdout_is("MADEUP-thing-1\n");
}

#[test]
fn a_key_written_with_dots_is_pointed_out() {
    let home = TestHome::new();
    home.config("terminal.timeout: 5\n");
    hermes(&home, &["config", "check"]).success().stdout_has("terminal.timeout").stdout_has("nested");
    hermes(&home, &["config", "get", "termnal"]).code(1).stderr_has("terminal");
}

#[test]
fn doctor_looks_at_a_home_nothing_else_can_open() {
    let home = TestHome::new();
    home.write("active_profile", "nope\n");
    hermes(&home, &["status"]).code(1);
    hermes(&home, &["doctor"]).code(1).stdout_has("no profile \"nope\"").stdout_has("Programs");
}

#[test]
fn doctor_says_when_there_is_no_model() {
    let home = TestHome::new();
    hermes(&home, &["doctor"]).success().stdout_has("Model\n  warning").stdout_has("hermes setup");
}

#[test]
fn a_pipe_in_the_place_of_a_file_does_not_hang() {
    let home = TestHome::new();
    let pipe = home.path().join("config.yaml");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    hermes(&home, &["status"]).code(1).stderr_has("not an ordinary file");
    hermes(&home, &["doctor"]).code(1).stdout_has("not an ordinary file");
}
