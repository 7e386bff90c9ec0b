//! A session's first command while its start files run.

use std::time::Duration;

use hermes_box::client::Running;
use hermes_box::proto::exec::{Ending, ExecRequest, Notice, SessionInit};

use crate::world::{World, eventually, is_alive, text};

/// Start files that tell their process and then take for ever.
fn endless(world: &World) {
    std::fs::write(world.home().join("rc"), "echo $$ > ~/began; sleep 300").unwrap();
}

/// Waits until they run; their process.
fn began(world: &World) -> String {
    let process = || std::fs::read_to_string(world.home().join("began")).unwrap_or_default();
    assert!(eventually(|| process().ends_with('\n')));
    process().trim().to_string()
}

fn request(command: &str) -> ExecRequest {
    let mut request = ExecRequest::shell("login", command);
    request.init = SessionInit::Login { files: vec!["~/rc".into()] };
    request
}

fn start(world: &World) -> Running {
    world.client.exec(request("echo ran")).unwrap()
}

everywhere! {
    fn a_time_limit_acts(world: &World) {
        endless(world);
        let exit = world.client.run(request("echo ran").timeout(Duration::from_millis(500))).unwrap();
        assert_eq!((exit.code(), exit.ending.clone(), text(&exit).as_str()), (124, Ending::TimedOut, ""));
        assert!(matches!(&exit.notices[..], [Notice::InitFailed(_)]), "{:?}", exit.notices);
        assert!(!is_alive(&began(world)));
        // The next one prepares the session.
        std::fs::write(world.home().join("rc"), "export READY=1").unwrap();
        assert_eq!(text(&world.client.run(request("echo $READY")).unwrap()), "1\n");
    }

    fn a_cancel_acts(world: &World) {
        endless(world);
        let running = start(world);
        let process = began(world);
        running.cancel();
        let exit = running.finish().unwrap();
        assert_eq!((exit.code(), exit.ending), (130, Ending::Cancelled));
        assert!(!is_alive(&process));
    }

    fn a_dropped_handle_acts(world: &World) {
        endless(world);
        let running = start(world);
        let process = began(world);
        drop(running);
        assert!(eventually(|| !is_alive(&process)));
    }

    fn whoever_waits_for_another_ones_preparation_can_be_cancelled_too(world: &World) {
        endless(world);
        let first = start(world);
        let process = began(world);
        let second = world.client.run(request("echo second").timeout(Duration::from_millis(300))).unwrap();
        assert_eq!(second.code(), 124);
        let third = start(world);
        third.cancel();
        assert_eq!(third.finish().unwrap().code(), 130);
        assert!(is_alive(&process), "the first one's goes on");
        first.cancel();
        assert_eq!(first.finish().unwrap().code(), 130);
    }

    fn one_that_waited_goes_on_when_it_is_ready(world: &World) {
        std::fs::write(world.home().join("rc"), "echo $$ > ~/began; until [ -e ~/go ]; do sleep 0.02; done; export READY=1").unwrap();
        let first = start(world);
        began(world);
        let mut second = request("echo $READY");
        second.capture = hermes_box::proto::exec::Capture::Collect(hermes_box::client::DEFAULT_KEEP);
        let second = world.client.exec(second).unwrap();
        std::fs::write(world.home().join("go"), "").unwrap();
        assert_eq!(text(&second.finish().unwrap()), "1\n");
        assert_eq!(first.finish().unwrap().code(), 0);
    }

    fn a_job_can_be_given_up(world: &World) {
        endless(world);
        let mut job = hermes_box::proto::job::JobRequest::shell("login", "echo ran");
        job.init = SessionInit::Login { files: vec!["~/rc".into()] };
        let pending = world.client.begin(job).unwrap();
        let process = began(world);
        drop(pending);
        assert!(eventually(|| !is_alive(&process)));
        assert!(eventually(|| world.client.info().unwrap().calls == 0));
        assert!(world.client.jobs().list().unwrap().is_empty());
    }
}
