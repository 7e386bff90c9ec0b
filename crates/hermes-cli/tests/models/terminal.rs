//! The binary at a terminal of its own: what it shows is waited for, what is typed is sent.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use hermes_testkit::TestHome;
use hermes_testkit::command::poll_until;
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// How long something may take to show up.
const LIMIT: Duration = Duration::from_secs(30);

/// A running program and its terminal.
pub struct Terminal {
    child: Child,
    keyboard: File,
    screen: Arc<Mutex<String>>,
    /// How much of the screen was waited for already.
    seen: usize,
}

impl Terminal {
    /// Starts the binary at a new terminal.
    pub fn start(home: &TestHome, args: &[&str]) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let slave: OwnedFd =
            rustix::fs::open(name.as_c_str(), OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
        let end = || Stdio::from(slave.try_clone().unwrap());
        let child = Command::new(env!("CARGO_BIN_EXE_hermes"))
            .args(args)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", home.user_home())
            .env("HERMES_HOME", home.path())
            .env("TMPDIR", home.temp_dir())
            .env("TERM", "xterm")
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .current_dir(home.work_dir())
            .spawn()
            .unwrap();
        drop(slave);
        let keyboard = File::from(master);
        let screen = Arc::new(Mutex::new(String::new()));
        let (mut source, target) = (keyboard.try_clone().unwrap(), Arc::clone(&screen));
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = source.read(&mut bytes) {
                target.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..count]));
            }
        });
        Self { child, keyboard, screen, seen: 0 }
    }

    /// Everything that was shown.
    pub fn shown(&self) -> String {
        self.screen.lock().unwrap().clone()
    }

    /// Waits until this shows up behind what was waited for before.
    #[track_caller]
    pub fn expect(&mut self, text: &str) -> &mut Self {
        let found = poll_until(LIMIT, || self.shown().get(self.seen..)?.find(text));
        match found {
            Some(at) => self.seen += at + text.len(),
            None => panic!("'{text}' did not show up:\n{}", self.shown()),
        }
        self
    }

    /// Types a line.
    pub fn line(&mut self, text: &str) -> &mut Self {
        self.keys(&format!("{text}\n"))
    }

    /// Presses keys.
    pub fn keys(&mut self, text: &str) -> &mut Self {
        self.keyboard.write_all(text.as_bytes()).unwrap();
        self
    }

    /// Sends the signal of Ctrl-C.
    pub fn interrupt(&mut self) -> &mut Self {
        let id = i32::try_from(self.child.id()).unwrap();
        let id = rustix::process::Pid::from_raw(id).unwrap();
        rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
        self
    }

    /// Waits for the end.
    #[track_caller]
    pub fn end(&mut self) -> ExitStatus {
        match poll_until(LIMIT, || self.child.try_wait().unwrap()) {
            Some(status) => status,
            None => panic!("it does not end:\n{}", self.shown()),
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
