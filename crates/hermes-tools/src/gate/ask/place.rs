//! Where a command would run, and whether that and its line say all of what it does.

use std::path::Path;

use hermes_guard::command::{self, Context};

/// Where a program would be started now, with links followed where they can be.
pub(super) fn directory_of(sight: &Context<'_>) -> Option<String> {
    let directory = started_in(sight)?;
    let real = sight.resolve.and_then(|resolve| resolve(&directory));
    Some(real.unwrap_or(directory)).filter(|directory| directory.starts_with('/'))
}

/// Whether a line means the same in a new shell in this directory. One that lives on variables or functions of the shell, or on
/// what it wrote before, may mean something else the next time: nothing that lasts can be agreed to.
pub(super) fn stands_alone(line: &str, directory: &str, sight: &Context<'_>) -> bool {
    let starts = |sight: &Context<'_>| -> Vec<String> {
        command::look(line, sight).calls.iter().map(command::call::Call::shown).collect()
    };
    starts(sight) == starts(&Context { memory: None, cwd: Some(directory), ..*sight })
}

/// Where a program would be started now, as the shell names it.
pub(super) fn started_in(sight: &Context<'_>) -> Option<String> {
    command::look("true", sight).calls.into_iter().next()?.cwd
}

/// A directory for one command, from where the shell is.
pub(super) fn absolute(dir: &str, cwd: Option<&str>) -> Option<String> {
    if dir.starts_with(['~', '/']) {
        return Some(dir.to_owned());
    }
    Some(Path::new(cwd?).join(dir).to_string_lossy().into_owned())
}
