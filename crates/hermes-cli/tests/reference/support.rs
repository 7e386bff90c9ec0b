//! Both programs, run on one home.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_testkit::{Finished, Hermes, TestHome, need};

/// Starting the Python program takes seconds, on a busy machine many.
const LIMIT: Duration = Duration::from_mins(2);

/// Where the Python program is: `HERMES_REFERENCE` names its `hermes`.
pub fn reference() -> Option<PathBuf> {
    let found = std::env::var_os("HERMES_REFERENCE").map(PathBuf::from).filter(|p| p.exists());
    need(
        "the Python program",
        found.ok_or("HERMES_REFERENCE does not name it (scripts/test --reference installs it)"),
    )
}

/// Runs our program.
pub fn ours(home: &TestHome, args: &[&str]) -> Finished {
    Hermes::new(env!("CARGO_BIN_EXE_hermes"), home).args(args).run()
}

/// Runs the Python program.
pub fn theirs(program: &Path, home: &TestHome, args: &[&str]) -> Finished {
    Hermes::new(program, home).args(args).limit(LIMIT).run()
}

/// A script for the interpreter that the Python program is installed in.
pub fn their_script(program: &Path, home: &TestHome, script: &str) -> Hermes {
    Hermes::new(program.with_file_name("python"), home).args(["-c", script]).limit(LIMIT)
}
