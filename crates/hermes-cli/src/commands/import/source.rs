//! Reading what is to be restored: a backup, or a snapshot that lies in a home.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use zip::ZipArchive;
use zip::result::ZipError;

use super::entry::{Makes, NameProblem, Tree, common_prefix, safe_path};
use crate::commands::backup::rules;

/// Why nothing can be restored from a file.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    #[error("cannot read {}: {source}", .path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{} is not a zip file, or is cut off: {why}", .path.display())]
    NotAZip { path: PathBuf, why: String },
    #[error("{} has no manifest.json: only a snapshot or a backup file can be restored", .0.display())]
    NotASnapshot(PathBuf),
    #[error("{} is damaged: {why}", .path.display())]
    BadManifest { path: PathBuf, why: String },
    #[error("nothing was restored: the archive holds {name:?}, and {problem}")]
    Name { name: String, problem: NameProblem },
    #[error("nothing was restored: the archive holds {name:?}, {what}")]
    Unwanted { name: String, what: &'static str },
    #[error("nothing was restored: {0}")]
    Bomb(String),
    #[error(
        "{} is not a backup of a home: it has no config.yaml, .env or state.db at its top", .0.display()
    )]
    NotABackup(PathBuf),
    #[error("nothing was restored: {name:?} is damaged in the archive ({why})")]
    Damaged { name: String, why: String },
    #[error("cannot write {}: {source}", .path.display())]
    Write { path: PathBuf, source: io::Error },
}

/// How much an archive may hold: a few kilobytes can unpack to more than a disk.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub entries: usize,
    pub total_bytes: u64,
    /// How many times larger than the archive its content may be, once it is larger than `free_bytes`.
    pub expansion: u64,
    pub free_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        const GIB: u64 = 1 << 30;
        Self { entries: 1_000_000, total_bytes: 256 * GIB, expansion: 400, free_bytes: GIB }
    }
}

/// Something to restore.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Where, below the home.
    pub path: PathBuf,
    pub makes: Makes,
    pub size: u64,
    /// Permission bits, when the archive has them.
    pub mode: Option<u32>,
    /// Its checksum, when the archive has it.
    pub crc: Option<u32>,
    at: At,
}

#[derive(Debug, Clone)]
enum At {
    Index(usize),
    File(PathBuf),
}

/// A checked archive or snapshot.
pub struct Source {
    pub entries: Vec<Entry>,
    zip: Option<ZipArchive<BufReader<File>>>,
}

impl Source {
    /// Opens a backup and checks everything that can be checked without unpacking it.
    pub fn zip(path: &Path, limits: Limits) -> Result<Self, SourceError> {
        let read = |source| SourceError::Read { path: path.to_path_buf(), source };
        let not_a_zip = |e: ZipError| SourceError::NotAZip { path: path.to_path_buf(), why: e.to_string() };
        if !fs::metadata(path).map_err(read)?.is_file() {
            return Err(read(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")));
        }
        let file = File::open(path).map_err(read)?;
        let length = file.metadata().map_err(read)?.len();
        let mut zip = ZipArchive::new(BufReader::new(file)).map_err(not_a_zip)?;
        refuse_odd_shape(&mut zip, limits).map_err(|e| e.explain(not_a_zip))?;
        let mut entries = Vec::with_capacity(zip.len());
        for index in 0..zip.len() {
            entries.push(zip_entry(&zip, index).map_err(|e| e.explain(not_a_zip))?);
        }
        refuse_bomb(&entries, length, limits)?;
        if let Some(prefix) = common_prefix(entries.iter().map(|e| e.path.as_path())) {
            entries.retain_mut(|entry| match entry.path.strip_prefix(prefix).map(Path::to_path_buf) {
                Ok(inner) if !inner.as_os_str().is_empty() => {
                    entry.path = inner;
                    true
                }
                _ => false,
            });
        }
        let marked = zip.comment() == rules::MARK.as_bytes();
        if !marked && !entries.iter().any(|e| e.makes == Makes::File && rules::is_marker(&e.path)) {
            return Err(SourceError::NotABackup(path.to_path_buf()));
        }
        Self { entries, zip: Some(zip) }.checked()
    }

    /// Opens a snapshot by its manifest.
    pub fn snapshot(dir: &Path) -> Result<Self, SourceError> {
        #[derive(Deserialize)]
        struct Manifest {
            files: BTreeMap<String, u64>,
        }
        let path = dir.join("manifest.json");
        let text = fs::read(&path).map_err(|_| SourceError::NotASnapshot(dir.to_path_buf()))?;
        let manifest: Manifest = serde_json::from_slice(&text)
            .map_err(|e| SourceError::BadManifest { path: path.clone(), why: e.to_string() })?;
        let mut entries = Vec::new();
        for name in manifest.files.into_keys() {
            let path = safe_path(&name).map_err(|problem| SourceError::Name { name, problem })?;
            let file = dir.join(&path);
            let meta = fs::symlink_metadata(&file)
                .map_err(|source| SourceError::Read { path: file.clone(), source })?;
            if !meta.is_file() {
                return Err(SourceError::Unwanted {
                    name: path.display().to_string(),
                    what: "which is not a file",
                });
            }
            entries.push(Entry {
                makes: Makes::File,
                size: meta.len(),
                mode: Some(std::os::unix::fs::MetadataExt::mode(&meta)),
                crc: if rules::is_database(&path) { None } else { checksum(&file).ok() },
                path,
                at: At::File(file),
            });
        }
        Self { entries, zip: None }.checked()
    }

    fn checked(mut self) -> Result<Self, SourceError> {
        self.entries.sort_by(|a, b| a.path.cmp(&b.path));
        let mut tree = Tree::default();
        for entry in &self.entries {
            if entry.makes == Makes::File && entry.path == Path::new("profiles") {
                let name = entry.path.display().to_string();
                return Err(SourceError::Unwanted { name, what: "which must be a directory" });
            }
            tree.add(&entry.path, entry.makes)
                .map_err(|problem| SourceError::Name { name: entry.path.display().to_string(), problem })?;
        }
        Ok(self)
    }

    /// Unpacks one entry and checks its size and checksum. `path` is only for the message.
    pub fn copy(&mut self, entry: &Entry, out: &mut dyn Write, path: &Path) -> Result<(), SourceError> {
        let name = entry.path.display().to_string();
        let damaged = |why: &dyn ToString| SourceError::Damaged { name: name.clone(), why: why.to_string() };
        let mut reader: Box<dyn Read + '_> = match (&entry.at, &mut self.zip) {
            (At::Index(index), Some(zip)) => Box::new(zip.by_index(*index).map_err(|e| damaged(&e))?),
            (At::File(file), _) => {
                Box::new(File::open(file).map_err(|source| SourceError::Read { path: file.clone(), source })?)
            }
            (At::Index(_), None) => return Err(damaged(&"no archive")),
        };
        let mut buffer = vec![0; 128 * 1024];
        let mut total = 0_u64;
        loop {
            let n = match reader.read(&mut buffer) {
                Ok(n) => n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(damaged(&e)),
            };
            total += n as u64;
            // An entry that goes on after its declared size was made to get past the checks.
            if total > entry.size || (n == 0 && total < entry.size) {
                return Err(damaged(&"it does not have the size the archive says"));
            }
            if n == 0 {
                return Ok(());
            }
            out.write_all(&buffer[..n])
                .map_err(|source| SourceError::Write { path: path.to_path_buf(), source })?;
        }
    }
}

/// The checksum of a file, as zip archives have it.
pub fn checksum(path: &Path) -> io::Result<u32> {
    let mut reader = flate2::CrcReader::new(File::open(path)?);
    io::copy(&mut reader, &mut io::sink())?;
    Ok(reader.crc().sum())
}

/// A finding of ours, or what the zip library says.
enum Refused {
    Ours(SourceError),
    Zip(ZipError),
}

impl Refused {
    fn explain(self, zip: impl FnOnce(ZipError) -> SourceError) -> SourceError {
        match self {
            Self::Ours(error) => error,
            Self::Zip(error) => zip(error),
        }
    }
}

impl From<ZipError> for Refused {
    fn from(error: ZipError) -> Self {
        Self::Zip(error)
    }
}

fn refuse_odd_shape(zip: &mut ZipArchive<BufReader<File>>, limits: Limits) -> Result<(), Refused> {
    let bomb = |why: String| Err(Refused::Ours(SourceError::Bomb(why)));
    if zip.len() > limits.entries {
        return bomb(format!("the archive has more than {} entries", limits.entries));
    }
    if zip.has_duplicate_names() {
        return bomb("the archive holds two files of the same name".to_owned());
    }
    if zip.has_overlapping_entries()? {
        return bomb(
            "files in the archive share the same bytes, which only a made-up archive does".to_owned(),
        );
    }
    Ok(())
}

fn refuse_bomb(entries: &[Entry], length: u64, limits: Limits) -> Result<(), SourceError> {
    let total = entries.iter().fold(0_u64, |sum, entry| sum.saturating_add(entry.size));
    if total > limits.total_bytes {
        return Err(SourceError::Bomb(format!(
            "the archive unpacks to more than {} bytes",
            limits.total_bytes
        )));
    }
    if total > limits.free_bytes && total / limits.expansion > length {
        return Err(SourceError::Bomb(format!(
            "the archive unpacks to more than {} times its size",
            limits.expansion
        )));
    }
    Ok(())
}

fn zip_entry(zip: &ZipArchive<BufReader<File>>, index: usize) -> Result<Entry, Refused> {
    let data = zip.by_index_data(index)?;
    let name = data.name()?.into_owned();
    let what = match () {
        () if data.encrypted() => Some("which is encrypted"),
        () if data.is_symlink() => Some("which is a link"),
        () if !data.is_dir() && is_special(data.unix_mode()) => {
            Some("which is neither a file nor a directory")
        }
        () => None,
    };
    if let Some(what) = what {
        return Err(Refused::Ours(SourceError::Unwanted { name, what }));
    }
    let path = safe_path(&name).map_err(|problem| Refused::Ours(SourceError::Name { name, problem }))?;
    Ok(Entry {
        path,
        makes: if data.is_dir() { Makes::Directory } else { Makes::File },
        size: data.size(),
        mode: data.unix_mode(),
        crc: Some(data.crc32()),
        at: At::Index(index),
    })
}

/// A type other than regular file; no type at all is what many programs write.
fn is_special(mode: Option<u32>) -> bool {
    const TYPE: u32 = 0o170_000;
    const REGULAR: u32 = 0o100_000;
    mode.is_some_and(|mode| !matches!(mode & TYPE, 0 | REGULAR))
}
