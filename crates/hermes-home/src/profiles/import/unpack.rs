//! Reading the archive entry by entry into an empty directory, refusing whatever is not a plain profile.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use flate2::read::MultiGzDecoder;
use tar::{Archive, Entry, EntryType, PaxExtensions};

use super::super::{ProfileError, layout};
use super::ArchiveError;
use super::entry::{EntryError, Makes, Paths};
use super::limits::{Limits, Meter};
use crate::files::{create_private_dir, failed};

/// Extended headers hold a path and a few numbers.
const MAX_EXTENSION: u64 = 64 * 1024;

/// Unpacks `file` (called `archive` in messages) into `into`. `named` hears the top directory's name before
/// anything is written.
pub fn unpack(
    archive: &Path,
    file: File,
    into: &Path,
    limits: Limits,
    named: &mut dyn FnMut(&str) -> Result<(), ProfileError>,
) -> Result<Unpacked, ProfileError> {
    let unreadable =
        |e: &io::Error| ArchiveError::Unreadable { path: archive.to_path_buf(), reason: e.to_string() };
    let (mut meter, counted) = Meter::new(limits, io::BufReader::new(file));
    let mut tar = Archive::new(MultiGzDecoder::new(counted));
    let mut state = State {
        into,
        paths: Paths::default(),
        next: Extensions::default(),
        done: Unpacked::default(),
        meter: &mut meter,
    };
    // Raw entries: the library would read extended headers of any size into memory.
    for entry in tar.entries().map_err(|e| unreadable(&e))?.raw(true) {
        let entry = entry.map_err(|e| unreadable(&e))?;
        let shown = state.next.path.clone().unwrap_or_else(|| entry.path_bytes().into_owned());
        state.take(entry, named).map_err(|e| match e {
            Failure::Entry(source) => ArchiveError::Entry {
                path: archive.to_path_buf(),
                entry: String::from_utf8_lossy(&shown).into_owned(),
                source,
            }
            .into(),
            Failure::Read(e) => unreadable(&e).into(),
            Failure::Other(e) => e,
        })?;
    }
    let done = state.done;
    drain(&mut tar.into_inner(), &mut meter).map_err(|e| unreadable(&e))?;
    Ok(done)
}

/// What came out of an archive.
#[derive(Debug, Default)]
pub struct Unpacked {
    /// How many files.
    pub files: usize,
    /// Files with keys and logins that were passed over.
    pub left_out: Vec<PathBuf>,
}

/// What stops an import.
enum Failure {
    /// The entry itself.
    Entry(EntryError),
    /// The archive cannot be read.
    Read(io::Error),
    /// Something on our side.
    Other(ProfileError),
}

impl<E: Into<EntryError>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Entry(error.into())
    }
}

/// What extended headers say about the entry after them.
#[derive(Debug, Default)]
struct Extensions {
    path: Option<Vec<u8>>,
    modified: Option<f64>,
}

struct State<'a> {
    into: &'a Path,
    paths: Paths,
    next: Extensions,
    done: Unpacked,
    meter: &'a mut Meter,
}

impl State<'_> {
    fn take<R: Read>(
        &mut self,
        mut entry: Entry<'_, R>,
        named: &mut dyn FnMut(&str) -> Result<(), ProfileError>,
    ) -> Result<(), Failure> {
        let size = entry.header().entry_size().map_err(Failure::Read)?;
        self.meter.entry(size)?;
        let makes = match entry.header().entry_type() {
            EntryType::GNULongName => return self.long_name(&mut entry, size),
            EntryType::XHeader => return self.extended(&mut entry, size),
            // Defaults for the whole archive, such as a comment: nothing a profile needs.
            EntryType::XGlobalHeader => return self.pass_over(&mut entry),
            EntryType::Directory => Makes::Dir,
            EntryType::Regular | EntryType::Continuous => Makes::File,
            EntryType::Link | EntryType::Symlink | EntryType::GNULongLink => {
                return Err(EntryError::Link.into());
            }
            _ => return Err(EntryError::Special.into()),
        };
        let Extensions { path, modified } = std::mem::take(&mut self.next);
        let raw = path.unwrap_or_else(|| entry.path_bytes().into_owned());
        // Old archives mark directories by the slash alone.
        let makes = if raw.ends_with(b"/") { Makes::Dir } else { makes };
        let first = self.paths.top().is_none();
        let relative = self.paths.place(&raw, makes)?;
        if let Some(top) = self.paths.top().filter(|_| first) {
            named(top).map_err(Failure::Other)?;
        }
        if layout::is_credential(&relative) {
            if makes == Makes::File {
                self.done.left_out.push(relative);
            }
            return self.pass_over(&mut entry);
        }
        if layout::skipped_by_import(&relative) {
            return self.pass_over(&mut entry);
        }
        let target = self.into.join(&relative);
        match makes {
            Makes::Dir => create_private_dir(&target).map_err(|e| Failure::Other(e.into())),
            Makes::File => {
                let seconds = modified.unwrap_or_else(|| entry.header().mtime().unwrap_or(0) as f64);
                let mode = entry.header().mode().unwrap_or(0);
                self.file(&mut entry, &target, size, Attributes { executable: mode & 0o100 != 0, seconds })
            }
        }
    }

    /// The path of the next entry, as GNU tar writes long ones.
    fn long_name(&mut self, entry: &mut impl Read, size: u64) -> Result<(), Failure> {
        let mut path = self.extension(entry, size)?;
        while path.last() == Some(&0) {
            path.pop();
        }
        self.next.path = Some(path);
        Ok(())
    }

    /// The path and time of the next entry, as POSIX writes them.
    fn extended(&mut self, entry: &mut impl Read, size: u64) -> Result<(), Failure> {
        let bytes = self.extension(entry, size)?;
        for pair in PaxExtensions::new(&bytes) {
            let pair = pair.map_err(|_| EntryError::Header)?;
            match pair.key_bytes() {
                b"path" => self.next.path = Some(pair.value_bytes().to_vec()),
                b"mtime" => self.next.modified = pair.value().ok().and_then(|v| v.parse().ok()),
                b"linkpath" => return Err(EntryError::Link.into()),
                // A second opinion about the size is how archives look different to different readers.
                b"size" => return Err(EntryError::Header.into()),
                key if key.starts_with(b"GNU.sparse") => return Err(EntryError::Special.into()),
                _ => {}
            }
        }
        Ok(())
    }

    fn extension(&mut self, entry: &mut impl Read, size: u64) -> Result<Vec<u8>, Failure> {
        if size > MAX_EXTENSION {
            return Err(EntryError::Header.into());
        }
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).map_err(Failure::Read)?;
        self.meter.unpacked(bytes.len() as u64)?;
        Ok(bytes)
    }

    fn pass_over(&mut self, entry: &mut impl Read) -> Result<(), Failure> {
        self.copy(entry, &mut io::sink(), Failure::Read).map(|_| ())
    }

    fn file(
        &mut self,
        entry: &mut impl Read,
        target: &Path,
        size: u64,
        has: Attributes,
    ) -> Result<(), Failure> {
        let other = |doing| move |e: io::Error| Failure::Other(failed(doing, target)(e).into());
        if let Some(parent) = target.parent() {
            create_private_dir(parent).map_err(|e| Failure::Other(e.into()))?;
        }
        let create = OpenOptions::new().write(true).create_new(true).mode(0o600).open(target);
        let mut file = create.map_err(other("create"))?;
        if self.copy(entry, &mut file, other("write"))? != size {
            return Err(Failure::Read(io::ErrorKind::UnexpectedEof.into()));
        }
        if has.executable && !layout::is_secret(target) {
            fs::set_permissions(target, Permissions::from_mode(0o700)).map_err(other("set the mode of"))?;
        }
        if let Ok(since) = Duration::try_from_secs_f64(has.seconds)
            && let Some(time) = UNIX_EPOCH.checked_add(since)
        {
            // A time the file system cannot hold is not worth failing for.
            let _ = file.set_modified(time);
        }
        self.done.files += 1;
        Ok(())
    }

    /// Copies an entry's bytes, minding the bounds all along.
    fn copy(
        &mut self,
        from: &mut impl Read,
        to: &mut impl Write,
        failed: impl Fn(io::Error) -> Failure,
    ) -> Result<u64, Failure> {
        let mut buffer = vec![0; 64 * 1024];
        let mut total = 0;
        loop {
            let count = from.read(&mut buffer).map_err(Failure::Read)?;
            if count == 0 {
                return Ok(total);
            }
            self.meter.unpacked(count as u64)?;
            to.write_all(&buffer[..count]).map_err(&failed)?;
            total += count as u64;
        }
    }
}

/// What a file has besides bytes.
#[derive(Clone, Copy)]
struct Attributes {
    executable: bool,
    seconds: f64,
}

/// Reads what is left, so that the checksum at the end is compared.
fn drain(rest: &mut impl Read, meter: &mut Meter) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let count = rest.read(&mut buffer)?;
        if count == 0 {
            return Ok(());
        }
        meter.unpacked(count as u64).map_err(io::Error::other)?;
    }
}
