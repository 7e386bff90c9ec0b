//! A writer that fails once: what comes after a failed write goes nowhere, without another error.
//!
//! The zip library writes the end of an archive also when it is dropped after a failure, and complains on the terminal
//! when that fails too.

use std::io::{self, Seek, SeekFrom, Write};

/// Passes everything on until something fails.
#[derive(Debug)]
pub struct Quiet<W> {
    inner: W,
    state: State,
}

#[derive(Debug)]
enum State {
    Working {
        end: u64,
        at: u64,
    },
    /// Pretends to be a file of this length with the cursor here.
    Failed {
        end: u64,
        at: u64,
    },
}

impl<W> Quiet<W> {
    /// Around a file that is still empty.
    pub fn new(inner: W) -> Self {
        Self { inner, state: State::Working { end: 0, at: 0 } }
    }

    /// What was written to, unless a write has failed.
    pub fn inner(self) -> io::Result<W> {
        match self.state {
            State::Working { .. } => Ok(self.inner),
            State::Failed { .. } => Err(io::Error::other("an earlier write failed")),
        }
    }

    fn position(&self) -> (u64, u64) {
        match self.state {
            State::Working { end, at } | State::Failed { end, at } => (end, at),
        }
    }

    fn fail<T>(&mut self, error: io::Error) -> io::Result<T> {
        let (end, at) = self.position();
        if error.kind() != io::ErrorKind::Interrupted {
            self.state = State::Failed { end, at };
        }
        Err(error)
    }

    fn is_working(&self) -> bool {
        matches!(self.state, State::Working { .. })
    }

    fn move_to(&mut self, to: u64) {
        match &mut self.state {
            State::Working { end, at } | State::Failed { end, at } => {
                *at = to;
                *end = to.max(*end);
            }
        }
    }
}

impl<W: Write> Write for Quiet<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = if self.is_working() { self.inner.write(bytes) } else { Ok(bytes.len()) };
        match written {
            Ok(count) => {
                self.move_to(self.position().1 + count as u64);
                Ok(count)
            }
            Err(e) => self.fail(e),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.is_working() {
            return Ok(());
        }
        self.inner.flush().or_else(|e| self.fail(e))
    }
}

impl<W: Seek> Seek for Quiet<W> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (end, at) = self.position();
        let found = match (&self.state, to) {
            (State::Working { .. }, _) => self.inner.seek(to),
            (State::Failed { .. }, SeekFrom::Start(n)) => Ok(n),
            (State::Failed { .. }, SeekFrom::End(n)) => Ok(end.saturating_add_signed(n)),
            (State::Failed { .. }, SeekFrom::Current(n)) => Ok(at.saturating_add_signed(n)),
        };
        match found {
            Ok(position) => {
                self.move_to(position);
                Ok(position)
            }
            Err(e) => self.fail(e),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    /// A disk with room for so many bytes.
    struct Disk(io::Cursor<Vec<u8>>, u64);

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.0.position() + bytes.len() as u64 > self.1 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.0.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Seek for Disk {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.0.seek(to)
        }
    }

    /// Dropping a writer does what finishing it does, but prints the error.
    #[test]
    fn after_a_failed_write_an_archive_ends_without_another_error() {
        let mut failures = 0;
        for room in 0..2000 {
            let mut zip = ZipWriter::new(Quiet::new(Disk(io::Cursor::new(Vec::new()), room)));
            zip.set_comment("a comment").unwrap();
            let noise: Vec<u8> = (0..1500_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
            let added = zip
                .start_file("x", SimpleFileOptions::default())
                .map_err(io::Error::from)
                .and_then(|()| zip.write_all(&noise));
            if added.is_err() {
                failures += 1;
                assert!(zip.finish().unwrap().inner().is_err(), "room for {room} bytes");
            }
        }
        assert!(failures > 0);
    }

    #[test]
    fn an_archive_with_room_is_whole() {
        let mut zip = ZipWriter::new(Quiet::new(Disk(io::Cursor::new(Vec::new()), 10_000)));
        zip.start_file("x", SimpleFileOptions::default()).unwrap();
        zip.write_all(b"text").unwrap();
        let bytes = zip.finish().unwrap().inner().unwrap().0;
        assert_eq!(zip::ZipArchive::new(bytes).unwrap().len(), 1);
    }
}
