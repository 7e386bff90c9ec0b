//! Commands that turn against the processes that watch over them.

use std::time::Duration;

use hermes_box::proto::exec::{Ending, ExecRequest};

use crate::world::{World, eventually, is_alive, text};

/// The process guards come from, as a command finds it.
const NURSERY: &str = "$(cut -d' ' -f4 /proc/$PPID/stat)";
/// Far more than any of these commands takes, and less than anybody waits for.
const LIMIT: Duration = Duration::from_secs(15);

fn limited(world: &World, command: &str) -> hermes_box::proto::exec::Exit {
    world.client.run(ExecRequest::shell("s", command).timeout(LIMIT)).unwrap()
}

everywhere! {
    fn one_that_stops_its_guard_ends_as_usual(world: &World) {
        let exit = limited(world, "kill -STOP $PPID; echo on; cd /usr; exit 3");
        assert_eq!((text(&exit).as_str(), exit.code(), exit.ending), ("on\n", 3, Ending::Exited));
        assert_eq!(text(&limited(world, "pwd")), "/usr\n", "its state is kept");
    }

    fn a_stopped_guard_keeps_no_time_limit_from_acting(world: &World) {
        let command = "(setsid sleep 300 >/dev/null 2>&1 & echo $!); sleep 300 & echo $! $PPID; kill -STOP $PPID; wait";
        let mut request = ExecRequest::shell("s", command).timeout(Duration::from_millis(500));
        request.grace = Some(Duration::from_millis(100));
        let exit = world.client.run(request).unwrap();
        assert_eq!((exit.code(), exit.ending.clone()), (124, Ending::TimedOut));
        for pid in text(&exit).split_whitespace() {
            assert!(eventually(|| !is_alive(pid)), "{pid} is left");
        }
    }

    fn one_that_stops_the_process_guards_come_from_keeps_nobody_waiting(world: &World) {
        assert_eq!(limited(world, &format!("kill -STOP {NURSERY}; exit 3")).code(), 3);
        let exit = limited(world, "echo next");
        assert_eq!((text(&exit).as_str(), exit.code()), ("next\n", 0));
    }

    fn a_guard_that_nobody_looks_after_is_not_stopped_for_good(world: &World) {
        let exit = limited(world, &format!("kill -9 {NURSERY}; kill -STOP $PPID; echo on; exit 3"));
        assert_eq!((text(&exit).as_str(), exit.code()), ("on\n", 3));
        assert_eq!(text(&limited(world, "echo next")), "next\n");
    }

    fn killing_all_guards_frees_no_daemon(world: &World) {
        let daemon = "(setsid sh -c 'echo $$; exec sleep 300 >/dev/null 2>&1' &)";
        let command = format!("n={NURSERY}; {daemon}; sleep 0.2; kill -9 $n; kill -9 $PPID; sleep 300");
        let exit = limited(world, &command);
        assert_eq!(exit.ending, Ending::GuardLost);
        let pid = text(&exit).trim().to_string();
        assert!(!pid.is_empty());
        assert!(eventually(|| !is_alive(&pid)), "{pid} is left");
        assert_eq!(text(&limited(world, "echo next")), "next\n");
    }

    fn commands_of_others_survive_the_process_guards_come_from(world: &World) {
        world.run("mkfifo go");
        let other = ExecRequest::shell("other", "read code < go; exit $code").timeout(LIMIT);
        let other = world.client.exec(other).unwrap();
        limited(world, &format!("kill -9 {NURSERY}"));
        limited(world, "echo 4 > go");
        assert_eq!(other.finish().unwrap().code(), 4);
    }

    fn when_memory_runs_out_a_command_goes_before_the_agent(world: &World) {
        let score = |text: &str| text.trim().parse::<i32>().unwrap();
        let agent = std::fs::read_to_string(format!("/proc/{}/oom_score_adj", world.client.agent().pid)).unwrap();
        let command = score(&world.output("cat /proc/self/oom_score_adj"));
        assert!(command > score(&agent) || command == 1000, "{command} is not above {agent}");
        let guard = score(&world.output("cat /proc/$PPID/oom_score_adj"));
        assert_eq!(guard, score(&agent), "the guard stays with the agent");
    }
}
