//! Starting over: the settings of some parts leave config.yaml. Keys stay in `.env`, and the old file is kept beside.

use hermes_home::files::{self, Access};
use hermes_home::settings::table::{model, terminal};
use hermes_home::settings::{self, Change, Origin, Settings};

use super::Section;
use crate::app::App;
use crate::ui::{self, WrongUsage};

/// Takes the settings out; false if somebody said no.
pub fn run(app: &App, sections: &[Section], yes: bool, silent: bool) -> anyhow::Result<bool> {
    let settings = app.settings()?;
    let changes: Vec<Change> = sections
        .iter()
        .flat_map(|section| of(*section))
        .filter(|change| is_in_file(&settings, change))
        .collect();
    if changes.is_empty() {
        ui::note("There is nothing to take back: these settings have their defaults.");
        return Ok(true);
    }
    ui::note("These settings leave config.yaml:");
    for change in &changes {
        ui::note(&format!("  {}", change.key));
    }
    if !yes && silent {
        return Err(WrongUsage("--reset asks first: add --yes where nobody can be asked".into()).into());
    }
    if !yes && !ui::confirm("Take them out?")? {
        return Ok(false);
    }
    let file = app.home.config_file();
    if let Some(before) = files::read_if_exists(&file)? {
        let copy = app.home.path("config.yaml.before-reset");
        files::write_atomic(&copy, &before, Access::Private)?;
        ui::note(&format!("The old file is kept as {}", copy.display()));
    }
    settings::apply(&app.home, &changes)?;
    Ok(true)
}

fn of(section: Section) -> Vec<Change> {
    match section {
        Section::Model => vec![
            Change::unset(&model::DEFAULT),
            Change::unset(&model::PROVIDER),
            Change::unset(&model::BASE_URL),
            Change::unset(&model::API_KEY),
            Change::unset(&model::KEY_ENV),
            Change::unset(&model::API_MODE),
            Change::unset(&model::CONTEXT_LENGTH),
            Change::unset(&model::PRICE),
        ],
        Section::Terminal => vec![
            Change::unset(&terminal::BACKEND),
            Change::unset(&terminal::DOCKER_IMAGE),
            Change::unset(&terminal::SSH_HOST),
            Change::unset(&terminal::SSH_USER),
            Change::unset(&terminal::SSH_PORT),
            Change::unset(&terminal::SSH_KEY),
        ],
        _ => Vec::new(),
    }
}

fn is_in_file(settings: &Settings, change: &Change) -> bool {
    let Some(spec) = settings::find(change.key) else { return false };
    // A value that cannot be used stands in the file too.
    settings.candidates(spec).any(|found| match found {
        Ok(found) => matches!(found.origin, Origin::File { .. }),
        Err(error) => matches!(error.origin, Origin::File { .. }),
    })
}
