//! How much an archive may hold: a few kilobytes can unpack to more than a disk.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

/// The bounds of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Files and directories.
    pub entries: u64,
    /// Bytes of one file.
    pub file_bytes: u64,
    /// Bytes of all files.
    pub total_bytes: u64,
    /// How many times larger than the archive its content may be, once it is larger than [`Limits::free_bytes`].
    pub expansion: u64,
    /// Content that may be as compressible as it likes.
    pub free_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        const GIB: u64 = 1 << 30;
        Self {
            entries: 500_000,
            file_bytes: 16 * GIB,
            total_bytes: 64 * GIB,
            expansion: 200,
            free_bytes: GIB / 4,
        }
    }
}

/// Which bound was broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LimitError {
    /// Too many entries.
    #[error("the archive has more than {0} entries")]
    Entries(u64),
    /// One file is too large.
    #[error("the file is larger than {0} bytes")]
    File(u64),
    /// All files together are too large.
    #[error("the archive unpacks to more than {0} bytes")]
    Total(u64),
    /// So compressible that it is made to fill disks.
    #[error("the archive unpacks to more than {0} times its size")]
    Expansion(u64),
}

/// What has been unpacked so far.
#[derive(Debug)]
pub struct Meter {
    limits: Limits,
    compressed: Rc<Cell<u64>>,
    entries: u64,
    bytes: u64,
}

impl Meter {
    /// A meter for an archive whose bytes are counted by the [`Counted`] reader that comes with it.
    pub fn new<R: Read>(limits: Limits, archive: R) -> (Self, Counted<R>) {
        let compressed = Rc::new(Cell::new(0));
        let counted = Counted { inner: archive, count: Rc::clone(&compressed) };
        (Self { limits, compressed, entries: 0, bytes: 0 }, counted)
    }

    /// One more entry, of a size its header claims.
    pub fn entry(&mut self, claimed: u64) -> Result<(), LimitError> {
        self.entries += 1;
        let limits = &self.limits;
        if self.entries > limits.entries {
            return Err(LimitError::Entries(limits.entries));
        }
        if claimed > limits.file_bytes {
            return Err(LimitError::File(limits.file_bytes));
        }
        if self.bytes.saturating_add(claimed) > limits.total_bytes {
            return Err(LimitError::Total(limits.total_bytes));
        }
        Ok(())
    }

    /// Bytes that really came out.
    pub fn unpacked(&mut self, bytes: u64) -> Result<(), LimitError> {
        self.bytes = self.bytes.saturating_add(bytes);
        let limits = &self.limits;
        if self.bytes > limits.total_bytes {
            return Err(LimitError::Total(limits.total_bytes));
        }
        let allowed = self.compressed.get().saturating_mul(limits.expansion).max(limits.free_bytes);
        if self.bytes > allowed {
            return Err(LimitError::Expansion(limits.expansion));
        }
        Ok(())
    }
}

/// Counts what is read through it.
#[derive(Debug)]
pub struct Counted<R> {
    inner: R,
    count: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.count.set(self.count.get() + read as u64);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    const SMALL: Limits =
        Limits { entries: 3, file_bytes: 100, total_bytes: 250, expansion: 10, free_bytes: 50 };

    fn meter(archive: &[u8]) -> (Meter, Counted<&[u8]>) {
        Meter::new(SMALL, archive)
    }

    #[test]
    fn claims_are_checked_before_anything_is_unpacked() {
        let (mut meter, _archive) = meter(b"");
        assert_eq!(meter.entry(101), Err(LimitError::File(100)));
        assert_eq!(meter.entry(100), Ok(()));
        assert_eq!(meter.entry(0), Ok(()));
        assert_eq!(meter.entry(0), Err(LimitError::Entries(3)));
    }

    #[test]
    fn what_really_comes_out_is_held_against_the_size_of_the_archive() {
        let (mut meter, mut archive) = meter(&[0; 20]);
        assert_eq!(meter.unpacked(50), Ok(()), "a little may come from nothing");
        assert_eq!(meter.unpacked(1), Err(LimitError::Expansion(10)));
        archive.read_exact(&mut [0; 20]).unwrap();
        assert_eq!(meter.unpacked(149), Ok(()), "ten times what was read");
        assert_eq!(meter.entry(51), Err(LimitError::Total(250)));
        assert_eq!(meter.unpacked(51), Err(LimitError::Total(250)));
    }
}
