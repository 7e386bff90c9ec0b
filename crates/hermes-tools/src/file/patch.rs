//! The `patch` tool: parts of files, by what is there now and what should be, or as a patch of several files.

mod edit;
mod load;
mod outcome;
mod perform;
mod steps;

use hermes_guard::path::OtherProfiles;
use hermes_model::ToolSpec;
use serde_json::json;

use super::arguments;
use super::desk::Desk;
use crate::tool::{self, Arguments, Run, Running, Sharing, Tool, ToolOutput};
use crate::workplace::Workplace;
use edit::Edit;

/// See the module.
pub struct Patch {
    desk: Desk,
}

/// What a call asks for.
struct Order {
    edit: Edit,
    others: OtherProfiles,
}

impl Order {
    fn read(arguments: &Arguments) -> Result<Self, String> {
        let given = arguments::optional(arguments, "patch")?.filter(|patch| !patch.trim().is_empty());
        let mode = arguments::optional(arguments, "mode")?.unwrap_or("replace");
        let edit = match (mode, given) {
            ("patch", Some(patch)) => Edit::several(patch)?,
            ("patch", None) => {
                return Err("\"patch\" is missing: mode=\"patch\" needs the patch itself".to_owned());
            }
            // A patch without anything to replace can only be meant one way.
            ("replace", Some(patch)) if !arguments.contains_key("old_string") => Edit::several(patch)?,
            ("replace", _) => Edit::one(arguments)?,
            (other, _) => return Err(format!("\"mode\" is \"{other}\": it must be replace or patch")),
        };
        Ok(Self { edit, others: super::write::others(arguments)? })
    }
}

impl Patch {
    /// The tool for this place. Nothing is opened before the first call.
    pub fn new(place: Workplace) -> Self {
        Self { desk: Desk::new(place) }
    }

    async fn work(&self, run: Run<'_>) -> Result<ToolOutput, ToolOutput> {
        let Order { edit, others } = Order::read(run.arguments).map_err(ToolOutput::error)?;
        let planning = edit.clone();
        let planned =
            self.desk.work(&run, move |desk, room, _| perform::plan(desk, &room, &planning, others)).await?;
        self.desk.may_write(&run, &planned.paths()).await?;
        let work = move |desk: &Desk, room: super::desk::Room, link: &crate::thread::Link| {
            if link.is_cancelled() {
                return Err(ToolOutput::error("interrupted by the user; nothing was written"));
            }
            // From here on a cancelled call is waited for: what was written has to be known.
            link.attach(|| {});
            perform::perform(desk, &room, &edit, others, planned)
        };
        self.desk.work(&run, work).await
    }
}

impl Tool for Patch {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "patch".to_owned(),
            description: "Change parts of files; returns a diff. mode=replace: one old_string in path becomes \
                          new_string (copy it from the file; small differences in blanks are forgiven). mode=patch: several \
                          files at once, as\n*** Begin Patch\n*** Update File: PATH (or Add File, Delete File, Move \
                          File: OLD -> NEW)\n@@ line near the change @@\n context\n-old\n+new\n*** End Patch"
                .to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "mode": { "type": "string", "enum": ["replace", "patch"], "default": "replace" },
                    "path": { "type": "string" },
                    "old_string": { "type": "string", "description": "Unique in the file" },
                    "new_string": { "type": "string" },
                    "replace_all": { "type": "boolean", "default": false },
                    "patch": { "type": "string" },
                    "cross_profile": { "type": "boolean", "default": false }
                },
                "required": ["mode"]
            }),
        }
    }

    fn toolset(&self) -> &'static str {
        "file"
    }

    fn brief(&self, arguments: &Arguments) -> String {
        match Order::read(arguments) {
            Ok(order) => order.edit.paths().join(", "),
            Err(_) => String::new(),
        }
    }

    fn sharing(&self, arguments: &Arguments) -> Sharing {
        let Ok(order) = Order::read(arguments) else { return Sharing::Freely };
        let paths = order.edit.paths();
        let names = paths.iter().map(|path| super::sharing(Some(path), tool::Access::Write));
        let names = names.flat_map(|sharing| match sharing {
            Sharing::Files { paths, .. } => paths,
            Sharing::Freely | Sharing::InOrder => Vec::new(),
        });
        Sharing::Files { paths: names.collect(), access: tool::Access::Write }
    }

    fn run<'a>(&'a self, run: Run<'a>) -> Running<'a> {
        Box::pin(async move { self.work(run).await.unwrap_or_else(|output| output) })
    }
}
