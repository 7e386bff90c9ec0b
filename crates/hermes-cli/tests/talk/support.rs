//! A home with a scripted model behind it.

use std::path::PathBuf;
use std::time::Duration;

use hermes_testkit::{Finished, Hermes, ModelServer, TestHome, wait_until};
use serde_json::Value;

/// The binary under test.
pub const HERMES: &str = env!("CARGO_BIN_EXE_hermes");

/// How long something may take to happen.
pub const LIMIT: Duration = Duration::from_secs(30);

/// A home and the model its settings name.
pub struct Talk {
    pub home: TestHome,
    pub server: ModelServer,
}

impl Talk {
    /// A model that answers by this script.
    pub fn with(script: &str) -> Self {
        let (home, server) = (TestHome::new(), ModelServer::scripted(script));
        home.config_for(&server);
        Self { home, server }
    }

    /// The same, with these lines at the end of the settings.
    pub fn with_settings(script: &str, settings: &str) -> Self {
        let talk = Self::with(script);
        let config = talk.home.read("config.yaml");
        talk.home.config(format!("{config}{settings}"));
        talk
    }

    /// `hermes ARGS`, ready to run.
    pub fn command(&self, args: &[&str]) -> Hermes {
        Hermes::new(HERMES, &self.home).args(args)
    }

    /// Runs `hermes ARGS`.
    pub fn run(&self, args: &[&str]) -> Finished {
        self.command(args).run()
    }

    /// A file in the work directory.
    pub fn file(&self, name: &str) -> PathBuf {
        self.home.work_dir().join(name)
    }

    /// Waits until no process of this home has any of these words in its command line.
    #[track_caller]
    pub fn nothing_runs_with(&self, word: &str) {
        let gone = || self.home.processes().iter().all(|process| !process.command.contains(word));
        wait_until(LIMIT, "every process a command started ends", gone);
    }

    /// Everything the logs hold.
    pub fn logs(&self) -> String {
        let listing = std::fs::read_dir(self.home.path().join("logs")).into_iter().flatten().flatten();
        listing.map(|file| std::fs::read_to_string(file.path()).unwrap_or_default()).collect()
    }
}

/// The events that `--json` printed.
#[track_caller]
pub fn events(printed: &str) -> Vec<Value> {
    let event = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    printed.lines().map(event).collect()
}

/// The session that `--json` named; the last line may be cut off.
#[track_caller]
pub fn session_of(printed: &str) -> String {
    let events = printed.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let started = events.into_iter().find(|event| event["type"] == "turn_started").expect("a turn began");
    started["session_id"].as_str().unwrap().to_owned()
}

/// A call of the terminal tool, as a line of a script.
pub fn runs(command: &str) -> String {
    format!("call terminal {}", serde_json::json!({"command": command}))
}
