//! What a file is, by the ending of its name and by how it begins.

/// Pictures, which another tool looks at.
const IMAGES: &[&str] =
    &["png", "jpg", "jpeg", "gif", "webp", "bmp", "ico", "tif", "tiff", "heic", "heif", "avif"];
/// Formats that are no lines of text.
const BINARIES: &[&str] = &[
    "7z", "a", "aac", "accdb", "apk", "avi", "bin", "bz2", "class", "db", "deb", "dll", "dmg", "doc", "docx",
    "dylib", "ear", "eot", "epub", "exe", "flac", "flv", "gz", "img", "iso", "jar", "lz4", "m4a", "mdb",
    "mkv", "mov", "mp3", "mp4", "mpeg", "msi", "o", "odp", "ods", "odt", "ogg", "otf", "pdf", "ppt", "pptx",
    "pyc", "pyd", "pyo", "rar", "rpm", "so", "sqlite", "sqlite3", "tar", "tgz", "ttf", "war", "wasm", "wav",
    "webm", "wim", "wma", "wmv", "woff", "woff2", "xls", "xlsx", "xz", "zip", "zst",
];

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Image,
    Binary,
    Notebook,
}

impl Kind {
    pub(super) fn of(path: &str) -> Self {
        let name = path.rsplit('/').next().unwrap_or_default();
        let ending = match name.rsplit_once('.') {
            Some((stem, ending)) if !stem.is_empty() => ending.to_ascii_lowercase(),
            _ => return Self::Text,
        };
        match ending.as_str() {
            "ipynb" => Self::Notebook,
            image if IMAGES.contains(&image) => Self::Image,
            binary if BINARIES.contains(&binary) => Self::Binary,
            _ => Self::Text,
        }
    }
}

/// Bytes that tell a picture.
pub(super) const TELLING: u64 = 16;

/// Whether a file that begins like this is a picture that can be looked at.
pub(super) fn is_picture(beginning: &[u8]) -> bool {
    const BEGINNINGS: &[&[u8]] =
        &[b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"II*\0", b"MM\0*", b"\0\0\x01\0"];
    let riff = beginning.starts_with(b"RIFF") && beginning.get(8..12) == Some(b"WEBP");
    let bitmap = beginning.starts_with(b"BM") && beginning.get(6..10) == Some(&[0; 4]);
    riff || bitmap || BEGINNINGS.iter().any(|known| beginning.starts_with(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_known_by_how_they_begin() {
        for picture in
            [&b"\x89PNG\r\n\x1a\n\0\0"[..], b"\xff\xd8\xff\xe0", b"GIF89a..", b"RIFF\x01\x02\x03\x04WEBPVP8 "]
        {
            assert!(is_picture(picture));
        }
        for other in [&b"RIFF\x01\x02\x03\x04WAVEfmt "[..], b"BMW is a car", b"\x7fELF", b"", b"PK\x03\x04"] {
            assert!(!is_picture(other));
        }
    }

    #[test]
    fn endings_tell() {
        assert_eq!(Kind::of("/a/B.PNG"), Kind::Image);
        assert_eq!(Kind::of("x.tar.gz"), Kind::Binary);
        assert_eq!(Kind::of("n.ipynb"), Kind::Notebook);
        for text in ["a.rs", ".png", "Makefile", "dir.zip/file", "a.svg", "lib.so.txt"] {
            assert_eq!(Kind::of(text), Kind::Text, "{text}");
        }
    }
}
