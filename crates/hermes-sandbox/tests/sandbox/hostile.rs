//! Commands that do not wish us well.

use std::time::Duration;

use hermes_box::proto::exec::ExecRequest;
use hermes_testkit::{Engine, need};

use crate::fixture::{Fixture, eventually, out, sh, within};

#[test]
fn fake_protocol_on_its_output_is_only_output() {
    let Some(engine) = need("docker", Engine::get()) else { return };
    let fixture = Fixture::container(engine);
    let client = fixture.open().client().unwrap();
    // Frames as the agent would send them, on every output there is.
    let fake = "printf '\\005\\000\\000\\000\\003\\001\\000\\000\\000AAAAA'";
    let script = format!("for fd in 1 2 3 4 5 6 7 8 9; do {{ {fake} >&$fd; }} 2>/dev/null; done; exit 7");
    assert_eq!(sh(&client, "s", &script).code(), 7);
    assert_eq!(out(&client, "echo works"), "works");
}

#[test]
fn killing_everything_it_can_reach_leaves_the_agent_alive() {
    let Some(engine) = need("docker", Engine::get()) else { return };
    let fixture = Fixture::container(engine);
    let sandbox = fixture.open();
    let client = sandbox.client().unwrap();
    let instance = client.agent().instance;
    for script in ["kill -9 $PPID; sleep 1", "kill -9 -1; sleep 1", "kill -9 1; echo alive"] {
        let request = ExecRequest::shell("s", script).timeout(Duration::from_secs(20));
        // How it ends does not matter, only that it ends and that nothing else does.
        let _ = client.run(request);
        let again = sandbox.client().unwrap();
        assert_eq!(out(&again, "echo works"), "works", "{script}");
        assert_eq!(again.agent().instance, instance, "{script}");
    }
}

#[test]
fn a_link_in_the_sockets_place_is_not_followed() {
    let Some(engine) = need("docker", Engine::get()) else { return };
    let fixture = Fixture::container(engine);
    let client = fixture.open().client().unwrap();
    let trap = fixture.dir().join("host.sock");
    let listener = std::os::unix::net::UnixListener::bind(&trap).unwrap();
    listener.set_nonblocking(true).unwrap();
    let script = format!("cd /.hermes-box/run && rm -f box.sock && ln -s {} box.sock", trap.display());
    out(&client, &script);
    // A new process comes in by the other way, and the host's socket is left alone.
    assert_eq!(out(&fixture.open().client().unwrap(), "echo works"), "works");
    assert!(listener.accept().is_err(), "nobody connected to the host's socket");
}

#[test]
fn a_listener_in_the_sockets_place_that_says_nothing_does_not_hold_us() {
    let Some(engine) = need("docker", Engine::get()) else { return };
    let fixture = Fixture::container(engine);
    let client = fixture.open().client().unwrap();
    out(&client, "rm -f /.hermes-box/run/box.sock");
    let run = fixture.boxes().join(fixture.container_name()).join("run");
    let _silent = std::os::unix::net::UnixListener::bind(run.join("box.sock")).unwrap();
    let next = fixture.open();
    let client = within(Duration::from_secs(9), move || next.client()).unwrap();
    assert_eq!(out(&client, "echo works"), "works");
}

#[test]
fn stopping_everything_it_can_reach_leaves_the_agent_at_work() {
    let Some(engine) = need("docker", Engine::get()) else { return };
    let fixture = Fixture::container(engine);
    let client = fixture.open().client().unwrap();
    for script in ["kill -STOP $PPID; exit 3", "kill -STOP -1; exit 3"] {
        assert_eq!(sh(&client, "s", script).code(), 3, "{script}");
        assert_eq!(out(&client, "echo works"), "works", "{script}");
    }
}

#[test]
fn commands_cannot_be_clients() {
    let Some(engine) = need("docker", Engine::get()) else { return };
    let fixture = Fixture::container(engine);
    let client = fixture.open().client().unwrap();
    for way in ["--in-box", "--socket /.hermes-box/run/box.sock"] {
        let script =
            format!("printf '' | timeout 5 /.hermes-box/bin/hermes-box connect {way} | head -c 200; true");
        let before = client.info().unwrap().commands;
        sh(&client, "s", &script);
        assert_eq!(client.info().unwrap().commands, before + 1, "nothing but our own command ran");
    }
}

#[test]
fn two_hundred_timeouts_leave_no_process_behind() {
    let Some(engine) = need("docker", Engine::get()) else { return };
    let fixture = Fixture::container(engine);
    let client = fixture.open().client().unwrap();
    let count = || out(&client, "ls -d /proc/[0-9]* | wc -l").parse::<usize>().unwrap();
    let before = count();
    for batch in 0..20 {
        std::thread::scope(|scope| {
            for number in 0..10 {
                let client = client.clone();
                scope.spawn(move || {
                    let script = "(setsid sleep 900 &) ; sleep 901 & sleep 902";
                    let request = ExecRequest::shell(format!("t{batch}-{number}"), script)
                        .timeout(Duration::from_millis(100));
                    assert_eq!(client.run(request).unwrap().code(), 124);
                });
            }
        });
    }
    eventually("the number of processes is what it was", || count() <= before);
}
