//! The `read_file` tool: numbered lines of a file, a page at a time.

mod kinds;
mod notebook;
mod outcome;
mod page;
mod similar;

use std::path::Path;

use hermes_box::client::CallError;
use hermes_box::proto::fault::FileErrorKind;
use hermes_box::proto::file::{FileKind, FileVersion, Line, Lines, LinesRequest, Place, Resolved, Texture};
use hermes_guard::path::{Access, OtherProfiles};
use hermes_model::ToolSpec;
use serde_json::json;

use super::desk::{self, Desk, Room};
use super::state::{Answer, Part, Window};
use super::{arguments, desk::give};
use crate::thread::Link;
use crate::tool::{self, Arguments, Moment, Run, Running, Sharing, Tool, ToolOutput};
use crate::workplace::Workplace;
use kinds::Kind;
use outcome::{Outcome, Refusal};
use page::{Page, Source};

pub(super) use outcome::UNCHANGED;

/// Lines of a read that names no limit.
const USUAL_LINES: u64 = 500;
/// Lines before the first one that are looked at as well: a key that began above is still a key.
const LEAD: u64 = 64;
/// Bytes of a line beyond those that are shown: a secret at the cut is still recognised.
const BEYOND: usize = 4096;
/// Files that have to be read whole are not read beyond this.
const LARGEST_DOCUMENT: u64 = 50 * 1024 * 1024;

/// See the module.
pub struct ReadFile {
    desk: Desk,
}

/// What a call asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Order {
    path: String,
    offset: u64,
    limit: u64,
}

impl Order {
    fn read(arguments: &Arguments, most_lines: u64) -> Result<Self, String> {
        Ok(Self {
            path: arguments::path(arguments, "path")?.to_owned(),
            offset: arguments::number(arguments, "offset", 1, 1)?,
            limit: arguments::number(arguments, "limit", USUAL_LINES, 1)?.min(most_lines),
        })
    }
}

impl ReadFile {
    /// The tool for this place. Nothing is opened before the first call.
    pub fn new(place: Workplace) -> Self {
        Self { desk: Desk::new(place) }
    }

    async fn work(&self, run: Run<'_>) -> ToolOutput {
        let order = match Order::read(run.arguments, self.desk.limits().lines) {
            Ok(order) => order,
            Err(problem) => return ToolOutput::error(problem),
        };
        if let Err(why) = self.desk.check_name(&order.path) {
            return desk::denied(&why);
        }
        let kind = Kind::of(&order.path);
        let most_chars = run.most_chars;
        let work = move |desk: &Desk, room: Room, _: &Link| {
            Ok(Reading { desk, room, order, kind, most_chars }.run())
        };
        self.desk.work(&run, work).await.unwrap_or_else(|output| output)
    }
}

impl Tool for ReadFile {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "read_file".to_owned(),
            description:
                "Read a text file as LINE|text lines. When it is cut, go on with offset=next_offset. \
                          Jupyter notebooks are shown as cells; for images use vision_analyze."
                    .to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "path": { "type": "string" },
                    "offset": { "type": "integer", "default": 1, "description": "First line" },
                    "limit": { "type": "integer", "default": USUAL_LINES, "description": "Lines at most" }
                },
                "required": ["path"]
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
        super::sharing(arguments.get("path").and_then(|path| path.as_str()), tool::Access::Read)
    }

    fn tell(&self, session: &str, moment: Moment<'_>) {
        self.desk.state().hear(session, moment);
    }

    fn run<'a>(&'a self, run: Run<'a>) -> Running<'a> {
        Box::pin(self.work(run))
    }
}

struct Reading<'a> {
    desk: &'a Desk,
    room: Room,
    order: Order,
    kind: Kind,
    most_chars: usize,
}

impl Reading<'_> {
    fn run(self) -> ToolOutput {
        match self.look() {
            Ok(output) | Err(output) => output,
        }
    }

    fn look(&self) -> Result<ToolOutput, ToolOutput> {
        let files = &self.room.files;
        // Both questions travel together; what may not be shown is thrown away.
        let resolving = files.begin_resolve(&self.order.path).map_err(|error| desk::failed(&error))?;
        let reading = match self.kind {
            Kind::Notebook => None,
            _ => Some(files.begin_read_lines(self.request()).map_err(|error| desk::failed(&error))?),
        };
        let found = resolving.wait().map_err(|error| desk::failed(&error))?;
        self.desk
            .check(&self.room, &found, Access::Read, OtherProfiles::Refused)
            .map_err(|why| desk::denied(&why))?;
        Self::refuse_unreadable(&found)?;
        match reading {
            Some(reading) => {
                let lines = reading.wait().map_err(|error| self.not_read(&found, &error))?;
                self.show_lines(&found, &lines)
            }
            None => self.show_notebook(&found),
        }
    }

    fn request(&self) -> LinesRequest {
        let limits = self.desk.limits();
        let lead = LEAD.min(self.order.offset - 1);
        let max_line = u32::try_from(limits.line_length.saturating_mul(4) + BEYOND).unwrap_or(u32::MAX);
        let bytes = limits.chars.saturating_mul(4).saturating_add(max_line as usize * lead as usize);
        LinesRequest {
            first: self.order.offset - lead,
            limit: self.order.limit.saturating_add(lead),
            max_line,
            max_bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
            ..LinesRequest::new(Place::from(self.order.path.as_str()))
        }
    }

    fn refuse_unreadable(found: &Resolved) -> Result<(), ToolOutput> {
        match found.stat.as_ref().map(|stat| stat.kind) {
            Some(FileKind::Directory) => Err(ToolOutput::error(format!(
                "\"{}\" is a directory: list it with search_files(target=\"files\", pattern=\"*\", path=…)",
                found.path.display()
            ))),
            Some(FileKind::Other) => {
                Err(ToolOutput::error(format!("\"{}\" is no ordinary file", found.path.display())))
            }
            Some(FileKind::File | FileKind::Symlink) | None => Ok(()),
        }
    }

    fn show_lines(&self, found: &Resolved, lines: &Lines) -> Result<ToolOutput, ToolOutput> {
        // A name that promises something else is believed where the content is no clean text either.
        let odd = |line: &Line| str::from_utf8(&line.bytes).is_err();
        let promised = matches!(self.kind, Kind::Binary | Kind::Image);
        if lines.texture == Texture::Binary || (promised && lines.lines.iter().any(odd)) {
            return Err(self.refusal(found).output());
        }
        let lead = LEAD.min(self.order.offset - 1);
        let source =
            Source::Lines { lines, skip: usize::try_from(lead).unwrap_or(0), first: self.order.offset };
        self.show(found, lines.version, |reader| {
            reader.page(&source, lines.total, self.order.offset, self.order.limit)
        })
    }

    /// What to say about a file that is no text: how it begins tells more than how it is called.
    fn refusal(&self, found: &Resolved) -> Refusal {
        let beginning = self.room.files.read(&found.real, kinds::TELLING).map(|(bytes, _)| bytes);
        let picture = beginning.is_ok_and(|bytes| kinds::is_picture(&bytes));
        if picture || self.kind == Kind::Image { Refusal::Image } else { Refusal::Binary }
    }

    fn show_notebook(&self, found: &Resolved) -> Result<ToolOutput, ToolOutput> {
        let read = self.room.files.read(&found.real, LARGEST_DOCUMENT);
        let (bytes, read) = read.map_err(|error| self.not_read(found, &error))?;
        if read.version.size > LARGEST_DOCUMENT {
            return Err(ToolOutput::error(format!("the notebook is larger than {LARGEST_DOCUMENT} bytes")));
        }
        let text = notebook::text(&bytes).map_err(|problem| {
            ToolOutput::error(format!(
                "the notebook cannot be read ({problem}): look at it with `cat` in the terminal"
            ))
        })?;
        let source = Source::Text(&text);
        let total = text.lines().count() as u64;
        self.show(found, read.version, |reader| {
            reader.page(&source, total, self.order.offset, self.order.limit)
        })
    }

    fn show(
        &self,
        found: &Resolved,
        version: FileVersion,
        page: impl FnOnce(&page::Reader<'_>) -> Page,
    ) -> Result<ToolOutput, ToolOutput> {
        let (state, session) = (self.desk.state(), &self.room.session);
        let window = Window { path: found.real.clone(), offset: self.order.offset, limit: self.order.limit };
        let answer = state.reading(session, window, version);
        if answer != Answer::Fresh {
            return Err(outcome::repeated(answer, &self.order.path));
        }
        let options = self.desk.place.options();
        let page = page(&page::Reader {
            redactor: &options.redactor,
            limits: &options.files,
            most_chars: self.most_chars,
        });
        let part = if page.is_whole() { Part::Whole } else { Part::Some };
        state.has_read(session, &found.real, version, part);
        Ok(give(&Outcome::new(page, version.size, self.order_hint(version), self.room.notes.clone())))
    }

    /// Advice for those who read a large file in large pieces.
    fn order_hint(&self, version: FileVersion) -> Option<&'static str> {
        (version.size > 512_000 && self.order.limit > 200)
            .then_some("a large file: find the place with search_files and read only what is around it")
    }

    fn not_read(&self, found: &Resolved, error: &CallError) -> ToolOutput {
        match error.file_kind() {
            Some(FileErrorKind::NotFound | FileErrorKind::NotDirectory) => {
                let names = similar::files(&self.room.files, found);
                let shown = |path: &Path| self.desk.policy().readable(path, found.home.as_deref()).is_ok();
                outcome::not_found(&self.order.path, names.iter().filter(|path| shown(path)))
            }
            _ => desk::failed(error),
        }
    }
}
