//! The box program: embedded in us, written out once for the engines and hosts that need it as a file.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::files;

/// The program, as the build made it: static, for this architecture.
static BYTES: &[u8] = include_bytes!(env!("HERMES_BOX_PROGRAM"));
/// SHA-256 of it.
const HASH: &str = env!("HERMES_BOX_HASH");
/// Its file name wherever it is put.
pub const FILE_NAME: &str = "hermes-box";

/// A box program and what it is called by.
#[derive(Debug, Clone, Copy)]
pub struct Program {
    bytes: &'static [u8],
    hash: &'static str,
}

/// Why the program could not be written out.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the box program to \"{}\": {source}; is there room, and may we write there?", .path.display())]
pub struct ProgramError {
    path: PathBuf,
    source: io::Error,
}

impl Program {
    /// The embedded one.
    pub fn embedded() -> Self {
        Self { bytes: BYTES, hash: HASH }
    }

    /// Its content.
    pub fn bytes(self) -> &'static [u8] {
        self.bytes
    }

    /// The whole content hash.
    pub fn hash(self) -> &'static str {
        self.hash
    }

    /// The part of the hash that names files, directories and volumes.
    pub fn short_hash(self) -> &'static str {
        &self.hash[..16]
    }

    /// Makes sure the program is in the cache, and returns the directory it is alone in.
    ///
    /// The directory is named by the content, so an update never changes a file that a container has mounted.
    pub fn write_out(self, cache_dir: &Path) -> Result<PathBuf, ProgramError> {
        let dir = cache_dir.join("box").join(self.short_hash());
        let path = dir.join(FILE_NAME);
        if self.is_at(&path) {
            return Ok(dir);
        }
        self.write_to(&dir, &path).map_err(|source| ProgramError { path, source })?;
        Ok(dir)
    }

    /// A file of the right size that can be run is the right one: it only appears when it is complete.
    fn is_at(self, path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok_and(|meta| {
            meta.is_file()
                && meta.len() == self.bytes.len() as u64
                && meta.permissions().mode() & 0o111 == 0o111
        })
    }

    fn write_to(self, dir: &Path, path: &Path) -> io::Result<()> {
        files::private_dir(dir)?;
        let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(dir)?;
        file.write_all(self.bytes)?;
        file.as_file().sync_all()?;
        fs::set_permissions(file.path(), fs::Permissions::from_mode(0o555))?;
        // Mounted into a container, this directory is all that its user, whoever that is, has to pass. On
        // this machine the directories above it let nobody through.
        fs::set_permissions(dir, fs::Permissions::from_mode(0o755))?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest;

    #[test]
    fn it_is_a_small_static_program_and_its_hash_is_true() {
        let program = Program::embedded();
        assert_eq!(digest::hex(&digest::of_bytes(program.bytes())), program.hash());
        assert!(program.bytes().starts_with(b"\x7fELF"));
        assert!(program.bytes().len() < 3_500_000, "{} bytes", program.bytes().len());
        assert_eq!(
            program_headers(program.bytes()).iter().filter(|kind| **kind == 3).count(),
            0,
            "no interpreter"
        );
    }

    /// Kinds of the program headers of a 64-bit little-endian executable.
    fn program_headers(elf: &[u8]) -> Vec<u32> {
        let number = |at: usize, length: usize| {
            elf[at..at + length].iter().rev().fold(0usize, |sum, byte| (sum << 8) | usize::from(*byte))
        };
        let (start, size, count) = (number(32, 8), number(54, 2), number(56, 2));
        (0..count).map(|index| number(start + index * size, 4) as u32).collect()
    }

    #[test]
    fn it_is_written_once_and_put_right_when_damaged() {
        let cache = tempfile::tempdir().unwrap();
        let program = Program::embedded();
        let dir = program.write_out(cache.path()).unwrap();
        let path = dir.join(FILE_NAME);
        let first = fs::metadata(&path).unwrap();
        program.write_out(cache.path()).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), first.modified().unwrap());
        fs::remove_file(&path).unwrap();
        fs::write(&path, "half").unwrap();
        program.write_out(cache.path()).unwrap();
        assert_eq!(fs::read(&path).unwrap(), program.bytes());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o555);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&dir), mode(dir.parent().unwrap())), (0o755, 0o700));
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1, "nothing else is left");
    }

    #[test]
    fn many_writers_at_once_leave_one_whole_program() {
        let cache = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| Program::embedded().write_out(cache.path()).unwrap());
            }
        });
        let dir = Program::embedded().write_out(cache.path()).unwrap();
        assert_eq!(fs::read(dir.join(FILE_NAME)).unwrap(), Program::embedded().bytes());
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1);
    }

    #[test]
    fn a_place_that_cannot_be_written_is_a_clear_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = Program::embedded().write_out(file.path()).unwrap_err();
        assert!(error.to_string().contains("cannot write the box program"), "{error}");
    }
}
