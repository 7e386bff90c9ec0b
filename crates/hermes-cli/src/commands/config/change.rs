//! The half of `hermes config` that changes something.

use std::io::{IsTerminal, Read};
use std::process::{Command, ExitCode};

use anyhow::Context;
use hermes_home::files::{self, Access};
use hermes_home::settings::{self, Changed, Origin};

use crate::app::App;
use crate::ui;

/// Sets a value and says where it went, and if something stronger hides it.
pub fn set(app: &App, key: &str, value: Option<String>) -> anyhow::Result<ExitCode> {
    let secret = settings::find(key).map_or_else(|| settings::looks_secret(key), settings::Spec::is_secret);
    let given_as_argument = value.is_some();
    let value = match value {
        Some(value) => value,
        None => match read_value(key, secret)? {
            // Enter, Ctrl-D or an empty pipe is no answer; `unset` is there for taking a value away.
            value if value.is_empty() => anyhow::bail!("no value was given for {key}: nothing was changed"),
            value => value,
        },
    };
    let changed = settings::set(&app.home, key, &value)?;
    if secret && given_as_argument && !value.is_empty() {
        ui::note(&format!(
            "note: the value is now in your shell's history; `hermes config set {key}` asks for it instead"
        ));
    }
    report(app, key, &changed, "written to");
    Ok(ExitCode::SUCCESS)
}

fn read_value(key: &str, secret: bool) -> anyhow::Result<String> {
    if std::io::stdin().is_terminal() {
        let question = format!("{key} = ");
        let line = if secret { ui::ask_hidden(&question)? } else { ui::ask(&question)? };
        return Ok(as_given(&line, secret));
    }
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).context("cannot read the value from standard input")?;
    Ok(as_given(&text, secret))
}

/// Blanks around a key come from copying it; anything else is kept as typed.
fn as_given(text: &str, secret: bool) -> String {
    if secret { text.trim().to_owned() } else { text.trim_end_matches(['\r', '\n']).to_owned() }
}

/// Removes a value.
pub fn unset(app: &App, key: &str) -> anyhow::Result<ExitCode> {
    match settings::unset(&app.home, key)? {
        Some(changed) => report(app, key, &changed, "removed from"),
        None if settings::find(key).is_some() => {
            ui::note(&format!("{key} is not set in {}", app.home.dir().display()));
        }
        // A key that is neither set nor known is a slip worth pointing out.
        None => return Err(settings::unknown(key).into()),
    }
    Ok(ExitCode::SUCCESS)
}

fn report(app: &App, key: &str, changed: &Changed, done: &str) {
    match changed {
        Changed::Written(file) => ui::note(&format!("{key}: {done} {}", file.display())),
        Changed::Unchanged(file) => ui::note(&format!("{key}: {} already has this value", file.display())),
    }
    let Some(spec) = settings::find(key) else { return };
    let Ok(Ok(found)) = app.settings().map(|s| s.resolve(spec)) else { return };
    match found.origin {
        Origin::Env(variable) if key != variable => {
            ui::warn(&format!(
                "the environment variable {variable} overrides it: unset {variable} to let it count"
            ));
        }
        Origin::DotEnv { variable, line, .. } if key != variable && !spec.is_secret() => ui::warn(&format!(
            "line {line} of .env ({variable}) overrides it: `hermes config unset {variable}` lets it count"
        )),
        _ => {}
    }
}

/// Opens the editor and checks what came out of it.
pub fn edit(app: &App) -> anyhow::Result<ExitCode> {
    let file = app.home.config_file();
    if !file.exists() {
        let head = "# Settings of hermes. `hermes config docs` lists them all.\n";
        files::write_atomic(&file, head.as_bytes(), Access::Keep)?;
    }
    let editor = ["VISUAL", "EDITOR"].into_iter().find_map(|v| app.var(v).filter(|e| !e.trim().is_empty()));
    if editor.is_none() && !std::io::stdin().is_terminal() {
        anyhow::bail!("there is no terminal to edit on: set EDITOR, or use `hermes config set`");
    }
    let editor = editor.unwrap_or("vi");
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or("vi");
    let status = Command::new(program).args(words).arg(&file).status().with_context(|| {
        format!("cannot start the editor \"{editor}\": set EDITOR to one that is installed")
    })?;
    if !status.success() {
        anyhow::bail!("the editor \"{editor}\" ended with {status}; {} is as it left it", file.display());
    }
    super::look::check(app, false)
}
