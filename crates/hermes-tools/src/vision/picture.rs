//! Where a picture comes from, and whether it is one.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_guard::is_secret_path;
use hermes_model::Image;
use hermes_web::fetch::{Beyond, Order};
use hermes_web::image::{self, Format};

use crate::tool::Run;
use crate::web::Web;
use crate::workplace::Workplace;

/// Largest picture: what most models take.
const LARGEST: usize = 10 * 1024 * 1024;

/// Where a picture is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source<'a> {
    /// On the web.
    Web(&'a str),
    /// In the address itself.
    Inline(&'a str),
    /// In a file, where commands run.
    File(PathBuf),
}

impl<'a> Source<'a> {
    pub(super) fn of(address: &'a str) -> Self {
        let scheme = address.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
        match scheme.as_deref() {
            Some("data") => Self::Inline(address),
            // `file` as a path; what it leads to is looked at where commands run.
            Some("file") => Self::File(address[5..].trim_start_matches("//").into()),
            Some(_) if address.contains("://") => Self::Web(address),
            _ => Self::File(address.into()),
        }
    }
}

/// Gets the bytes of a picture.
pub(super) async fn get(
    source: &Source<'_>,
    web: &Web,
    place: &Workplace,
    within: Duration,
    run: &Run<'_>,
) -> Result<Vec<u8>, String> {
    match source {
        Source::Web(url) => {
            let order = Order { accept: "image/*", largest: LARGEST, beyond: Beyond::Refuse, within };
            let fetched = web.fetcher()?.fetch(url, &order, run.cancel).await;
            fetched.map(|fetched| fetched.body).map_err(|error| error.to_string())
        }
        Source::Inline(url) if url.len() > LARGEST * 4 / 3 + 1024 => Err(too_large()),
        Source::Inline(url) => {
            image::data_url(url).ok_or_else(|| "the data: URL is not in base64".to_owned())
        }
        Source::File(path) => read(place, path, run).await,
    }
}

fn too_large() -> String {
    format!("the image is larger than {} MB: make it smaller first", LARGEST / (1024 * 1024))
}

async fn read(place: &Workplace, path: &Path, run: &Run<'_>) -> Result<Vec<u8>, String> {
    if is_secret_path(path) {
        return Err("files of this name hold logins or keys and are not read".to_owned());
    }
    let (place, path) = (place.clone(), path.to_path_buf());
    let (session, progress) = (run.session.to_owned(), run.progress.clone());
    let reading = tokio::task::spawn_blocking(move || {
        let files = place.enter(&session, &progress).map_err(|error| error.to_string())?.client.files();
        let failed =
            |error: hermes_box::client::CallError| format!("cannot read {}: {error}", path.display());
        // One byte more than wanted tells that there is more.
        let (bytes, _) = files.in_session(session).read(&path, LARGEST as u64 + 1).map_err(failed)?;
        if bytes.len() > LARGEST { Err(too_large()) } else { Ok(bytes) }
    });
    reading.await.unwrap_or_else(|_| Err("the tool itself failed: see the log".to_owned()))
}

/// A picture for a model, if the bytes are one: whatever else a file holds goes nowhere.
pub(super) fn image(bytes: &[u8]) -> Result<Image, String> {
    let format = Format::of(bytes).ok_or("this is no image that models take (PNG, JPEG, GIF, WebP, BMP)")?;
    Ok(Image::Inline { media_type: format.media_type().to_owned(), base64: image::base64(bytes) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_told_apart() {
        assert_eq!(Source::of("https://a.test/x.png"), Source::Web("https://a.test/x.png"));
        assert_eq!(Source::of("ftp://a.test/x.png"), Source::Web("ftp://a.test/x.png"));
        assert_eq!(Source::of("DATA:image/png;base64,AA"), Source::Inline("DATA:image/png;base64,AA"));
        assert_eq!(Source::of("file:///tmp/x.png"), Source::File("/tmp/x.png".into()));
        assert_eq!(Source::of("shots/a:b.png"), Source::File("shots/a:b.png".into()));
        assert_eq!(Source::of("~/x.png"), Source::File("~/x.png".into()));
    }

    #[test]
    fn only_pictures_are_sent() {
        assert!(image(b"-----BEGIN KEY-----").is_err());
        let Ok(Image::Inline { media_type, base64 }) = image(b"\x89PNG\r\n\x1a\n") else {
            panic!("a picture")
        };
        assert_eq!((media_type.as_str(), base64.as_str()), ("image/png", "iVBORw0KGgo="));
    }
}
