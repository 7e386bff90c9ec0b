//! A body as it comes: uncompressed on the way, and never more than wanted, however small it was packed.

use std::io::{self, Write};

use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use super::Extent;

/// Takes up to a number of bytes and refuses the rest.
pub(super) struct Sink {
    bytes: Vec<u8>,
    largest: usize,
    full: bool,
}

impl Write for Sink {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let room = self.largest - self.bytes.len();
        if piece.len() > room {
            self.bytes.extend_from_slice(&piece[..room]);
            self.full = true;
            return Err(io::Error::other("more than wanted"));
        }
        self.bytes.extend_from_slice(piece);
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A body that is being read.
pub(super) enum Decoding {
    Plain(Box<Sink>),
    Gzip(Box<MultiGzDecoder<Sink>>),
    /// `deflate` means one format and is used for two; the first byte tells.
    Undecided(usize),
    Zlib(Box<ZlibDecoder<Sink>>),
    Raw(Box<DeflateDecoder<Sink>>),
}

fn sink(largest: usize) -> Sink {
    Sink { bytes: Vec::new(), largest, full: false }
}

impl Decoding {
    /// For a `Content-Encoding`; nothing for one that we never ask for.
    pub(super) fn new(coding: &str, largest: usize) -> Option<Self> {
        match coding.trim().to_ascii_lowercase().as_str() {
            "" | "identity" => Some(Self::Plain(Box::new(sink(largest)))),
            "gzip" | "x-gzip" => Some(Self::Gzip(Box::new(MultiGzDecoder::new(sink(largest))))),
            "deflate" => Some(Self::Undecided(largest)),
            _ => None,
        }
    }

    /// Takes a piece; whether there is room for more.
    pub(super) fn push(&mut self, piece: &[u8]) -> io::Result<Extent> {
        if let (Self::Undecided(largest), Some(first)) = (&self, piece.first()) {
            // The method in the low bits of a zlib header is always 8, with a window of at most 32 K.
            *self = if first & 0x0f == 8 && first >> 4 <= 7 {
                Self::Zlib(Box::new(ZlibDecoder::new(sink(*largest))))
            } else {
                Self::Raw(Box::new(DeflateDecoder::new(sink(*largest))))
            };
        }
        let written = match self {
            Self::Plain(out) => out.write_all(piece),
            Self::Gzip(out) => out.write_all(piece).and_then(|()| out.flush()),
            Self::Zlib(out) => out.write_all(piece).and_then(|()| out.flush()),
            Self::Raw(out) => out.write_all(piece).and_then(|()| out.flush()),
            Self::Undecided(_) => Ok(()),
        };
        match written {
            Ok(()) => Ok(Extent::Whole),
            Err(_) if self.out().is_some_and(|sink| sink.full) => Ok(Extent::Cut),
            Err(error) => Err(error),
        }
    }

    fn out(&self) -> Option<&Sink> {
        match self {
            Self::Plain(out) => Some(out),
            Self::Gzip(out) => Some(out.get_ref()),
            Self::Zlib(out) => Some(out.get_ref()),
            Self::Raw(out) => Some(out.get_ref()),
            Self::Undecided(_) => None,
        }
    }

    /// All that came.
    pub(super) fn finish(mut self) -> io::Result<(Vec<u8>, Extent)> {
        let ended = match &mut self {
            Self::Plain(_) | Self::Undecided(_) => Ok(()),
            Self::Gzip(out) => out.try_finish(),
            Self::Zlib(out) => out.try_finish(),
            Self::Raw(out) => out.try_finish(),
        };
        let full = self.out().is_some_and(|sink| sink.full);
        let bytes = self.out().map(|sink| sink.bytes.clone()).unwrap_or_default();
        match ended {
            _ if full => Ok((bytes, Extent::Cut)),
            Ok(()) => Ok((bytes, Extent::Whole)),
            // A connection that ended early left something to read.
            Err(_) if !bytes.is_empty() => Ok((bytes, Extent::Cut)),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    fn packed(coding: &str, text: &[u8]) -> Vec<u8> {
        match coding {
            "gzip" => {
                let mut packer = GzEncoder::new(Vec::new(), Compression::default());
                packer.write_all(text).unwrap();
                packer.finish().unwrap()
            }
            "zlib" => {
                let mut packer = ZlibEncoder::new(Vec::new(), Compression::default());
                packer.write_all(text).unwrap();
                packer.finish().unwrap()
            }
            _ => {
                let mut packer = DeflateEncoder::new(Vec::new(), Compression::default());
                packer.write_all(text).unwrap();
                packer.finish().unwrap()
            }
        }
    }

    fn unpacked(coding: &str, bytes: &[u8], largest: usize) -> io::Result<(Vec<u8>, Extent)> {
        let mut decoding = Decoding::new(coding, largest).unwrap();
        for piece in bytes.chunks(7) {
            if decoding.push(piece)? == Extent::Cut {
                break;
            }
        }
        decoding.finish()
    }

    #[test]
    fn what_was_packed_is_unpacked() {
        let text = "some text ".repeat(500);
        for (said, how) in [("gzip", "gzip"), ("deflate", "zlib"), ("deflate", "raw"), ("X-Gzip", "gzip")] {
            let bytes = packed(how, text.as_bytes());
            assert_eq!(
                unpacked(said, &bytes, 10_000).unwrap(),
                (text.clone().into_bytes(), Extent::Whole),
                "{how}"
            );
        }
        assert_eq!(unpacked("", b"plain", 5).unwrap(), (b"plain".to_vec(), Extent::Whole));
        assert_eq!(unpacked("deflate", b"", 5).unwrap(), (Vec::new(), Extent::Whole));
        assert!(Decoding::new("br", 10).is_none());
    }

    #[test]
    fn a_small_bomb_stays_small() {
        let bomb = packed("gzip", &vec![0; 50 * 1024 * 1024]);
        assert!(bomb.len() < 100_000);
        let (bytes, extent) = unpacked("gzip", &bomb, 1000).unwrap();
        assert_eq!((bytes.len(), extent), (1000, Extent::Cut));
        assert_eq!(unpacked("", b"123456", 5).unwrap(), (b"12345".to_vec(), Extent::Cut));
    }

    #[test]
    fn garbage_is_an_error_and_an_early_end_is_not() {
        assert!(unpacked("gzip", b"this is no gzip at all", 100).is_err());
        let whole = packed("gzip", "words and words ".repeat(5000).as_bytes());
        let (bytes, extent) = unpacked("gzip", &whole[..whole.len() / 2], 1_000_000).unwrap();
        assert!(!bytes.is_empty() && extent == Extent::Cut);
    }
}
