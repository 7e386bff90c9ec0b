//! The logger as a program uses it: events in, lines in files out.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use hermes_guard::Redactor;
use hermes_home::logging::{Level, Limit, LogConfig, Logger, Surroundings};
use jiff::civil::date;

fn surroundings(troubles: &Arc<Mutex<Vec<String>>>) -> Surroundings {
    let troubles = Arc::clone(troubles);
    Surroundings {
        clock: Box::new(|| date(2026, 11, 15).at(20, 54, 14, 735_000_000)),
        redactor: Box::new(|| Redactor::new(["sk-secret-value".to_owned()])),
        on_trouble: Box::new(move |error| troubles.lock().unwrap().push(error.to_string())),
    }
}

/// Runs `work` with a logger for `dir` and gives what it complained about.
fn logged(dir: &Path, level: Level, work: impl FnOnce()) -> Vec<String> {
    let troubles: Arc<Mutex<Vec<String>>> = Arc::default();
    let config = LogConfig { level, ..LogConfig::default() };
    tracing::subscriber::with_default(Logger::new(dir, config, surroundings(&troubles)), work);
    Arc::into_inner(troubles).unwrap().into_inner().unwrap()
}

const AT: &str = "2026-11-15 20:54:14,735";

#[test]
fn levels_go_to_their_files() {
    let dir = tempfile::tempdir().unwrap();
    let logs = dir.path().join("logs");
    logged(&logs, Level::Info, || {
        tracing::debug!(target: "hermes_tools::x", "fine");
        tracing::info!(target: "hermes_tools::x", count = 3, name = "two words", plain = "one", "started");
        tracing::warn!(target: "hyper::client", "not ours, but a warning");
        tracing::info!(target: "hyper::client", "not ours");
        tracing::error!(target: "hermes_tools::x", error = %"broken", "failed");
    });
    let agent = fs::read_to_string(logs.join("agent.log")).unwrap();
    assert_eq!(
        agent,
        format!(
            "{AT} INFO tools.x: started count=3 name=\"two words\" plain=one\n\
             {AT} WARNING hyper.client: not ours, but a warning\n\
             {AT} ERROR tools.x: failed error=broken\n"
        )
    );
    let errors = fs::read_to_string(logs.join("errors.log")).unwrap();
    assert_eq!(errors.lines().count(), 2);
}

#[test]
fn nothing_is_created_before_the_first_record() {
    let dir = tempfile::tempdir().unwrap();
    logged(&dir.path().join("logs"), Level::Warning, || tracing::info!(target: "hermes_x", "not wanted"));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn the_session_is_that_of_the_innermost_span_that_has_one() {
    let dir = tempfile::tempdir().unwrap();
    logged(dir.path(), Level::Info, || {
        let session = tracing::info_span!(target: "hermes_agent", "turn", session = "s_1");
        let later = tracing::debug_span!(target: "hermes_agent", "other", session = tracing::field::Empty);
        session.in_scope(|| {
            tracing::info!(target: "hermes_agent", "one");
            let inner = tracing::info_span!(target: "hermes_agent", "step", number = 2);
            inner.in_scope(|| tracing::info!(target: "hermes_agent", "two"));
            let carried = tracing::Span::current();
            std::thread::scope(|scope| {
                let dispatch = tracing::dispatcher::get_default(Clone::clone);
                scope.spawn(move || {
                    tracing::dispatcher::with_default(&dispatch, || {
                        tracing::info!(target: "hermes_agent", "elsewhere");
                        carried.in_scope(|| tracing::info!(target: "hermes_agent", "three"));
                    });
                });
            });
        });
        tracing::info!(target: "hermes_agent", parent: &session, "four");
        later.record("session", "s_2");
        later.in_scope(|| tracing::info!(target: "hermes_agent", "five"));
        tracing::info!(target: "hermes_agent", "six");
    });
    let lines = fs::read_to_string(dir.path().join("agent.log")).unwrap();
    let expected = ["[s_1] agent: one", "[s_1] agent: two", "agent: elsewhere", "[s_1] agent: three"];
    let expected = expected.iter().chain(&["[s_1] agent: four", "[s_2] agent: five", "agent: six"]);
    let expected: Vec<String> = expected.map(|rest| format!("{AT} INFO {rest}")).collect();
    assert_eq!(lines.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn secrets_are_masked_wherever_they_are() {
    let dir = tempfile::tempdir().unwrap();
    logged(dir.path(), Level::Info, || {
        let error = std::io::Error::other("refused sk-secret-value");
        let error: &(dyn std::error::Error + 'static) = &error;
        tracing::error!(target: "hermes_x", key = "sk-secret-value", error, "sent sk-secret-value");
    });
    for file in ["agent.log", "errors.log"] {
        let text = fs::read_to_string(dir.path().join(file)).unwrap();
        assert!(text.contains("refused") && !text.contains("sk-secret-value"), "{text}");
    }
}

#[test]
fn a_directory_that_cannot_be_written_is_noted_once() {
    let dir = tempfile::tempdir().unwrap();
    let in_the_way = dir.path().join("logs");
    fs::write(&in_the_way, "a file").unwrap();
    let troubles = logged(&in_the_way, Level::Info, || {
        tracing::error!(target: "hermes_x", "one");
        tracing::error!(target: "hermes_x", "two");
    });
    assert_eq!(troubles.len(), 1, "{troubles:?}");
    assert!(troubles[0].contains("logs"), "{troubles:?}");
}

#[test]
fn a_huge_record_is_bounded() {
    let dir = tempfile::tempdir().unwrap();
    logged(dir.path(), Level::Info, || {
        let huge = "x".repeat(10_000_000);
        tracing::info!(target: "hermes_x", %huge, "start");
        tracing::info!(target: "hermes_x", "{huge}");
    });
    let text = fs::read_to_string(dir.path().join("agent.log")).unwrap();
    assert_eq!(text.lines().count(), 2);
    assert!(text.lines().all(|line| line.len() <= 16 * 1024 && line.ends_with("bytes cut]")));
}

const WRITERS: usize = 6;
const LINES: usize = 2000;

/// The body of one writer process of the next test; does nothing when run as a test of its own.
#[test]
fn writer_process() {
    let (Ok(dir), Ok(name)) = (std::env::var("LOGGING_TEST_DIR"), std::env::var("LOGGING_TEST_WRITER"))
    else {
        return;
    };
    let limit = Limit { max_bytes: 40_000, backups: 1000 };
    let config = LogConfig { level: Level::Info, agent: limit, errors: limit };
    let troubles = Arc::default();
    let logger = Logger::new(Path::new(&dir), config, surroundings(&troubles));
    tracing::subscriber::with_default(logger, || {
        for n in 0..LINES {
            tracing::info!(target: "hermes_x", "{name} {n} {} end", "x".repeat(n % 300));
        }
    });
    assert_eq!(*troubles.lock().unwrap(), Vec::<String>::new());
}

#[test]
fn several_processes_that_write_and_rotate_lose_and_tear_no_line() {
    let dir = tempfile::tempdir().unwrap();
    let start = |n: usize| {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "writer_process", "--test-threads=1"]);
        command.env("LOGGING_TEST_DIR", dir.path()).env("LOGGING_TEST_WRITER", format!("w{n}"));
        command.stdout(std::process::Stdio::null()).spawn().unwrap()
    };
    let children: Vec<_> = (0..WRITERS).map(start).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let mut seen = Vec::new();
    let mut files = 0;
    for entry in fs::read_dir(dir.path()).unwrap().map(Result::unwrap) {
        if !entry.file_name().to_string_lossy().starts_with("agent.log") {
            continue;
        }
        files += 1;
        assert!(entry.metadata().unwrap().len() <= 40_000 + 4_000, "{entry:?} is too large");
        for line in fs::read_to_string(entry.path()).unwrap().lines() {
            let message =
                line.strip_prefix(&format!("{AT} INFO x: ")).unwrap_or_else(|| panic!("torn: {line}"));
            let words: Vec<&str> = message.split(' ').collect();
            let [writer, n, filler, "end"] = words[..] else { panic!("torn: {line}") };
            assert_eq!(filler.len(), n.parse::<usize>().unwrap() % 300, "torn: {line}");
            seen.push((writer.to_owned(), n.parse::<usize>().unwrap()));
        }
    }
    assert!(files > 20, "rotated into only {files} files");
    seen.sort();
    let mut expected: Vec<_> =
        (0..WRITERS).flat_map(|w| (0..LINES).map(move |n| (format!("w{w}"), n))).collect();
    expected.sort();
    assert!(seen == expected, "{} lines instead of {}", seen.len(), expected.len());
}
