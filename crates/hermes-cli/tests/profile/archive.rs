//! Archives made by hand, honest and not.

use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};

/// An archive being made. Names are written as they are, which a proper tool would not do.
pub struct Archive {
    tar: Builder<GzEncoder<Vec<u8>>>,
}

impl Archive {
    pub fn new() -> Self {
        Self { tar: Builder::new(GzEncoder::new(Vec::new(), Compression::fast())) }
    }

    pub fn file(self, name: &str, bytes: &[u8]) -> Self {
        self.entry(EntryType::Regular, name, 0o644, bytes)
    }

    pub fn dir(self, name: &str) -> Self {
        self.entry(EntryType::Directory, name, 0o755, b"")
    }

    pub fn link(self, kind: EntryType, name: &str, to: &str) -> Self {
        let mut header = header(kind, name, 0o777, 0);
        header.as_old_mut().linkname[..to.len()].copy_from_slice(to.as_bytes());
        self.raw(&mut header, b"")
    }

    pub fn entry(self, kind: EntryType, name: &str, mode: u32, bytes: &[u8]) -> Self {
        self.raw(&mut header(kind, name, mode, bytes.len() as u64), bytes)
    }

    /// An entry whose header claims another size than it has.
    pub fn claiming(self, name: &str, size: u64) -> Self {
        self.raw(&mut header(EntryType::Regular, name, 0o644, size), b"")
    }

    fn raw(mut self, header: &mut Header, bytes: &[u8]) -> Self {
        header.set_cksum();
        self.tar.append(header, bytes).unwrap();
        self
    }

    /// Writes `count` zero bytes as one file.
    pub fn zeros(mut self, name: &str, count: u64) -> Self {
        let mut header = header(EntryType::Regular, name, 0o644, count);
        header.set_cksum();
        self.tar.append(&header, std::io::Read::take(std::io::repeat(0), count)).unwrap();
        self
    }

    pub fn write(self, path: &Path) -> PathBuf {
        let bytes = self.tar.into_inner().unwrap().finish().unwrap();
        std::fs::File::create(path).unwrap().write_all(&bytes).unwrap();
        path.to_path_buf()
    }
}

fn header(kind: EntryType, name: &str, mode: u32, size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(size);
    header
}
