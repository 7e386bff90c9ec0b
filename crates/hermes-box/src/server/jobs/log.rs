//! The output of a job: its beginning and its end, addressed by absolute offsets.
//!
//! On disk it is a file with the beginning and a row of segments of which the oldest are dropped. When the disk is full the end
//! is kept in memory instead; the job never notices.

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::proto::job::LogLimits;
use crate::server::exec::collect::Tail;

/// What is kept in memory when nothing can be written.
const MEMORY_HEAD: u64 = 128 * 1024;
const MEMORY_TAIL: usize = 512 * 1024;
/// The most one job may keep on disk.
const MAX_PART: u64 = 1024 * 1024 * 1024;
const MIN_SEGMENT: u64 = 64 * 1024;

/// See the module.
#[derive(Debug)]
pub(crate) struct Log {
    end: u64,
    head_limit: u64,
    head: Head,
    tail_limit: u64,
    segments: Option<Segments>,
    /// What came after nothing could be written any more, with the offset of its first byte.
    memory: Option<(u64, Tail)>,
    pub(crate) trouble: Option<String>,
}

#[derive(Debug)]
enum Head {
    Disk(File, u64),
    Memory(Vec<u8>),
}

#[derive(Debug)]
struct Segments {
    directory: PathBuf,
    size: u64,
    row: VecDeque<Segment>,
}

#[derive(Debug)]
struct Segment {
    start: u64,
    length: u64,
    path: PathBuf,
    file: File,
}

/// A piece that was read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) offset: u64,
    pub(crate) bytes: Vec<u8>,
}

impl Log {
    /// An empty log in `directory` (which exists), or in memory.
    pub(crate) fn create(directory: Option<&Path>, limits: LogLimits) -> Self {
        let (head_limit, tail_limit) = (limits.head.min(MAX_PART), limits.tail.min(MAX_PART));
        let on_disk = directory.map(|directory| {
            create_file(&directory.join("head")).map(|head| (directory.to_path_buf(), head))
        });
        match on_disk {
            Some(Ok((directory, file))) => {
                let size = (tail_limit / 4).max(MIN_SEGMENT);
                let segments = Segments { directory, size, row: VecDeque::new() };
                Self {
                    end: 0,
                    head_limit,
                    head: Head::Disk(file, 0),
                    tail_limit,
                    segments: Some(segments),
                    memory: None,
                    trouble: None,
                }
            }
            other => {
                let trouble = other.and_then(|result| result.err().map(|error| error.to_string()));
                Self {
                    end: 0,
                    head_limit: head_limit.min(MEMORY_HEAD),
                    head: Head::Memory(Vec::new()),
                    tail_limit,
                    segments: None,
                    memory: None,
                    trouble,
                }
            }
        }
    }

    /// The log an earlier agent left in `directory`.
    pub(crate) fn reopen(directory: &Path) -> io::Result<Self> {
        let head = File::open(directory.join("head"))?;
        let head_length = head.metadata()?.len();
        let mut row: Vec<Segment> =
            fs::read_dir(directory)?.flatten().filter_map(|entry| Segment::open(&entry.path())).collect();
        row.sort_by_key(|segment| segment.start);
        let end = row.last().map_or(head_length, |last| last.start + last.length);
        let segments = Segments { directory: directory.into(), size: u64::MAX, row: row.into() };
        Ok(Self {
            end,
            head_limit: head_length,
            head: Head::Disk(head, head_length),
            tail_limit: u64::MAX,
            segments: Some(segments),
            memory: None,
            trouble: None,
        })
    }

    /// The offset of what comes next.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Bytes that are no longer kept.
    pub(crate) fn dropped(&self) -> u64 {
        let mut kept = self.head_length();
        if let Some(segments) = &self.segments {
            kept += segments.row.iter().map(|segment| segment.length).sum::<u64>();
        }
        if let Some((_, tail)) = &self.memory {
            kept += tail.bytes().len() as u64;
        }
        self.end - kept
    }

    /// Adds output.
    pub(crate) fn append(&mut self, bytes: &[u8]) {
        let space = if self.memory.is_some() { 0 } else { self.head_limit - self.head_length() };
        let (first, mut rest) = bytes.split_at(bytes.len().min(space as usize));
        if !self.append_head(first) {
            rest = bytes;
        }
        self.append_tail(rest);
        self.end += bytes.len() as u64;
    }

    /// Reads from `offset` on, or from the first byte after it that is still kept; without a gap.
    pub(crate) fn read(&self, offset: u64, max: usize) -> Piece {
        let mut piece = self.read_part(offset, max);
        while !piece.bytes.is_empty() && piece.bytes.len() < max {
            let next = piece.offset + piece.bytes.len() as u64;
            let part = self.read_part(next, max - piece.bytes.len());
            if part.offset != next || part.bytes.is_empty() {
                break;
            }
            piece.bytes.extend_from_slice(&part.bytes);
        }
        piece
    }

    /// What one file (or the memory) has from `offset` on.
    fn read_part(&self, offset: u64, max: usize) -> Piece {
        let nothing = |offset| Piece { offset, bytes: Vec::new() };
        if offset >= self.end {
            // Not there yet; whoever follows wants exactly this, once it is.
            return nothing(offset);
        }
        if offset < self.head_length() {
            return self.read_head(offset, max);
        }
        let mut row = self.segments.iter().flat_map(|segments| &segments.row);
        if let Some(segment) = row.find(|segment| offset < segment.start + segment.length) {
            let offset = offset.max(segment.start);
            let bytes = read_at(&segment.file, offset - segment.start, segment.length, max);
            return Piece { offset, bytes };
        }
        match &self.memory {
            Some((start, tail)) => {
                let kept = tail.bytes();
                let first = start.max(&(self.end - kept.len() as u64)).max(&offset).to_owned();
                let from = kept.len() - (self.end - first) as usize;
                Piece { offset: first, bytes: kept[from..kept.len().min(from + max)].to_vec() }
            }
            None => nothing(self.end),
        }
    }

    fn head_length(&self) -> u64 {
        match &self.head {
            Head::Disk(_, length) => *length,
            Head::Memory(bytes) => bytes.len() as u64,
        }
    }

    fn read_head(&self, offset: u64, max: usize) -> Piece {
        let bytes = match &self.head {
            Head::Disk(file, length) => read_at(file, offset, *length, max),
            Head::Memory(bytes) => {
                let rest = &bytes[offset as usize..];
                rest[..rest.len().min(max)].to_vec()
            }
        };
        Piece { offset, bytes }
    }

    /// False when nothing was written, and nothing will be any more.
    fn append_head(&mut self, bytes: &[u8]) -> bool {
        if bytes.is_empty() {
            return true;
        }
        match &mut self.head {
            Head::Memory(head) => head.extend_from_slice(bytes),
            Head::Disk(file, length) => {
                if let Err(error) = file.write_all_at(bytes, *length) {
                    self.give_up(&error);
                    return false;
                }
                *length += bytes.len() as u64;
            }
        }
        true
    }

    fn append_tail(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        // Offsets count from before this piece: `end` moves on when all of it is stored.
        let start = self.end + self.written_of_piece();
        if self.memory.is_none()
            && let Some(segments) = &mut self.segments
        {
            match segments.append(start, bytes, self.tail_limit) {
                Ok(()) => return,
                Err(error) => self.give_up(&error),
            }
        }
        let limit = MEMORY_TAIL.min(self.tail_limit as usize);
        let (_, tail) = self.memory.get_or_insert_with(|| (start, Tail::new(limit)));
        tail.add(bytes);
    }

    /// How much of the piece being added went to the head.
    fn written_of_piece(&self) -> u64 {
        self.head_length().saturating_sub(self.end)
    }

    fn give_up(&mut self, error: &io::Error) {
        self.trouble = Some(error.to_string());
    }
}

impl Segments {
    fn append(&mut self, mut start: u64, mut bytes: &[u8], tail_limit: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            if self.row.back().is_none_or(|last| last.length >= self.size) {
                self.add(start)?;
                self.drop_oldest(tail_limit);
            }
            let Some(last) = self.row.back_mut() else { return Err(io::ErrorKind::Other.into()) };
            let count = (bytes.len() as u64).min(self.size - last.length) as usize;
            last.file.write_all_at(&bytes[..count], last.length)?;
            last.length += count as u64;
            start += count as u64;
            bytes = &bytes[count..];
        }
        Ok(())
    }

    fn add(&mut self, start: u64) -> io::Result<()> {
        let path = self.directory.join(format!("tail-{start}"));
        let file = create_file(&path)?;
        self.row.push_back(Segment { start, length: 0, path, file });
        Ok(())
    }

    /// Drops what is not needed to have `tail_limit` bytes once the newest segment is full.
    fn drop_oldest(&mut self, tail_limit: u64) {
        let mut kept: u64 = self.row.iter().map(|segment| segment.length).sum();
        while let Some(oldest) = self.row.front()
            && self.row.len() > 1
            && kept - oldest.length >= tail_limit
        {
            kept -= oldest.length;
            let _ = fs::remove_file(&oldest.path);
            self.row.pop_front();
        }
    }
}

impl Segment {
    fn open(path: &Path) -> Option<Self> {
        let start = path.file_name()?.to_str()?.strip_prefix("tail-")?.parse().ok()?;
        let file = File::open(path).ok()?;
        let length = file.metadata().ok()?.len();
        Some(Self { start, length, path: path.into(), file })
    }
}

fn create_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)
}

fn read_at(file: &File, offset: u64, length: u64, max: usize) -> Vec<u8> {
    let mut bytes = vec![0; (length - offset).min(max as u64) as usize];
    match file.read_exact_at(&mut bytes, offset) {
        Ok(()) => bytes,
        // Somebody cut the file; there is nothing to show.
        Err(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    fn read_all(log: &Log) -> (Vec<(u64, Vec<u8>)>, u64) {
        let (mut pieces, mut offset) = (Vec::new(), 0);
        loop {
            let piece = log.read(offset, 7000);
            if piece.bytes.is_empty() {
                return (pieces, piece.offset);
            }
            offset = piece.offset + piece.bytes.len() as u64;
            pieces.push((piece.offset, piece.bytes));
        }
    }

    fn check(log: &Log, whole: &[u8], head: u64, tail: u64) -> Result<(), TestCaseError> {
        let (pieces, end) = read_all(log);
        prop_assert_eq!(end, whole.len() as u64);
        let mut kept = 0;
        for (offset, bytes) in &pieces {
            prop_assert_eq!(bytes, &whole[*offset as usize..][..bytes.len()]);
            kept += bytes.len() as u64;
        }
        prop_assert_eq!(log.dropped(), end - kept);
        let covered = |at: u64| {
            pieces.iter().any(|(offset, bytes)| (*offset..offset + bytes.len() as u64).contains(&at))
        };
        for at in (0..head.min(end)).chain(end.saturating_sub(tail)..end).step_by(997) {
            prop_assert!(covered(at), "{} of {}", at, end);
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn head_and_tail_can_be_read_at_their_offsets(
            lengths in proptest::collection::vec(0usize..60_000, 0..30),
            head in 0u64..100_000, tail in 0u64..300_000, on_disk in any::<bool>(),
        ) {
            let directory = tempfile::tempdir().unwrap();
            let place = on_disk.then(|| directory.path());
            let mut log = Log::create(place, LogLimits { head, tail });
            let mut whole = Vec::new();
            for (n, length) in lengths.iter().enumerate() {
                let piece: Vec<u8> = (0..*length).map(|i| (i % 251) as u8 ^ n as u8).collect();
                log.append(&piece);
                whole.extend_from_slice(&piece);
            }
            prop_assert_eq!(log.end(), whole.len() as u64);
            let memory = MEMORY_TAIL as u64;
            let (head, tail) = if on_disk { (head, tail) } else { (head.min(MEMORY_HEAD), tail.min(memory)) };
            check(&log, &whole, head, tail)?;
            if on_disk {
                check(&Log::reopen(directory.path()).unwrap(), &whole, head, tail)?;
                let used: u64 = fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum();
                prop_assert!(used <= head + tail + 2 * (tail / 4).max(MIN_SEGMENT));
            }
        }
    }

    #[test]
    fn a_full_disk_only_costs_the_middle() {
        let directory = tempfile::tempdir().unwrap();
        let mut log = Log::create(Some(directory.path()), LogLimits { head: 10, tail: 1000 });
        log.append(b"0123456789abc");
        // The next segment cannot be made.
        log.segments.as_mut().unwrap().size = 3;
        log.segments.as_mut().unwrap().directory = directory.path().join("gone");
        log.append(b"defg");
        log.append(b"hij");
        assert!(log.trouble.is_some());
        let (pieces, end) = read_all(&log);
        assert_eq!(
            pieces.into_iter().flat_map(|(_, bytes)| bytes).collect::<Vec<_>>(),
            b"0123456789abcdefghij"
        );
        assert_eq!(end, 20);
    }
}
