//! The `memory` tool: notes that outlive the conversation.

mod order;
mod outcome;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use hermes_guard::{Policy, Redactor};
use hermes_home::settings::{SettingError, table::memory as table};
use hermes_home::{Home, Settings};
use hermes_model::ToolSpec;
use hermes_skills::memory::{About, MemoryError, MemoryFile, Refusal};
use serde_json::{Value, json};

use crate::gate::{Answerer, Offer, Question, Reply, Words};
use crate::masked;
use crate::thread;
use crate::tool::{Arguments, Availability, Moment, Run, Running, Tool, ToolOutput};
use crate::workplace::lock;
use order::Order;

/// See the module.
pub struct Memory {
    /// The files that are switched on, or what is wrong with the settings.
    files: Result<Vec<(About, MemoryFile)>, String>,
    consent: Consent,
    redactor: Arc<Redactor>,
    /// Changes that could not be made since the user last said something, by conversation.
    failures: Mutex<HashMap<String, u32>>,
}

/// Whether the user has to agree to each change.
enum Consent {
    NotNeeded,
    Needed(Option<Arc<dyn Answerer>>),
}

/// Why a note with a key in it is not kept.
const SECRET: &str = "the note holds a key or password, which would be sent with every later conversation: nothing was kept. \
Note where it is instead; the user keeps keys with `hermes config set NAME`";

/// How often a model may try to make room in one turn.
const TRIES: u32 = 3;

impl Memory {
    /// The tool for a home. Nothing is read before the first call.
    pub fn new(
        home: &Home,
        settings: &Settings,
        person: Option<Arc<dyn Answerer>>,
        redactor: Arc<Redactor>,
    ) -> Self {
        let read = || -> Result<_, SettingError> {
            let mut files = Vec::new();
            for about in About::ALL {
                if settings.get(about.switch())? {
                    files.push((about, about.in_home(home, settings)?));
                }
            }
            Ok((files, settings.get(&table::MEMORY_WRITE_APPROVAL)?))
        };
        let (files, asks) = match read() {
            Ok((files, asks)) => (Ok(files), asks),
            Err(error) => (Err(error.to_string()), false),
        };
        let consent = if asks { Consent::Needed(person) } else { Consent::NotNeeded };
        Self { files, consent, redactor, failures: Mutex::default() }
    }

    async fn work(&self, run: Run<'_>) -> ToolOutput {
        let order = match Order::read(run.arguments) {
            Ok(order) => order,
            Err(problem) => return outcome::wrong(&problem),
        };
        let Some(file) = self.file(order.about) else {
            let problem =
                format!("notes about \"{}\" are switched off in the settings", order.about.as_str());
            return outcome::wrong(&problem);
        };
        // Notes are in every later prompt, in clear.
        if order.contents().any(|note| self.redactor.redact(note, Policy::File) != note) {
            return outcome::wrong(SECRET);
        }
        if let Some(refused) = self.ask(&order, &run).await {
            return refused;
        }
        let (file, operations) = (file.clone(), order.operations.clone());
        let work = move |_: &thread::Link| {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
            (file.change(&operations, i64::try_from(now).unwrap_or_default()), file)
        };
        match thread::run(run.cancel, work).await {
            thread::Outcome::Done((Ok(changed), file)) => outcome::changed(&order, &changed, &file),
            thread::Outcome::Done((Err(error), file)) => {
                let tries = self.count_failure(run.session, &error);
                let mut result = outcome::refused(&order, &error, &file, tries >= TRIES);
                // The user may have noted a key by hand.
                masked::value(&mut result, &self.redactor, Policy::File);
                ToolOutput::json(&result).failed()
            }
            thread::Outcome::Abandoned => ToolOutput::json(&json!({ "status": "interrupted" })),
            thread::Outcome::Broken => ToolOutput::error("the tool itself failed: see the log"),
        }
    }

    fn file(&self, about: About) -> Option<&MemoryFile> {
        let files = self.files.as_ref().ok()?;
        files.iter().find(|(known, _)| *known == about).map(|(_, file)| file)
    }

    /// Counts what a model can try again in vain; how often that was since the user last said something.
    fn count_failure(&self, session: &str, error: &MemoryError) -> u32 {
        let in_vain = matches!(
            error,
            MemoryError::Refused {
                refusal: Refusal::Full { .. } | Refusal::NoMatch { .. } | Refusal::Ambiguous { .. },
                ..
            }
        );
        let mut failures = lock(&self.failures);
        let count = failures.entry(session.to_owned()).or_default();
        *count += u32::from(in_vain);
        *count
    }

    /// Asks the user where the settings want it.
    async fn ask(&self, order: &Order, run: &Run<'_>) -> Option<ToolOutput> {
        let Consent::Needed(person) = &self.consent else { return None };
        let Some(person) = person else {
            return Some(outcome::wrong(
                "the user wants to be asked before the memory changes (memory.write_approval), and nobody is there",
            ));
        };
        let question = Question {
            subject: order.describe(),
            text: format!("Keep this change in {}?", order.about.file()),
            choices: Offer::yes_or_no(),
            words: Words::Refusal,
        };
        let reply = tokio::select! {
            reply = person.ask(&question) => reply,
            () = run.cancel.cancelled() => return Some(ToolOutput::json(&json!({ "status": "interrupted" }))),
        };
        match reply {
            Reply::Choice(0) => None,
            Reply::Text(words) => Some(outcome::wrong(&format!(
                "the user did not agree to this change, and said: {}",
                words.trim()
            ))),
            Reply::Choice(_) | Reply::Nobody => {
                Some(outcome::wrong("the user did not agree to this change; go on without it"))
            }
        }
    }
}

impl Tool for Memory {
    fn spec(&self) -> ToolSpec {
        ToolSpec { name: "memory".to_owned(), description: DESCRIPTION.to_owned(), parameters: parameters() }
    }

    fn toolset(&self) -> &'static str {
        "memory"
    }

    fn brief(&self, arguments: &Arguments) -> String {
        Order::read(arguments).map(|order| order.brief()).unwrap_or_default()
    }

    fn available(&self) -> Availability {
        match &self.files {
            Err(problem) => Availability::No { why: problem.clone() },
            Ok(files) if files.is_empty() => Availability::No {
                why: "memory.memory_enabled and memory.user_profile_enabled are off".to_owned(),
            },
            Ok(_) => Availability::Yes,
        }
    }

    fn tell(&self, session: &str, moment: Moment<'_>) {
        if matches!(moment, Moment::TurnBegins) {
            lock(&self.failures).remove(session);
        }
    }

    fn run<'a>(&'a self, run: Run<'a>) -> Running<'a> {
        Box::pin(self.work(run))
    }
}

const DESCRIPTION: &str = "Change the notes kept between conversations: target user for who the user is and what they \
prefer, memory for everything else. Short facts, no diary. old_text names an entry by a piece only it contains. Several \
changes go into one call as operations, all or none; that is how room is made when it is full.";

fn parameters() -> Value {
    let action = json!({ "type": "string", "enum": ["add", "replace", "remove"] });
    let text = json!({ "type": "string" });
    json!({
        "type": "object",
        "properties": {
            "target": { "type": "string", "enum": ["memory", "user"] },
            "action": action,
            "content": text,
            "old_text": text,
            "operations": { "type": "array", "items": {
                "type": "object",
                "properties": { "action": action, "content": text, "old_text": text },
                "required": ["action"]
            } }
        },
        "required": ["target"]
    })
}
