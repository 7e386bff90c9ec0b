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

pub use limits::FileLimits;
pub use patch::Patch;
pub use read::ReadFile;
pub use search::SearchFiles;
pub use state::FileState;
pub use write::WriteFile;
