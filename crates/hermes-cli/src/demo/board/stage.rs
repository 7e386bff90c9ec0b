//! Where the tour takes place: a home with three profiles, a project, and the processes that are started in it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use hermes_board::ending::{Stop, Then};
use hermes_board::{Board, Overrides, Root, Slug};
use rustix::process::{Pid, Signal, kill_process};

use super::super::model;
use super::script;
use crate::app::App;

/// See the module.
pub struct Stage {
    home: PathBuf,
    project: PathBuf,
    program: PathBuf,
    env: BTreeMap<OsString, OsString>,
}

/// Profiles, their models, and what they are good at.
const PROFILES: [(&str, &str, &str); 3] = [
    ("coder", script::CODER, "writes small programs"),
    ("tester", script::TESTER, "writes tests and reviews"),
    ("writer", script::WRITER, "describes things"),
];

/// How long everything gets to end by itself.
const GRACE: Duration = Duration::from_secs(5);

impl Stage {
    /// Makes it, and starts to serve the models.
    pub fn set(app: &App, room: &Path) -> anyhow::Result<Self> {
        let (home, project) = (room.join("home"), room.join("project"));
        std::fs::create_dir(&project)?;
        let address =
            model::serve(script::next).context("no loopback port can be opened for the scripted models")?;
        let config = |model: &str| {
            format!(
                "model:\n  provider: custom\n  base_url: {address}\n  default: {model}\n  context_length: 128000\n\
                 terminal:\n  backend: local\nkanban:\n  dispatch_interval_seconds: 1\n"
            )
        };
        let make = |dir: &Path, model: &str| -> std::io::Result<()> {
            std::fs::create_dir_all(dir)?;
            std::fs::write(dir.join("config.yaml"), config(model))
        };
        make(&home, script::PLANNER)?;
        for (name, model, about) in PROFILES {
            let dir = home.join("profiles").join(name);
            make(&dir, model)?;
            std::fs::write(dir.join("profile.yaml"), format!("description: {about}\n"))?;
        }
        // Settings of the environment belong to the user's own home, not to the demo.
        let mut env = app.env.clone();
        env.retain(|name, _| {
            let name = name.to_string_lossy();
            !name.starts_with("HERMES_") && !name.starts_with("TERMINAL_")
        });
        env.insert("HERMES_HOME".into(), home.clone().into());
        Ok(Self { home, project, program: std::env::current_exe()?, env })
    }

    /// Where the work is done.
    pub fn project(&self) -> &Path {
        &self.project
    }

    /// The board.
    pub fn board(&self) -> anyhow::Result<Board> {
        let root = Root::new(&self.home, Overrides::default());
        Ok(Board::open(&root, &Slug::default_board())?)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .env_clear()
            .envs(&self.env)
            .current_dir(&self.project)
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        command
    }

    /// Runs `hermes`, as a user would.
    pub fn hermes(&self, arguments: &[&str]) -> anyhow::Result<()> {
        let ended = self.command(arguments).stderr(Stdio::piped()).output()?;
        if !ended.status.success() {
            let said = String::from_utf8_lossy(&ended.stderr);
            anyhow::bail!("`hermes {}` failed: {}", arguments.join(" "), said.trim());
        }
        Ok(())
    }

    /// Starts `hermes` and lets it run.
    pub fn start(&self, arguments: &[&str]) -> anyhow::Result<Child> {
        Ok(self.command(arguments).stderr(Stdio::null()).spawn()?)
    }

    /// Ends everything that was started here. Gives the processes that did not end.
    pub fn end(&self, mut dispatcher: Child, board: &mut Board) -> Vec<i32> {
        signal(dispatcher.id().cast_signed(), Signal::TERM);
        let stop = Stop { then: Then::StayOut, by: "demo".to_owned(), reason: None };
        for worker in board.workers().unwrap_or_default() {
            let _ = board.ask_to_stop(worker.run, &stop);
            signal(worker.process.pid.cast_signed(), Signal::TERM);
        }
        let deadline = Instant::now() + GRACE;
        while Instant::now() < deadline {
            let ended = matches!(dispatcher.try_wait(), Ok(Some(_)));
            if ended && self.processes().is_empty() {
                return Vec::new();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = dispatcher.kill();
        let _ = dispatcher.wait();
        for pid in self.processes() {
            signal(pid, Signal::KILL);
        }
        let deadline = Instant::now() + GRACE;
        while !self.processes().is_empty() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
        }
        self.processes()
    }

    /// Processes that were started in this home, by their environment.
    fn processes(&self) -> Vec<i32> {
        let home = self.home.as_os_str().as_bytes();
        let listing = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        listing
            .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
            .filter(|pid| *pid != std::process::id().cast_signed())
            .filter(|pid| {
                let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
                environment
                    .split(|byte| *byte == 0)
                    .filter_map(|variable| variable.strip_prefix(b"HERMES_HOME="))
                    .any(|value| value.starts_with(home))
            })
            .collect()
    }
}

fn signal(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = kill_process(pid, signal);
    }
}
