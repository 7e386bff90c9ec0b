//! `hermes profile`: homes of their own for agents that must not mix.

mod alias;
pub mod args;
mod change;
mod database;
mod look;
mod pack;

use std::path::Path;
use std::process::ExitCode;

use hermes_home::home::ChosenBy;
use hermes_home::profiles::Profiles;
use hermes_home::{HomeError, Profile};

use self::args::{Action, Args};
use crate::app::App;
use crate::ui;

/// What every subcommand works with.
struct Context {
    app: App,
    profiles: Profiles,
    /// Why the active profile cannot be used, when it cannot.
    broken: Option<HomeError>,
}

/// Runs a subcommand, or says which profile is active.
pub fn run(flag: Option<String>, args: Args) -> anyhow::Result<ExitCode> {
    let context = Context::open(flag)?;
    match args.action {
        None => look::active(context),
        Some(Action::List { json }) => look::list(&context, json),
        Some(Action::Show { target, json }) => look::show(&context.named_or_active(target)?, &context, json),
        Some(Action::Create(args)) => change::create(context, args),
        Some(Action::Use { target }) => change::use_profile(&context, &target),
        Some(Action::Rename { from, to }) => change::rename(&context, &from, &to),
        Some(Action::Delete(args)) => change::delete(&context, &args),
        Some(Action::Describe(args)) => change::describe(&context, args),
        Some(Action::Export(args)) => pack::export(&context, args),
        Some(Action::Import(args)) => pack::import(&context, &args),
        Some(Action::Alias(args)) => alias::run(&context, &args),
    }
}

impl Context {
    /// Finds the profiles. One that is active but gone must not keep its user from choosing another.
    fn open(flag: Option<String>) -> Result<Self, HomeError> {
        let (app, broken) = match App::open(flag) {
            Err(
                e @ (HomeError::BadActiveProfile { .. }
                | HomeError::NoSuchProfile { by: ChosenBy::ActiveProfile, .. }),
            ) => (App::open(Some("default".to_owned()))?, Some(e)),
            result => (result?, None),
        };
        let profiles = Profiles::new(app.home.root(), &app.user_home());
        Ok(Self { app, profiles, broken })
    }

    /// The active profile, if there is a working one.
    fn active(&self) -> Option<&Profile> {
        self.broken.is_none().then(|| self.app.home.profile())
    }

    fn named_or_active(&self, named: Option<Profile>) -> anyhow::Result<Profile> {
        match (named, self.active(), &self.broken) {
            (Some(profile), ..) => Ok(profile),
            (None, Some(profile), _) => Ok(profile.clone()),
            (None, None, Some(e)) => Err(ui::WrongUsage(format!("name a profile: {e}")).into()),
            (None, None, None) => Err(ui::WrongUsage("name a profile".to_owned()).into()),
        }
    }

    /// A path as people write it, with `~` for the user's home.
    fn shown(&self, path: &Path) -> String {
        ui::harmless(&match path.strip_prefix(self.app.user_home()) {
            Ok(below) if !self.app.user_home().as_os_str().is_empty() => format!("~/{}", below.display()),
            _ => path.display().to_string(),
        })
    }
}

/// Prints the lines of an answer and ends well.
fn done(lines: &[String]) -> anyhow::Result<ExitCode> {
    ui::print(&lines.join("\n"))?;
    Ok(ExitCode::SUCCESS)
}
