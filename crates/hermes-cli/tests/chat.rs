//! The chat in a process of its own on a real pseudo-terminal: keys, signals, sizes, and a terminal that is always put
//! back.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, reason = "tests")]

#[path = "../examples/chat_scripted/script.rs"]
mod script;

use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use hermes_cli::chat::{Abilities, ChatOptions, Output, Terminal, link, run};
use rustix::termios::{Winsize, tcgetattr, tcsetwinsize};

/// Tells the process that shows the chat from one that runs tests.
const AS_CHILD: &str = "--skip=as-child";

/// The chat itself: the other tests start this one in a process of its own, on a pseudo-terminal. Run with
/// the others it has nothing to show.
#[test]
fn child() {
    if !std::env::args().any(|argument| argument == AS_CHILD) {
        return;
    }
    assert!(io::stdin().is_terminal(), "the chat is shown on a terminal");
    let (link, inbox) = link();
    let conversation = script::Scripted::new(link, script::Speed::Fast);
    let term = if std::env::args().any(|a| a == "--skip=dumb") { "dumb" } else { "xterm" };
    let abilities = Abilities::decide(|name| (name == "TERM").then_some(term), Output::Terminal);
    let options = ChatOptions::plain("/");
    run(Box::new(conversation), inbox, options, abilities, Terminal::standard().unwrap()).unwrap();
    println!("ended in peace");
}

#[test]
fn a_message_is_answered_and_the_terminal_is_put_back() {
    let mut pty = Pty::start(&[]);
    pty.sees("Write a message");
    pty.types("hello 日本\r");
    pty.sees("You said: hello 日本");
    pty.types("\x04");
    pty.sees("Continue with hermes --resume");
    pty.ends_in_peace();
}

#[test]
fn ctrl_c_interrupts_and_the_chat_goes_on() {
    let mut pty = Pty::start(&[]);
    pty.sees("Write a message");
    pty.types("wait\r");
    pty.sees("Thinking");
    pty.types("\x03");
    pty.sees("⊘ interrupted");
    pty.types("again\r");
    pty.sees("You said: again");
    pty.types("/quit\r");
    pty.ends_in_peace();
}

#[test]
fn a_question_is_answered_with_a_key() {
    let mut pty = Pty::start(&[]);
    pty.sees("Write a message");
    pty.types("ask\r");
    pty.sees("Run this command?");
    // Escape refuses at once when nothing else was typed for a moment; until then it does nothing.
    pty.types_until("\x1b", "You did not want that");
    pty.types("/quit\r");
    pty.ends_in_peace();
}

#[test]
fn sigterm_ends_a_running_turn_and_the_chat() {
    let mut pty = Pty::start(&[]);
    pty.sees("Write a message");
    pty.types("wait\r");
    pty.sees("Thinking");
    pty.signal(rustix::process::Signal::TERM);
    pty.sees("interrupted");
    pty.ends_in_peace();
}

#[test]
fn a_resize_is_followed() {
    let mut pty = Pty::start(&[]);
    pty.sees("Write a message");
    pty.types("table\r");
    pty.sees("Shall I go on?");
    pty.resize(30, 12);
    pty.types("narrow\r");
    pty.sees("You said: narrow");
    pty.resize(20, 6);
    pty.types("tiny\r");
    pty.sees("tiny");
    pty.types("\x04");
    pty.ends_in_peace();
}

#[test]
fn ctrl_z_without_job_control_does_no_harm() {
    let mut pty = Pty::start(&[]);
    pty.sees("Write a message");
    pty.types("\x1a");
    pty.types("still here");
    // The terminal is ordinary for a moment and would turn the key into the end of a line.
    pty.sees("❯ still here");
    pty.types("\r");
    pty.sees("You said: still here");
    pty.types("\x04");
    pty.ends_in_peace();
}

#[test]
fn a_dumb_terminal_gets_lines() {
    let mut pty = Pty::start(&["--skip=dumb"]);
    pty.sees("> ");
    pty.types("hello\n");
    pty.sees("You said: hello");
    assert!(!pty.raw_bytes().contains(&0x1b), "no escape sequence reaches it");
    pty.types("\x04");
    pty.ends_in_peace();
}

const DEADLINE: Duration = Duration::from_mins(1);

/// A process on a pseudo-terminal and what its screen shows.
struct Pty {
    child: Child,
    master: OwnedFd,
    slave: OwnedFd,
    cooked: String,
    seen: Arc<(Mutex<Seen>, Condvar)>,
}

struct Seen {
    screen: vt100::Parser,
    bytes: Vec<u8>,
}

impl Pty {
    fn start(args: &[&str]) -> Self {
        let master =
            rustix::pty::openpt(rustix::pty::OpenptFlags::RDWR | rustix::pty::OpenptFlags::NOCTTY).unwrap();
        rustix::pty::grantpt(&master).unwrap();
        rustix::pty::unlockpt(&master).unwrap();
        let name = rustix::pty::ptsname(&master, Vec::new()).unwrap();
        let path = name.to_str().unwrap();
        let open = || File::options().read(true).write(true).open(path).unwrap();
        let slave = OwnedFd::from(open());
        set_size(&master, 80, 24);
        let cooked = format!("{:?}", tcgetattr(&slave).unwrap());
        // `setsid --ctty` makes it the controlling terminal, so that a new size is a signal.
        let child = Command::new("setsid")
            .args(["--ctty", "--wait"])
            .arg(std::env::current_exe().unwrap())
            .args(["child", "--exact", "--nocapture", "--test-threads=1", AS_CHILD])
            .args(args)
            .stdin(Stdio::from(open()))
            .stdout(Stdio::from(open()))
            .stderr(Stdio::from(open()))
            .spawn()
            .unwrap();
        let seen = Seen { screen: vt100::Parser::new(24, 80, 1000), bytes: Vec::new() };
        let seen = Arc::new((Mutex::new(seen), Condvar::new()));
        let mut reading = File::from(master.try_clone().unwrap());
        let shared = Arc::clone(&seen);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count) = reading.read(&mut bytes) {
                let mut seen = shared.0.lock().unwrap();
                seen.screen.process(&bytes[..count]);
                seen.bytes.extend_from_slice(&bytes[..count]);
                shared.1.notify_all();
                if count == 0 {
                    break;
                }
            }
        });
        Self { child, master, slave, cooked, seen }
    }

    /// Waits until the screen shows the text.
    fn sees(&self, text: &str) {
        assert!(self.sees_within(text, DEADLINE), "'{text}' is not on the screen:\n{}", self.screen());
    }

    fn sees_within(&self, text: &str, patience: Duration) -> bool {
        let lacks = |seen: &mut Seen| !seen.screen.screen().contents().contains(text);
        let guard = self.seen.0.lock().unwrap();
        let (_guard, waited) = self.seen.1.wait_timeout_while(guard, patience, lacks).unwrap();
        !waited.timed_out()
    }

    fn screen(&self) -> String {
        self.seen.0.lock().unwrap().screen.screen().contents()
    }

    fn raw_bytes(&self) -> Vec<u8> {
        self.seen.0.lock().unwrap().bytes.clone()
    }

    fn types(&self, keys: &str) {
        File::from(self.master.try_clone().unwrap()).write_all(keys.as_bytes()).unwrap();
    }

    /// Types the same again until the screen shows the text.
    fn types_until(&self, keys: &str, text: &str) {
        let start = Instant::now();
        while !self.sees_within(text, Duration::from_secs(1)) {
            assert!(start.elapsed() < DEADLINE, "'{text}' is not on the screen:\n{}", self.screen());
            self.types(keys);
        }
    }

    fn resize(&self, columns: u16, rows: u16) {
        self.seen.0.lock().unwrap().screen.screen_mut().set_size(rows, columns);
        set_size(&self.master, columns, rows);
    }

    /// Signals whatever has the terminal: the chat.
    fn signal(&self, signal: rustix::process::Signal) {
        let group = rustix::termios::tcgetpgrp(&self.master).unwrap();
        rustix::process::kill_process_group(group, signal).unwrap();
    }

    fn ends_in_peace(&mut self) {
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(start.elapsed() < DEADLINE, "the chat does not end:\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(10));
        };
        // In the bytes: a small screen has scrolled it away.
        let peace = |seen: &mut Seen| !String::from_utf8_lossy(&seen.bytes).contains("ended in peace");
        let guard = self.seen.0.lock().unwrap();
        let (guard, waited) = self.seen.1.wait_timeout_while(guard, DEADLINE, peace).unwrap();
        drop(guard);
        assert!(!waited.timed_out(), "the chat did not end well:\n{}", self.screen());
        assert!(status.success(), "{status}\n{}", self.screen());
        assert_eq!(
            format!("{:?}", tcgetattr(&self.slave).unwrap()),
            self.cooked,
            "the terminal is not as it was"
        );
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn set_size(master: &OwnedFd, columns: u16, rows: u16) {
    tcsetwinsize(master, Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
}
