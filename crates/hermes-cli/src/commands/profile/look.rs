//! `hermes profile`, `hermes profile list` and `hermes profile show`.

use std::process::ExitCode;

use hermes_home::Profile;
use hermes_home::home::ChosenBy;
use hermes_home::profiles::{Author, Details, Summary};
use serde::Serialize;

use super::{Context, done};
use crate::ui;

/// Which profile is active, where it is and why.
pub fn active(context: Context) -> anyhow::Result<ExitCode> {
    if let Some(broken) = context.broken {
        return Err(broken.into());
    }
    let home = &context.app.home;
    let details = context.profiles.show(home.profile())?;
    let mut rows =
        vec![("Active profile", home.profile().to_string()), ("Why", why(home.chosen_by()).to_owned())];
    rows.extend(facts(&context, &details));
    done(&aligned(&rows))
}

fn why(chosen_by: ChosenBy) -> &'static str {
    match chosen_by {
        ChosenBy::Flag => "named with -p",
        ChosenBy::HermesHome => "HERMES_HOME points to it",
        ChosenBy::ActiveProfile => "chosen with `hermes profile use`",
        ChosenBy::Nothing => "no other was chosen",
    }
}

/// Lists all profiles.
pub fn list(context: &Context, json: bool) -> anyhow::Result<ExitCode> {
    let all = context.profiles.list()?;
    if let Some(broken) = &context.broken {
        ui::warn(&broken.to_string());
    }
    if json {
        let shown: Vec<_> = all.iter().map(|s| Shown::new(context, s)).collect();
        ui::print_json(&shown)?;
        return Ok(ExitCode::SUCCESS);
    }
    let rows: Vec<Vec<String>> = all.iter().map(|s| row(context, s)).collect();
    ui::print(&ui::table(&["", "PROFILE", "MODEL", "GATEWAY", "ALIAS", "PATH", "DESCRIPTION"], &rows))?;
    Ok(ExitCode::SUCCESS)
}

fn row(context: &Context, summary: &Summary) -> Vec<String> {
    let dash = || "-".to_owned();
    let mark = if context.active() == Some(&summary.profile) { "*" } else { "" };
    vec![
        mark.to_owned(),
        summary.profile.to_string(),
        summary.model.as_ref().map_or_else(dash, |m| one_line(&m.name)),
        if summary.gateway.is_some() { "running".to_owned() } else { dash() },
        if summary.aliases.is_empty() { dash() } else { summary.aliases.join(", ") },
        place(context, summary),
        shortened(&summary.description.text),
    ]
}

/// The path, and where it really leads.
fn place(context: &Context, summary: &Summary) -> String {
    let path = context.shown(&summary.path);
    match (&summary.link_to, &summary.same_as) {
        (Some(_), Some(twin)) => format!("{path} -> profile {twin}"),
        (Some(real), None) => format!("{path} -> {}", context.shown(real)),
        (None, Some(twin)) => format!("{path} (same directory as {twin})"),
        (None, None) => path,
    }
}

/// Text from a profile in one line of ours, where it cannot pretend to be more than one.
fn one_line(text: &str) -> String {
    ui::harmless(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

const WIDEST_DESCRIPTION: usize = 60;

/// One line of a description.
fn shortened(text: &str) -> String {
    let line = one_line(text);
    if line.chars().count() <= WIDEST_DESCRIPTION {
        return line;
    }
    line.chars().take(WIDEST_DESCRIPTION - 1).chain(['…']).collect()
}

/// Shows one profile.
pub fn show(profile: &Profile, context: &Context, json: bool) -> anyhow::Result<ExitCode> {
    let details = context.profiles.show(profile)?;
    if json {
        ui::print_json(&ShownDetails::new(context, &details))?;
        return Ok(ExitCode::SUCCESS);
    }
    let active = if context.active() == Some(profile) { " (active)" } else { "" };
    let mut rows = vec![("Profile", format!("{profile}{active}"))];
    rows.extend(facts(context, &details));
    rows.push(("Skills", details.skills.to_string()));
    rows.push(("Files", if details.files.is_empty() { "-".to_owned() } else { details.files.join(", ") }));
    done(&aligned(&rows))
}

/// What is worth saying about a profile, line by line.
fn facts(context: &Context, details: &Details) -> Vec<(&'static str, String)> {
    let summary = &details.summary;
    let mut rows = vec![("Path", place(context, summary))];
    if let Some(model) = &summary.model {
        let provider = model.provider.as_ref().map(|p| format!(" ({})", one_line(p))).unwrap_or_default();
        rows.push(("Model", format!("{}{provider}", one_line(&model.name))));
    }
    let gateway = summary.gateway.as_ref().map(|g| format!("running (process {})", g.pid));
    rows.push(("Gateway", gateway.unwrap_or_else(|| "not running".to_owned())));
    if !summary.aliases.is_empty() {
        rows.push(("Alias", summary.aliases.join(", ")));
    }
    if !summary.description.text.is_empty() {
        let author =
            if summary.description.written_by == Author::Model { " (written by a model)" } else { "" };
        rows.push(("Description", format!("{}{author}", one_line(&summary.description.text))));
    }
    rows
}

/// Labels in one column, values in the next.
fn aligned(rows: &[(&str, String)]) -> Vec<String> {
    let width = rows.iter().map(|(label, _)| label.len() + 1).max().unwrap_or(0);
    rows.iter().map(|(label, value)| format!("{:<width$}  {value}", format!("{label}:"))).collect()
}

/// A profile in JSON.
#[derive(Serialize)]
struct Shown<'a> {
    name: &'a str,
    path: String,
    real_path: Option<String>,
    same_as: Option<&'a str>,
    active: bool,
    model: Option<&'a str>,
    provider: Option<&'a str>,
    description: &'a str,
    description_auto: bool,
    aliases: &'a [String],
    gateway_running: bool,
    gateway_pid: Option<i32>,
}

impl<'a> Shown<'a> {
    fn new(context: &Context, summary: &'a Summary) -> Self {
        let model = summary.model.as_ref();
        Self {
            name: summary.profile.as_str(),
            path: summary.path.display().to_string(),
            real_path: summary.path.canonicalize().ok().map(|p| p.display().to_string()),
            same_as: summary.same_as.as_ref().map(Profile::as_str),
            active: context.active() == Some(&summary.profile),
            model: model.map(|m| m.name.as_str()),
            provider: model.and_then(|m| m.provider.as_deref()),
            description: &summary.description.text,
            description_auto: summary.description.written_by == Author::Model,
            aliases: &summary.aliases,
            gateway_running: summary.gateway.is_some(),
            gateway_pid: summary.gateway.as_ref().map(|g| g.pid),
        }
    }
}

/// A profile in JSON, with more about it.
#[derive(Serialize)]
struct ShownDetails<'a> {
    #[serde(flatten)]
    summary: Shown<'a>,
    skills: usize,
    files: &'a [&'static str],
}

impl<'a> ShownDetails<'a> {
    fn new(context: &Context, details: &'a Details) -> Self {
        Self { summary: Shown::new(context, &details.summary), skills: details.skills, files: &details.files }
    }
}
