//! Writing a profile into a `.tar.gz` that this program and the reference can import, without credentials.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};
use tempfile::NamedTempFile;

use super::copy::{self, CopyDatabase};
use super::layout;
use super::stage::{self, Stage};
use super::walk::{Item, Kind, identity, open, walk};
use super::{ProfileError, Profiles};
use crate::files::failed;
use crate::profile::Profile;

/// What was exported.
#[derive(Debug)]
pub struct Exported {
    /// The archive.
    pub path: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// How many files are in it.
    pub files: usize,
    /// Links, sockets, pipes and devices that were left out.
    pub left_out: Vec<PathBuf>,
}

type Archive = Builder<GzEncoder<NamedTempFile>>;

impl Profiles {
    /// Writes the profile to `output`, replacing a file that is there. The archive appears whole or not at all.
    pub fn export(
        &self,
        profile: &Profile,
        output: &Path,
        databases: &dyn CopyDatabase,
    ) -> Result<Exported, ProfileError> {
        let dir = self.dir(profile)?;
        let before = identity(&dir);
        if before.is_none() {
            return Err(ProfileError::NoHome { path: dir });
        }
        let parent = output.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let temp = stage::temporary_file(&self.profiles_dir(), parent)?;
        let own = temp.as_file().metadata().map_err(failed("write", output))?;
        let mut job = Job {
            archive: Builder::new(GzEncoder::new(temp, Compression::default())),
            top: PathBuf::from(profile.as_str()),
            output,
            profiles: self.profiles_dir(),
            scratch: None,
            databases,
            own: [Some(own), fs::metadata(output).ok()]
                .into_iter()
                .flatten()
                .map(|m| (m.dev(), m.ino()))
                .collect(),
            files: 0,
            left_out: Vec::new(),
        };
        let place = self.place(&dir);
        job.add_dir(&dir, Path::new(""))?;
        walk(&dir, &|path| layout::skipped_by_export(path, place), &mut |item| job.add(item))?;
        // Vanished files are passed over, so a vanished profile must be noticed here.
        if identity(&dir) != before {
            return Err(ProfileError::SourceChanged { name: profile.as_str().to_owned() });
        }
        job.finish()
    }
}

/// An export under way.
struct Job<'a> {
    archive: Archive,
    top: PathBuf,
    output: &'a Path,
    profiles: PathBuf,
    /// Copies of databases are made here, once there is one.
    scratch: Option<Stage>,
    databases: &'a dyn CopyDatabase,
    /// The archive itself and the one it replaces, which may lie inside the profile.
    own: Vec<(u64, u64)>,
    files: usize,
    left_out: Vec<PathBuf>,
}

impl Job<'_> {
    fn add(&mut self, item: &Item) -> Result<(), ProfileError> {
        if self.own.contains(&(item.meta.dev(), item.meta.ino())) {
            return Ok(());
        }
        match item.kind {
            Kind::Dir => self.add_dir(&item.path, &item.relative),
            Kind::File => match open(&item.path) {
                Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
                result => self.add_file(result.map_err(failed("read", &item.path))?, item),
            },
            Kind::Database => self.add_database(item),
            // Neither program takes an archive with links, and one that leads outside would leak what it leads to.
            Kind::Link | Kind::Special => {
                self.left_out.push(item.relative.clone());
                Ok(())
            }
        }
    }

    fn add_dir(&mut self, path: &Path, relative: &Path) -> Result<(), ProfileError> {
        let mut header = header(EntryType::Directory, 0o700, 0, 0);
        let name = self.top.join(relative);
        Ok(self.archive.append_data(&mut header, name, io::empty()).map_err(failed("archive", path))?)
    }

    fn add_file(&mut self, file: File, item: &Item) -> Result<(), ProfileError> {
        let reading = failed("archive", &item.path);
        let add = || -> io::Result<()> {
            let meta = file.metadata()?;
            let mode = 0o600 | (meta.mode() & 0o100);
            let modified = meta.modified()?.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
            let mut header = header(EntryType::Regular, mode, meta.len(), modified);
            let exactly = Exactly { inner: file, left: meta.len() };
            self.archive.append_data(&mut header, self.top.join(&item.relative), exactly)
        };
        add().map_err(reading)?;
        self.files += 1;
        Ok(())
    }

    fn add_database(&mut self, item: &Item) -> Result<(), ProfileError> {
        let stage = match &mut self.scratch {
            Some(stage) => stage,
            none => none.insert(Stage::begin(&self.profiles)?),
        };
        let copy = stage.path().join("database");
        copy::database(&item.path, &copy, self.databases)?;
        if let Ok(file) = open(&copy) {
            self.add_file(file, item)?;
            fs::remove_file(&copy).map_err(failed("remove", &copy))?;
        }
        Ok(())
    }

    fn finish(self) -> Result<Exported, ProfileError> {
        let Self { archive, output, files, left_out, .. } = self;
        let write = || -> io::Result<u64> {
            let temp = archive.into_inner()?.finish()?;
            temp.as_file().sync_all()?;
            let bytes = temp.as_file().metadata()?.len();
            temp.persist(output).map_err(|e| e.error)?;
            Ok(bytes)
        };
        let bytes = write().map_err(failed("write", output))?;
        Ok(Exported { path: output.to_path_buf(), bytes, files, left_out })
    }
}

/// A header without the names and numbers of the user who made the archive.
fn header(kind: EntryType, mode: u32, size: u64, modified: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(size);
    header.set_mtime(modified);
    header.set_uid(0);
    header.set_gid(0);
    header
}

/// Reads as many bytes as the header promised: a log may grow while it is read, but must not shrink.
struct Exactly {
    inner: File,
    left: u64,
}

impl Read for Exactly {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.by_ref().take(self.left).read(buffer)?;
        if count == 0 && self.left > 0 && !buffer.is_empty() {
            return Err(io::Error::other("it became shorter while it was read: try again"));
        }
        self.left -= count as u64;
        Ok(count)
    }
}
