//! The file tools: `read_file`, `write_file`, `patch` and `search_files`. They work where commands do, through the box's own
//! file operations, and decide about paths by where these really lead.

mod arguments;
mod desk;
mod endings;
mod limits;
mod patch;
mod read;
mod search;
mod state;
mod syntax;
mod write;

use std::path::{Path, PathBuf};

use crate::tool::{Access, Sharing};

pub use limits::FileLimits;
pub use patch::Patch;
pub use read::ReadFile;
pub use search::SearchFiles;
pub use state::FileState;
pub use write::WriteFile;

/// Which calls may run at the same time. One file can be named in several ways before anybody has looked (`a`, `./a`, `/w/a`), so
/// its last name stands for it: two files of one name take turns for nothing, and calls meet on one file only through links, which
/// the write itself notices. A path without a name is everything.
fn sharing(path: Option<&str>, access: Access) -> Sharing {
    let name = path.and_then(|path| Path::new(path).file_name()).map(PathBuf::from).unwrap_or_default();
    Sharing::Files { paths: vec![name], access }
}
