//! What to do when something a test needs is missing: fail where nothing may be skipped, else skip visibly.

use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::Write;

/// What a missing need does to a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// The test fails.
    Fail,
    /// The test is skipped with a line that says so.
    Skip,
}

impl Policy {
    /// Fail in continuous integration (`CI=true`) or where `HERMES_TEST_NO_SKIP=1` is set, else skip.
    pub fn from_env(variable: impl Fn(&str) -> Option<String>) -> Self {
        let on = |name| variable(name).is_some_and(|value| matches!(value.as_str(), "1" | "true"));
        if on("CI") || on("HERMES_TEST_NO_SKIP") { Self::Fail } else { Self::Skip }
    }
}

/// Gives what the test needs, or None after a skip line; fails the test where nothing may be skipped.
///
/// ```no_run
/// # use hermes_testkit::{Engine, need};
/// let Some(engine) = need("a container engine", Engine::get()) else { return };
/// ```
///
/// Runners hide the output of passing tests, so the line is also added to the file that
/// `HERMES_TEST_SKIP_LOG` names, if it is set.
#[track_caller]
pub fn need<T, E: Display>(what: &str, got: Result<T, E>) -> Option<T> {
    let reason = match got {
        Ok(value) => return Some(value),
        Err(reason) => reason,
    };
    let thread = std::thread::current();
    let line = format!("SKIPPED {}: it needs {what}: {reason}", thread.name().unwrap_or("a test"));
    match Policy::from_env(|name| std::env::var(name).ok()) {
        Policy::Fail => panic!("this test needs {what}, and nothing may be skipped here: {reason}"),
        Policy::Skip => report(&line),
    }
    None
}

#[allow(clippy::print_stderr, reason = "a skipped test must be seen")]
fn report(line: &str) {
    eprintln!("{line}");
    if let Some(path) = std::env::var_os("HERMES_TEST_SKIP_LOG") {
        let written = OpenOptions::new().create(true).append(true).open(&path);
        if let Err(error) = written.and_then(|mut file| writeln!(file, "{line}")) {
            eprintln!("cannot note the skip in '{}': {error}", path.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_clear_settings_forbid_skipping() {
        let with = |pair: Option<(&'static str, &'static str)>| {
            Policy::from_env(move |name| {
                pair.filter(|(key, _)| *key == name).map(|(_, value)| value.to_owned())
            })
        };
        assert_eq!(with(None), Policy::Skip);
        assert_eq!(with(Some(("CI", "true"))), Policy::Fail);
        assert_eq!(with(Some(("CI", "false"))), Policy::Skip);
        assert_eq!(with(Some(("HERMES_TEST_NO_SKIP", "1"))), Policy::Fail);
        assert_eq!(with(Some(("HERMES_TEST_NO_SKIP", ""))), Policy::Skip);
    }
}
