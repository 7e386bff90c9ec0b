//! Boxes without bash, and boxes without any shell.

use std::path::Path;

use hermes_box::client::CallError;
use hermes_box::local;
use hermes_box::proto::exec::{ExecRequest, Notice, SessionInit};
use hermes_box::proto::fault::Fault;
use hermes_box::proto::info::ShellKind;

use crate::world::{options, text};

fn with_shell(shell: &str, check: impl FnOnce(&dyn Fn(&str) -> hermes_box::proto::exec::Exit)) {
    let directory = tempfile::tempdir().unwrap();
    let mut options = options(directory.path());
    options.shell = Some(shell.into());
    let client = local::serve_in_process(options).unwrap();
    assert_eq!(client.info().unwrap().shell, ShellKind::PlainSh(shell.into()));
    check(&|command| client.run(ExecRequest::shell("s", command)).unwrap());
}

fn plain_shell_contract(shell: &str) {
    if !Path::new(shell).exists() {
        return;
    }
    with_shell(shell, |run| {
        let exit = run("cd /usr; export A='it'\"'\"'s' B='two\nlines'; unset BASE; exit 3");
        assert_eq!(exit.code(), 3);
        assert_eq!(exit.notices, [Notice::PlainShell]);
        assert_eq!(text(&run("pwd; echo \"$A|$B|${BASE-gone}\"")), "/usr\nit's|two\nlines|gone\n");
        assert_eq!(text(&run("f() { cd /; exit 4; }; f >/dev/null")), "");
        assert_eq!(text(&run("pwd; echo err >&2")), "/\nerr\n");
        assert_eq!(run("umask 077; true").code(), 0);
        assert_eq!(text(&run("umask")).trim().trim_start_matches('0'), "77");
        let long = format!("X='{}'; echo ${{#X}}", "y".repeat(200_000));
        assert_eq!(text(&run(&long)), "200000\n");
    });
}

#[test]
fn dash_carries_directory_and_variables() {
    plain_shell_contract("/bin/dash");
}

#[test]
fn busybox_carries_directory_and_variables() {
    let directory = tempfile::tempdir().unwrap();
    let link = directory.path().join("sh");
    if Path::new("/usr/bin/busybox").exists() {
        std::os::unix::fs::symlink("/usr/bin/busybox", &link).unwrap();
    }
    plain_shell_contract(link.to_str().unwrap());
}

#[test]
fn a_plain_shell_reads_login_files() {
    let directory = tempfile::tempdir().unwrap();
    let mut options = options(directory.path());
    options.shell = Some("/bin/sh".into());
    options.init = SessionInit::Login { files: vec!["~/.profile".into()] };
    std::fs::write(directory.path().join("home/.profile"), "export P=1; echo noise").unwrap();
    let client = local::serve_in_process(options).unwrap();
    assert_eq!(text(&client.run(ExecRequest::shell("s", "echo $P")).unwrap()), "1\n");
}

#[test]
fn without_a_shell_programs_still_run() {
    let directory = tempfile::tempdir().unwrap();
    let mut options = options(directory.path());
    options.shell = Some("/no/such/shell".into());
    let client = local::serve_in_process(options).unwrap();
    let exit = client.run(ExecRequest::shell("s", "true")).unwrap();
    assert_eq!(exit.code(), 127);
    assert_eq!(text(&client.run(ExecRequest::argv(["echo", "works"])).unwrap()), "works\n");
}

#[test]
fn a_directory_that_cannot_be_used_costs_only_what_it_would_hold() {
    let directory = tempfile::tempdir().unwrap();
    let mut options = options(directory.path());
    options.directory = Some("/proc/nothing/here".into());
    let client = local::serve_in_process(options).unwrap();
    let info = client.info().unwrap();
    assert_eq!((info.directory, info.problems.len()), (None, 1));
    let run = |command: &str| client.run(ExecRequest::shell("s", command)).unwrap();
    run("cd /usr; export A=1");
    assert_eq!(text(&run("pwd; echo $A")), "/usr\n1\n");
    let exit = run("head -c 1000000 /dev/zero");
    assert_eq!(exit.stdout.total, 1_000_000);
    assert!(matches!(&exit.notices[..], [Notice::SpillFailed(_)]), "{:?}", exit.notices);
    let job = client.jobs().start(hermes_box::proto::job::JobRequest::shell("s", "echo in memory")).unwrap();
    client.jobs().wait(&job.id, None).unwrap();
    assert_eq!(client.jobs().read(&job.id, 0, 100).unwrap().bytes, b"in memory\n");
}

#[test]
fn sessions_survive_the_agent() {
    let directory = tempfile::tempdir().unwrap();
    let run = |command: &str| {
        let client = local::serve_in_process(options(directory.path())).unwrap();
        text(&client.run(ExecRequest::shell("s", command)).unwrap())
    };
    run("cd /usr; export A=1; f() { echo f; }");
    assert_eq!(run("pwd; echo $A; f"), "/usr\n1\nf\n");
}

#[test]
fn an_agent_without_shims_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let mut options = options(directory.path());
    options.shim = hermes_box::server::ShimProgram("/no/such/program".into());
    let client = local::serve_in_process(options).unwrap();
    let error = client.run(ExecRequest::shell("s", "true")).unwrap_err();
    assert!(matches!(error, CallError::Fault(Fault::Exhausted(_))), "{error}");
}
