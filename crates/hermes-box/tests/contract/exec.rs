//! Commands.

use std::time::Duration;

use hermes_box::client::Event;
use hermes_box::proto::exec::{
    Capture, Ending, ExecRequest, Keep, Notice, Program, SessionInit, Spill, Status, Stdin, StreamId, Streams,
};

use crate::world::{World, eventually, is_alive, text};

everywhere! {
    fn a_command_runs_and_says_how_it_ended(world: &World) {
        let exit = world.run("echo hello; exit 3");
        assert_eq!(text(&exit), "hello\n");
        assert_eq!((exit.code(), exit.ending, exit.status), (3, Ending::Exited, Status::Code(3)));
    }

    fn directory_variables_functions_and_aliases_are_carried(world: &World) {
        world.run("mkdir -p sub; cd sub; export A='it'\"'\"'s $x' B=$'two\\nlines'; unset BASE");
        world.run("f() { echo \"f says $1\"; }; alias greet='echo hello'; shopt -s extglob; set -o pipefail");
        // More than once, as the first call after a change is not the only one.
        for _ in 0..2 {
            let out = world.output("pwd; echo \"$A|$B|${BASE-gone}\"; f hi; greet; false | true; echo $?; [[ aa == +(a) ]] && echo glob");
            let home = world.home();
            assert_eq!(out, format!("{}/sub\nit's $x|two\nlines|gone\nf says hi\nhello\n1\nglob\n", home.display()));
        }
    }

    fn exit_inside_a_command_loses_nothing(world: &World) {
        let exit = world.run("cd /; export KEPT=1; g() { exit 7; }; g > /dev/null");
        assert_eq!(exit.code(), 7);
        assert_eq!(exit.cwd.to_str(), Some("/"));
        assert_eq!(world.output("pwd; echo $KEPT"), "/\n1\n");
        assert_eq!(world.run("cd /tmp; set -e; false; cd /usr").code(), 1);
        assert_eq!(world.output("pwd; false; echo still here"), "/tmp\nstill here\n");
    }

    fn a_commands_own_exit_trap_runs_and_the_state_is_kept(world: &World) {
        let exit = world.run("trap 'echo bye $?' EXIT; cd /tmp; export T=1; exit 4");
        assert_eq!((text(&exit).as_str(), exit.code()), ("bye 4\n", 4));
        assert_eq!(world.output("pwd; echo $T; trap"), "/tmp\n1\n".to_string() + &world.output("trap"));
        // In a subshell it is the subshell's.
        assert_eq!(world.output("(trap 'echo sub' EXIT; echo in); echo out"), "in\nsub\nout\n");
        assert_eq!(world.output("trap 'echo one' EXIT; trap - EXIT; trap 'echo two' INT 0"), "two\n");
    }

    fn functions_named_like_builtins_do_not_spoil_the_state(world: &World) {
        world.run("printf() { echo fake; }; alias export='echo no'; cd /tmp");
        assert_eq!(world.output("pwd"), "/tmp\n");
        assert_eq!(world.output("printf x"), "fake\n");
    }

    fn sessions_do_not_see_each_other(world: &World) {
        world.run("cd /tmp; export MINE=1");
        let other = world.client.run(ExecRequest::shell("other", "pwd; echo ${MINE-none}")).unwrap();
        assert_eq!(text(&other), format!("{}\nnone\n", world.home().display()));
    }

    fn a_command_without_a_session_leaves_nothing(world: &World) {
        let request = |command: &str| ExecRequest { session: None, ..ExecRequest::shell("", command) };
        world.client.run(request("cd /; export X=1")).unwrap();
        let exit = world.client.run(request("pwd; echo ${X-none}")).unwrap();
        assert_eq!(text(&exit), format!("{}\nnone\n", world.home().display()));
    }

    fn variables_of_a_call_last_for_that_call(world: &World) {
        let request = ExecRequest::shell("s", "echo $CALL; export OWN=1").env("CALL", "yes");
        assert_eq!(text(&world.client.run(request).unwrap()), "yes\n");
        assert_eq!(world.output("echo ${CALL-none} $OWN"), "none 1\n");
        let mut request = ExecRequest::shell("s", "echo ${BASE-none}");
        request.env.push(("BASE".into(), None));
        assert_eq!(text(&world.client.run(request).unwrap()), "none\n");
        assert_eq!(world.output("echo $BASE"), "base\n");
    }

    fn a_requested_directory_is_used(world: &World) {
        let run = |cwd: &str, command: &str| world.client.run(ExecRequest::shell("s", command).cwd(cwd)).unwrap();
        assert_eq!(text(&run("/usr", "pwd")), "/usr\n");
        assert_eq!(world.output("pwd"), "/usr\n", "the session follows");
        std::fs::create_dir_all(world.home().join("with 'quote")).unwrap();
        assert_eq!(text(&run("~/with 'quote", "pwd")), format!("{}/with 'quote\n", world.home().display()));
    }

    fn a_directory_that_cannot_be_entered_gives_126(world: &World) {
        let exit = world.client.run(ExecRequest::shell("s", "echo no").cwd("/does/not/exist")).unwrap();
        assert_eq!(exit.code(), 126);
        assert!(matches!(&exit.ending, Ending::NoDirectory { path, .. } if path.to_str() == Some("/does/not/exist")));
        assert_eq!(world.output("pwd"), format!("{}\n", world.home().display()), "the session stays where it was");
    }

    fn a_directory_that_is_gone_is_left_for_the_nearest_one(world: &World) {
        world.run("mkdir -p a/b/c; cd a/b/c");
        std::fs::remove_dir_all(world.home().join("a/b")).unwrap();
        let exit = world.run("pwd");
        assert_eq!(text(&exit), format!("{}\n", world.home().join("a").display()));
        assert!(matches!(&exit.notices[..], [Notice::DirectoryRecovered { .. }]), "{:?}", exit.notices);
    }

    fn logical_directories_stay_logical(world: &World) {
        world.run("mkdir real; ln -s real link; cd link");
        assert_eq!(world.output("pwd; cd ..; pwd"), format!("{0}/link\n{0}\n", world.home().display()));
        assert_eq!(world.output("cd real; cd - >/dev/null; pwd"), format!("{}\n", world.home().display()));
        world.run("cd real");
        assert_eq!(world.output("cd -"), format!("{}\n", world.home().display()), "the way back is carried too");
    }

    fn input_reaches_the_command(world: &World) {
        let request = ExecRequest::shell("s", "read line; echo \"got $line\"; cat");
        let exit = world.client.run_with_input(request, b"first\nsecond\n").unwrap();
        assert_eq!(text(&exit), "got first\nsecond\n");
        // Far more than any window or pipe holds, both ways.
        let long: Vec<u8> = (0..3_000_000u32).map(|n| (n % 251) as u8).collect();
        let mut request = ExecRequest::shell("s", "cat");
        request.capture = Capture::Collect(Keep { head: 4_000_000, tail: 0 });
        assert!(world.client.run_with_input(request, &long).unwrap().stdout.head == long);
        // One that does not read it ends all the same.
        let exit = world.client.run_with_input(ExecRequest::shell("s", "exec <&-; echo done"), &long).unwrap();
        assert_eq!(text(&exit), "done\n");
    }

    fn without_input_there_is_none(world: &World) {
        assert_eq!(world.output("cat; echo end"), "end\n");
    }

    fn the_order_of_both_outputs_is_kept(world: &World) {
        let out = world.output("for i in 1 2 3; do echo o$i; echo e$i >&2; done");
        assert_eq!(out, "o1\ne1\no2\ne2\no3\ne3\n");
    }

    fn both_outputs_can_be_kept_apart(world: &World) {
        let mut request = ExecRequest::shell("s", "echo out; echo err >&2");
        request.streams = Streams::Apart;
        let exit = world.client.run(request.clone()).unwrap();
        assert_eq!((exit.stdout.head.as_slice(), exit.stderr.head.as_slice()), (&b"out\n"[..], &b"err\n"[..]));
        let mut running = world.client.exec(request).unwrap();
        let mut seen = Vec::new();
        while let Some(event) = running.next_event().unwrap() {
            if let Event::Output { stream, bytes } = event {
                seen.push((stream, bytes));
            }
        }
        seen.sort_by_key(|(stream, _)| *stream == StreamId::Stderr);
        assert_eq!(seen, [(StreamId::Stdout, b"out\n".to_vec()), (StreamId::Stderr, b"err\n".to_vec())]);
    }

    fn bytes_that_are_no_text_survive(world: &World) {
        let all: Vec<u8> = (0..=255).collect();
        let exit = world.client.run_with_input(ExecRequest::shell("s", "cat"), &all).unwrap();
        assert_eq!(exit.stdout.head, all);
        let exit = world.client.run(ExecRequest::shell("s", b"printf '%s' 'a\xff\xfeb'".to_vec())).unwrap();
        assert_eq!(exit.stdout.head, b"a\xff\xfeb");
    }

    fn a_timeout_ends_everything_and_keeps_what_was_printed(world: &World) {
        let marker = world.home().join("alive");
        let command = format!(
            "echo before; export LOST=1; (setsid bash -c 'sleep 300 & echo $! > {0}.1; sleep 300' & ) ; sleep 300 & echo $! > {0}.2; sleep 300",
            marker.display()
        );
        let mut request = ExecRequest::shell("s", command).timeout(Duration::from_millis(700));
        request.grace = Some(Duration::from_millis(300));
        let exit = world.client.run(request).unwrap();
        assert_eq!((exit.code(), exit.ending.clone()), (124, Ending::TimedOut));
        assert_eq!(text(&exit), "before\n");
        for name in ["alive.1", "alive.2"] {
            let pid = std::fs::read_to_string(world.home().join(name)).unwrap();
            assert!(!is_alive(pid.trim()), "{name} still runs");
        }
        assert_eq!(world.output("echo ${LOST-kept}"), "kept\n", "the state of before is kept");
    }

    fn a_command_that_ignores_term_is_killed(world: &World) {
        let mut request = ExecRequest::shell("s", "trap '' TERM; echo $$; while :; do sleep 1; done");
        request.timeout = Some(Duration::from_millis(300));
        request.grace = Some(Duration::from_millis(100));
        let exit = world.client.run(request).unwrap();
        assert_eq!(exit.code(), 124);
        assert!(!is_alive(text(&exit).trim()));
    }

    fn term_comes_first_so_that_a_command_can_clean_up(world: &World) {
        let request = ExecRequest::shell("s", "trap 'echo cleaned; exit' TERM; echo ready; while :; do sleep 0.05; done")
            .timeout(Duration::from_millis(400));
        let out = text(&world.client.run(request).unwrap());
        assert!(out.starts_with("ready\n") && out.ends_with("cleaned\n"), "{out}");
    }

    fn cancel_ends_everything_with_130(world: &World) {
        let mut running = world.client.exec(ExecRequest::shell("s", "sleep 300 & echo $!; wait")).unwrap();
        let mut pid = String::new();
        let exit = loop {
            match running.next_event().unwrap().unwrap() {
                Event::Output { bytes, .. } => {
                    pid.push_str(&String::from_utf8(bytes).unwrap());
                    running.cancel();
                }
                Event::Exit(exit) => break exit,
                Event::Started { .. } => {}
            }
        };
        assert_eq!((exit.code(), exit.ending), (130, Ending::Cancelled));
        assert!(!is_alive(pid.trim()));
    }

    fn a_dropped_handle_cancels(world: &World) {
        let mut running = world.client.exec(ExecRequest::shell("s", "echo $$; sleep 300")).unwrap();
        let pid = first_output(&mut running);
        drop(running);
        assert!(eventually(|| !is_alive(pid.trim())));
    }

    fn what_was_put_into_the_background_goes_on_and_does_not_hold_the_call(world: &World) {
        let exit = world.run("sleep 300 & echo $!");
        let pid = text(&exit).trim().to_string();
        assert_eq!((exit.code(), exit.left_running), (0, 1));
        assert!(is_alive(&pid));
        let left = world.client.info().unwrap().left_running;
        assert_eq!(left.len(), 1);
        assert_eq!(left[0].pids, [pid.parse::<u32>().unwrap()]);
        assert_eq!(left[0].command, b"sleep 300 & echo $!");
        world.client.end_left_running(left[0].id).unwrap();
        assert!(eventually(|| !is_alive(&pid) && world.client.info().unwrap().left_running.is_empty()));
    }

    fn output_of_a_process_substitution_is_not_lost(world: &World) {
        assert_eq!(world.output("echo through > >(cat)"), "through\n");
    }

    fn a_background_process_that_floods_does_not_hold_the_call(world: &World) {
        let mut request = ExecRequest::shell("s", "yes & echo started");
        request.capture = Capture::Collect(Keep { head: 100, tail: 100 });
        let exit = world.client.run(request).unwrap();
        assert_eq!(exit.code(), 0);
        for left in world.client.info().unwrap().left_running {
            world.client.end_left_running(left.id).unwrap();
        }
    }

    fn long_output_is_bounded_and_kept_in_a_file(world: &World) {
        let mut request = ExecRequest::shell("s", "seq 1 200000");
        request.capture = Capture::Collect(Keep { head: 1000, tail: 500 });
        request.spill = Spill::UpTo(10_000_000);
        let exit = world.client.run(request).unwrap();
        let whole: String = (1..=200_000).map(|n| format!("{n}\n")).collect();
        assert_eq!(exit.stdout.total, whole.len() as u64);
        assert_eq!(exit.stdout.head, whole.as_bytes()[..1000]);
        assert_eq!(exit.stdout.tail, whole.as_bytes()[whole.len() - 500..]);
        assert_eq!(std::fs::read(exit.stdout.spill.unwrap()).unwrap(), whole.as_bytes());
        assert!(exit.notices.is_empty());
    }

    fn a_file_that_may_not_grow_is_noticed(world: &World) {
        let mut request = ExecRequest::shell("s", "head -c 100000 /dev/zero");
        request.capture = Capture::Collect(Keep { head: 10, tail: 10 });
        request.spill = Spill::UpTo(5000);
        let exit = world.client.run(request).unwrap();
        assert_eq!(exit.notices, [Notice::SpillFull]);
        assert_eq!(std::fs::metadata(exit.stdout.spill.unwrap()).unwrap().len(), 5000);
        assert_eq!(exit.stdout.omitted, 100_000 - 20);
    }

    fn a_reader_that_stalls_stalls_only_itself(world: &World) {
        let mut stalled = world.client.exec(ExecRequest::shell("a", "yes")).unwrap();
        assert!(matches!(stalled.next_event().unwrap(), Some(Event::Started { .. })));
        // Its window is full by now or soon; others go on as if nothing were.
        for _ in 0..20 {
            assert_eq!(world.output("echo fine"), "fine\n");
        }
        let mut taken = 0;
        while taken < 5_000_000 {
            if let Some(Event::Output { bytes, .. }) = stalled.next_event().unwrap() {
                taken += bytes.len();
            }
        }
        stalled.cancel();
        while !stalled.is_over() {
            stalled.next_event().unwrap();
        }
    }

    fn a_time_limit_holds_for_a_stalled_reader_too(world: &World) {
        let request = ExecRequest::shell("a", "echo $$ > pid; exec yes").timeout(Duration::from_millis(300));
        let running = world.client.exec(request).unwrap();
        let pid = || std::fs::read_to_string(world.home().join("pid")).unwrap_or_default();
        assert!(eventually(|| !pid().is_empty()));
        assert!(eventually(|| !is_alive(pid().trim())), "it must end although nobody reads");
        assert_eq!(running.finish().unwrap().code(), 124);
    }

    fn many_commands_run_at_once(world: &World) {
        let results: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..24)
                .map(|n| {
                    let client = world.client.clone();
                    scope.spawn(move || {
                        let command = format!("cd /tmp; export N={n}; sleep 0.1; echo {n}; exit {n}");
                        client.run(ExecRequest::shell(if n % 2 == 0 { "s" } else { "t" }, command)).unwrap()
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        for (n, exit) in results.iter().enumerate() {
            assert_eq!((text(exit), exit.code()), (format!("{n}\n"), n as i32));
        }
        let last: i32 = world.output("echo $N").trim().parse().unwrap();
        assert!(last % 2 == 0, "some command of this session won, whole");
        assert_eq!(world.output("pwd"), "/tmp\n");
    }

    fn ends_are_told_as_a_shell_would(world: &World) {
        assert_eq!(world.run("kill -9 $$").code(), 137);
        assert_eq!(world.run("kill -TERM $$").code(), 143);
        assert_eq!(world.run("no-such-program-here").code(), 127);
        assert_eq!(world.run("for").code(), 2);
        let missing = world.client.run(ExecRequest::argv(["no-such-program-here"])).unwrap();
        assert!(matches!(missing.ending, Ending::NotStarted { .. }));
        assert_eq!(missing.code(), 127);
        assert_eq!(world.client.run(ExecRequest::argv(["/etc"])).unwrap().code(), 126);
    }

    fn a_program_runs_without_a_shell(world: &World) {
        let exit = world.client.run(ExecRequest::argv(["printf", "%s|", "a b", "$HOME", "*"])).unwrap();
        assert_eq!(text(&exit), "a b|$HOME|*|");
        world.run("cd /usr; export SEEN=1");
        let mut request = ExecRequest::argv(["sh", "-c", "pwd; echo $SEEN; cd /"]);
        request.session = Some("s".into());
        assert_eq!(text(&world.client.run(request).unwrap()), "/usr\n1\n");
        assert_eq!(world.output("pwd"), "/usr\n");
    }

    fn a_replaced_shell_keeps_the_state_of_before(world: &World) {
        world.run("cd /usr");
        let exit = world.run("cd /tmp; exec echo gone");
        assert_eq!(text(&exit), "gone\n");
        assert!(matches!(&exit.notices[..], [Notice::StateNotKept(_)]));
        assert_eq!(world.output("pwd"), "/usr\n");
    }

    fn a_very_long_command_works(world: &World) {
        let filler = "x".repeat(300_000);
        let command = format!("cd /tmp; LONG='{filler}'; echo ${{#LONG}}; exit 5");
        let exit = world.run(&command);
        assert_eq!((text(&exit).as_str(), exit.code()), ("300000\n", 5));
        assert_eq!(world.output("pwd"), "/tmp\n");
        world.run(&format!("big() {{ : '{filler}'; echo big; }}"));
        assert_eq!(world.output("big; pwd"), "big\n/tmp\n");
    }

    fn a_function_that_cannot_be_read_back_does_not_spoil_the_session(world: &World) {
        // Legal to define, and printed by bash in a way it does not always read again.
        world.run("good() { echo good; }; function [x { echo odd; }; cd /tmp");
        assert_eq!(world.output("pwd; echo fine"), "/tmp\nfine\n");
    }

    fn login_files_are_read_once_and_quietly(world: &World) {
        std::fs::write(world.home().join(".profile"), "echo noise; export FROM_PROFILE=1; cd /").unwrap();
        std::fs::write(world.home().join("rc"), "echo more >&2; alias ll='echo aliased'; COUNT=$((COUNT+1)); export COUNT").unwrap();
        let request = |command: &str| {
            let mut request = ExecRequest::shell("login", command);
            request.init = SessionInit::Login { files: vec!["~/rc".into(), "~/missing".into()] };
            request
        };
        for _ in 0..2 {
            let exit = world.client.run(request("echo $FROM_PROFILE $COUNT; ll; pwd")).unwrap();
            assert_eq!(text(&exit), format!("1 1\naliased\n{}\n", world.home().display()));
            assert!(exit.notices.is_empty(), "{:?}", exit.notices);
        }
    }

    fn login_files_that_end_the_shell_are_told_of(world: &World) {
        std::fs::write(world.home().join("rc"), "exec true").unwrap();
        let mut request = ExecRequest::shell("login", "echo works");
        request.init = SessionInit::Login { files: vec!["~/rc".into()] };
        let exit = world.client.run(request).unwrap();
        assert_eq!(text(&exit), "works\n");
        assert!(matches!(&exit.notices[..], [Notice::InitFailed(_)]), "{:?}", exit.notices);
    }

    fn nothing_of_ours_is_open_in_a_command(world: &World) {
        let out = world.output("ls /proc/self/fd | tr '\\n' ' '");
        assert_eq!(out.trim(), "0 1 2 3", "3 is ls reading the directory");
        assert_eq!(world.output("env | grep -i hermes; trap -p INT; echo $#"), "0\n");
    }

    fn output_that_looks_like_protocol_is_output(world: &World) {
        let frames = b"\x05\x00\x00\x00\x16\x01\x00\x00\x00done!\x00\x00\x00\x00\x18\x00\x00\x00\x00";
        let exit = world.client.run_with_input(ExecRequest::shell("s", "cat; cat /dev/null"), frames).unwrap();
        assert_eq!(exit.stdout.head, frames);
        assert_eq!(world.output("echo END; printf '0\\0END\\0'"), "END\n0\0END\0");
    }

    fn a_command_that_kills_its_guard_is_ended(world: &World) {
        let mut request = ExecRequest::shell("s", "sleep 300 & echo $!; kill -9 $PPID; sleep 300");
        request.timeout = Some(Duration::from_mins(1));
        let exit = world.client.run(request).unwrap();
        assert!(matches!(exit.ending, Ending::GuardLost), "{exit:?}");
        assert_eq!(exit.code(), 137);
        assert!(eventually(|| !is_alive(text(&exit).trim())));
        assert_eq!(world.output("echo next"), "next\n");
    }

    fn signals_reach_the_command(world: &World) {
        let mut running = world.client.exec(ExecRequest::shell("s", "trap 'echo usr1; exit 9' USR1; echo ready; while :; do sleep 0.05; done")).unwrap();
        assert_eq!(first_output(&mut running), "ready\n");
        running.signal(libc_usr1(), hermes_box::proto::exec::Target::Leader);
        let exit = loop {
            if let Some(Event::Exit(exit)) = running.next_event().unwrap() {
                break exit;
            }
        };
        assert_eq!(exit.code(), 9);
    }

    fn wrong_requests_are_refused(world: &World) {
        for request in [
            ExecRequest::shell("s", b"echo \0".to_vec()),
            ExecRequest::shell("", "true"),
            ExecRequest::shell("x".repeat(200), "true"),
            ExecRequest::shell("s", "true").env("A=B", "x"),
            ExecRequest { program: Program::Argv(Vec::new()), ..ExecRequest::shell("s", "") },
        ] {
            assert!(world.client.run(request).is_err());
        }
        assert!(world.client.run(ExecRequest::shell("s", "x".repeat(3_000_000))).is_err());
        assert_eq!(world.output("echo fine"), "fine\n");
    }

    fn streamed_input_and_output_take_turns(world: &World) {
        let mut request = ExecRequest::shell("s", "while read line; do echo \"<$line>\"; done");
        request.stdin = Stdin::Stream;
        let mut running = world.client.exec(request).unwrap();
        for word in ["one", "two", "three"] {
            running.write_stdin(format!("{word}\n").as_bytes()).unwrap();
            assert_eq!(first_output(&mut running), format!("<{word}>\n"));
        }
        running.close_stdin();
        assert_eq!(running.finish().unwrap().code(), 0);
    }
}

fn libc_usr1() -> i32 {
    10
}

fn first_output(running: &mut hermes_box::client::Running) -> String {
    loop {
        match running.next_event().unwrap() {
            Some(Event::Output { bytes, .. }) => return String::from_utf8(bytes).unwrap(),
            Some(Event::Started { .. }) => {}
            other => panic!("no output: {other:?}"),
        }
    }
}
