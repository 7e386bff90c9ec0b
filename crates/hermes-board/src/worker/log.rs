//! What a worker says, kept in a file that does not grow without end.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// How long a log may get, and how many older ones are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes after which a new one is begun.
    pub bytes: u64,
    /// Older ones that are kept.
    pub backups: u32,
}

/// Opens a log to add to it. It is for its owner only: workers say all kinds of things.
pub fn append(path: &Path) -> io::Result<File> {
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir)?;
    }
    OpenOptions::new().create(true).append(true).mode(0o600).open(path)
}

/// Begins a new log when this one is too long.
pub fn rotate_if_long(path: &Path, bounds: Bounds) -> io::Result<()> {
    match std::fs::metadata(path) {
        Ok(meta) if meta.len() > bounds.bytes => rotate(path, bounds.backups),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn rotate(path: &Path, backups: u32) -> io::Result<()> {
    if backups == 0 {
        return std::fs::remove_file(path);
    }
    for number in (1..backups).rev() {
        let from = numbered(path, number);
        if from.exists() {
            std::fs::rename(&from, numbered(path, number + 1))?;
        }
    }
    std::fs::rename(path, numbered(path, 1))
}

fn numbered(path: &Path, number: u32) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{number}"));
    name.into()
}

/// Copies what a worker says into its log, on a thread of its own: the worker never waits for whoever looks after it.
#[derive(Debug)]
pub struct Copier {
    said: Arc<AtomicU64>,
    end: Arc<Mutex<Vec<u8>>>,
    thread: JoinHandle<()>,
}

/// How much of the end of what was said is remembered.
const REMEMBERED: usize = 16 * 1024;

impl Copier {
    /// Copies until nobody holds the other end any more.
    pub fn start(from: impl Read + Send + 'static, path: PathBuf, bounds: Bounds) -> Self {
        let (said, end) = (Arc::<AtomicU64>::default(), Arc::<Mutex<Vec<u8>>>::default());
        let (counted, remembered) = (Arc::clone(&said), Arc::clone(&end));
        let thread = thread::spawn(move || copy(from, &path, bounds, &counted, &remembered));
        Self { said, end, thread }
    }

    /// The end of what was said.
    pub fn end(&self) -> String {
        let end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&end).into_owned()
    }

    /// How many bytes the worker has said.
    pub fn said(&self) -> u64 {
        self.said.load(Ordering::Relaxed)
    }

    /// Whether nobody is left who could say anything, and all that was said is in the log.
    pub fn is_finished(&self) -> bool {
        self.thread.is_finished()
    }
}

fn copy(mut from: impl Read, path: &Path, bounds: Bounds, said: &AtomicU64, end: &Mutex<Vec<u8>>) {
    let mut log = Log::open(path, bounds);
    let mut buffer = [0; 16 * 1024];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => {
                said.fetch_add(count as u64, Ordering::Relaxed);
                log.write(&buffer[..count]);
                let mut end = end.lock().unwrap_or_else(PoisonError::into_inner);
                end.extend_from_slice(&buffer[..count]);
                let too_much = end.len().saturating_sub(REMEMBERED);
                end.drain(..too_much);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// A log that is written to. What cannot be written is dropped: a full disk must not hold up the worker.
struct Log<'a> {
    path: &'a Path,
    bounds: Bounds,
    file: Option<File>,
    length: u64,
}

impl<'a> Log<'a> {
    fn open(path: &'a Path, bounds: Bounds) -> Self {
        let mut log = Self { path, bounds, file: None, length: 0 };
        log.reopen();
        log
    }

    fn reopen(&mut self) {
        self.file = append(self.path).ok();
        self.length = self.file.as_ref().and_then(|file| file.metadata().ok()).map_or(0, |meta| meta.len());
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.length > self.bounds.bytes && rotate(self.path, self.bounds.backups).is_ok() {
            self.reopen();
        }
        if self.file.is_none() {
            self.reopen();
        }
        if let Some(file) = &mut self.file {
            let _ = file.write_all(bytes);
            self.length += bytes.len() as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &Path) -> String {
        std::fs::read_to_string(path).unwrap_or_default()
    }

    #[test]
    fn a_long_log_makes_room_for_a_new_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("logs/t.log");
        for text in ["first", "second", "third", "fourth"] {
            rotate_if_long(&path, Bounds { bytes: 3, backups: 2 }).unwrap();
            append(&path).unwrap().write_all(text.as_bytes()).unwrap();
        }
        assert_eq!(read(&path), "fourth");
        assert_eq!(read(&numbered(&path, 1)), "third");
        assert_eq!(read(&numbered(&path, 2)), "second");
        assert!(!numbered(&path, 3).exists());
        rotate_if_long(&path, Bounds { bytes: 3, backups: 0 }).unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn a_worker_that_talks_without_end_fills_two_logs_and_no_more() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.log");
        let bounds = Bounds { bytes: 64 * 1024, backups: 1 };
        let copier = Copier::start(io::repeat(b'x').take(1024 * 1024), path.clone(), bounds);
        while !copier.is_finished() {
            thread::yield_now();
        }
        assert_eq!((copier.said(), copier.end().len()), (1024 * 1024, REMEMBERED));
        let length = |path: &Path| std::fs::metadata(path).unwrap().len();
        assert!(length(&path) <= bounds.bytes + 16 * 1024);
        assert!(length(&numbered(&path, 1)) <= bounds.bytes + 16 * 1024);
    }
}
