//! Where do commands run? Asked, tried, then saved.

use hermes_home::Settings;
use hermes_home::settings::table::terminal;
use hermes_home::settings::{self, Change, Origin};
use serde_json::json;

use super::super::sandbox::Place;
use crate::app::App;
use crate::prompt::{self, Enter, Left, Menu, Other, Picked};
use crate::ui;

const BACKENDS: [(&str, &str); 4] = [
    ("local", "on this machine, as you: nothing else is needed"),
    ("docker", "in a container: only what you share is seen from inside"),
    ("podman", "the same, with podman"),
    ("ssh", "on another machine"),
];

/// Asks where commands run, unless that is settled.
pub fn run(app: &App, everything: bool, quick: bool) -> anyhow::Result<()> {
    let settings = app.settings()?;
    let state = Place::of(app).and_then(|place| Ok((place.describe(), place.reachable()?)));
    match &state {
        Ok((place, _)) if !everything && (quick || is_chosen(&settings)) => {
            ui::note(&format!("Commands run {place}. Kept (hermes setup terminal changes it)."));
            return Ok(());
        }
        Ok(_) => {}
        Err(error) => ui::note(&format!("Where commands run cannot be used: {error:#}")),
    }
    loop {
        let changes = ask(&settings)?;
        let tried = changes.iter().fold(settings.clone(), with);
        ui::note("Trying it …");
        match Place::with(app, &tried).and_then(|place| place.try_out().map(|found| (place, found))) {
            Ok((place, found)) => {
                ui::note(&format!("  ok: {found}"));
                settings::apply(&app.home, &changes)?;
                ui::note(&format!("Commands run {}.", place.describe()));
                return Ok(());
            }
            Err(error) => {
                ui::note(&format!("  it does not work: {error:#}"));
                if !prompt::yes("Choose another place?", Enter::Yes)? {
                    return Err(Left.into());
                }
            }
        }
    }
}

fn is_chosen(settings: &Settings) -> bool {
    settings.resolve(&terminal::BACKEND.spec).is_ok_and(|found| found.origin != Origin::Default)
}

fn ask(settings: &Settings) -> anyhow::Result<Vec<Change>> {
    let now = settings.get(&terminal::BACKEND).unwrap_or_default();
    let rows: Vec<String> = BACKENDS.iter().map(|(name, what)| format!("{name:<10}{what}")).collect();
    let preset = BACKENDS.iter().position(|(name, _)| *name == now);
    let menu = Menu { title: "Where do commands run?", rows: &rows, preset, other: Other::Refused };
    let Picked::Row(place) = menu.pick()? else { return Err(Left.into()) };
    let name = BACKENDS[place].0;
    let mut changes = vec![Change::set(&terminal::BACKEND, name)];
    if name == "ssh" {
        changes.extend(ask_host(settings)?);
    }
    Ok(changes)
}

fn ask_host(settings: &Settings) -> anyhow::Result<Vec<Change>> {
    let now = settings.get(&terminal::SSH_HOST).unwrap_or_default();
    let enter = if now.is_empty() { String::new() } else { format!(", Enter for {now}") };
    let typed = loop {
        let typed = prompt::line(&format!("Host, or USER@HOST{enter}:"))?;
        match (typed.is_empty(), now.is_empty()) {
            (false, _) => break typed,
            (true, false) => return Ok(Vec::new()),
            (true, true) => ui::note("  a name or address, as for `ssh`"),
        }
    };
    let (user, host) =
        typed.split_once('@').map_or((None, typed.as_str()), |(user, host)| (Some(user), host));
    let user = user.map(|user| Change::set(&terminal::SSH_USER, user));
    Ok([Change::set(&terminal::SSH_HOST, host)].into_iter().chain(user).collect())
}

/// The settings as they would be.
fn with(settings: Settings, change: &Change) -> Settings {
    let value = change.to.clone().unwrap_or(json!(null));
    match change.key {
        "terminal.backend" => settings.with_flag(&terminal::BACKEND, value),
        "terminal.ssh_host" => settings.with_flag(&terminal::SSH_HOST, value),
        "terminal.ssh_user" => settings.with_flag(&terminal::SSH_USER, value),
        _ => settings,
    }
}
