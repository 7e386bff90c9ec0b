//! The `skills_list` tool.

use std::collections::BTreeSet;

use hermes_guard::injection;
use hermes_model::ToolSpec;
use hermes_skills::skills::{Library, Skill};
use serde_json::{Value, json};

use super::wrong;
use crate::fields;
use crate::thread;
use crate::tool::{Arguments, Availability, Run, Running, Sharing, Tool, ToolOutput};

/// See the module.
pub struct SkillsList {
    library: Result<Library, String>,
}

impl SkillsList {
    /// The tool for these skills, or for settings that make no sense.
    pub fn new(library: Result<Library, String>) -> Self {
        Self { library }
    }

    async fn work(&self, run: Run<'_>) -> ToolOutput {
        let category = match fields::text(run.arguments, "category") {
            Ok(category) => category,
            Err(problem) => return wrong(&problem, &[]),
        };
        let library = match &self.library {
            Ok(library) => library.clone(),
            Err(problem) => return wrong(problem, &[]),
        };
        match thread::run(run.cancel, move |_| listed(&library.usable(), category.as_deref())).await {
            thread::Outcome::Done(value) => ToolOutput::json(&value),
            thread::Outcome::Abandoned => ToolOutput::json(&json!({ "status": "interrupted" })),
            thread::Outcome::Broken => ToolOutput::error("the tool itself failed: see the log"),
        }
    }
}

fn listed(skills: &[Skill], category: Option<&str>) -> Value {
    let categories: BTreeSet<&str> = skills.iter().filter_map(|skill| skill.category.as_deref()).collect();
    let wanted = |skill: &&Skill| match category.map(str::trim) {
        None => true,
        Some(wanted) => skill.category.as_deref().is_some_and(|category| {
            category == wanted || category.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('/'))
        }),
    };
    let shown: Vec<Value> = skills.iter().filter(wanted).map(line).collect();
    let mut value = json!({
        "success": true,
        "count": shown.len(),
        "skills": shown,
        "categories": categories,
    });
    if skills.is_empty() {
        value["hint"] = Value::from("There are no skills yet.");
    }
    value
}

fn line(skill: &Skill) -> Value {
    let description = injection::disarm(&skill.description).text;
    let mut line = json!({ "name": skill.name, "description": description, "category": skill.category });
    if let Some(problem) = &skill.problem {
        line["problem"] = Value::from(problem.clone());
    }
    line
}

impl Tool for SkillsList {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "skills_list".to_owned(),
            description: "List the skills: what each is for.".to_owned(),
            parameters: json!({ "type": "object", "properties": { "category": { "type": "string" } } }),
        }
    }

    fn toolset(&self) -> &'static str {
        "skills"
    }

    fn brief(&self, arguments: &Arguments) -> String {
        arguments.get("category").and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    fn sharing(&self, _: &Arguments) -> Sharing {
        Sharing::Freely
    }

    fn available(&self) -> Availability {
        super::availability(&self.library)
    }

    fn run<'a>(&'a self, run: Run<'a>) -> Running<'a> {
        Box::pin(self.work(run))
    }
}
