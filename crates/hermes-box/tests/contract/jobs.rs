//! Jobs.

use std::time::Duration;

use hermes_box::client::JobEvent;
use hermes_box::proto::exec::{Ending, ExecRequest, Status, Stdin, Target, WinSize};
use hermes_box::proto::fault::Fault;
use hermes_box::proto::job::{JobInfo, JobRequest, JobState, LogLimits};

use crate::world::{World, eventually, is_alive};

fn start(world: &World, command: &str) -> JobInfo {
    world.client.jobs().start(JobRequest::shell("s", command)).unwrap()
}

fn whole_output(world: &World, id: &str) -> String {
    let output = world.client.jobs().read(id, 0, 1_000_000).unwrap();
    String::from_utf8(output.bytes).unwrap()
}

fn fault<T: std::fmt::Debug>(result: Result<T, hermes_box::client::CallError>) -> Fault {
    match result {
        Err(hermes_box::client::CallError::Fault(fault)) => fault,
        other => panic!("no fault: {other:?}"),
    }
}

everywhere! {
    fn a_job_runs_by_itself_and_has_a_true_exit_code(world: &World) {
        let jobs = world.client.jobs();
        let job = start(world, "echo out; echo err >&2; exit 42");
        assert!(job.pid > 0);
        let ended = jobs.wait(&job.id, Some(Duration::from_mins(1))).unwrap();
        assert_eq!(ended.exit_code(), Some(42));
        assert_eq!(ended.state, JobState::Ended { ending: Ending::Exited, status: Status::Code(42) });
        assert_eq!(whole_output(world, &job.id), "out\nerr\n");
        assert_eq!(ended.output_end, 8);
        assert!(ended.ended_ms.unwrap() >= ended.started_ms);
    }

    fn a_job_starts_from_its_session_and_does_not_change_it(world: &World) {
        world.run("cd /usr; export V=1; f() { echo f; }");
        let job = start(world, "pwd; echo $V; f; cd /; export V=2");
        world.client.jobs().wait(&job.id, None).unwrap();
        assert_eq!(whole_output(world, &job.id), "/usr\n1\nf\n");
        assert_eq!(world.output("pwd; echo $V"), "/usr\n1\n");
    }

    fn another_client_finds_it_and_it_survives_the_first(world: &World) {
        let first = world.another_client();
        let mut request = JobRequest::shell("s", "echo one; read line; echo \"two $line\"").label("task", "t1");
        request.stdin = Stdin::Stream;
        let id = first.jobs().start(request).unwrap().id;
        drop(first);
        let jobs = world.another_client().jobs();
        let listed = jobs.list().unwrap();
        assert_eq!(listed.len(), 1);
        assert_eq!((listed[0].id.as_str(), listed[0].labels.as_slice()), (id.as_str(), &[("task".to_string(), "t1".to_string())][..]));
        assert!(listed[0].stdin_open);
        jobs.write_stdin(&id, b"more\n").unwrap();
        assert_eq!(jobs.wait(&id, None).unwrap().exit_code(), Some(0));
        assert_eq!(whole_output(world, &id), "one\ntwo more\n");
    }

    fn output_is_followed_by_offset(world: &World) {
        let mut request = JobRequest::shell("s", "echo first; read x; echo second; read x; echo third");
        request.stdin = Stdin::Stream;
        let jobs = world.client.jobs();
        let id = jobs.start(request).unwrap().id;
        let mut following = jobs.follow(&id, 2).unwrap();
        let mut seen = String::new();
        let ended = loop {
            match following.next_event(Some(Duration::from_mins(1))).unwrap() {
                JobEvent::Output(bytes) => {
                    seen.push_str(&String::from_utf8(bytes).unwrap());
                    if !seen.ends_with("third\n") {
                        jobs.write_stdin(&id, b"\n").unwrap();
                    }
                }
                JobEvent::Ended(info) => break info,
                JobEvent::Quiet => panic!("nothing came"),
            }
        };
        assert_eq!(seen, "rst\nsecond\nthird\n");
        assert_eq!(ended.exit_code(), Some(0));
        let piece = jobs.read(&id, 6, 4).unwrap();
        assert_eq!((piece.offset, piece.bytes.as_slice(), piece.next, piece.end), (6, &b"seco"[..], 10, 19));
        assert_eq!(jobs.tail(&id, 6).unwrap().bytes, b"third\n");
        let past = jobs.read(&id, 1000, 10).unwrap();
        assert!(past.bytes.is_empty() && !past.running);
    }

    fn following_can_be_stopped_and_waiting_has_a_limit(world: &World) {
        let jobs = world.client.jobs();
        let id = start(world, "sleep 300").id;
        let mut following = jobs.follow(&id, 0).unwrap();
        assert_eq!(following.next_event(Some(Duration::from_millis(50))).unwrap(), JobEvent::Quiet);
        following.steering().cancel();
        assert_eq!(fault(following.next_event(None)), Fault::Cancelled);
        let waited = jobs.wait(&id, Some(Duration::from_millis(50))).unwrap();
        assert_eq!(waited.state, JobState::Running);
        assert_eq!(waited.exit_code(), None);
        jobs.kill(&id, None).unwrap();
    }

    fn input_can_be_closed(world: &World) {
        let jobs = world.client.jobs();
        let mut request = JobRequest::shell("s", "cat; echo end");
        request.stdin = Stdin::Stream;
        let id = jobs.start(request).unwrap().id;
        jobs.write_stdin(&id, b"text\n").unwrap();
        jobs.close_stdin(&id).unwrap();
        jobs.wait(&id, None).unwrap();
        assert_eq!(whole_output(world, &id), "text\nend\n");
        assert_eq!(fault(jobs.write_stdin(&id, b"x")), Fault::JobOver(id.clone()));
        let without = start(world, "sleep 300").id;
        assert_eq!(fault(jobs.write_stdin(&without, b"x")), Fault::StdinClosed(without.clone()));
        jobs.kill(&without, Some(Duration::ZERO)).unwrap();
    }

    fn input_that_nobody_reads_is_bounded(world: &World) {
        let jobs = world.client.jobs();
        let mut request = JobRequest::shell("s", "sleep 300");
        request.stdin = Stdin::Stream;
        let id = jobs.start(request).unwrap().id;
        assert_eq!(fault(jobs.write_stdin(&id, &vec![b'x'; 4_000_000])), Fault::StdinFull(id.clone()));
        jobs.kill(&id, Some(Duration::ZERO)).unwrap();
    }

    fn killing_ends_the_whole_tree(world: &World) {
        let id = start(world, "(setsid sleep 300 & echo $!) ; sleep 300 & echo $!; trap '' TERM; wait; sleep 300").id;
        assert!(eventually(|| whole_output(world, &id).lines().count() == 2));
        let pids: Vec<String> = whole_output(world, &id).lines().map(Into::into).collect();
        assert!(pids.iter().all(|pid| is_alive(pid)));
        let ended = world.client.jobs().kill(&id, Some(Duration::from_millis(100))).unwrap();
        assert!(matches!(ended.state, JobState::Ended { ending: Ending::Cancelled, .. }), "{ended:?}");
        assert!(pids.iter().all(|pid| !is_alive(pid)));
        // Again is no error.
        world.client.jobs().kill(&id, None).unwrap();
    }

    fn what_an_ended_job_left_is_listed_and_ended_with_it(world: &World) {
        let jobs = world.client.jobs();
        let id = start(world, "(trap '' TERM; sleep 300; true) & echo $!; (setsid sleep 300 & echo $!)").id;
        assert_eq!(jobs.wait(&id, None).unwrap().exit_code(), Some(0));
        let pids: Vec<String> = whole_output(world, &id).lines().map(Into::into).collect();
        // A shell that ignores the signal, what it sleeps in, and the one that left its session.
        assert!(eventually(|| jobs.get(&id).unwrap().left_running == 3), "{:?}", jobs.get(&id));
        assert_eq!(jobs.list().unwrap()[0].left_running, 3);
        let ended = jobs.kill(&id, Some(Duration::from_millis(100))).unwrap();
        assert_eq!((ended.left_running, ended.exit_code()), (0, Some(0)), "how it ended stays as it was");
        assert!(pids.iter().all(|pid| !is_alive(pid)));
        assert_eq!(jobs.get(&id).unwrap().left_running, 0);
    }

    fn signals_reach_what_an_ended_job_left(world: &World) {
        let jobs = world.client.jobs();
        let id = start(world, "sleep 300 & echo $!").id;
        jobs.wait(&id, None).unwrap();
        let pid = whole_output(world, &id).trim().to_string();
        assert_eq!(fault(jobs.signal(&id, 9, Target::Leader)), Fault::JobOver(id.clone()));
        assert!(is_alive(&pid));
        jobs.signal(&id, 9, Target::Tree).unwrap();
        assert!(eventually(|| jobs.get(&id).unwrap().left_running == 0));
        assert_eq!(fault(jobs.signal(&id, 9, Target::Tree)), Fault::JobOver(id.clone()));
    }

    fn what_an_ended_job_left_is_ended_though_its_guard_was_killed(world: &World) {
        let jobs = world.client.jobs();
        let id = start(world, "(setsid sleep 300 >/dev/null 2>&1 & echo $! $PPID)").id;
        jobs.wait(&id, None).unwrap();
        let output = whole_output(world, &id);
        let (pid, guard) = output.trim().split_once(' ').unwrap();
        world.run(&format!("kill -9 {guard}"));
        assert!(eventually(|| !is_alive(guard)));
        assert_eq!((is_alive(pid), jobs.get(&id).unwrap().left_running), (true, 1));
        assert_eq!(jobs.kill(&id, Some(Duration::ZERO)).unwrap().left_running, 0);
        assert!(!is_alive(pid));
    }

    fn signals_reach_a_job(world: &World) {
        let id = start(world, "trap 'echo got; exit 5' USR1; echo ready; while :; do sleep 0.05; done").id;
        assert!(eventually(|| whole_output(world, &id) == "ready\n"));
        world.client.jobs().signal(&id, 10, Target::Leader).unwrap();
        assert_eq!(world.client.jobs().wait(&id, None).unwrap().exit_code(), Some(5));
        assert_eq!(fault(world.client.jobs().signal(&id, 10, Target::Tree)), Fault::JobOver(id.clone()));
    }

    fn a_long_log_keeps_head_and_tail(world: &World) {
        let mut request = JobRequest::shell("s", "seq 1 400000");
        request.log = LogLimits { head: 10_000, tail: 300_000 };
        let jobs = world.client.jobs();
        let id = jobs.start(request).unwrap().id;
        let info = jobs.wait(&id, None).unwrap();
        let whole: String = (1..=400_000).map(|n| format!("{n}\n")).collect();
        assert_eq!(info.output_end, whole.len() as u64);
        assert!(info.output_dropped > 1_000_000);
        assert_eq!(jobs.read(&id, 0, 10_000).unwrap().bytes, &whole.as_bytes()[..10_000]);
        assert_eq!(jobs.tail(&id, 300_000).unwrap().bytes, &whole.as_bytes()[whole.len() - 300_000..]);
        let middle = jobs.read(&id, 500_000, 100).unwrap();
        assert!(middle.offset > 500_000);
        assert_eq!(middle.bytes, &whole.as_bytes()[middle.offset as usize..][..100]);
    }

    fn a_job_on_a_terminal_is_interactive(world: &World) {
        let jobs = world.client.jobs();
        let mut request = JobRequest::shell("s", "stty size; tty -s && echo tty; read x; echo \"<$x>\"; stty size");
        request.pty = Some(WinSize { rows: 30, cols: 120 });
        let id = jobs.start(request).unwrap().id;
        assert!(eventually(|| whole_output(world, &id).contains("tty")));
        jobs.resize(&id, WinSize { rows: 10, cols: 20 }).unwrap();
        jobs.write_stdin(&id, b"typed\r").unwrap();
        assert_eq!(jobs.wait(&id, None).unwrap().exit_code(), Some(0));
        assert_eq!(whole_output(world, &id), "30 120\r\ntty\r\ntyped\r\n<typed>\r\n10 20\r\n");
    }

    fn jobs_that_do_not_start_say_why(world: &World) {
        let mut request = JobRequest::shell("s", "true");
        request.cwd = Some("/nowhere".into());
        let info = world.client.jobs().start(request).unwrap();
        assert!(matches!(&info.state, JobState::Ended { ending: Ending::NoDirectory { .. }, .. }), "{info:?}");
        assert_eq!(info.exit_code(), Some(126));
        assert_eq!(fault(world.client.jobs().get("proc_missing")), Fault::NoSuchJob("proc_missing".into()));
    }

    fn ended_jobs_can_be_forgotten(world: &World) {
        let jobs = world.client.jobs();
        let id = start(world, "sleep 300").id;
        assert_eq!(fault(jobs.forget(&id)), Fault::JobRunning(id.clone()));
        jobs.kill(&id, Some(Duration::ZERO)).unwrap();
        jobs.forget(&id).unwrap();
        assert!(jobs.list().unwrap().is_empty());
        assert_eq!(std::fs::read_dir(world.directory.path().join("agent/jobs")).unwrap().count(), 0);
    }

    fn a_time_limit_ends_a_job(world: &World) {
        let mut request = JobRequest::shell("s", "echo x; sleep 300");
        request.timeout = Some(Duration::from_millis(200));
        let jobs = world.client.jobs();
        let id = jobs.start(request).unwrap().id;
        assert_eq!(jobs.wait(&id, None).unwrap().exit_code(), Some(124));
    }

    fn info_counts_what_goes_on(world: &World) {
        let info = world.client.info().unwrap();
        assert_eq!((info.jobs_running, info.jobs_ended, info.clients), (0, 0, 1));
        let id = start(world, "sleep 300").id;
        let second = world.another_client();
        let info = second.info().unwrap();
        assert_eq!((info.jobs_running, info.jobs_ended, info.clients, info.idle_ms), (1, 0, 2, 0));
        world.client.jobs().kill(&id, Some(Duration::ZERO)).unwrap();
        world.client.run(ExecRequest::shell("s", "true")).unwrap();
        assert!(eventually(|| second.info().unwrap().calls == 0));
        let info = second.info().unwrap();
        assert_eq!((info.jobs_running, info.jobs_ended, info.commands), (0, 1, 2));
        let idle = info.idle_ms;
        assert!(eventually(|| second.info().unwrap().idle_ms > idle), "questions about it do not keep it busy");
    }
}
