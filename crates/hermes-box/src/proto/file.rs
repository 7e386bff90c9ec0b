//! Files: the questions about them and the answers.

use std::path::PathBuf;

use super::wire::{wire_enum, wire_struct};

wire_struct! {
    /// A path as a client names it.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Place {
        /// The session whose directory a relative path starts from; the agent's own otherwise.
        pub session: Option<String>,
        /// The path; `~` and `~/x` mean the session's home directory.
        pub path: PathBuf,
    }
}

impl<P: Into<PathBuf>> From<P> for Place {
    fn from(path: P) -> Self {
        Self { session: None, path: path.into() }
    }
}

wire_enum! {
    /// What a path leads to.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum FileKind {
        /// An ordinary file.
        1 = File,
        /// A directory.
        2 = Directory,
        /// A symbolic link.
        3 = Symlink,
        /// A pipe, socket or device.
        4 = Other,
    }
}

wire_struct! {
    /// Tells whether a file is still the one that was seen: any change of content or attributes changes it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub struct FileVersion {
        /// Device.
        pub dev: u64,
        /// Inode.
        pub ino: u64,
        /// Bytes.
        pub size: u64,
        /// Time of the last change of content, in nanoseconds since 1970.
        pub mtime_ns: i64,
        /// Time of the last change of anything, in nanoseconds since 1970.
        pub ctime_ns: i64,
    }
}

wire_struct! {
    /// What the system knows about a file.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct FileStat {
        /// The absolute path it was found under.
        pub path: PathBuf,
        /// What it is.
        pub kind: FileKind,
        /// Permission bits.
        pub mode: u32,
        /// Owner.
        pub uid: u32,
        /// Group.
        pub gid: u32,
        /// Names it has.
        pub nlink: u64,
        /// Which file, and which state of it.
        pub version: FileVersion,
        /// Where it leads, for a symbolic link that was not followed.
        pub target: Option<PathBuf>,
    }
}

wire_struct! {
    /// Where a path really leads, whether or not something is there.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Resolved {
        /// The absolute path as it was named.
        pub path: PathBuf,
        /// Every symbolic link on the way, each by its own real place.
        pub links: Vec<PathBuf>,
        /// The path without any link, `.` or `..` in it.
        pub real: PathBuf,
        /// The session's home directory.
        pub home: Option<PathBuf>,
        /// What is there; none when nothing is, or it may not be looked at.
        pub stat: Option<FileStat>,
    }
}

wire_enum! {
    /// Whether a symbolic link at the end of a path is followed.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Follow {
        /// The file it leads to.
        1 = Yes,
        /// The link itself.
        2 = No,
    }
}

wire_struct! {
    /// Which part of a directory to list.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct ListRequest {
        /// The directory.
        pub place: Place,
        /// Entries to skip, in the order of names.
        pub offset: u32,
        /// Entries to give at the most.
        pub limit: u32,
    }
}

wire_struct! {
    /// One entry of a directory.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Entry {
        /// Its name.
        pub name: PathBuf,
        /// What it is (a link is a link).
        pub kind: FileKind,
        /// Bytes.
        pub size: u64,
        /// Permission bits.
        pub mode: u32,
        /// Time of the last change of content, in nanoseconds since 1970.
        pub mtime_ns: i64,
    }
}

wire_struct! {
    /// A part of a directory.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Listing {
        /// The directory's absolute path.
        pub path: PathBuf,
        /// The entries asked for, by name.
        pub entries: Vec<Entry>,
        /// Entries in the directory.
        pub total: u64,
    }
}

wire_struct! {
    /// Which lines to read.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct LinesRequest {
        /// The file.
        pub place: Place,
        /// First line, from 1.
        pub first: u64,
        /// Lines to give at the most.
        pub limit: u64,
        /// Bytes of one line to give at the most.
        pub max_line: u32,
        /// Bytes of all lines to give at the most.
        pub max_bytes: u32,
    }
}

impl LinesRequest {
    /// Up to 500 lines from the first, lines cut at 2,000 bytes, 1 MB altogether.
    pub fn new(place: impl Into<Place>) -> Self {
        Self { place: place.into(), first: 1, limit: 500, max_line: 2000, max_bytes: 1_000_000 }
    }
}

wire_struct! {
    /// One line, without its newline.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Line {
        /// Its bytes, cut to what was asked for.
        pub bytes: Vec<u8>,
        /// How long it really is.
        pub length: u64,
    }
}

wire_enum! {
    /// What a file looks like from its first bytes.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Texture {
        /// Text.
        1 = Text,
        /// Something that is not meant to be read as lines: a zero byte or many control characters.
        2 = Binary,
    }
}

wire_struct! {
    /// Lines of a file.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Lines {
        /// The absolute path.
        pub path: PathBuf,
        /// The lines asked for.
        pub lines: Vec<Line>,
        /// Lines in the file; a last line without newline counts.
        pub total: u64,
        /// Whether the last line of the file ends with a newline.
        pub final_newline: bool,
        /// Text or not.
        pub texture: Texture,
        /// Permission bits.
        pub mode: u32,
        /// Which state of the file was read.
        pub version: FileVersion,
    }
}

wire_struct! {
    /// Which bytes to read. They come as data of the call.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct BytesRequest {
        /// The file.
        pub place: Place,
        /// First byte.
        pub offset: u64,
        /// Bytes to give at the most.
        pub limit: u64,
    }
}

wire_struct! {
    /// What was read, apart from the bytes.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct BytesRead {
        /// The absolute path.
        pub path: PathBuf,
        /// Permission bits.
        pub mode: u32,
        /// Which state of the file was read.
        pub version: FileVersion,
    }
}

wire_enum! {
    /// What must be true for a write to go ahead.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum Expect {
        /// Anything.
        1 = Any,
        /// There is no such file.
        2 = Absent,
        /// The file is still in this state.
        3 = Version(FileVersion),
        /// The file still has the content with this SHA-256.
        4 = Hash(Vec<u8>),
    }
}

wire_enum! {
    /// What to do about directories that are missing.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Parents {
        /// Fail.
        1 = MustExist,
        /// Make them.
        2 = Create,
    }
}

wire_struct! {
    /// A file to write. Its content comes as data of the call.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct WriteRequest {
        /// The file; a symbolic link is followed and stays a link.
        pub place: Place,
        /// What must be true beforehand.
        pub expect: Expect,
        /// Missing directories.
        pub parents: Parents,
        /// Permission bits to set. Without, an existing file keeps its own and a new one follows the umask.
        pub mode: Option<u32>,
    }
}

wire_enum! {
    /// How a file was written.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Method {
        /// Beside it, then put in its place at once.
        1 = Replaced,
        /// Over the old content, as its directory does not allow new files (or it has several names).
        2 = InPlace,
    }
}

wire_struct! {
    /// What a write did.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Written {
        /// The absolute path of the file itself, behind any link.
        pub path: PathBuf,
        /// Whether it was new.
        pub created: bool,
        /// Directories made for it.
        pub parents_created: u32,
        /// Bytes written.
        pub bytes: u64,
        /// How.
        pub method: Method,
        /// The file's state now.
        pub version: FileVersion,
    }
}

wire_enum! {
    /// Whether a directory goes with everything in it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Depth {
        /// A file, a link or an empty directory.
        1 = Single,
        /// Whatever it is, with everything below.
        2 = Recursive,
    }
}

wire_enum! {
    /// What to do when the destination exists.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Existing {
        /// Fail.
        1 = Refuse,
        /// Replace it.
        2 = Replace,
    }
}

wire_struct! {
    /// From where to where.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct MoveRequest {
        /// What is moved or copied.
        pub from: Place,
        /// Its new path.
        pub to: Place,
        /// What to do when that exists.
        pub existing: Existing,
        /// Missing directories.
        pub parents: Parents,
    }
}
