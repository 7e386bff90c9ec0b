//! Commands on this machine.

use std::time::Duration;

use hermes_testkit::{Hermes, TestHome, wait_until};
use rustix::process::Signal;

use super::support::{HERMES, here};

#[test]
fn exec_is_transparent() {
    let home = TestHome::new();
    here(&home, &["exec", "--", "echo out; echo err >&2; exit 3"])
        .code(3)
        .stdout_is("out\n")
        .stderr_has("err\n");
    here(&home, &["exec", "--", "printf", "%s|", "a b", "$HOME"]).success().stdout_is("a b|$HOME|");
    here(&home, &["exec", "--", "kill -9 $$"]).code(137);
    here(&home, &["exec", "--", "no-such-program-here", "x"]).code(127).stderr_has("no-such-program-here");
    here(&home, &["exec", "--cwd", "/no/such/dir", "--", "true"]).code(126).stderr_has("/no/such/dir");
    here(&home, &["exec"]).code(2);
    here(&home, &["exec", "--timeout", "-1", "--", "true"]).code(2).stderr_has("--timeout");
}

#[test]
fn input_and_bytes_go_through_unchanged() {
    let home = TestHome::new();
    let bytes: Vec<u8> = (0..=255).cycle().take(300_000).collect();
    let done = Hermes::new(HERMES, &home).args(["sandbox", "exec", "--", "cat"]).stdin(bytes.clone()).run();
    done.success();
    assert!(done.stdout == bytes, "{} of {} bytes came back", done.stdout.len(), bytes.len());
}

#[test]
fn a_time_limit_ends_the_whole_tree_and_keeps_what_was_printed() {
    let home = TestHome::new();
    let command = "echo first; (setsid sleep 987654 &) ; sleep 987655";
    here(&home, &["exec", "--timeout", "0.5", "--", command])
        .code(124)
        .stdout_is("first\n")
        .stderr_has("time was up");
    let ended = || home.processes().iter().all(|p| !format!("{p:?}").contains("98765"));
    wait_until(Duration::from_secs(10), "the command's processes end", ended);
}

#[test]
fn signals_reach_the_command() {
    let home = TestHome::new();
    let script = "trap 'echo got it; exit 7' USR1; trap 'echo term; exit 8' TERM; echo ready; while :; do sleep 0.05; done";
    for (signal, said, code) in [(Signal::USR1, "got it", 7), (Signal::INT, "", 130)] {
        let mut running = Hermes::new(HERMES, &home).args(["sandbox", "exec", "--", script]).spawn();
        running.line_with("ready", Duration::from_secs(20));
        running.signal(signal);
        running.wait(Duration::from_secs(20)).code(code).stdout_has(said);
    }
}

#[test]
fn a_session_carries_its_state() {
    let home = TestHome::new();
    let run = |command: &str| here(&home, &["exec", "--session", "s", "--", command]);
    run("cd /usr; export GREETING=hello; greet() { echo \"$GREETING from $PWD\"; }; exit 4").code(4);
    run("greet").success().stdout_is("hello from /usr\n");
    here(&home, &["exec", "--", "greet"]).code(127);
}

#[test]
fn secrets_of_ours_do_not_reach_commands() {
    let home = TestHome::new();
    home.env_file("OPENROUTER_API_KEY=made-up-in-env-file\n");
    let done = Hermes::new(HERMES, &home)
        .args(["sandbox", "exec", "--", "env"])
        .env("ANTHROPIC_API_KEY", "made-up-in-environment")
        .env("HARMLESS", "kept")
        .run();
    done.success().output_lacks("made-up").stdout_has("HARMLESS=kept");
}

#[test]
fn no_secret_reaches_a_command_unless_it_is_named() {
    let print = "printf '%s,' $GITHUB_TOKEN $FROM_RC_TOKEN $SOME_DB_PASSWORD $INNOCENT";
    secrets_in_commands("terminal: {}\n", print, ",");
    let named = "terminal:\n  env_passthrough: [GITHUB_TOKEN, FROM_RC_TOKEN]\n";
    secrets_in_commands(named, print, "made-up-1,made-up-rc,");
}

fn secrets_in_commands(config: &str, print: &str, printed: &str) {
    let home = TestHome::new();
    home.config(config);
    let user = home.work_dir().join("user");
    std::fs::create_dir(&user).unwrap();
    std::fs::write(user.join(".bashrc"), "export FROM_RC_TOKEN=made-up-rc PLAIN_RC=kept-rc\n").unwrap();
    home.env_file("OTHER_SECRET=made-up-in-env-file-42\n");
    let run = |args: &[&str]| {
        Hermes::new(HERMES, &home)
            .args(["sandbox"])
            .args(args)
            .env("HOME", &user)
            .env("GITHUB_TOKEN", "made-up-1")
            .env("SOME_DB_PASSWORD", "made-up-2")
            .env("INNOCENT", "made-up-in-env-file-42")
            .env("HARMLESS", "kept")
            .run()
    };
    let session = |command: &str| run(&["exec", "--session", "s", "--", command]);
    session(print).success().stdout_is(printed);
    session("echo $PLAIN_RC").success().stdout_is("kept-rc\n");
    let python = "python3 -c 'import os; print(dict(os.environ))'";
    let environ = "cat /proc/self/environ /proc/$PPID/environ | tr '\\0' ' '";
    for command in ["printenv", "env", "export -p", python, environ] {
        let done = session(command);
        done.success()
            .output_lacks("made-up-2")
            .output_lacks("file-42")
            .stdout_has("HARMLESS")
            .stdout_has("kept");
    }
    let id = run(&["jobs", "start", print]).success().out().trim().to_owned();
    run(&["jobs", "wait", &id]).success();
    run(&["jobs", "output", &id]).success().stdout_is(printed);
}

#[test]
fn jobs_outlive_the_program_and_are_found_again() {
    let home = TestHome::new();
    let command = "echo started; read line < /dev/zero & sleep 0.3; echo done; exit 6";
    let id = here(&home, &["jobs", "start", command]).success().out().trim().to_owned();
    here(&home, &["jobs"]).success().stdout_has(&id);
    here(&home, &["jobs", "wait", &id]).code(6);
    here(&home, &["jobs", "output", &id]).success().stdout_is("started\ndone\n");
    let listed = here(&home, &["jobs", "--json"]).json();
    assert_eq!(listed[0]["exit_code"], 6, "{listed}");
    let long = here(&home, &["jobs", "start", "sleep 987656"]).success().out().trim().to_owned();
    here(&home, &["jobs", "kill", &long]).success();
    here(&home, &["jobs", "output", "proc_none"]).code(1).stderr_has("no job");
}

#[test]
fn what_does_not_apply_here_is_said() {
    let home = TestHome::new();
    here(&home, &["ls"]).success().stdout_has("on this machine");
    home.config("terminal:\n  backend: modal\n");
    here(&home, &["exec", "--", "touch ran-on-the-host"]).code(1).stderr_has("not part of this version");
    home.config("terminal:\n  backend: ssh\n");
    here(&home, &["exec", "--", "touch ran-on-the-host"]).code(1).stderr_has("terminal.ssh_host");
    assert!(!home.work_dir().join("ran-on-the-host").exists());
}

#[test]
fn being_ended_ends_what_was_started() {
    let home = TestHome::new();
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129)] {
        let script = "(setsid sleep 987657 </dev/null >/dev/null 2>&1 &); echo ready; sleep 987658";
        let mut running = Hermes::new(HERMES, &home).args(["sandbox", "exec", "--", script]).spawn();
        running.line_with("ready", Duration::from_secs(20));
        running.signal(signal);
        running.wait(Duration::from_secs(20)).code(code);
        let ended = || home.processes().iter().all(|p| !format!("{p:?}").contains("98765"));
        wait_until(Duration::from_secs(10), "everything it started ends", ended);
    }
}

#[test]
fn one_interrupt_is_the_commands_and_a_second_ends_everything() {
    let home = TestHome::new();
    let sleeps = || home.processes().iter().filter(|p| format!("{p:?}").contains("98766")).count();
    let detach = "(setsid sleep 987661 </dev/null >/dev/null 2>&1 &)";
    let script = format!("trap 'echo held' INT; {detach}; echo ready; while :; do sleep 0.05; done");
    let mut running = Hermes::new(HERMES, &home).args(["sandbox", "exec", "--", &script]).spawn();
    running.line_with("ready", Duration::from_secs(20));
    running.signal(Signal::INT);
    running.line_with("held", Duration::from_secs(20));
    assert!(sleeps() > 0, "the first is for the command alone");
    running.signal(Signal::INT);
    running.wait(Duration::from_secs(20)).code(130);
    wait_until(Duration::from_secs(10), "everything it started ends", || sleeps() == 0);
}

#[test]
fn what_an_interrupted_command_detached_goes_on_and_is_said() {
    let home = TestHome::new();
    let script = "(setsid sleep 4 </dev/null >/dev/null 2>&1 &); echo ready; sleep 987662";
    let mut running = Hermes::new(HERMES, &home).args(["sandbox", "exec", "--", script]).spawn();
    running.line_with("ready", Duration::from_secs(20));
    running.signal(Signal::INT);
    running.wait(Duration::from_secs(20)).code(130).stderr_has("detached by the command: 1 process;");
}

#[test]
fn the_output_of_a_job_is_json_when_asked_for() {
    let home = TestHome::new();
    let start = |command: &str| here(&home, &["jobs", "start", command]).success().out().trim().to_owned();
    let text = start("printf 'gr\\303\\274n'; exit 5");
    let all = here(&home, &["jobs", "output", &text, "--follow", "--json"]).code(5).json();
    assert_eq!((&all["text"], &all["next_offset"]), (&"grün".into(), &5.into()), "{all}");
    assert_eq!((&all["id"], &all["exit_code"]), (&text.as_str().into(), &5.into()), "{all}");
    let rest = here(&home, &["jobs", "output", &text, "--offset", "4", "--json"]).success().json();
    assert_eq!((&rest["text"], &rest["offset"]), (&"n".into(), &4.into()), "{rest}");
    let bytes = start("printf '\\377\\376'");
    here(&home, &["jobs", "wait", &bytes]).success();
    let raw = here(&home, &["jobs", "output", &bytes, "--json"]).success().json();
    assert_eq!((&raw["base64"], &raw["text"]), (&"//4=".into(), &serde_json::Value::Null), "{raw}");
}

#[test]
fn output_that_cannot_be_written_is_a_failure() {
    let home = TestHome::new();
    let script = format!("{HERMES} sandbox exec -- 'seq 1 10' > /dev/full");
    Hermes::new("/bin/sh", &home).args(["-c", &script]).run().code(1).stderr_has("output");
    here(&home, &["recreate"]).code(1).stderr_has("no containers");
}
