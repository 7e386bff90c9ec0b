//! Commands on a terminal.

use std::time::Duration;

use hermes_box::client::{Event, Running};
use hermes_box::proto::exec::{ExecRequest, Exit, Target, WinSize};

use crate::world::World;

fn on_terminal(world: &World, command: &str) -> Running {
    let mut request = ExecRequest::shell("s", command);
    request.pty = Some(WinSize { rows: 24, cols: 80 });
    world.client.exec(request).unwrap()
}

/// Reads until `text` has been printed.
fn wait_for(running: &mut Running, text: &str) -> String {
    let mut seen = String::new();
    while !seen.contains(text) {
        match running.next_event().unwrap() {
            Some(Event::Output { bytes, .. }) => seen.push_str(&String::from_utf8_lossy(&bytes)),
            Some(Event::Started { .. }) => {}
            other => panic!("'{text}' never came, but '{seen}' and {other:?}"),
        }
    }
    seen
}

fn end(running: &mut Running) -> (String, Exit) {
    let mut seen = String::new();
    loop {
        match running.next_event().unwrap() {
            Some(Event::Output { bytes, .. }) => seen.push_str(&String::from_utf8_lossy(&bytes)),
            Some(Event::Exit(exit)) => return (seen, *exit),
            Some(Event::Started { .. }) => {}
            None => panic!("no end"),
        }
    }
}

everywhere! {
    fn it_is_a_terminal_and_a_controlling_one(world: &World) {
        let mut running = on_terminal(world, "tty -s && echo is-tty; stty size; echo hi > /dev/tty; echo $TERM; exit 3");
        let (seen, exit) = end(&mut running);
        assert_eq!(seen, "is-tty\r\n24 80\r\nhi\r\nxterm-256color\r\n");
        assert_eq!(exit.code(), 3);
    }

    fn what_is_typed_arrives_and_the_size_changes(world: &World) {
        let mut running = on_terminal(world, "trap 'stty size' WINCH; echo ready; while read line; do echo \"got $line\"; done; echo end");
        wait_for(&mut running, "ready");
        running.write_stdin(b"hello\r").unwrap();
        wait_for(&mut running, "got hello");
        running.resize(WinSize { rows: 50, cols: 132 });
        running.write_stdin(b"again\r").unwrap();
        let seen = wait_for(&mut running, "got again");
        assert!(seen.contains("50 132"), "{seen}");
        // Closing the input is what the end-of-file key does.
        running.close_stdin();
        assert!(end(&mut running).0.contains("end"));
    }

    fn the_interrupt_key_interrupts(world: &World) {
        let mut running = on_terminal(world, "trap 'echo interrupted; exit 7' INT; echo ready; while :; do sleep 0.05; done");
        wait_for(&mut running, "ready");
        running.write_stdin(b"\x03").unwrap();
        let (seen, exit) = end(&mut running);
        assert!(seen.contains("interrupted"), "{seen}");
        assert_eq!(exit.code(), 7);
        let mut running = on_terminal(world, "echo ready; sleep 300");
        wait_for(&mut running, "ready");
        // Before it has started to sleep, the shell itself takes the signal and may go on.
        let code = loop {
            running.signal(2, Target::Foreground);
            if let Some(Event::Exit(exit)) = running.next_event_within(Duration::from_millis(50)).unwrap() {
                break exit.code();
            }
        };
        assert_eq!(code, 130);
    }

    fn a_job_control_shell_works(world: &World) {
        let mut request = ExecRequest::argv(["bash", "--norc", "--noprofile", "-i"]).env("PS1", "> ");
        request.pty = Some(WinSize { rows: 24, cols: 80 });
        let mut running = world.client.exec(request).unwrap();
        let greeting = wait_for(&mut running, "> ");
        running.write_stdin(b"sleep 300 & jobs; echo sta''te; kill %1; wait; exit 4\r").unwrap();
        let (seen, exit) = end(&mut running);
        assert!(!greeting.contains("no job control"), "{greeting}");
        assert!(seen.contains("Running") && seen.contains("state"), "{seen}");
        assert_eq!(exit.code(), 4);
    }

    fn state_is_carried_from_a_terminal_too(world: &World) {
        let mut running = on_terminal(world, "cd /usr; export T=1; exit 0");
        end(&mut running);
        assert_eq!(world.output("pwd; echo $T"), "/usr\n1\n");
    }

    fn cancel_ends_what_runs_on_a_terminal(world: &World) {
        let mut running = on_terminal(world, "trap '' HUP; sleep 300 & echo pid $!; wait");
        let seen = wait_for(&mut running, "\n");
        let pid = seen.trim().strip_prefix("pid ").unwrap().to_string();
        running.cancel();
        assert_eq!(end(&mut running).1.code(), 130);
        assert!(!crate::world::is_alive(&pid));
    }
}
