//! `hermes logs`: the last records of a log, filtered, and what is added to it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use hermes_guard::{Policy, Redactor};
use hermes_home::logging::{Component, Follower, Level, LogFile, Query, Record, Unfinished, tail};
use jiff::{SignedDuration, Timestamp, Zoned};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Serialize;

use crate::app::App;
use crate::logging;
use crate::ui::{self, WrongUsage};

/// Show what was logged, newest last
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A record with a traceback counts as one. Rotated files (agent.log.1, …) are read when they are needed. Following goes \
on across rotation and ends with Ctrl-C.

Examples:
  hermes logs                          the last 50 records of agent.log
  hermes logs -f                       and everything that is added
  hermes logs errors --since 1d        warnings and errors of the last day
  hermes logs --session 20260101_ab    one session
  hermes logs --component tools --level warning
  hermes logs list                     which logs there are")]
pub struct Args {
    /// agent, errors, gateway, the name of another log, or `list`
    #[arg(value_name = "LOG", default_value = "agent")]
    log: String,

    /// How many records to show [default: 50; with --since all]
    #[arg(short = 'n', long, value_name = "COUNT")]
    lines: Option<usize>,

    /// Go on showing what is added
    #[arg(short = 'f', long)]
    follow: bool,

    /// Only this level and above: debug, info, warning, error, critical
    #[arg(long, value_name = "LEVEL")]
    level: Option<Level>,

    /// Only the time since then: 30s, 10m, 2h, 1d
    #[arg(long, value_name = "TIME", value_parser = parse_age)]
    since: Option<SignedDuration>,

    /// Only records of the session, or that mention it; part of its id is enough
    #[arg(long, value_name = "ID")]
    session: Option<String>,

    /// Only this part of the program: gateway, agent, tools, cli, cron, gui, sandbox, board
    #[arg(long, value_name = "NAME")]
    component: Option<Component>,

    /// One JSON object per record
    #[arg(long)]
    json: bool,
}

const DEFAULT_RECORDS: usize = 50;
/// The logs that exist in every home, sooner or later.
const USUAL: [&str; 3] = ["agent", "errors", "gateway"];
const PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };

/// Shows the records, or the list of logs.
pub fn run(args: &Args, app: &App) -> anyhow::Result<ExitCode> {
    let dir = app.home.logs_dir();
    if args.log == "list" {
        return list(&dir, args.json);
    }
    let log = find(&dir, &args.log)?;
    let query = Query {
        level: args.level,
        since: args.since.map(|age| (&Zoned::now() - age).datetime()),
        session: args.session.clone(),
        component: args.component,
    };
    let most = args.lines.or_else(|| args.since.is_none().then_some(DEFAULT_RECORDS));
    let unfinished = if args.follow { Unfinished::Leave } else { Unfinished::Show };
    let read = tail(&log, &query, most, unfinished)?;
    if read.records.is_empty() && most != Some(0) {
        ui::note(&nothing(&log, &query));
    }
    let redactor = logging::redactor(app);
    show(&read.records, &redactor, args.json)?;
    if args.follow {
        follow(Follower::new(log, read.end), &query, &redactor, args.json)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs until Ctrl-C, which ends the program the way it ends any other (a shell sees 130), or until the reader leaves.
fn follow(mut follower: Follower, query: &Query, redactor: &Redactor, json: bool) -> anyhow::Result<()> {
    let stdout = std::io::stdout();
    loop {
        let mut records = follower.poll()?;
        records.retain(|record| query.accepts(record));
        show(&records, redactor, json)?;
        // Asked for no event, `poll` reports only that the reader is gone: the pause and the check are one call.
        let mut watched = [PollFd::new(&stdout, PollFlags::empty())];
        match poll(&mut watched, Some(&PAUSE)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => return Ok(()),
            Err(_) => std::thread::sleep(Duration::from_nanos(PAUSE.tv_nsec as u64)),
        }
    }
}

fn show(records: &[Record], redactor: &Redactor, json: bool) -> anyhow::Result<()> {
    let mut text = String::new();
    for record in records {
        if json {
            text.push_str(&redactor.redact(&serde_json::to_string(&Line::of(record))?, Policy::Log));
        } else {
            // Lines of other programs may hold what ours would have masked.
            text.push_str(&ui::harmless(&redactor.redact(&record.text, Policy::Log)));
        }
        text.push('\n');
    }
    Ok(ui::print(&text)?)
}

#[derive(Serialize)]
struct Line<'a> {
    time: Option<String>,
    level: Option<&'static str>,
    session: Option<&'a str>,
    logger: Option<&'a str>,
    message: &'a str,
}

impl<'a> Line<'a> {
    fn of(record: &'a Record) -> Self {
        let head = record.head.as_ref();
        Self {
            time: head.map(|h| h.time.to_string()),
            level: head.map(|h| h.level.as_str()),
            session: head.and_then(|h| h.session.as_deref()),
            logger: head.map(|h| h.logger.as_str()),
            message: record.message(),
        }
    }
}

fn nothing(log: &LogFile, query: &Query) -> String {
    let path = log.path().display();
    if !log.path().exists() && log.predecessors().is_empty() {
        format!("nothing has been logged to {path} yet")
    } else if *query == Query::default() {
        format!("{path} is empty")
    } else {
        format!("no record in {path} matches")
    }
}

fn find(dir: &Path, name: &str) -> Result<LogFile, WrongUsage> {
    let stem = name.strip_suffix(".log").unwrap_or(name);
    let well_formed = stem.starts_with(|c: char| c.is_ascii_alphanumeric())
        && stem.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    let log = LogFile::new(dir, stem);
    if well_formed && (USUAL.contains(&stem) || log.path().is_file()) {
        return Ok(log);
    }
    let mut names: Vec<String> = USUAL.map(str::to_owned).to_vec();
    names.extend(logs(dir).into_iter().map(|(name, _)| name).filter(|n| !USUAL.contains(&n.as_str())));
    Err(WrongUsage(format!("there is no log \"{}\": use {} or list", ui::harmless(name), names.join(", "))))
}

/// `10m`, `2h`, `1d`, `45s`.
fn parse_age(text: &str) -> Result<SignedDuration, String> {
    let wrong =
        || format!("\"{text}\" is not a time: use a number and s, m, h or d, like 30s, 10m, 2h or 1d");
    let unit = text.chars().last().ok_or_else(wrong)?;
    let seconds = match unit.to_ascii_lowercase() {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        _ => return Err(wrong()),
    };
    let number: u32 = text[..text.len() - unit.len_utf8()].trim().parse().map_err(|_| wrong())?;
    // Far more than any log reaches back, and safe to subtract from any date.
    Ok(SignedDuration::from_secs((i64::from(number) * seconds).min(100 * 366 * 86_400)))
}

/// The logs of the directory by name.
fn logs(dir: &Path) -> Vec<(String, PathBuf)> {
    let entries = dir.read_dir().into_iter().flatten().flatten();
    let mut logs: Vec<(String, PathBuf)> = entries
        .filter(|entry| entry.path().is_file())
        .filter_map(|entry| {
            let name = entry.file_name().to_str()?.strip_suffix(".log")?.to_owned();
            Some((name, entry.path()))
        })
        .collect();
    logs.sort();
    logs
}

#[derive(Serialize)]
struct Listed {
    name: String,
    path: PathBuf,
    bytes: u64,
    rotated: usize,
    rotated_bytes: u64,
    modified: Option<String>,
}

fn list(dir: &Path, json: bool) -> anyhow::Result<ExitCode> {
    let size = |path: &Path| path.metadata().map_or(0, |m| m.len());
    let listed: Vec<Listed> = logs(dir)
        .into_iter()
        .map(|(name, path)| {
            let older = LogFile::new(dir, &name).predecessors();
            let modified = path.metadata().and_then(|m| m.modified()).ok();
            let modified = modified.and_then(|t| Timestamp::try_from(t).ok());
            Listed {
                bytes: size(&path),
                rotated: older.len(),
                rotated_bytes: older.iter().map(|p| size(p)).sum(),
                modified: modified.map(|t| t.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()),
                name,
                path,
            }
        })
        .collect();
    if json {
        ui::print_json(&listed)?;
    } else if listed.is_empty() {
        ui::note(&format!("nothing has been logged to {} yet", dir.display()));
    } else {
        let rows: Vec<Vec<String>> = listed
            .iter()
            .map(|l| {
                vec![
                    ui::harmless(&l.name),
                    ui::size(l.bytes),
                    format!("{} ({})", l.rotated, ui::size(l.rotated_bytes)),
                    l.modified.clone().unwrap_or_default(),
                ]
            })
            .collect();
        ui::print(&ui::table(&["LOG", "SIZE", "ROTATED", "LAST WRITTEN"], &rows))?;
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_read_strictly() {
        assert_eq!(parse_age("90s"), Ok(SignedDuration::from_secs(90)));
        assert_eq!(parse_age("2H"), Ok(SignedDuration::from_hours(2)));
        assert_eq!(parse_age("1d"), Ok(SignedDuration::from_hours(24)));
        assert!(parse_age("4000000000d").is_ok_and(|d| Zoned::now().checked_sub(d).is_ok()));
        for bad in ["", "10", "m", "-1h", "1.5h", "2w", "1h30m", "10ä", "99999999999s"] {
            assert!(parse_age(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn control_characters_are_shown_and_not_obeyed() {
        assert_eq!(ui::harmless("a\tb\n\u{1b}[31m\u{9b}ä"), "a\tb\n\\u{1b}[31m\\u{9b}ä");
    }
}
