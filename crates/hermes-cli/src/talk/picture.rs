//! Pictures that go with a question.

use std::path::Path;

use hermes_model::{Content, Image};

use crate::ui;

/// Largest picture that is sent.
const LARGEST: u64 = 20 * 1024 * 1024;

/// Reads a picture for the model.
pub fn read(path: &Path) -> anyhow::Result<Content> {
    let refuse =
        |why: String| ui::WrongUsage(format!("'{}' cannot be sent as a picture: {why}", path.display()));
    let size = std::fs::metadata(path).map_err(|error| refuse(error.to_string()))?.len();
    if size > LARGEST {
        return Err(
            refuse(format!("it has {}, at most {} are sent", ui::size(size), ui::size(LARGEST))).into()
        );
    }
    let bytes = std::fs::read(path).map_err(|error| refuse(error.to_string()))?;
    let media_type = kind(&bytes).ok_or_else(|| refuse("it is no PNG, JPEG, GIF or WebP".to_owned()))?;
    Ok(Content::Image(Image::Inline {
        media_type: media_type.to_owned(),
        base64: crate::base64::encode(&bytes),
    }))
}

/// The type of a picture, by how it begins.
pub fn kind(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_known_by_their_beginning() {
        assert_eq!(kind(b"\x89PNG\r\n"), Some("image/png"));
        assert_eq!(kind(b"RIFF....WEBPVP8"), Some("image/webp"));
        assert_eq!(kind(b"<svg>"), None);
    }
}
