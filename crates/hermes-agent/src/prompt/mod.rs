//! The system prompt: built once for a conversation and sent with every request, byte for byte the same.
//!
//! What seldom changes stands first and what changes from day to day last, so that providers find as much as possible of
//! it in their caches. [`build`] is pure; [`load`] reads what it needs from the home and the project.

mod guidance;
mod load;
mod memory;
mod place;
mod platform;

use std::fmt::Write as _;
use std::path::PathBuf;

use jiff::civil::Date;
use serde::Serialize;

use crate::context_files::ContextFile;

pub use guidance::{Enforcement, Guidance, Work};
pub use hermes_skills::memory::About;
pub use load::{LoadedPrompt, Rules, Sources, load};
pub use memory::{Memory, parse as parse_memory};
pub use place::{HostFacts, Place};
pub use platform::Platform;

/// Who the agent is when no SOUL.md says otherwise.
const IDENTITY: &str = "\
You are Hermes, an agent that gets work done with tools for the person who runs you.
Look before you claim: read the file, run the command. Do what was asked and no more. Ask before anything that cannot be \
undone. Say plainly what you did, what you left out and what failed. Be brief and concrete.";

/// Everything the prompt is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct PromptParts {
    /// Who the agent is: SOUL.md, or nothing for our own words.
    pub identity: Option<String>,
    /// The names of the tools on offer.
    pub tools: Vec<String>,
    /// What the model is told about working with them.
    pub guidance: Guidance,
    /// The skills there are, by name; nothing without any.
    pub skills: Option<String>,
    /// Where commands run.
    pub place: Place,
    /// A sentence of the user about it.
    pub place_hint: Option<String>,
    /// The profile, if it is not the default one.
    pub profile: Option<String>,
    /// Where the answer is read.
    pub platform: Platform,
    /// What the caller adds.
    pub instructions: Option<String>,
    /// What the project says, outermost first.
    pub context: Vec<ContextFile>,
    /// What the agent noted in earlier conversations.
    pub memory: Option<Memory>,
    /// What it noted about the user.
    pub user: Option<Memory>,
    /// Today. No time of day: it would make every prompt a new one.
    pub date: Date,
    /// The model.
    pub model: String,
    /// Who serves it.
    pub provider: String,
    /// The conversation, for those who want it there.
    pub session_id: Option<String>,
}

/// A part of the prompt, for those who ask what fills it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "part", content = "of")]
pub enum Part {
    /// Who the agent is.
    Identity,
    /// How to work with the tools.
    Guidance,
    /// The skills there are.
    Skills,
    /// Where commands run.
    Environment,
    /// How to write for the platform.
    Platform,
    /// What the caller adds.
    Instructions,
    /// A file of the project.
    ContextFile(PathBuf),
    /// The notes.
    Memory,
    /// The notes about the user.
    UserProfile,
    /// Date, model and conversation.
    Facts,
}

/// How much of the prompt a part takes, the blank line before it included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PartSize {
    /// The part.
    #[serde(flatten)]
    pub part: Part,
    /// Its bytes.
    pub bytes: usize,
}

/// A system prompt.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SystemPrompt {
    /// What is sent.
    pub text: String,
    /// What it is made of, in order. The sizes add up to the length of the text.
    pub parts: Vec<PartSize>,
}

/// Builds the prompt. The same parts give the same bytes.
pub fn build(parts: &PromptParts) -> SystemPrompt {
    let mut prompt = SystemPrompt::default();
    prompt.add(Part::Identity, parts.identity.as_deref().unwrap_or(IDENTITY));
    prompt.add(Part::Guidance, &parts.guidance.text(&parts.tools));
    prompt.add(Part::Skills, parts.skills.as_deref().unwrap_or_default());
    prompt.add(Part::Environment, &environment(parts));
    prompt.add(Part::Platform, parts.platform.hint());
    prompt.add(Part::Instructions, parts.instructions.as_deref().unwrap_or_default());
    for (place, file) in parts.context.iter().enumerate() {
        prompt.add(Part::ContextFile(file.path.clone()), &context(place, file));
    }
    let notes = |memory: &Option<Memory>| memory.as_ref().map(Memory::block).unwrap_or_default();
    prompt.add(Part::Memory, &notes(&parts.memory));
    prompt.add(Part::UserProfile, &notes(&parts.user));
    prompt.add(Part::Facts, &facts(parts));
    prompt
}

impl SystemPrompt {
    fn add(&mut self, part: Part, text: &str) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        let before = self.text.len();
        if before > 0 {
            self.text.push_str("\n\n");
        }
        self.text.push_str(text);
        self.parts.push(PartSize { part, bytes: self.text.len() - before });
    }
}

fn environment(parts: &PromptParts) -> String {
    let mut text = parts.place.describe();
    for extra in
        [&parts.place_hint, &parts.profile.as_ref().map(|name| profile_note(name))].into_iter().flatten()
    {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(extra.trim());
    }
    text
}

fn profile_note(name: &str) -> String {
    format!("You run as the profile \"{name}\", which has its own settings, notes and sessions.")
}

/// The first file of a project also says what these files are.
fn context(place: usize, file: &ContextFile) -> String {
    let mut text = String::new();
    if place == 0 {
        text.push_str(
            "# What the project says\nFollow these files for work in their directories; a later one counts more. \
             The user's own words count most.\n\n",
        );
    }
    let _ = write!(text, "## {}\n\n{}", file.path.display(), file.text.trim());
    text
}

fn facts(parts: &PromptParts) -> String {
    let mut text = format!("Today is {}.", parts.date.strftime("%A, %-d %B %Y"));
    let _ = write!(text, "\nModel: {} ({}).", parts.model, parts.provider);
    if let Some(id) = &parts.session_id {
        let _ = write!(text, "\nSession: {id}");
    }
    text
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(crate) fn parts() -> PromptParts {
        PromptParts {
            identity: None,
            tools: ["memory", "patch", "process", "read_file", "terminal", "todo", "write_file"]
                .map(str::to_owned)
                .to_vec(),
            guidance: Guidance { enforcement: Enforcement::Insist, ..Guidance::default() },
            skills: None,
            place: Place::Host(HostFacts {
                system: "Linux 6.1 (x86_64)".into(),
                user_home: "/home/ada".into(),
                cwd: "/home/ada/project".into(),
                repository: Some("/home/ada/project".into()),
            }),
            place_hint: None,
            profile: Some("work".into()),
            platform: Platform::Cli,
            instructions: None,
            context: Vec::new(),
            memory: None,
            user: None,
            date: jiff::civil::date(2026, 11, 16),
            model: "gpt-5".into(),
            provider: "openai".into(),
            session_id: Some("20261116_101112_abcdef".into()),
        }
    }

    #[test]
    fn everything_but_the_project_is_small() {
        let prompt = build(&parts());
        assert!(prompt.text.len() < 2_500, "{} bytes:\n{}", prompt.text.len(), prompt.text);
    }

    #[test]
    fn the_same_parts_give_the_same_bytes_and_sizes_that_add_up() {
        let mut parts = parts();
        parts.context = vec![ContextFile { path: "/p/AGENTS.md".into(), text: "Use tabs.".into() }];
        parts.memory = parse_memory("likes tea\n§\nuses vim", About::Work, 2200);
        parts.instructions = Some("Answer in rhyme.".into());
        let (one, two) = (build(&parts), build(&parts));
        assert_eq!(one, two);
        assert_eq!(one.parts.iter().map(|part| part.bytes).sum::<usize>(), one.text.len());
        let places = ["Answer in rhyme.", "Use tabs.", "uses vim", "Today is Monday, 16 November 2026."]
            .map(|words| one.text.find(words));
        assert!(places.is_sorted() && places[0].is_some(), "{places:?}\n{}", one.text);
    }

    #[test]
    fn the_users_own_identity_replaces_ours() {
        let prompt = build(&PromptParts { identity: Some("You are a parrot.".into()), ..parts() });
        assert!(prompt.text.starts_with("You are a parrot.\n\n") && !prompt.text.contains("You are Hermes"));
    }

    #[test]
    fn a_sandbox_hides_the_host() {
        let place =
            Place::Sandbox { description: "A Docker container (debian:12); work in /workspace.".into() };
        let prompt = build(&PromptParts { place, ..parts() });
        assert!(prompt.text.contains("/workspace") && !prompt.text.contains("/home/ada"), "{}", prompt.text);
    }

    #[test]
    fn nothing_is_said_about_tools_that_are_not_there() {
        let prompt = build(&PromptParts { tools: Vec::new(), ..parts() });
        assert!(!prompt.text.contains("tool call"), "{}", prompt.text);
        assert!(!prompt.parts.iter().any(|part| part.part == Part::Guidance));
    }

    proptest! {
        #[test]
        fn sizes_add_up_for_any_parts(
            identity in proptest::option::of("\\PC{0,40}"),
            instructions in proptest::option::of("\\PC{0,40}"),
            text in "\\PC{0,40}",
            model in "\\PC{0,10}",
        ) {
            let context = vec![ContextFile { path: "/p/AGENTS.md".into(), text }];
            let prompt = build(&PromptParts { identity, instructions, context, model, ..parts() });
            prop_assert_eq!(prompt.parts.iter().map(|part| part.bytes).sum::<usize>(), prompt.text.len());
        }
    }
}
