//! Whether a profile's gateway runs: what its files say, checked against the processes there really are.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::walk::read_plain;

/// A running gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gateway {
    /// Its process.
    pub pid: i32,
    /// The file that names the process.
    pub evidence: PathBuf,
}

/// Looks for a live gateway of the profile at `dir` among the processes in `proc_dir` (`/proc`).
pub fn gateway(dir: &Path, proc_dir: &Path) -> Option<Gateway> {
    let pid_file = dir.join("gateway.pid");
    let state_file = dir.join("gateway_state.json");
    let by_pid = read(&pid_file).and_then(|text| pid_record(&text));
    let by_state = read(&state_file).and_then(|text| state_record(&text));
    [(by_pid, pid_file), (by_state, state_file)].into_iter().find_map(|(record, evidence)| {
        let record = record?;
        is_alive(&record, proc_dir).then_some(Gateway { pid: record.pid, evidence })
    })
}

/// What a file says about a gateway's process.
#[derive(Debug, PartialEq, Eq)]
struct Record {
    pid: i32,
    /// In clock ticks since boot; tells a process from a later one with the same number.
    start_time: Option<u64>,
}

fn read(path: &Path) -> Option<String> {
    read_plain(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// `gateway.pid` holds `{"pid": .., "start_time": ..}` or a bare number.
fn pid_record(text: &str) -> Option<Record> {
    let value: Value = serde_json::from_str(text.trim()).ok()?;
    match &value {
        Value::Number(_) => Some(Record { pid: pid(&value)?, start_time: None }),
        Value::Object(map) => Some(Record {
            pid: pid(map.get("pid")?)?,
            start_time: map.get("start_time").and_then(Value::as_u64),
        }),
        _ => None,
    }
}

/// `gateway_state.json` outlives its process, so it counts only with a start time and a state of being up.
fn state_record(text: &str) -> Option<Record> {
    let value: Value = serde_json::from_str(text).ok()?;
    let down = matches!(
        value.get("gateway_state").and_then(Value::as_str),
        None | Some("stopped" | "startup_failed")
    );
    let start_time = value.get("start_time").and_then(Value::as_u64);
    if down || start_time.is_none() {
        return None;
    }
    Some(Record { pid: pid(value.get("pid")?)?, start_time })
}

fn pid(value: &Value) -> Option<i32> {
    let number = value.as_i64().or_else(|| value.as_str()?.trim().parse().ok())?;
    i32::try_from(number).ok().filter(|pid| *pid > 0)
}

fn is_alive(record: &Record, proc_dir: &Path) -> bool {
    let process = proc_dir.join(record.pid.to_string());
    let Some(stat) = read(&process.join("stat")) else { return false };
    if state(&stat) == Some('Z') {
        return false;
    }
    match record.start_time {
        Some(recorded) => start_times(&stat).contains(&Some(recorded)),
        // Where command lines are hidden, it is safer to believe the file.
        None => read(&process.join("cmdline")).is_none_or(|line| looks_like_gateway(&line)),
    }
}

/// Whether a command line is that of either program's gateway.
fn looks_like_gateway(command_line: &str) -> bool {
    let line = command_line.to_lowercase();
    line.contains("hermes") && line.contains("gateway")
}

/// The fields after the command name, which may itself hold blanks and brackets.
fn after_name(stat: &str) -> &str {
    stat.rsplit_once(')').map_or("", |(_, rest)| rest)
}

fn state(stat: &str) -> Option<char> {
    after_name(stat).trim_start().chars().next()
}

/// Field 22, and what someone gets who counts blanks without minding the command name: recorded files hold either.
fn start_times(stat: &str) -> [Option<u64>; 2] {
    let number = |field: Option<&str>| field.and_then(|f| f.parse().ok());
    [number(after_name(stat).split_whitespace().nth(19)), number(stat.split_whitespace().nth(21))]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use std::fs;

    /// A profile and a made-up /proc with one process: number 4711, started at tick 990.
    fn fixture(state: char) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("proc/4711")).unwrap();
        fs::create_dir(dir.path().join("home")).unwrap();
        let stat = format!("4711 (my (odd) name) {state} 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 990 0 0");
        fs::write(dir.path().join("proc/4711/stat"), stat).unwrap();
        dir
    }

    fn found(dir: &tempfile::TempDir, file: &str, text: &str) -> Option<i32> {
        let path = dir.path().join("home").join(file);
        fs::write(&path, text).unwrap();
        let gateway = gateway(&dir.path().join("home"), &dir.path().join("proc"));
        fs::remove_file(path).unwrap();
        gateway.map(|g| g.pid)
    }

    #[test]
    fn a_live_process_is_found_by_either_form_of_the_pid_file() {
        let dir = fixture('S');
        assert_eq!(found(&dir, "gateway.pid", "4711\n"), Some(4711));
        assert_eq!(found(&dir, "gateway.pid", r#"{"pid": 4711, "kind": "x"}"#), Some(4711));
        assert_eq!(found(&dir, "gateway.pid", r#"{"pid": 4711, "start_time": 990}"#), Some(4711));
    }

    #[test]
    fn a_bare_number_counts_only_with_the_command_line_of_a_gateway() {
        let dir = fixture('S');
        let cmdline = dir.path().join("proc/4711/cmdline");
        for (line, counts) in [
            ("python\0-m\0hermes_cli.main\0gateway\0run\0", true),
            ("/opt/Hermes\0gateway\0", true),
            ("vim\0hermes.md\0", false),
            ("", false),
        ] {
            fs::write(&cmdline, line).unwrap();
            assert_eq!(found(&dir, "gateway.pid", "4711").is_some(), counts, "{line:?}");
            assert_eq!(found(&dir, "gateway.pid", r#"{"pid":4711,"start_time":990}"#), Some(4711));
        }
    }

    #[test]
    fn another_process_with_the_same_number_does_not_count() {
        let dir = fixture('S');
        assert_eq!(found(&dir, "gateway.pid", r#"{"pid": 4711, "start_time": 991}"#), None);
        assert_eq!(found(&dir, "gateway.pid", "4712"), None);
        assert_eq!(found(&dir, "gateway.pid", "-1"), None);
        assert_eq!(found(&dir, "gateway.pid", "garbage"), None);
        assert_eq!(found(&fixture('Z'), "gateway.pid", "4711"), None, "a zombie runs nothing");
    }

    #[test]
    fn the_state_file_counts_only_when_it_says_up_and_since_when() {
        let dir = fixture('S');
        let state = |state: &str, start: &str| {
            format!(r#"{{"pid":4711,"gateway_state":"{state}","start_time":{start}}}"#)
        };
        assert_eq!(found(&dir, "gateway_state.json", &state("running", "990")), Some(4711));
        assert_eq!(found(&dir, "gateway_state.json", &state("stopped", "990")), None);
        assert_eq!(found(&dir, "gateway_state.json", &state("running", "null")), None);
        assert_eq!(found(&dir, "gateway_state.json", &state("running", "991")), None);
    }
}
