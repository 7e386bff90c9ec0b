//! The half of `hermes config` that only looks.

use std::fmt::Write as _;
use std::process::ExitCode;

use hermes_home::settings::{self, Finding, Origin, Severity, Spec};
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::ui;

/// Prints what is set: value and origin, a section at a time.
pub fn show(app: &App, all: bool, as_json: bool) -> anyhow::Result<ExitCode> {
    let loaded = app.settings()?;
    let mut text = String::new();
    let mut list = Vec::new();
    let mut defaults = 0;
    for (section, specs) in settings::sections() {
        let mut lines = String::new();
        for spec in specs {
            let (value, origin) = match loaded.resolve(spec) {
                Ok(found) => (settings::masked(spec, &found.value), found.origin),
                Err(e) => (json!(format!("unusable: {}", e.found)), e.origin),
            };
            if origin == Origin::Default && !all {
                defaults += 1;
                continue;
            }
            list.push(json!({"key": spec.key, "value": value, "origin": origin.to_string()}));
            let from = if origin == Origin::Default {
                String::new()
            } else {
                format!("   # {}", short(app, &origin))
            };
            let _ = writeln!(lines, "  {} = {}{from}", spec.key, shortened(&settings::shown(&value)));
        }
        if !lines.is_empty() {
            let title = if section.chars().all(|c| c.is_ascii_uppercase() || c == '_') {
                "environment"
            } else {
                section
            };
            if !text.contains(&format!("{title}\n")) {
                let _ = writeln!(text, "{title}");
            }
            text.push_str(&lines);
        }
    }
    for entry in undeclared(&loaded) {
        let value = "***";
        list.push(json!({"key": entry.name, "value": value, "origin": format!(".env:{}", entry.line)}));
        if !text.contains("environment\n") {
            text.push_str("environment\n");
        }
        let _ = writeln!(text, "  {} = {value}   # .env:{}", entry.name, entry.line);
    }
    if as_json {
        ui::print_json(
            &json!({"home": app.home.dir(), "profile": app.home.profile().as_str(), "settings": list}),
        )?;
        return Ok(ExitCode::SUCCESS);
    }
    let head = format!("Home: {}   Profile: {}\n\n", app.home.dir().display(), app.home.profile());
    let rest = if all {
        String::new()
    } else {
        format!("\n{defaults} settings are at their defaults: `hermes config --all` lists them.\n")
    };
    let nothing = if text.is_empty() { "Nothing is set.\n" } else { "" };
    ui::print(&format!("{head}{text}{nothing}{rest}"))?;
    Ok(ExitCode::SUCCESS)
}

/// Lines of `.env` that are no settings of ours: keys for other programs, kept under any name.
fn undeclared(loaded: &settings::Settings) -> impl Iterator<Item = &settings::dotenv::Entry> {
    let known = |name: &str| {
        settings::find(name).is_some()
            || settings::all().any(|s| s.is_secret() && s.secret_variable() == name)
    };
    loaded.sources().dotenv.entries().iter().filter(move |e| !known(&e.name))
}

const SHOWN: usize = 200;

fn shortened(text: &str) -> String {
    match text.chars().count() {
        0..=SHOWN => text.to_owned(),
        long => format!("{}… ({long} characters)", text.chars().take(SHOWN).collect::<String>()),
    }
}

/// Paths inside the home are shown by their name: the home itself is already in the first line.
fn short(app: &App, origin: &Origin) -> String {
    origin.to_string().replace(&format!("{}/", app.home.dir().display()), "")
}

/// Prints one value for scripts, or a section as JSON.
pub fn get(app: &App, key: &str, reveal: bool) -> anyhow::Result<ExitCode> {
    let loaded = app.settings()?;
    let value_of = |spec: &Spec| -> anyhow::Result<Value> {
        let value = loaded.resolve(spec)?.value;
        Ok(if reveal { value } else { settings::masked(spec, &value) })
    };
    let prefix = format!("{key}.");
    if settings::all().any(|s| s.key.starts_with(&prefix)) {
        let mut section = Map::new();
        for spec in settings::all().filter(|s| s.key.starts_with(&prefix)) {
            section.insert(spec.key[prefix.len()..].to_owned(), value_of(spec)?);
        }
        ui::print_json(&section)?;
        return Ok(ExitCode::SUCCESS);
    }
    let value = match settings::find(key) {
        Some(spec) => value_of(spec)?,
        None if settings::is_variable(key) => match loaded.variable(key) {
            Some(text) if reveal => Value::from(text),
            Some(_) => Value::from("***"),
            None => return Err(settings::unknown(key).into()),
        },
        None => inside(app, key)?,
    };
    ui::print(&format!("{}\n", settings::shown(&value)))?;
    Ok(ExitCode::SUCCESS)
}

/// A key inside a free-form setting, such as `providers.mine.base_url`.
fn inside(app: &App, key: &str) -> anyhow::Result<Value> {
    let loaded = app.settings()?;
    let mut above = key;
    while let Some((parent, _)) = above.rsplit_once('.') {
        above = parent;
        if let Some(spec) = settings::find(parent).filter(|s| s.key == parent) {
            let tree = settings::masked(spec, &loaded.resolve(spec)?.value);
            let pointer = format!("/{}", key[parent.len() + 1..].replace('.', "/"));
            return Ok(tree.pointer(&pointer).cloned().unwrap_or(Value::Null));
        }
    }
    Err(settings::unknown(key).into())
}

/// Prints findings, worst first.
pub fn check(app: &App, as_json: bool) -> anyhow::Result<ExitCode> {
    let findings = settings::check(&app.settings()?);
    let failed = findings.iter().any(|f| f.severity == Severity::Error);
    if as_json {
        ui::print_json(&findings)?;
    } else {
        ui::print(&report(app, &findings))?;
    }
    Ok(if failed { ExitCode::from(ui::FAILED) } else { ExitCode::SUCCESS })
}

fn report(app: &App, findings: &[Finding]) -> String {
    if findings.is_empty() {
        return format!("{}: everything is in order.", app.home.config_file().display());
    }
    let mut text = String::new();
    for f in findings {
        let mark = if f.severity == Severity::Error { "error" } else { "warning" };
        let subject = if f.key.is_empty() { String::new() } else { format!("{} ", f.key) };
        let _ = writeln!(text, "{mark}: {}: {subject}{}\n    → {}", f.place, f.problem, f.fix);
    }
    text
}

/// Prints everything about one setting.
pub fn explain(app: &App, key: &str, as_json: bool) -> anyhow::Result<ExitCode> {
    let spec = settings::find(key).ok_or_else(|| settings::unknown(key))?;
    let e = settings::explain(&app.settings()?, spec);
    if as_json {
        ui::print_json(&e)?;
        return Ok(ExitCode::SUCCESS);
    }
    let quoted = |v: &Value| if v.is_null() { "(not set)".to_owned() } else { v.to_string() };
    let value = e.error.as_ref().map_or_else(|| quoted(&e.value), |_| "(unusable)".to_owned());
    let mut text = format!("{}: {}\n\n  value      {value}\n  from       {}\n", e.key, e.doc, e.origin);
    if let Some(error) = &e.error {
        let _ = writeln!(text, "  error      {error}");
    }
    for (value, place) in &e.overrode {
        let _ = writeln!(text, "  overrode   {} from {place}", quoted(value));
    }
    let _ = writeln!(text, "  default    {}\n  holds      {}", quoted(&e.default), e.wants);
    if let Some(variable) = e.variable {
        let _ = writeln!(text, "  variable   {variable}");
    }
    let _ = writeln!(text, "  a change   {}\n  set with   {}", e.takes_effect, e.set_with);
    ui::print(&text)?;
    Ok(if e.error.is_some() { ExitCode::from(ui::FAILED) } else { ExitCode::SUCCESS })
}
