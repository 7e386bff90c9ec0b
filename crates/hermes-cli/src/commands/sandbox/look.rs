//! The commands that only look: ls, inspect, diff, df, logs.

use std::fmt::Write as _;
use std::process::ExitCode;

use hermes_sandbox::manage::{Details, Summary, Which};
use serde_json::json;

use super::Place;
use crate::ui;

/// Show where commands run, and the containers there are
#[derive(Debug, clap::Args)]
pub struct LsArgs {
    /// Also list containers of other profiles and homes
    #[arg(long)]
    all: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Show everything about one container
#[derive(Debug, clap::Args)]
pub struct InspectArgs {
    /// Its name or the beginning of its id [default: the one this profile uses]
    name: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Show in what a container differs from the settings
///
/// Exit code 1 if it differs, 0 if it does not.
#[derive(Debug, clap::Args)]
pub struct DiffArgs {
    /// Its name or the beginning of its id [default: the one this profile uses]
    name: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Show how much disk sandboxes take
#[derive(Debug, clap::Args)]
pub struct DfArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Show what a container's first process wrote
#[derive(Debug, clap::Args)]
pub struct LogsArgs {
    /// Its name or the beginning of its id [default: the one this profile uses]
    name: Option<String>,
    /// Last lines to show
    #[arg(short = 'n', long, default_value_t = 50)]
    lines: usize,
}

/// Lists.
pub fn ls(place: &Place, args: &LsArgs) -> anyhow::Result<ExitCode> {
    let which = if args.all { Which::All } else { Which::Ours };
    let found = if place.is_container() { place.manager()?.list(which)? } else { Vec::new() };
    if args.json {
        ui::print_json(&json!({"backend": place.backend(), "where": place.describe(), "sandboxes": found}))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = format!("Commands run {}\n", place.describe());
    if place.is_container() {
        text.push('\n');
        text.push_str(&listing(&found));
    }
    ui::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn listing(found: &[Summary]) -> String {
    if found.is_empty() {
        return "No container yet: the first command makes it.\n".to_owned();
    }
    let unknown = || "–".to_owned();
    let row = |s: &Summary| {
        vec![
            format!("{}{}", if s.current { "* " } else { "  " }, s.name),
            s.state.as_str().to_owned(),
            s.image.clone(),
            s.profile.clone(),
            s.scope.clone().unwrap_or_else(unknown),
            s.clients.map_or_else(unknown, |n| n.to_string()),
            s.running.map_or_else(unknown, |n| n.to_string()),
            s.idle_seconds.map_or_else(unknown, ago),
        ]
    };
    let rows: Vec<Vec<String>> = found.iter().map(row).collect();
    ui::table(&["  NAME", "STATE", "IMAGE", "PROFILE", "SCOPE", "CLIENTS", "RUNNING", "IDLE"], &rows)
}

/// A number of seconds as people say it.
pub fn ago(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds}s"),
        120..7200 => format!("{}m", seconds / 60),
        7200..172_800 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// Shows one.
pub fn inspect(place: &Place, args: &InspectArgs) -> anyhow::Result<ExitCode> {
    let details = place.manager()?.inspect(args.name.as_deref())?;
    if args.json {
        ui::print_json(&details)?;
    } else {
        ui::print(&page(&details))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn page(d: &Details) -> String {
    let mut text = String::new();
    let mut line = |label: &str, value: &str| {
        let _ = writeln!(text, "{label:<12}{value}");
    };
    line("name", &d.summary.name);
    line("id", &d.full_id);
    line("state", d.summary.state.as_str());
    line("image", &format!("{} ({})", d.summary.image, d.image_id));
    line("profile", &d.summary.profile);
    line("scope", d.summary.scope.as_deref().unwrap_or("–"));
    line("network", &d.network);
    if let Some(started) = d.started {
        line("started", &started.to_string());
    }
    if let Some(code) = d.exit_code {
        line("exit code", &format!("{code}{}", if d.out_of_memory { " (out of memory)" } else { "" }));
    }
    for mount in &d.mounts {
        line("mount", &format!("{} → {} ({})", mount.source, mount.target, mount.kind));
    }
    for limit in &d.limits {
        let note = if limit.enforced { "" } else { "   not enforced on this host" };
        line("limit", &format!("{} {}{note}", limit.limit, limit.wanted));
    }
    if !d.env.is_empty() {
        line("variables", &d.env.join(" "));
    }
    if let Some(agent) = &d.agent {
        line(
            "agent",
            &format!(
                "version {}, up {}, {} commands run",
                agent.version,
                ago(agent.uptime_seconds),
                agent.commands
            ),
        );
        line("jobs", &format!("{} running, {} ended", agent.jobs_running, agent.jobs_ended));
        for problem in &agent.problems {
            line("problem", problem);
        }
    }
    for difference in &d.drift {
        line("drift", &difference.to_string());
    }
    text
}

/// Compares.
pub fn diff(place: &Place, args: &DiffArgs) -> anyhow::Result<ExitCode> {
    let differences = place.manager()?.diff(args.name.as_deref())?;
    if args.json {
        ui::print_json(&differences)?;
    } else if differences.is_empty() {
        ui::print("It is as the settings say.")?;
    } else {
        let lines: Vec<String> = differences.iter().map(|d| format!("{d}\n")).collect();
        ui::print(&lines.concat())?;
        ui::note("`hermes sandbox recreate` applies the settings.");
    }
    Ok(if differences.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(ui::FAILED) })
}

/// Measures.
pub fn df(place: &Place, args: &DfArgs) -> anyhow::Result<ExitCode> {
    let used = place.manager()?.df()?;
    if args.json {
        ui::print_json(&used)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut rows = Vec::new();
    for (kind, items) in [("container", &used.containers), ("directory", &used.directories)] {
        rows.extend(items.iter().map(|u| vec![kind.to_owned(), u.what.clone(), size(u.bytes)]));
    }
    rows.push(vec!["program".to_owned(), used.programs.what.clone(), size(used.programs.bytes)]);
    rows.push(vec!["total".to_owned(), String::new(), size(used.total_bytes)]);
    ui::print(&ui::table(&["KIND", "WHAT", "SIZE"], &rows))?;
    Ok(ExitCode::SUCCESS)
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{:.1} KB", bytes as f64 / 1024.0),
        1_048_576..1_073_741_824 => format!("{:.1} MB", bytes as f64 / 1_048_576.0),
        _ => format!("{:.1} GB", bytes as f64 / 1_073_741_824.0),
    }
}

/// Prints the logs.
pub fn logs(place: &Place, args: &LogsArgs) -> anyhow::Result<ExitCode> {
    ui::print(&place.manager()?.logs(args.name.as_deref(), args.lines)?)?;
    Ok(ExitCode::SUCCESS)
}
