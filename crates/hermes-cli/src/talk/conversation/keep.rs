//! What is written down or shown from files: saving, the history, settings, figures.

use std::path::Path;

use hermes_agent::SharedStore;
use hermes_agent::assembly::Opening;
use hermes_cli::chat::CommandOutcome;
use hermes_home::files;
use hermes_store::sessions::View;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Zoned};

use super::{AgentConversation, words};

impl AgentConversation {
    /// Writes the conversation to a file.
    pub(super) fn save(&self, path: Option<String>) -> CommandOutcome {
        let exported = self.store.lock().export(&self.id(), View::Active);
        let session = match exported {
            Ok(session) => session,
            Err(error) => return CommandOutcome::Failed(error.to_string()),
        };
        let path = if let Some(path) = path {
            self.opening.cwd.join(path)
        } else {
            let name = Zoned::now().strftime("hermes_conversation_%Y%m%d_%H%M%S.json").to_string();
            self.opening.home.path("sessions").join("saved").join(name)
        };
        match write(&path, &session) {
            Ok(()) => CommandOutcome::Said(format!("Written to {}.", path.display())),
            Err(error) => {
                CommandOutcome::Failed(format!("It cannot be written to {}: {error}", path.display()))
            }
        }
    }

    /// The conversation so far, from what is stored, so that it can be shown while a turn runs.
    pub(super) fn history(&self) -> CommandOutcome {
        if !self.worker.is_busy() {
            let shown = self.worker.with(|agent| words::history(agent.history()));
            return shown.map_or_else(super::gone, CommandOutcome::Said);
        }
        super::busy()
    }
}

fn write(path: &Path, session: &serde_json::Value) -> anyhow::Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    files::write_atomic(
        path,
        (serde_json::to_string_pretty(session)? + "\n").as_bytes(),
        files::Access::Private,
    )?;
    Ok(())
}

/// The settings in force that were changed, as markdown.
pub fn config(opening: &Opening) -> String {
    use hermes_home::settings::{self, Origin};
    let mut lines = Vec::new();
    for spec in settings::all() {
        if let Ok(resolved) = opening.settings.resolve(spec)
            && resolved.origin != Origin::Default
        {
            let value = settings::shown(&settings::masked(spec, &resolved.value));
            lines.push(format!("- `{}` {value} ({})", spec.key, resolved.origin));
        }
    }
    if lines.is_empty() {
        return "Everything is at its default.".to_owned();
    }
    lines.join("\n")
}

/// Figures of the last days.
pub fn insights(store: &SharedStore, days: u32) -> CommandOutcome {
    let since = Timestamp::now() - SignedDuration::from_hours(i64::from(days) * 24);
    let insights = store.lock().insights(since, None, &TimeZone::system());
    match insights {
        Ok(insights) => CommandOutcome::Said(format!(
            "```\n{}\n```",
            crate::commands::insights::page(&insights, days).trim_end()
        )),
        Err(error) => CommandOutcome::Failed(error.to_string()),
    }
}
