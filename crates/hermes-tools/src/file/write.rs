//! The `write_file` tool: a whole file, old or new.

pub(super) mod commit;
mod content;

pub(super) use content::MASKED;

use std::path::PathBuf;

use hermes_box::proto::file::{FileKind, Resolved};
use hermes_guard::path::{Access, OtherProfiles};
use hermes_guard::sentinels;
use hermes_model::ToolSpec;
use serde::Serialize;
use serde_json::json;

use super::arguments;
use super::desk::{self, Desk, Room, give};
use super::endings::Form;
use super::state::{Part, Stale};
use super::syntax::{self, Lint};
use crate::thread::Link;
use crate::tool::{self, Arguments, Run, Running, Sharing, Tool, ToolOutput};
use crate::workplace::{Workplace, lock};
use commit::Target;

/// Bytes of the old content that are looked at to see how its lines end.
const BEGINNING: u64 = 8 * 1024;

/// See the module.
pub struct WriteFile {
    desk: Desk,
}

/// What a call asks for.
struct Order {
    path: String,
    content: String,
    others: OtherProfiles,
}

impl Order {
    fn read(arguments: &Arguments) -> Result<Self, String> {
        let path = arguments::path(arguments, "path")?.to_owned();
        let content = arguments::text(arguments, "content")?.to_owned();
        content::check(&path, &content)?;
        Ok(Self { path, content, others: others(arguments)? })
    }
}

/// Whether files of other profiles may be written.
pub(super) fn others(arguments: &Arguments) -> Result<OtherProfiles, String> {
    let meant = arguments::flag(arguments, "cross_profile")?;
    Ok(if meant { OtherProfiles::Allowed } else { OtherProfiles::Refused })
}

/// A write that only has to be agreed to.
struct Prepared {
    target: Target,
    text: String,
    /// The old content, where the syntax of both is compared.
    old: Option<Vec<u8>>,
    lint: Option<Lint>,
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Outcome {
    bytes_written: u64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    dirs_created: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    lint: Option<Lint>,
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
    resolved_path: PathBuf,
    files_modified: [PathBuf; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

impl WriteFile {
    /// The tool for this place. Nothing is opened before the first call.
    pub fn new(place: Workplace) -> Self {
        Self { desk: Desk::new(place) }
    }

    async fn work(&self, run: Run<'_>) -> Result<ToolOutput, ToolOutput> {
        let order = Order::read(run.arguments).map_err(ToolOutput::error)?;
        let prepared = self.desk.work(&run, move |desk, room, _| prepare(desk, room, &order)).await?;
        self.desk.may_write(&run, std::slice::from_ref(&prepared.target.real)).await?;
        self.desk.work(&run, move |desk, room, link| write(desk, &room, prepared, link)).await
    }
}

impl Tool for WriteFile {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "write_file".to_owned(),
            description:
                "Write a whole file; missing directories are made. Use patch to change a part of one."
                    .to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "path": { "type": "string" },
                    "content": { "type": "string" },
                    "cross_profile": {
                        "type": "boolean", "default": false,
                        "description": "Allow another profile's files"
                    }
                },
                "required": ["path", "content"]
            }),
        }
    }

    fn toolset(&self) -> &'static str {
        "file"
    }

    fn brief(&self, arguments: &Arguments) -> String {
        arguments.get("path").and_then(|path| path.as_str()).unwrap_or_default().to_owned()
    }

    fn sharing(&self, arguments: &Arguments) -> Sharing {
        super::sharing(arguments.get("path").and_then(|path| path.as_str()), tool::Access::Write)
    }

    fn run<'a>(&'a self, run: Run<'a>) -> Running<'a> {
        Box::pin(async move { self.work(run).await.unwrap_or_else(|output| output) })
    }
}

fn prepare(desk: &Desk, room: Room, order: &Order) -> Result<Prepared, ToolOutput> {
    let compared = if syntax::is_program(&order.path) { syntax::LARGEST } else { BEGINNING };
    let resolving = room.files.begin_resolve(&order.path).map_err(|error| desk::failed(&error))?;
    let reading = room.files.open(&order.path, 0, compared).map_err(|error| desk::failed(&error))?;
    let found = resolving.wait().map_err(|error| desk::failed(&error))?;
    desk.check(&room, &found, Access::Write, order.others).map_err(|why| desk::denied(&why))?;
    refuse_others(&found)?;
    let beginning = found.stat.as_ref().and_then(|_| reading.rest().ok()).map(|(bytes, _)| bytes);
    let whole = || whole_text(&room, &found);
    if sentinels(&order.content) > 0 && sentinels(&order.content) > whole().map_or(0, |old| sentinels(&old)) {
        return Err(ToolOutput::error(MASKED));
    }
    let form = beginning.as_deref().map(Form::of);
    let text = form.map_or_else(|| order.content.clone(), |form| form.applied(&order.content));
    let lint = syntax::gate(&order.path, &order.content, whole).map_err(ToolOutput::error)?;
    let target = Target::new(&room, &found);
    let old = beginning.filter(|_| syntax::is_program(&order.path));
    Ok(Prepared { target, text, old, lint, notes: room.notes })
}

/// Only ordinary files are written.
pub(super) fn refuse_others(found: &Resolved) -> Result<(), ToolOutput> {
    let problem = match found.stat.as_ref().map(|stat| stat.kind) {
        Some(FileKind::Directory) => "is a directory",
        Some(FileKind::Other | FileKind::Symlink) => "is no ordinary file",
        Some(FileKind::File) | None => return Ok(()),
    };
    Err(ToolOutput::error(format!("\"{}\" {problem}: nothing was written", found.path.display())))
}

/// All of the old content, as far as it is text.
fn whole_text(room: &Room, found: &Resolved) -> Option<String> {
    let (bytes, _) = room.files.read(&found.real, syntax::LARGEST).ok()?;
    String::from_utf8(bytes).ok()
}

fn write(desk: &Desk, room: &Room, prepared: Prepared, link: &Link) -> Result<ToolOutput, ToolOutput> {
    if link.is_cancelled() {
        return Err(ToolOutput::error("interrupted by the user; nothing was written"));
    }
    // From here on a cancelled call is waited for: whether the file was written has to be known.
    link.attach(|| {});
    let target = &prepared.target;
    let turn = desk.state().turn(&target.spot);
    let _turn = lock(&turn);
    let stale =
        target.version.and_then(|version| desk.state().staleness(&room.session, &target.spot, version));
    let (written, collided) = commit::whatever_is_there(room, target, prepared.text.as_bytes())
        .map_err(|error| ToolOutput::error(format!("nothing was written: {error}")))?;
    desk.state().wrote(&room.session, &target.spot, written.version, Part::Whole);
    let checked = syntax::after(desk, room, &target.real, prepared.old.as_deref(), &prepared.text);
    let warning = if collided { Some(commit::COLLIDED.to_owned()) } else { stale.map(warning) };
    Ok(give(&Outcome {
        bytes_written: written.bytes,
        dirs_created: written.parents_created > 0,
        lint: prepared.lint.or(checked),
        warning,
        resolved_path: written.path.clone(),
        files_modified: [written.path],
        notes: prepared.notes,
    }))
}

fn warning(stale: Stale) -> String {
    match stale {
        Stale::NeverRead => "it existed and you had not read it: its old content was replaced unseen",
        Stale::PartlyRead => "you had read only a part of it: all of it was replaced",
        Stale::Changed => "it had changed since you read it: those changes were replaced; read it to be sure",
        Stale::WrittenByOther => {
            "another agent had written it since you read it: that was replaced; read it and put right what was lost"
        }
    }
    .to_owned()
}
