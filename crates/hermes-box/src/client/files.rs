//! Files, seen from the client.

use std::io::{self, Read};
use std::path::PathBuf;
use std::time::Instant;

use super::error::CallError;
use super::pending::Pending;
use super::slot::{Arrival, Next, Unsent};
use super::{Client, OUTPUT_WINDOW};
use crate::proto::call::{self, MkdirRequest, RemoveRequest, Request, StatRequest};
use crate::proto::change::{ChangeRequest, FileStep};
use crate::proto::fault::Fault;
use crate::proto::file::{
    BytesRead, BytesRequest, Depth, Existing, Expect, FileStat, FileVersion, Follow, Lines, LinesRequest,
    ListRequest, Listing, MoveRequest, Parents, Place, Resolved, WriteRequest, Written,
};
use crate::proto::hello::{CHANGES, RESOLVES};
use crate::proto::search::{GlobRequest, GlobResult, SearchRequest, SearchResult};

/// The files where an agent runs. Paths that are not absolute start from the session's directory.
#[derive(Debug, Clone)]
pub struct Files {
    client: Client,
    session: Option<String>,
}

impl Files {
    pub(super) fn new(client: Client) -> Self {
        Self { client, session: None }
    }

    /// The same files, with relative paths and `~` as this session sees them.
    #[must_use]
    pub fn in_session(mut self, session: impl Into<String>) -> Self {
        self.session = Some(session.into());
        self
    }

    /// Attributes of a file; of what a link leads to.
    pub fn stat(&self, path: impl Into<PathBuf>) -> Result<FileStat, CallError> {
        self.client.call(StatRequest { place: self.place(path), follow: Follow::Yes })
    }

    /// Attributes of a file; of a link itself.
    pub fn stat_link(&self, path: impl Into<PathBuf>) -> Result<FileStat, CallError> {
        self.client.call(StatRequest { place: self.place(path), follow: Follow::No })
    }

    /// Where a path really leads.
    pub fn resolve(&self, path: impl Into<PathBuf>) -> Result<Resolved, CallError> {
        self.begin_resolve(path)?.wait()
    }

    /// Where a path really leads; the handle waits for the answer, so that another question can be sent meanwhile.
    pub fn begin_resolve(&self, path: impl Into<PathBuf>) -> Result<Pending<Resolved>, CallError> {
        self.needs(RESOLVES)?;
        self.client.begin(call::resolve(self.place(path)))
    }

    fn needs(&self, protocol: u16) -> Result<(), CallError> {
        if self.client.agent().protocol >= protocol {
            return Ok(());
        }
        let old = "the agent in this box is too old for file tools: `hermes sandbox recreate` replaces it";
        Err(Fault::Invalid(old.into()).into())
    }

    /// The first `limit` entries of a directory, by name.
    pub fn list(&self, path: impl Into<PathBuf>, limit: u32) -> Result<Listing, CallError> {
        self.list_with(ListRequest { place: self.place(path), offset: 0, limit })
    }

    /// A part of a directory.
    pub fn list_with(&self, mut request: ListRequest) -> Result<Listing, CallError> {
        self.settle(&mut request.place);
        self.client.call(request)
    }

    /// Lines of a file.
    pub fn read_lines(&self, request: LinesRequest) -> Result<Lines, CallError> {
        self.begin_read_lines(request)?.wait()
    }

    /// Lines of a file; the handle waits for the answer, so that another question can be sent meanwhile.
    pub fn begin_read_lines(&self, mut request: LinesRequest) -> Result<Pending<Lines>, CallError> {
        self.settle(&mut request.place);
        self.client.begin(request)
    }

    /// A whole file, unless it is longer than `max` bytes; then its beginning (`BytesRead::version` has its size).
    pub fn read(&self, path: impl Into<PathBuf>, max: u64) -> Result<(Vec<u8>, BytesRead), CallError> {
        self.read_range(path, 0, max)
    }

    /// Bytes of a file.
    pub fn read_range(
        &self,
        path: impl Into<PathBuf>,
        offset: u64,
        limit: u64,
    ) -> Result<(Vec<u8>, BytesRead), CallError> {
        self.open(path, offset, limit)?.rest()
    }

    /// Bytes of a file as they come, without holding them all.
    pub fn open(&self, path: impl Into<PathBuf>, offset: u64, limit: u64) -> Result<FileReader, CallError> {
        let request = BytesRequest { place: self.place(path), offset, limit };
        let pending = Pending::start(&self.client, request.into_call(), OUTPUT_WINDOW)?;
        Ok(FileReader { pending, piece: Vec::new(), taken: 0, left: limit, read: None })
    }

    /// The SHA-256 of a whole file.
    pub fn hash(&self, path: impl Into<PathBuf>) -> Result<Vec<u8>, CallError> {
        self.client.call(call::hash(self.place(path)))
    }

    /// Writes a file, whatever it was before; makes missing directories.
    pub fn write(&self, path: impl Into<PathBuf>, content: &[u8]) -> Result<Written, CallError> {
        let place = self.place(path);
        self.write_with(
            WriteRequest { place, expect: Expect::Any, parents: Parents::Create, mode: None },
            content,
        )
    }

    /// Writes a file on conditions.
    pub fn write_with(&self, request: WriteRequest, content: &[u8]) -> Result<Written, CallError> {
        self.write_from(request, &mut &content[..])
    }

    /// Writes a file from a stream. Nothing is changed when the stream fails.
    pub fn write_from(
        &self,
        mut request: WriteRequest,
        content: &mut dyn Read,
    ) -> Result<Written, CallError> {
        self.settle(&mut request.place);
        self.send(request, content)
    }

    /// Changes several files, all or none; the state of each step's file afterwards. `new` is what the new pieces hold, one
    /// after the other.
    pub fn change(
        &self,
        mut steps: Vec<FileStep>,
        new: &mut dyn Read,
    ) -> Result<Vec<Option<FileVersion>>, CallError> {
        self.needs(CHANGES)?;
        for step in &mut steps {
            match step {
                FileStep::Write { place, .. } | FileStep::Remove { place, .. } => self.settle(place),
                FileStep::Move { from, to, .. } => {
                    self.settle(from);
                    self.settle(to);
                }
            }
        }
        let count = steps.len();
        let versions = self.send(ChangeRequest { steps }, new)?;
        if versions.len() == count {
            return Ok(versions);
        }
        Err(CallError::Nonsense("an answer for other files than were asked about".into()))
    }

    /// Makes a call whose content is a stream.
    fn send<R: Request>(&self, request: R, content: &mut dyn Read) -> Result<R::Answer, CallError> {
        let pending = Pending::start(&self.client, request.into_call(), OUTPUT_WINDOW)?;
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let count = match content.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                // Dropping the call cancels it, so nothing is written.
                Err(error) => return Err(CallError::Lost(format!("the content cannot be read: {error}"))),
            };
            let patience = self.client.shared.answer_timeout;
            match pending.line.write(&buffer[..count], Some(Instant::now() + patience)) {
                Ok(()) => {}
                // The answer says why it is over.
                Err(Unsent::Over) => break,
                Err(Unsent::TimedOut) => return Err(pending.line.unresponsive(patience)),
            }
        }
        pending.line.end();
        pending.wait()
    }

    /// Makes a directory; the number of directories made.
    pub fn mkdir(&self, path: impl Into<PathBuf>, parents: Parents) -> Result<u32, CallError> {
        self.client.call(MkdirRequest { place: self.place(path), parents })
    }

    /// Removes a file or a directory.
    pub fn remove(&self, path: impl Into<PathBuf>, depth: Depth) -> Result<(), CallError> {
        self.client.call(RemoveRequest { place: self.place(path), depth })
    }

    /// Moves a file or a directory.
    pub fn rename(
        &self,
        from: impl Into<PathBuf>,
        to: impl Into<PathBuf>,
        existing: Existing,
    ) -> Result<(), CallError> {
        self.client.call(call::rename(self.between(from, to, existing)))
    }

    /// Copies a file, with its mode.
    pub fn copy(
        &self,
        from: impl Into<PathBuf>,
        to: impl Into<PathBuf>,
        existing: Existing,
    ) -> Result<(), CallError> {
        self.client.call(call::copy(self.between(from, to, existing)))
    }

    /// Finds files by name.
    pub fn glob(&self, request: GlobRequest) -> Result<GlobResult, CallError> {
        self.begin_glob(request)?.wait()
    }

    /// Finds files by name; the handle can cancel.
    pub fn begin_glob(&self, mut request: GlobRequest) -> Result<Pending<GlobResult>, CallError> {
        self.settle(&mut request.root);
        self.client.begin(request)
    }

    /// Finds lines by content.
    pub fn search(&self, request: SearchRequest) -> Result<SearchResult, CallError> {
        self.begin_search(request)?.wait()
    }

    /// Finds lines by content; the handle can cancel.
    pub fn begin_search(&self, mut request: SearchRequest) -> Result<Pending<SearchResult>, CallError> {
        self.settle(&mut request.root);
        self.client.begin(request)
    }

    fn place(&self, path: impl Into<PathBuf>) -> Place {
        Place { session: self.session.clone(), path: path.into() }
    }

    /// A place that names no session gets ours.
    fn settle(&self, place: &mut Place) {
        if place.session.is_none() {
            place.session.clone_from(&self.session);
        }
    }

    fn between(&self, from: impl Into<PathBuf>, to: impl Into<PathBuf>, existing: Existing) -> MoveRequest {
        MoveRequest { from: self.place(from), to: self.place(to), existing, parents: Parents::MustExist }
    }
}

/// Bytes of a file as they come.
#[derive(Debug)]
pub struct FileReader {
    pending: Pending<BytesRead>,
    piece: Vec<u8>,
    taken: usize,
    left: u64,
    read: Option<BytesRead>,
}

impl FileReader {
    /// What was read, once everything has been.
    pub fn summary(&self) -> Option<&BytesRead> {
        self.read.as_ref()
    }

    /// Everything that was not taken yet, and what was read.
    pub fn rest(mut self) -> Result<(Vec<u8>, BytesRead), CallError> {
        let mut bytes = self.piece.split_off(self.taken);
        while let Some(piece) = self.piece()? {
            bytes.extend_from_slice(&piece);
        }
        self.read.map(|read| (bytes, read)).ok_or_else(|| CallError::Lost("the file's end is missing".into()))
    }

    fn piece(&mut self) -> Result<Option<Vec<u8>>, CallError> {
        if self.read.is_some() {
            return Ok(None);
        }
        let patience = self.pending.line.client.shared.answer_timeout;
        loop {
            match self.pending.line.next(Some(Instant::now() + patience)) {
                Next::Arrival(Arrival::Started(_)) => {}
                Next::Arrival(Arrival::Output(_, bytes)) => {
                    // An agent that sends more than was asked for is not to be believed.
                    self.left = self
                        .left
                        .checked_sub(bytes.len() as u64)
                        .ok_or_else(|| CallError::Nonsense("more bytes than were asked for".into()))?;
                    return Ok(Some(bytes));
                }
                Next::Over(result) => {
                    self.read = Some(self.pending.line.decode(&result?)?);
                    return Ok(None);
                }
                Next::TimedOut => return Err(self.pending.line.unresponsive(patience)),
            }
        }
    }
}

impl Read for FileReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.taken == self.piece.len() {
            match self.piece().map_err(io::Error::other)? {
                Some(piece) => (self.piece, self.taken) = (piece, 0),
                None => return Ok(0),
            }
        }
        let count = buffer.len().min(self.piece.len() - self.taken);
        buffer[..count].copy_from_slice(&self.piece[self.taken..self.taken + count]);
        self.taken += count;
        Ok(count)
    }
}
