//! Skills that are loaded before the first question.

use hermes_agent::assembly::Opening;
use hermes_guard::{Policy, Redactor, injection};
use hermes_model::Content;
use hermes_skills::skills::Library;

use crate::ui;

/// What the model is told of skills that were named, each with its text.
pub fn load(opening: &Opening, names: &[String]) -> anyhow::Result<Vec<Content>> {
    let names: Vec<&str> = names.iter().map(|name| name.trim()).filter(|name| !name.is_empty()).collect();
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let library = Library::open(&opening.home, &opening.settings, &opening.source)?;
    let redactor = Redactor::new(opening.settings.secret_values());
    let masked = |text: String| redactor.redact(&text, Policy::File).into_owned();
    names.into_iter().map(|name| Ok(Content::Text(masked(text(&library, name)?)))).collect()
}

fn text(library: &Library, name: &str) -> anyhow::Result<String> {
    let skill = library.find(name).map_err(|error| ui::WrongUsage(error.to_string()))?;
    let mut text = skill.text()?;
    if let Some(dir) = &skill.dir {
        text = text.replace("${HERMES_SKILL_DIR}", &dir.display().to_string());
    }
    let text = injection::disarm(&text).text;
    Ok(format!(
        "[The skill \"{}\" was loaded for this conversation. Follow it.]\n\n{}",
        skill.name,
        text.trim()
    ))
}
