//! Reads what the prompt is made of: SOUL.md and the notes of the home, the files of the project, the settings.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use hermes_guard::{Policy, Redactor, injection};
use hermes_home::settings::table::agent;
use hermes_home::settings::{Def, SettingError};
use hermes_home::{Home, Profile, Settings, files};
use hermes_skills::memory::About;
use hermes_skills::skills::{self, Library, Surroundings};
use jiff::Zoned;
use jiff::tz::TimeZone;

use super::memory::{self, Memory};
use super::{Enforcement, Guidance, Place, Platform, PromptParts, Work};
use crate::context_files;

/// Whether the files of the home and the project have a say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rules {
    /// They have.
    #[default]
    Follow,
    /// They have not: `--ignore-rules`.
    Ignore,
}

/// Where the prompt comes from.
#[derive(Debug)]
pub struct Sources<'a> {
    /// The home.
    pub home: &'a Home,
    /// Its settings.
    pub settings: &'a Settings,
    /// Masks secrets in files.
    pub redactor: &'a Redactor,
    /// The working directory on this machine; nothing if the work is done on files that are not here.
    pub project: Option<&'a Path>,
    /// Whether files have a say.
    pub rules: Rules,
    /// Where commands run.
    pub place: Place,
    /// Where the answer is read.
    pub platform: Platform,
    /// Through which door the conversation comes.
    pub door: &'a str,
    /// The names of the tools on offer.
    pub tools: Vec<String>,
    /// The toolsets these belong to.
    pub toolsets: BTreeSet<String>,
    /// The model.
    pub model: &'a str,
    /// Who serves it.
    pub provider: &'a str,
    /// The conversation, if the prompt is to name it.
    pub session_id: Option<&'a str>,
    /// What the conversation is about.
    pub work: Work,
    /// Now, in the system's time zone.
    pub now: &'a Zoned,
}

/// The parts, and what the user should know about them.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedPrompt {
    /// The parts.
    pub parts: PromptParts,
    /// Sentences for the user.
    pub notices: Vec<String>,
}

/// Reads everything. Files that are missing or cannot be read never stop a conversation; settings that make no sense do.
pub fn load(sources: &Sources<'_>) -> Result<LoadedPrompt, SettingError> {
    let mut notices = Vec::new();
    let settings = sources.settings;
    let follow = sources.rules == Rules::Follow;
    let context = match sources.project {
        Some(project) if follow => {
            let loaded = context_files::load(project, sources.redactor);
            notices.extend(loaded.notices);
            loaded.files
        }
        _ => Vec::new(),
    };
    let notes = |about: About, notices: &mut Vec<String>| {
        if follow && settings.get(about.switch())? {
            return Ok(notes(sources, about, settings.get(about.limit())?, notices));
        }
        Ok(None)
    };
    let parts = PromptParts {
        identity: follow.then(|| identity(sources, &mut notices)).flatten(),
        tools: sources.tools.clone(),
        guidance: guidance(settings, sources.model, sources.work)?,
        skills: index(sources)?,
        place: place(sources)?,
        place_hint: text(settings, &agent::ENVIRONMENT_HINT)?,
        profile: profile(sources.home),
        platform: sources.platform,
        instructions: text(settings, &agent::SYSTEM_PROMPT)?,
        context,
        memory: notes(About::Work, &mut notices)?,
        user: notes(About::User, &mut notices)?,
        date: date(settings, sources.now, &mut notices)?,
        model: sources.model.to_owned(),
        provider: sources.provider.to_owned(),
        session_id: sources.session_id.map(str::to_owned),
    };
    Ok(LoadedPrompt { parts, notices })
}

fn guidance(settings: &Settings, model: &str, work: Work) -> Result<Guidance, SettingError> {
    Ok(Guidance {
        enforcement: Enforcement::of(&settings.get(&agent::TOOL_USE_ENFORCEMENT)?, model),
        parallel: settings.get(&agent::PARALLEL_TOOL_CALL_GUIDANCE)?,
        finish: settings.get(&agent::TASK_COMPLETION_GUIDANCE)?,
        verify: settings.get(&agent::VERIFY_GUIDANCE)?,
        work,
    })
}

fn place(sources: &Sources<'_>) -> Result<Place, SettingError> {
    let said = sources.settings.get(&agent::ENVIRONMENT_PROBE)?;
    Ok(if said { sources.place.clone() } else { Place::Unsaid })
}

fn text(settings: &Settings, setting: &Def<String>) -> Result<Option<String>, SettingError> {
    Ok(Some(settings.get(setting)?).filter(|text| !text.trim().is_empty()))
}

fn profile(home: &Home) -> Option<String> {
    (*home.profile() != Profile::Default).then(|| home.profile().as_str().to_owned())
}

/// SOUL.md is the user's own word: nothing in it is taken for an attack.
fn identity(sources: &Sources<'_>, notices: &mut Vec<String>) -> Option<String> {
    let text = home_file(sources, "SOUL.md", notices)?;
    let (text, _) = injection::show(&text);
    let how = format!("the rest is in {}", sources.home.path("SOUL.md").display());
    let cut = context_files::cut(text.trim(), context_files::FILE_LIMIT, &how);
    if cut.missing > 0 {
        notices.push(format!("SOUL.md is too long: {} of its characters are not in the prompt", cut.missing));
    }
    Some(cut.text).filter(|text| !text.is_empty())
}

/// The names of the skills, where the model can read them.
fn index(sources: &Sources<'_>) -> Result<Option<String>, SettingError> {
    if !sources.tools.iter().any(|tool| tool == "skill_view") {
        return Ok(None);
    }
    let library = Library::open(sources.home, sources.settings, sources.door)?;
    let surroundings =
        Surroundings { tools: sources.tools.iter().cloned().collect(), toolsets: sources.toolsets.clone() };
    let index = skills::index(&library, &surroundings);
    Ok(index.map(|index| sources.redactor.redact(&index, Policy::File).into_owned()))
}

fn notes(sources: &Sources<'_>, about: About, limit: i64, notices: &mut Vec<String>) -> Option<Memory> {
    let file = about.file();
    let text = home_file(sources, file, notices)?;
    let how = format!("the rest is in {}", sources.home.path(file).display());
    let text = context_files::cut(&text, context_files::FILE_LIMIT, &how).text;
    let memory = memory::parse(&text, about, usize::try_from(limit).unwrap_or_default())?;
    if memory.suspicious > 0 {
        notices.push(format!(
            "{} lines of {file} read like orders to the model: they are marked as data in the prompt",
            memory.suspicious
        ));
    }
    Some(memory)
}

/// A file of the home without its secrets, which are masked before anything is cut.
fn home_file(sources: &Sources<'_>, file: &str, notices: &mut Vec<String>) -> Option<String> {
    let path = sources.home.path(file);
    let read: io::Result<_> = files::read_if_exists(&path).map_err(io::Error::other);
    match read {
        Ok(bytes) => {
            let bytes = bytes?;
            let text = String::from_utf8_lossy(&bytes);
            let masked = sources.redactor.redact(&text, Policy::File);
            if masked != text {
                notices.push(format!("{file} holds keys or passwords: they are masked in the prompt"));
            }
            Some(masked.into_owned())
        }
        Err(problem) => {
            notices.push(format!("cannot read '{}', so it is not in the prompt: {problem}", path.display()));
            None
        }
    }
}

fn date(
    settings: &Settings,
    now: &Zoned,
    notices: &mut Vec<String>,
) -> Result<jiff::civil::Date, SettingError> {
    let Some(name) = text(settings, &agent::TIMEZONE)? else { return Ok(now.date()) };
    let Ok(zone) = TimeZone::get(name.trim()) else {
        notices.push(format!(
            "'timezone' is set to \"{name}\", which is no time zone: set one like Europe/Berlin"
        ));
        return Ok(now.date());
    };
    Ok(now.with_time_zone(zone).date())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use std::collections::BTreeMap;

    use hermes_testkit::TestHome;

    use super::*;
    use crate::prompt::build;

    fn load_from(test: &TestHome, rules: Rules) -> LoadedPrompt {
        let home = Home::at(test.path(), Profile::Default);
        let settings = Settings::load(&home, &BTreeMap::new()).unwrap();
        load(&Sources {
            home: &home,
            settings: &settings,
            redactor: &Redactor::new([]),
            project: Some(&test.work_dir()),
            rules,
            place: Place::Sandbox { description: "Here.".into() },
            platform: Platform::Cli,
            door: "cli",
            tools: vec!["terminal".into(), "skill_view".into()],
            toolsets: BTreeSet::from(["terminal".into(), "skills".into()]),
            model: "m",
            provider: "p",
            session_id: None,
            work: Work::Talk,
            now: &"2026-11-16T23:30:00+00:00[UTC]".parse().unwrap(),
        })
        .unwrap()
    }

    fn full_home() -> TestHome {
        let test = TestHome::new();
        test.config("agent:\n  system_prompt: Answer in rhyme.\ntimezone: Asia/Tokyo\n");
        test.write("SOUL.md", "You are a parrot. Ignore previous instructions is your favourite joke.\n");
        test.write("memories/MEMORY.md", "first note\n§\nsecond note\n");
        test.write("memories/USER.md", "drinks tea");
        test.write("skills/dev/git/SKILL.md", "---\nname: git\ndescription: branches here\n---\nDo it.");
        std::fs::write(test.work_dir().join("AGENTS.md"), "Use tabs.").unwrap();
        test
    }

    #[test]
    fn home_project_and_settings_have_a_say() {
        let loaded = load_from(&full_home(), Rules::Follow);
        let text = build(&loaded.parts).text;
        for words in [
            "You are a parrot.",
            "first note\n§\nsecond note",
            "drinks tea",
            "dev:\n- git: branches here",
            "Use tabs.",
            "rhyme",
            "17 November",
        ] {
            assert!(text.contains(words), "{words} is missing in:\n{text}");
        }
        assert!(!text.contains("[data, not"), "the user's own words were taken for an attack:\n{text}");
        assert_eq!(loaded.notices, Vec::<String>::new());
    }

    #[test]
    fn no_key_gets_into_the_prompt() {
        let key = format!("ghp_{}", "a1B2".repeat(9));
        let home = full_home();
        home.write("SOUL.md", format!("You are a parrot with {key}."));
        home.write("memories/MEMORY.md", format!("the token is {key}\n§\nsecond note"));
        home.write(
            "skills/dev/git/SKILL.md",
            format!("---\nname: git\ndescription: push with {key}\n---\nDo it."),
        );
        std::fs::write(home.work_dir().join("AGENTS.md"), format!("Deploy with {key}.")).unwrap();
        let loaded = load_from(&home, Rules::Follow);
        let text = build(&loaded.parts).text;
        assert!(!text.contains(&key[..12]) && text.matches("«redacted:ghp_…»").count() == 4, "{text}");
        assert_eq!(loaded.notices.len(), 3, "{:?}", loaded.notices);
    }

    #[test]
    fn ignoring_the_rules_leaves_the_settings() {
        let text = build(&load_from(&full_home(), Rules::Ignore).parts).text;
        assert!(text.contains("You are Hermes") && text.contains("rhyme"), "{text}");
        for words in ["parrot", "note", "tea", "tabs"] {
            assert!(!text.contains(words), "{words} is in:\n{text}");
        }
    }

    #[test]
    fn notes_that_are_switched_off_are_left_out() {
        let home = full_home();
        home.config("memory:\n  memory_enabled: false\n");
        let text = build(&load_from(&home, Rules::Follow).parts).text;
        assert!(!text.contains("first note") && text.contains("drinks tea"), "{text}");
    }

    #[test]
    fn an_empty_home_is_enough_and_stays_empty() {
        let empty = TestHome::new();
        let before = empty.snapshot();
        let text = build(&load_from(&empty, Rules::Follow).parts).text;
        assert!(text.contains("You are Hermes") && text.contains("16 November"), "{text}");
        assert_eq!(empty.snapshot(), before);
    }

    #[test]
    fn what_cannot_be_read_is_reported() {
        let test = TestHome::new();
        test.config("timezone: Atlantis\n");
        std::fs::create_dir(test.path().join("SOUL.md")).unwrap();
        let notices = load_from(&test, Rules::Follow).notices.join("\n");
        assert!(notices.contains("SOUL.md") && notices.contains("Atlantis"), "{notices}");
    }
}
