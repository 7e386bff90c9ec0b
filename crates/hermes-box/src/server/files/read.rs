//! Reading files: by lines, by bytes, or for their hash.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::errors::{file_error, refused};
use super::stat::version;
use crate::proto::exec::StreamId;
use crate::proto::fault::{Fault, FileError, FileErrorKind};
use crate::proto::file::{BytesRead, BytesRequest, Line, Lines, LinesRequest, Texture};
use crate::proto::frame::MAX_DATA;
use crate::proto::message::Channel;
use crate::server::call::CallContext;

/// What one answer with lines may hold.
const MAX_BYTES: u64 = 16 * 1024 * 1024;
const MAX_LINES: u64 = 500_000;
/// From how many bytes it is told whether a file is text.
const SNIFFED: usize = 8000;

/// Opens an ordinary file. Pipes and devices are refused without waiting for them.
pub(super) fn open(action: &str, path: &Path) -> Result<(File, Metadata), FileError> {
    let failed = |error: io::Error| file_error(action, path, &error);
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)
        .map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if metadata.is_dir() {
        return Err(refused(action, path, FileErrorKind::IsDirectory, "it is a directory"));
    }
    if !metadata.is_file() {
        return Err(refused(action, path, FileErrorKind::NotRegular, "it is not an ordinary file"));
    }
    Ok((file, metadata))
}

/// Reads some lines and counts all of them.
pub(crate) fn read_lines(context: &CallContext, path: &Path, request: &LinesRequest) -> Result<Lines, Fault> {
    let (mut file, metadata) = open("read", path)?;
    let mut counter = LineReader::new(request);
    let mut buffer = vec![0; 128 * 1024];
    let mut texture = None;
    loop {
        if context.is_abandoned() {
            return Err(Fault::Cancelled);
        }
        let count = read_some(&mut file, &mut buffer).map_err(|error| file_error("read", path, &error))?;
        let piece = &buffer[..count];
        texture.get_or_insert_with(|| sniff(piece));
        if piece.is_empty() {
            break;
        }
        counter.add(piece);
    }
    let (lines, total, final_newline) = counter.finish();
    Ok(Lines {
        path: path.into(),
        lines,
        total,
        final_newline,
        texture: texture.unwrap_or(Texture::Text),
        mode: metadata.mode() & 0o7777,
        version: version(&metadata),
    })
}

/// Sends a part of a file.
pub(crate) fn read_bytes(
    context: &Arc<CallContext>,
    path: &Path,
    request: &BytesRequest,
) -> Result<BytesRead, Fault> {
    let (mut file, metadata) = open("read", path)?;
    let failed = |error: io::Error| file_error("read", path, &error);
    if request.offset > 0 {
        file.seek(SeekFrom::Start(request.offset)).map_err(failed)?;
    }
    let mut left = request.limit;
    let mut buffer = vec![0; MAX_DATA];
    while left > 0 && !context.is_abandoned() {
        let wanted = left.min(MAX_DATA as u64) as usize;
        let count = read_some(&mut file, &mut buffer[..wanted]).map_err(failed)?;
        if count == 0 {
            break;
        }
        context.send_all(Channel::Output(StreamId::Stdout), &buffer[..count])?;
        left -= count as u64;
    }
    if context.is_abandoned() {
        return Err(Fault::Cancelled);
    }
    Ok(BytesRead { path: path.into(), mode: metadata.mode() & 0o7777, version: version(&metadata) })
}

/// The SHA-256 of a file.
pub(crate) fn hash(context: &CallContext, path: &Path) -> Result<Vec<u8>, Fault> {
    let (mut file, _) = open("read", path)?;
    hash_of(&mut file, || context.is_abandoned())
        .map_err(|error| Fault::from(file_error("read", path, &error)))?
        .ok_or(Fault::Cancelled)
}

/// `None` when it was stopped.
pub(super) fn hash_of(file: &mut File, stop: impl Fn() -> bool) -> io::Result<Option<Vec<u8>>> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 128 * 1024];
    loop {
        if stop() {
            return Ok(None);
        }
        match read_some(file, &mut buffer)? {
            0 => return Ok(Some(hasher.finalize().to_vec())),
            count => hasher.update(&buffer[..count]),
        }
    }
}

fn read_some(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match file.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// A zero byte, or many control characters at the beginning, make a file one that is not meant to be read as lines.
fn sniff(bytes: &[u8]) -> Texture {
    let first = &bytes[..bytes.len().min(SNIFFED)];
    if first.contains(&0) {
        return Texture::Binary;
    }
    let head = &first[..first.len().min(1000)];
    let odd = head
        .iter()
        .filter(|byte| byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b));
    if odd.count() * 10 > head.len() * 3 { Texture::Binary } else { Texture::Text }
}

/// Picks lines out of pieces that break anywhere.
struct LineReader {
    first: u64,
    last: u64,
    max_line: usize,
    bytes_left: usize,
    lines: Vec<Line>,
    /// Number of the line the next byte belongs to, from 1.
    number: u64,
    /// Length of that line so far.
    length: u64,
    current: Vec<u8>,
}

impl LineReader {
    fn new(request: &LinesRequest) -> Self {
        let first = request.first.max(1);
        Self {
            first,
            last: first.saturating_add(request.limit.min(MAX_LINES)),
            max_line: request.max_line as usize,
            bytes_left: u64::from(request.max_bytes).min(MAX_BYTES) as usize,
            lines: Vec::new(),
            number: 1,
            length: 0,
            current: Vec::new(),
        }
    }

    fn wanted(&self) -> bool {
        self.number >= self.first && self.number < self.last
    }

    fn add(&mut self, piece: &[u8]) {
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', piece) {
            self.extend(&piece[start..end]);
            self.end_line();
            start = end + 1;
        }
        self.extend(&piece[start..]);
    }

    fn extend(&mut self, part: &[u8]) {
        self.length += part.len() as u64;
        if self.wanted() {
            let space = self.max_line.saturating_sub(self.current.len());
            self.current.extend_from_slice(&part[..part.len().min(space)]);
        }
    }

    fn end_line(&mut self) {
        if self.wanted() {
            let bytes = std::mem::take(&mut self.current);
            if bytes.len() <= self.bytes_left {
                self.bytes_left -= bytes.len();
                self.lines.push(Line { bytes, length: self.length });
            } else {
                // The answer is full: this line and all after it are left out.
                self.last = self.number;
            }
        }
        self.number += 1;
        self.length = 0;
    }

    /// The lines, how many there are, and whether the last ends with a newline.
    fn finish(mut self) -> (Vec<Line>, u64, bool) {
        let final_newline = self.length == 0;
        if !final_newline {
            self.end_line();
        }
        (self.lines, self.number - 1, final_newline)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::file::Place;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lines_are_those_of_the_text(
            text in "[ab\n]{0,80}", first in 0u64..12, limit in 0u64..12, cut in 1usize..9,
        ) {
            let request = LinesRequest { first, limit, ..LinesRequest::new(Place::from("/x")) };
            let mut reader = LineReader::new(&request);
            for piece in text.as_bytes().chunks(cut) {
                reader.add(piece);
            }
            let (lines, total, final_newline) = reader.finish();
            let expected: Vec<&str> = text.lines().collect();
            prop_assert_eq!(total, expected.len() as u64);
            prop_assert_eq!(final_newline, text.is_empty() || text.ends_with('\n'));
            let shown: Vec<&str> = expected.into_iter().skip(first.max(1) as usize - 1).take(limit as usize).collect();
            let got: Vec<&[u8]> = lines.iter().map(|line| line.bytes.as_slice()).collect();
            prop_assert_eq!(got, shown.iter().map(|line| line.as_bytes()).collect::<Vec<_>>());
        }
    }

    #[test]
    fn long_lines_are_cut_and_a_full_answer_stops() {
        let request = LinesRequest { max_line: 3, max_bytes: 7, ..LinesRequest::new(Place::from("/x")) };
        let mut reader = LineReader::new(&request);
        reader.add(b"abcdef\nab\nabc\nx\n");
        let (lines, total, _) = reader.finish();
        assert_eq!(total, 4);
        let got: Vec<_> = lines.iter().map(|line| (line.bytes.as_slice(), line.length)).collect();
        assert_eq!(got, [(&b"abc"[..], 6), (&b"ab"[..], 2)]);
    }

    #[test]
    fn text_is_told_from_the_rest() {
        assert_eq!(sniff("überall\n".as_bytes()), Texture::Text);
        assert_eq!(sniff(b"\x1b[1mcolour\x1b[0m"), Texture::Text);
        assert_eq!(sniff(b"PK\x03\x04\x00"), Texture::Binary);
        assert_eq!(sniff(b"\x01\x02\x03\x04abc"), Texture::Binary);
        assert_eq!(sniff(b""), Texture::Text);
    }
}
