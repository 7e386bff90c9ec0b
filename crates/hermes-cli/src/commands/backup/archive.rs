//! Writing the zip file.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use anyhow::Context;
use jiff::{Timestamp, tz::TimeZone};
use rustix::fs::OFlags;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::quiet::Quiet;
use super::rules::MARK;

/// A zip file that is being written.
pub struct Archive {
    zip: ZipWriter<Quiet<BufWriter<File>>>,
    zone: TimeZone,
    /// Files so far.
    pub files: u64,
    /// Their size before compression.
    pub bytes: u64,
}

/// Whether a file got into the archive.
#[derive(Debug)]
pub enum Added {
    /// It did.
    Yes,
    /// It vanished before it was read.
    Gone,
    /// It could not be read.
    Unreadable(io::Error),
}

impl Archive {
    /// Creates the file, readable by its owner only: it holds keys and conversations.
    pub fn create(path: &Path, zone: TimeZone) -> anyhow::Result<Self> {
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        let file = file.with_context(|| format!("cannot create {}", path.display()))?;
        let mut zip = ZipWriter::new(Quiet::new(BufWriter::new(file)));
        zip.set_comment(MARK).context("cannot mark the archive")?;
        Ok(Self { zip, zone, files: 0, bytes: 0 })
    }

    /// Adds an empty directory.
    pub fn add_directory(&mut self, name: &str, meta: &Metadata) -> anyhow::Result<()> {
        let options = self.options(meta, 0);
        self.zip.add_directory(name, options).with_context(|| format!("cannot add {name}"))
    }

    /// Adds the file at `path` under `name`, up to the size it has now: a log that grows meanwhile is cut there.
    pub fn add_file(&mut self, name: &str, path: &Path) -> anyhow::Result<Added> {
        let (file, meta) = match open(path) {
            Ok(opened) => opened,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Added::Gone),
            Err(e) => return Ok(Added::Unreadable(e)),
        };
        let options = self.options(&meta, meta.len());
        self.zip.start_file(name, options).with_context(|| format!("cannot add {name}"))?;
        match self.copy(file.take(meta.len())).context("cannot write the archive")? {
            Ok(bytes) => {
                self.files += 1;
                self.bytes += bytes;
                Ok(Added::Yes)
            }
            Err(unreadable) => {
                self.zip.abort_file().with_context(|| format!("cannot leave out {name}"))?;
                Ok(Added::Unreadable(unreadable))
            }
        }
    }

    /// Writes the directory of the archive and makes sure everything is on disk.
    pub fn finish(self) -> anyhow::Result<u64> {
        let finish = || -> io::Result<u64> {
            let file = self.zip.finish()?.inner()?.into_inner()?;
            file.sync_all()?;
            Ok(file.metadata()?.len())
        };
        finish().context("cannot finish the archive")
    }

    /// The outer error is about the archive, the inner one about what is being read.
    fn copy(&mut self, mut from: impl Read) -> io::Result<io::Result<u64>> {
        let mut buffer = vec![0; 128 * 1024];
        let mut total = 0;
        loop {
            match from.read(&mut buffer) {
                Ok(0) => return Ok(Ok(total)),
                Ok(n) => {
                    self.zip.write_all(&buffer[..n])?;
                    total += n as u64;
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Ok(Err(e)),
            }
        }
    }

    fn options(&self, meta: &Metadata, size: u64) -> SimpleFileOptions {
        /// From here on sizes need the fields of large archives.
        const LARGE: u64 = u32::MAX as u64;
        SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .unix_permissions(meta.mode() & 0o777)
            .last_modified_time(self.time(meta))
            .large_file(size >= LARGE)
    }

    /// Zip files hold local times from 1980 on.
    fn time(&self, meta: &Metadata) -> zip::DateTime {
        let local = Timestamp::from_second(meta.mtime()).ok().map(|t| self.zone.to_datetime(t));
        local
            .and_then(|t| {
                let (date, time) = (t.date(), t.time());
                let year = u16::try_from(date.year()).ok()?;
                let small = |n: i8| u8::try_from(n).ok();
                zip::DateTime::from_date_and_time(
                    year,
                    small(date.month())?,
                    small(date.day())?,
                    small(time.hour())?,
                    small(time.minute())?,
                    small(time.second())?,
                )
                .ok()
            })
            .unwrap_or_default()
    }
}

/// Never through a link that was put in the file's place, and never waiting for the other end of a pipe.
fn open(path: &Path) -> io::Result<(File, Metadata)> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let meta = file.metadata()?;
    if meta.is_file() {
        Ok((file, meta))
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no longer a regular file"))
    }
}
