//! The `skill_view` tool: a skill with all that belongs to it, or one of its files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hermes_guard::{Policy, Redactor, injection};
use hermes_home::Settings;
use hermes_model::ToolSpec;
use hermes_skills::skills::{
    FindError, Library, ReadError, Skill, SkillFile, linked, missing_files, needs, read_file,
};
use serde_json::{Value, json};

use super::wrong;
use crate::fields;
use crate::masked;
use crate::thread;
use crate::tool::{Arguments, Availability, Run, Running, Sharing, Tool, ToolOutput};

/// See the module.
#[derive(Clone)]
pub struct SkillView {
    library: Result<Library, String>,
    home: PathBuf,
    fill_in: FillIn,
    redactor: Arc<Redactor>,
    /// Whether a variable has a value.
    has: Arc<dyn Fn(&str) -> bool + Send + Sync>,
}

/// Whether placeholders in skills are filled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FillIn {
    /// Yes.
    Yes,
    /// They stay as they are.
    No,
}

impl SkillView {
    /// The tool for these skills, or for settings that make no sense.
    pub fn new(
        library: Result<Library, String>,
        home: &Path,
        settings: &Settings,
        fill_in: FillIn,
        redactor: Arc<Redactor>,
    ) -> Self {
        let settings = settings.clone();
        let has = move |name: &str| settings.variable(name).is_some_and(|value| !value.is_empty());
        Self { library, home: home.to_owned(), fill_in, redactor, has: Arc::new(has) }
    }

    async fn work(&self, run: Run<'_>) -> ToolOutput {
        let read = || -> Result<_, String> {
            let name = fields::needed(run.arguments, "name", "skills_list shows the names")?;
            Ok((name, fields::text(run.arguments, "file_path")?))
        };
        let (name, path) = match read() {
            Ok(read) => read,
            Err(problem) => return wrong(&problem, &[]),
        };
        let (tool, session) = (self.clone(), run.session.to_owned());
        match thread::run(run.cancel, move |_| tool.look(&name, path.as_deref(), &session)).await {
            thread::Outcome::Done(Ok(mut result)) => {
                // The model may write a skill back: no mask may be taken for the key.
                masked::value(&mut result, &self.redactor, Policy::File);
                ToolOutput::json(&result)
            }
            thread::Outcome::Done(Err(output)) => output,
            thread::Outcome::Abandoned => ToolOutput::json(&json!({ "status": "interrupted" })),
            thread::Outcome::Broken => ToolOutput::error("the tool itself failed: see the log"),
        }
    }

    fn look(&self, name: &str, path: Option<&str>, session: &str) -> Result<Value, ToolOutput> {
        let library = self.library.as_ref().map_err(|problem| wrong(problem, &[]))?;
        let skill = library.find(name).map_err(|error| not_found(&error))?;
        match path {
            None => self.whole(&skill, session),
            Some(path) => one_file(&skill, path),
        }
    }

    fn whole(&self, skill: &Skill, session: &str) -> Result<Value, ToolOutput> {
        let text = skill.text().map_err(|error| wrong(&error.to_string(), &[]))?;
        let text = match (&skill.dir, self.fill_in) {
            (Some(dir), FillIn::Yes) => text
                .replace("${HERMES_SKILL_DIR}", &dir.display().to_string())
                .replace("${HERMES_SESSION_ID}", session),
            _ => text,
        };
        let seen = injection::disarm(&text);
        let files = skill.dir.as_deref().map(linked).filter(|files| !files.is_empty());
        let mut result = json!({
            "success": true,
            "name": skill.name,
            "description": skill.description,
            "tags": skill.header.list("tags"),
            "related_skills": skill.header.list("related_skills"),
            "content": seen.text,
            "path": skill.relative().display().to_string(),
            "skill_dir": skill.dir.as_ref().map(|dir| dir.display().to_string()),
            "linked_files": files,
        });
        if result["linked_files"].is_object() {
            result["usage_hint"] = Value::from("read one with file_path, such as references/api.md");
        }
        if let Some(compatibility) = skill.header.text("compatibility") {
            result["compatibility"] = Value::from(compatibility);
        }
        let mut problems: Vec<String> = skill.problem.iter().cloned().collect();
        if !seen.findings.is_empty() {
            let count = seen.findings.len();
            problems
                .push(format!("{count} lines read like orders against the user; they are marked as data"));
        }
        if !problems.is_empty() {
            result["warning"] = Value::from(problems.join("; "));
        }
        self.add_needs(skill, &mut result);
        Ok(result)
    }

    fn add_needs(&self, skill: &Skill, result: &mut Value) {
        let needs = needs(&skill.header);
        let missing: Vec<&str> = needs
            .iter()
            .filter(|need| !need.optional && !(self.has)(&need.name))
            .map(|need| need.name.as_str())
            .collect();
        let files = missing_files(&skill.header, &self.home);
        let setup_needed = !missing.is_empty() || !files.is_empty();
        result["required_environment_variables"] =
            needs.iter().map(|need| json!({ "name": need.name, "help": need.help })).collect();
        result["readiness_status"] = Value::from(if setup_needed { "setup_needed" } else { "available" });
        result["setup_needed"] = Value::from(setup_needed);
        if setup_needed {
            let names = missing.iter().copied().chain(files.iter().map(String::as_str));
            let names = names.collect::<Vec<_>>().join(", ");
            result["setup_note"] = Value::from(format!(
                "not set up yet: {names}. Ask the user to set variables with `hermes config set NAME`, never to type \
                 them here"
            ));
        }
        result["missing_required_environment_variables"] = missing.into_iter().map(Value::from).collect();
        result["missing_credential_files"] = Value::from(files);
    }
}

fn not_found(error: &FindError) -> ToolOutput {
    let more = match error {
        FindError::Unknown { known, .. } => vec![("available_skills", Value::from(known.clone()))],
        FindError::Ambiguous { matches, .. } => vec![("matches", Value::from(matches.clone()))],
        FindError::OtherSystem(_) => vec![("readiness_status", Value::from("unsupported"))],
        FindError::NoName(_) | FindError::Disabled(_) => Vec::new(),
    };
    wrong(&error.to_string(), &more)
}

fn one_file(skill: &Skill, path: &str) -> Result<Value, ToolOutput> {
    let Some(dir) = &skill.dir else {
        return Err(wrong("this skill is a single file: leave \"file_path\" out", &[]));
    };
    let ending = Path::new(path).extension().map(|e| format!(".{}", e.to_string_lossy())).unwrap_or_default();
    let mut result = json!({ "success": true, "name": skill.name, "file": path, "file_type": ending });
    match read_file(dir, path) {
        Ok(SkillFile::Text(text)) => {
            let seen = injection::disarm(&text);
            if !seen.findings.is_empty() {
                let count = seen.findings.len();
                result["warning"] =
                    Value::from(format!("{count} lines read like orders; they are marked as data"));
            }
            result["content"] = Value::from(seen.text);
        }
        Ok(SkillFile::Binary { bytes }) => {
            result["content"] = Value::from(format!("[a file of {bytes} bytes that is no text]"));
            result["is_binary"] = Value::from(true);
        }
        Err(error @ ReadError::Missing(_)) => {
            let files = serde_json::to_value(linked(dir)).unwrap_or_default();
            return Err(wrong(&error.to_string(), &[("available_files", files)]));
        }
        Err(error) => return Err(wrong(&error.to_string(), &[])),
    }
    Ok(result)
}

impl Tool for SkillView {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "skill_view".to_owned(),
            description: "Read a skill: how something is done. It names the files that belong to it; file_path reads one."
                .to_owned(),
            parameters: json!({
                "type": "object",
                "properties": { "name": { "type": "string" }, "file_path": { "type": "string" } },
                "required": ["name"]
            }),
        }
    }

    fn toolset(&self) -> &'static str {
        "skills"
    }

    fn brief(&self, arguments: &Arguments) -> String {
        let word = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
        format!("{} {}", word("name"), word("file_path")).trim().to_owned()
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
