//! The files of an edit, as they are now.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use hermes_box::client::FileReader;
use hermes_box::proto::file::Resolved;
use hermes_guard::path::{Access, OtherProfiles};

use crate::file::desk::{self, Desk, Room};
use crate::file::endings::BOM;
use crate::file::write::commit::Target;
use crate::file::write::refuse_others;
use crate::tool::ToolOutput;

/// Files beyond this are not patched.
const LARGEST: u64 = 64 * 1024 * 1024;

/// A file that was looked at.
pub(super) struct Loaded {
    /// The absolute path as it was named: what is removed or moved when that is asked for.
    pub(super) named: PathBuf,
    pub(super) target: Target,
    pub(super) bom: bool,
}

/// All files of an edit, by the names it uses.
pub(super) struct Files {
    pub(super) known: HashMap<String, Loaded>,
}

/// The texts of files, by the names an edit uses; nothing where there is no file.
pub(super) type Texts = HashMap<String, Option<String>>;

/// Looks at every file. All questions travel together.
pub(super) fn load(
    desk: &Desk,
    room: &Room,
    paths: &[&str],
    others: OtherProfiles,
) -> Result<(Files, Texts), ToolOutput> {
    let mut asked = Vec::new();
    for path in paths {
        let resolving = room.files.begin_resolve(path).map_err(|error| desk::failed(&error))?;
        let reading = room.files.open(path, 0, LARGEST).map_err(|error| desk::failed(&error))?;
        asked.push((*path, resolving, reading));
    }
    let (mut files, mut texts) = (Files { known: HashMap::new() }, Texts::new());
    for (path, resolving, reading) in asked {
        let found = resolving.wait().map_err(|error| desk::failed(&error))?;
        desk.check(room, &found, Access::Write, others).map_err(|why| desk::denied(&why))?;
        refuse_others(&found)?;
        let mut target = Target::new(room, &found);
        let (mut text, mut bom) = (None, false);
        if found.stat.is_some() {
            let (content, version) = self::text(&found, reading)?;
            target.version = Some(version);
            let bare = content.strip_prefix(BOM).map(str::to_owned);
            bom = bare.is_some();
            text = Some(bare.unwrap_or(content));
        }
        refuse_twice(&files, path, &target.real)?;
        texts.insert(path.to_owned(), text);
        files.known.insert(path.to_owned(), Loaded { named: found.path, target, bom });
    }
    Ok((files, texts))
}

fn text(
    found: &Resolved,
    reading: FileReader,
) -> Result<(String, hermes_box::proto::file::FileVersion), ToolOutput> {
    let (bytes, read) = reading.rest().map_err(|error| desk::failed(&error))?;
    let shown = found.path.display();
    if read.version.size > LARGEST {
        return Err(ToolOutput::error(format!(
            "\"{shown}\" is too large to be patched: use `sed` in the terminal"
        )));
    }
    let text = String::from_utf8(bytes).map_err(|_| {
        ToolOutput::error(format!("\"{shown}\" is not UTF-8 text: change it with a program in the terminal"))
    })?;
    Ok((text, read.version))
}

/// Two names for one file would undo each other.
fn refuse_twice(files: &Files, path: &str, real: &Path) -> Result<(), ToolOutput> {
    let plain = |path: &str| path.trim_start_matches("./").to_owned();
    match files.known.iter().find(|(other, known)| known.target.real == real && plain(other) != plain(path)) {
        Some((other, _)) => Err(ToolOutput::error(format!(
            "\"{other}\" and \"{path}\" are the same file: name it in one way; nothing was written"
        ))),
        None => Ok(()),
    }
}
