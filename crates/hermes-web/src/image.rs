//! Pictures: what they are by their first bytes, and how they travel in text.

/// A kind of picture that models take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// PNG.
    Png,
    /// JPEG.
    Jpeg,
    /// GIF.
    Gif,
    /// WebP.
    Webp,
    /// BMP.
    Bmp,
}

impl Format {
    /// By the first bytes: names and headers lie.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(Self::Png),
            [0xff, 0xd8, 0xff, ..] => Some(Self::Jpeg),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Self::Gif),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Self::Webp),
            [b'B', b'M', _, _, _, _, 0, 0, 0, 0, ..] => Some(Self::Bmp),
            _ => None,
        }
    }

    /// As in a `Content-Type`.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
            Self::Bmp => "image/bmp",
        }
    }
}

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bytes as base64.
pub fn base64(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for piece in bytes.chunks(3) {
        let [a, b, c] = [piece[0], piece.get(1).copied().unwrap_or(0), piece.get(2).copied().unwrap_or(0)];
        let bits = u32::from_be_bytes([0, a, b, c]);
        for place in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * place) & 63) as usize];
            out.push(if place <= piece.len() { char::from(letter) } else { '=' });
        }
    }
    out
}

/// The bytes of a `data:` address in base64; nothing if it is no such address.
pub fn data_url(url: &str) -> Option<Vec<u8>> {
    let rest = url.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("data:")).and(url.get(5..))?;
    let (kind, data) = rest.split_once(',')?;
    if !kind.to_ascii_lowercase().ends_with(";base64") {
        return None;
    }
    let mut out = Vec::with_capacity(data.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0);
    for byte in data.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
        if byte == b'=' {
            break;
        }
        let value = LETTERS.iter().position(|letter| *letter == byte)?;
        bits = bits << 6 | value as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn pictures_are_known_by_their_first_bytes() {
        assert_eq!(Format::of(b"\x89PNG\r\n\x1a\n..."), Some(Format::Png));
        assert_eq!(Format::of(b"RIFF\x01\x02\x03\x04WEBPVP8 "), Some(Format::Webp));
        assert_eq!(Format::of(b"BM is how a letter begins"), None);
        assert_eq!(Format::of(b"<svg"), None);
    }

    #[test]
    fn base64_is_padded() {
        assert_eq!(
            (base64(b"a"), base64(b"ab"), base64(b"abc")),
            ("YQ==".into(), "YWI=".into(), "YWJj".into())
        );
        assert_eq!(data_url("data:image/png,x"), None);
        assert_eq!(data_url("https://x.test/"), None);
        assert_eq!(data_url("DATA:;base64,Y W\nI="), Some(b"ab".to_vec()));
        assert_eq!(data_url("data:;base64,é"), None);
    }

    proptest! {
        #[test]
        fn bytes_come_back(bytes in prop::collection::vec(any::<u8>(), 0..50)) {
            prop_assert_eq!(data_url(&format!("data:image/png;base64,{}", base64(&bytes))), Some(bytes));
        }
    }
}
