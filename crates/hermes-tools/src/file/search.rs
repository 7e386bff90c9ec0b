//! The `search_files` tool: lines by content, files by name.

mod content;
mod fit;
mod names;
mod show;

use hermes_box::client::CallError;
use hermes_box::proto::fault::{Fault, FileErrorKind};
use hermes_box::proto::file::Resolved;
use hermes_guard::path::{Access, OtherProfiles};
use hermes_model::ToolSpec;
use serde_json::{Value, json};

use super::arguments;
use super::desk::{self, Desk, Room, give};
use super::state::Answer;
use crate::thread::Link;
use crate::tool::{self, Arguments, Moment, Run, Running, Sharing, Tool, ToolOutput};
use crate::workplace::Workplace;

/// Results of a search that names no limit.
const USUAL: u64 = 50;
/// Results of one page at the most.
const MOST: u64 = 2000;
/// Lines around a match at the most.
const MOST_CONTEXT: u64 = 50;

/// See the module.
pub struct SearchFiles {
    desk: Desk,
}

/// What a call asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Order {
    pattern: String,
    path: String,
    glob: Option<String>,
    what: What,
    limit: u32,
    offset: u32,
}

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Names,
    Lines { context: u32 },
    Files,
    Counts,
}

impl Order {
    fn read(arguments: &Arguments) -> Result<Self, String> {
        let pattern = arguments::text(arguments, "pattern")?.to_owned();
        if pattern.is_empty() {
            return Err("\"pattern\" is empty".to_owned());
        }
        let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        let context = small(arguments::number(arguments, "context", 0, 0)?.min(MOST_CONTEXT));
        let target = arguments::optional(arguments, "target")?.unwrap_or("content");
        let mode = arguments::optional(arguments, "output_mode")?.unwrap_or("content");
        let what = match (target, mode) {
            ("files" | "find", _) => What::Names,
            ("content" | "grep", "content") => What::Lines { context },
            ("content" | "grep", "files_only") => What::Files,
            ("content" | "grep", "count") => What::Counts,
            ("content" | "grep", other) => {
                return Err(format!(
                    "\"output_mode\" is \"{other}\": it must be content, files_only or count"
                ));
            }
            (other, _) => return Err(format!("\"target\" is \"{other}\": it must be content or files")),
        };
        Ok(Self {
            pattern,
            path: arguments::optional(arguments, "path")?
                .filter(|path| !path.is_empty())
                .unwrap_or(".")
                .to_owned(),
            glob: arguments::optional(arguments, "file_glob")?
                .filter(|glob| !glob.is_empty())
                .map(str::to_owned),
            what,
            limit: small(arguments::number(arguments, "limit", USUAL, 1)?.min(MOST)),
            offset: small(arguments::number(arguments, "offset", 0, 0)?),
        })
    }
}

impl SearchFiles {
    /// The tool for this place. Nothing is opened before the first call.
    pub fn new(place: Workplace) -> Self {
        Self { desk: Desk::new(place) }
    }

    async fn work(&self, run: Run<'_>) -> Result<ToolOutput, ToolOutput> {
        let order = Order::read(run.arguments).map_err(ToolOutput::error)?;
        self.desk.check_name(&order.path).map_err(|why| desk::denied(&why))?;
        let most_chars = run.most_chars;
        let work = move |desk: &Desk, room, link: &Link| Search { desk, room, order, most_chars }.run(link);
        self.desk.work(&run, work).await
    }
}

impl Tool for SearchFiles {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "search_files".to_owned(),
            description:
                "Search file contents by regular expression, or (target=files) find files by glob, newest \
                          first. Hidden and ignored files are passed over."
                    .to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "pattern": { "type": "string", "description": "Regular expression, or glob" },
                    "target": { "type": "string", "enum": ["content", "files"], "default": "content" },
                    "path": { "type": "string", "default": ".", "description": "Directory or file" },
                    "file_glob": { "type": "string", "description": "Only such files, as *.py" },
                    "limit": { "type": "integer", "default": USUAL },
                    "offset": { "type": "integer", "default": 0 },
                    "output_mode": {
                        "type": "string", "enum": ["content", "files_only", "count"], "default": "content"
                    },
                    "context": { "type": "integer", "default": 0, "description": "Lines around each match" }
                },
                "required": ["pattern"]
            }),
        }
    }

    fn toolset(&self) -> &'static str {
        "file"
    }

    fn brief(&self, arguments: &Arguments) -> String {
        let text = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        match text("path") {
            path if path.is_empty() => text("pattern"),
            path => format!("{} in {path}", text("pattern")),
        }
    }

    fn sharing(&self, _: &Arguments) -> Sharing {
        // It may look into any file.
        super::sharing(None, tool::Access::Read)
    }

    fn tell(&self, session: &str, moment: Moment<'_>) {
        self.desk.state().hear(session, moment);
    }

    fn run<'a>(&'a self, run: Run<'a>) -> Running<'a> {
        Box::pin(async move { self.work(run).await.unwrap_or_else(|output| output) })
    }
}

struct Search<'a> {
    desk: &'a Desk,
    room: Room,
    order: Order,
    most_chars: usize,
}

impl Search<'_> {
    fn run(self, link: &Link) -> Result<ToolOutput, ToolOutput> {
        let resolving =
            self.room.files.begin_resolve(&self.order.path).map_err(|error| desk::failed(&error))?;
        // Both questions travel together; what may not be shown is thrown away.
        let result = match self.order.what {
            What::Names => self.names(resolving, link)?,
            What::Lines { .. } | What::Files | What::Counts => self.content(resolving, link)?,
        };
        self.answer(result)
    }

    /// Where the search begins, if it may begin there.
    fn begin_at(&self, found: &Resolved) -> Result<(), ToolOutput> {
        self.desk
            .check(&self.room, found, Access::Read, OtherProfiles::Refused)
            .map_err(|why| desk::denied(&why))?;
        if ["/proc", "/dev"].iter().any(|root| found.real.starts_with(root))
            && !found.real.starts_with("/dev/shm")
        {
            return Err(ToolOutput::error(format!("\"{}\" holds no ordinary files", found.real.display())));
        }
        Ok(())
    }

    /// Gives a result, unless it was given too often.
    fn answer(&self, mut result: show::Found) -> Result<ToolOutput, ToolOutput> {
        result.finish();
        let key = format!("{:?}", self.order);
        match self.desk.state().searching(&self.room.session, key, result.fingerprint()) {
            Answer::Blocked => Err(ToolOutput::error(
                "BLOCKED: you have made this search four times in a row and it finds the same. You have its result: go on \
                 with what you know",
            )),
            Answer::UnchangedAgain => {
                result.warn("the third time in a row with the same result: the next one is refused");
                Ok(give(&result))
            }
            Answer::Fresh | Answer::Unchanged => Ok(give(&result)),
        }
    }

    /// Why a search could not be made.
    fn failed(&self, error: &CallError) -> ToolOutput {
        match error {
            CallError::Fault(Fault::Invalid(reason)) => ToolOutput::error(format!(
                "{reason}{}",
                if self.order.pattern.contains("\\n") {
                    ". Lines are searched one by one: a pattern cannot go over several"
                } else {
                    ""
                }
            )),
            error if error.file_kind() == Some(FileErrorKind::NotFound) => {
                ToolOutput::error(format!("there is no file or directory \"{}\"", self.order.path))
            }
            error => desk::failed(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: Value) -> Result<Order, String> {
        let Value::Object(arguments) = value else { panic!("an object is needed") };
        Order::read(&arguments)
    }

    #[test]
    fn arguments_are_taken_as_meant() {
        let order = read(json!({ "pattern": "x", "target": "grep", "limit": 0, "offset": -1 })).unwrap();
        assert_eq!(
            (order.what, order.limit, order.offset, order.path.as_str()),
            (What::Lines { context: 0 }, 1, 0, ".")
        );
        assert_eq!(read(json!({ "pattern": "x", "target": "find" })).unwrap().what, What::Names);
        assert_eq!(read(json!({ "pattern": "x", "output_mode": "count" })).unwrap().what, What::Counts);
        for (wrong, word) in [
            (json!({ "pattern": "" }), "empty"),
            (json!({ "pattern": "x", "target": "y" }), "target"),
            (json!({ "pattern": "x", "output_mode": "y" }), "output_mode"),
        ] {
            assert!(read(wrong).unwrap_err().contains(word));
        }
    }
}
