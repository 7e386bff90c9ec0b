//! `hermes profile create`, `use`, `rename`, `delete` and `describe`.

use std::path::PathBuf;
use std::process::ExitCode;

use hermes_home::home::ChosenBy;
use hermes_home::profile::{Profile, ProfileName};
use hermes_home::profiles::{
    Author, BundledSkills, CloneScope, Contents, Created, Deleted, Logins, NewProfile, ProfileError,
    StickyAfter,
};

use super::args::{Create, Delete, Describe};
use super::database::Sqlite;
use super::{Context, alias, done};
use crate::ui;

/// Makes a profile and its alias.
pub fn create(context: Context, args: Create) -> anyhow::Result<ExitCode> {
    let contents = contents(&args, &context);
    if let (Contents::Clone { .. }, None, Some(_)) = (&contents, &args.source.clone_from, &context.broken)
        && let Some(broken) = context.broken
    {
        return Err(broken.into());
    }
    let new = NewProfile { name: args.name, contents, description: args.description };
    let made = context.profiles.create(&new, &Sqlite)?;
    let mut lines = vec![format!("created profile \"{}\" at {}", new.name, context.shown(&made.path))];
    if let Contents::Clone { source, scope } = &new.contents {
        lines.push(copied(source, *scope));
    }
    let alias = if args.no_alias { None } else { alias::try_add(&context, &new.name) };
    lines.extend(alias.clone());
    lines.push(usage(&new.name));
    let ended = done(&lines)?;
    warn_about_clone(&made);
    if alias.is_some() {
        alias::hint_about_path(&context);
    }
    Ok(ended)
}

fn contents(args: &Create, context: &Context) -> Contents {
    let source = args.source.clone_from.clone().unwrap_or_else(|| context.app.home.profile().clone());
    match (args.source.clone_all, args.source.clone || args.source.clone_from.is_some()) {
        (true, _) => Contents::Clone { source, scope: CloneScope::All },
        (false, true) => Contents::Clone { source, scope: CloneScope::Settings },
        (false, false) if args.no_skills => Contents::Fresh(BundledSkills::Refused),
        (false, false) => Contents::Fresh(BundledSkills::Wanted),
    }
}

fn copied(source: &Profile, scope: CloneScope) -> String {
    match scope {
        CloneScope::Settings => {
            format!("copied the settings, keys, persona, skills and memory of \"{source}\"")
        }
        CloneScope::All => format!("copied \"{source}\" without its caches, backups and running processes"),
    }
}

/// How to go on with a new profile.
pub fn usage(name: &ProfileName) -> String {
    format!("use it once with `hermes -p {name}`, or from now on with `hermes profile use {name}`")
}

fn warn_about_clone(made: &Created) {
    if !made.left_out.is_empty() {
        ui::warn(&format!("sockets, pipes and devices were not copied: {}", joined(&made.left_out)));
    }
    if made.logins == Logins::Copied {
        ui::note(
            "note: logins in auth.json were copied too. Services that renew a login only once will sign one of the \
             two profiles out: sign in again in the new one.",
        );
    }
}

/// A few paths in one line.
pub fn joined(paths: &[PathBuf]) -> String {
    const SHOWN: usize = 5;
    let mut shown: Vec<String> =
        paths.iter().take(SHOWN).map(|p| ui::harmless(&p.display().to_string())).collect();
    if paths.len() > SHOWN {
        shown.push(format!("and {} more", paths.len() - SHOWN));
    }
    shown.join(", ")
}

/// Makes a profile the active one.
pub fn use_profile(context: &Context, profile: &Profile) -> anyhow::Result<ExitCode> {
    let dir = context.profiles.use_profile(profile)?;
    if context.app.home.chosen_by() == ChosenBy::HermesHome {
        ui::warn(
            "HERMES_HOME points to a profile and wins over this choice: unset it to use the active profile",
        );
    }
    done(&[format!("the active profile is now \"{profile}\" ({})", context.shown(&dir))])
}

/// Renames a profile.
pub fn rename(context: &Context, from: &Profile, to: &ProfileName) -> anyhow::Result<ExitCode> {
    let Profile::Named(from) = from else {
        return Err(ProfileError::Default { doing: "renamed" }.into());
    };
    let renamed = context.profiles.rename(from, to, &alias::surroundings(context))?;
    let mut lines =
        vec![format!("renamed profile \"{from}\" to \"{to}\" ({})", context.shown(&renamed.path))];
    if renamed.active == StickyAfter::Moved {
        lines.push(format!("the active profile is now \"{to}\""));
    }
    if !renamed.aliases.is_empty() {
        lines.push(format!("alias: {}", renamed.aliases.join(", ")));
    }
    if let Some(reason) = renamed.lost_alias {
        ui::warn(&format!("the alias \"{from}\" was removed and has no successor: {reason}"));
        ui::note(&format!("`hermes profile alias {to} --name ALIAS` makes another one"));
    }
    done(&lines)
}

/// Deletes a profile after asking.
pub fn delete(context: &Context, args: &Delete) -> anyhow::Result<ExitCode> {
    let dir = context.profiles.deletable(&args.target)?;
    if !args.yes {
        ui::note(&format!(
            "This deletes everything in {}: settings, keys, memory, sessions, skills and scheduled jobs.",
            context.shown(&dir)
        ));
        let answer = ui::ask("Type the name of the profile to delete it: ")?;
        if answer.trim() != args.target.as_str() {
            if !answer.ends_with('\n') {
                ui::note("");
            }
            ui::note("nothing was deleted (`-y` answers the question)");
            return Ok(ExitCode::from(ui::FAILED));
        }
    }
    let deleted = context.profiles.delete(&args.target)?;
    report_deleted(context, &args.target, &deleted)
}

fn report_deleted(context: &Context, profile: &Profile, deleted: &Deleted) -> anyhow::Result<ExitCode> {
    let first = match &deleted.kept {
        Some(kept) => format!(
            "removed the link {}; the directory {} it led to was left alone",
            context.shown(&deleted.path),
            context.shown(kept)
        ),
        None => format!("deleted profile \"{profile}\" ({})", context.shown(&deleted.path)),
    };
    let mut lines = vec![first];
    lines.extend(deleted.aliases.iter().map(|alias| format!("removed the alias {}", context.shown(alias))));
    if deleted.active == StickyAfter::Moved {
        lines.push("the active profile is now \"default\"".to_owned());
    }
    if let Some(problem) = &deleted.alias_problem {
        ui::warn(&format!("an alias is left that leads nowhere: {problem}"));
    }
    if let Some((remains, why)) = &deleted.remains {
        ui::warn(&format!("some files could not be removed ({why}): remove {} by hand", remains.display()));
    }
    done(&lines)
}

/// Shows or sets a description.
pub fn describe(context: &Context, args: Describe) -> anyhow::Result<ExitCode> {
    let profile = context.named_or_active(args.target)?;
    let Some(text) = args.text else {
        let description = context.profiles.description(&profile)?;
        if description.text.is_empty() {
            ui::note(&format!(
                "profile \"{profile}\" has no description: `hermes profile describe {profile} --text TEXT` sets one"
            ));
            return Ok(ExitCode::SUCCESS);
        }
        let author = if description.written_by == Author::Model { " (written by a model)" } else { "" };
        return done(&[format!("{}{author}", ui::harmless(&description.text))]);
    };
    context.profiles.describe(&profile, &text)?;
    let what = if text.trim().is_empty() { "removed" } else { "set" };
    done(&[format!("{what} the description of profile \"{profile}\"")])
}
