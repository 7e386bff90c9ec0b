//! The `clarify` tool: a question to the user.

use std::sync::Arc;

use hermes_model::ToolSpec;
use serde_json::{Value, json};

use crate::fields;
use crate::gate::{Answerer, Offer, Question, Reply, Waiting, Words};
use crate::tool::{Arguments, Availability, Run, Running, Tool, ToolOutput};

/// See the module.
pub struct Clarify {
    person: Option<Arc<dyn Answerer>>,
}

/// Answers for somebody who is not there: questions are asked, and left to whoever asked.
#[derive(Debug, Clone, Copy, Default)]
pub struct NobodyThere;

impl Answerer for NobodyThere {
    fn ask<'a>(&'a self, _: &'a Question) -> Waiting<'a, Reply> {
        Box::pin(std::future::ready(Reply::Nobody))
    }
}

/// How many answers are offered besides one's own words.
const CHOICES: usize = 4;
/// The offer to answer in one's own words.
const OWN_WORDS: &str = "Something else (in your own words)";
/// What the model gets when nobody answers.
const NOBODY: &str = "(no answer: nobody is there to ask. Decide yourself what serves the task best, and say what you assumed)";

impl Clarify {
    /// The tool; without a person it cannot work.
    pub fn new(person: Option<Arc<dyn Answerer>>) -> Self {
        Self { person }
    }

    async fn work(&self, run: Run<'_>) -> ToolOutput {
        let (question, choices) = match read(run.arguments) {
            Ok(read) => read,
            Err(problem) => return ToolOutput::error(problem),
        };
        let Some(person) = &self.person else { return ToolOutput::error("there is nobody to ask here") };
        let answer = tokio::select! {
            answer = ask(person.as_ref(), &question, &choices) => answer,
            () = run.cancel.cancelled() => return ToolOutput::json(&json!({ "status": "interrupted" })),
        };
        let offered = if choices.is_empty() { Value::Null } else { Value::from(choices) };
        let response = answer.unwrap_or_else(|| NOBODY.to_owned());
        ToolOutput::json(
            &json!({ "question": question, "choices_offered": offered, "user_response": response }),
        )
    }
}

fn read(arguments: &Arguments) -> Result<(String, Vec<String>), String> {
    let question = fields::needed(arguments, "question", "say what you want to know")?.trim().to_owned();
    let mut choices = fields::texts(arguments, "choices")?.unwrap_or_default();
    choices.dedup();
    choices.truncate(CHOICES);
    Ok((question, choices))
}

/// Asks; with choices, one's own words are one of them, and asked for in a second step.
async fn ask(person: &dyn Answerer, question: &str, choices: &[String]) -> Option<String> {
    let own = (!choices.is_empty()).then_some(OWN_WORDS);
    let offered = Offer::numbered(choices.iter().map(String::as_str).chain(own));
    let text = question.to_owned();
    let first = Question { subject: String::new(), text, choices: offered, words: Words::Answer };
    match person.ask(&first).await {
        Reply::Text(text) => Some(text),
        Reply::Nobody => None,
        Reply::Choice(place) if place < choices.len() => Some(choices[place].clone()),
        Reply::Choice(_) => match person.ask(&Question { choices: Vec::new(), ..first }).await {
            Reply::Text(text) => Some(text),
            Reply::Choice(_) | Reply::Nobody => None,
        },
    }
}

impl Tool for Clarify {
    fn spec(&self) -> ToolSpec {
        ToolSpec { name: "clarify".to_owned(), description: DESCRIPTION.to_owned(), parameters: parameters() }
    }

    fn toolset(&self) -> &'static str {
        "clarify"
    }

    fn brief(&self, arguments: &Arguments) -> String {
        fields::beginning(arguments.get("question").and_then(Value::as_str).unwrap_or_default())
    }

    fn available(&self) -> Availability {
        match self.person {
            Some(_) => Availability::Yes,
            None => Availability::No { why: "nobody can answer questions here".to_owned() },
        }
    }

    fn run<'a>(&'a self, run: Run<'a>) -> Running<'a> {
        Box::pin(self.work(run))
    }
}

const DESCRIPTION: &str =
    "Ask the user one question and wait. Up to 4 choices; they can always answer in their own words.";

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "question": { "type": "string" },
            "choices": { "type": "array", "items": { "type": "string" } }
        },
        "required": ["question"]
    })
}
