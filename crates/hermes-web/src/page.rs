//! What was fetched, as text to read.

use crate::charset;
use crate::fetch::{Extent, Fetched};
use crate::html::{Readable, readable};

/// Why something cannot be read as a page.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    /// A PDF.
    #[error(
        "this is a PDF: download it with the terminal and read it there (for example `curl -LO URL`, then `pdftotext FILE -`)"
    )]
    Pdf,
    /// A picture.
    #[error("this is an image: look at it with vision_analyze")]
    Image,
    /// Something else that is no text.
    #[error("this is no text ({0}): download it with the terminal if you need it")]
    NotText(String),
}

/// Makes text of what was fetched.
pub fn read(fetched: &Fetched) -> Result<Readable, PageError> {
    match kind(&fetched.media_type, &fetched.body) {
        Kind::Html => {
            let text = charset::decode(&fetched.body, fetched.charset.as_deref());
            Ok(finished(readable(&text, &fetched.url), fetched.extent))
        }
        Kind::Text => {
            let text = charset::decode(&fetched.body, fetched.charset.as_deref());
            let page = Readable { title: String::new(), text: text.replace("\r\n", "\n").trim().to_owned() };
            Ok(finished(page, fetched.extent))
        }
        Kind::Pdf => Err(PageError::Pdf),
        Kind::Image => Err(PageError::Image),
        Kind::Other => Err(PageError::NotText(if fetched.media_type.is_empty() {
            "its type is not given".to_owned()
        } else {
            fetched.media_type.clone()
        })),
    }
}

fn finished(mut page: Readable, extent: Extent) -> Readable {
    page.title.retain(is_visible);
    page.text.retain(is_visible);
    if page.text.is_empty() {
        page.text.push_str("[The page has no text that can be read without running its scripts.]");
    }
    if extent == Extent::Cut {
        page.text.push_str("\n\n[The page is longer than what was fetched; the rest is missing.]");
    }
    page
}

/// What nobody sees may still talk to a model: characters without a shape, orders to write backwards, letters of the
/// tag block, control codes.
fn is_visible(c: char) -> bool {
    match c {
        '\n' | '\t' => true,
        '\u{ad}'
        | '\u{200b}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2064}'
        | '\u{2066}'..='\u{2069}'
        | '\u{feff}'
        | '\u{e0000}'..='\u{e007f}' => false,
        c => !c.is_control(),
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Html,
    Text,
    Pdf,
    Image,
    Other,
}

/// By the type the server says; where it says nothing useful, by how it begins.
fn kind(media_type: &str, body: &[u8]) -> Kind {
    if body.starts_with(b"%PDF-") {
        return Kind::Pdf;
    }
    match media_type {
        "text/html" | "application/xhtml+xml" => Kind::Html,
        "application/pdf" => Kind::Pdf,
        "" | "application/octet-stream" | "binary/octet-stream" | "application/unknown" => look(body),
        _ if media_type.starts_with("image/") && media_type != "image/svg+xml" => Kind::Image,
        _ if is_text(media_type) => Kind::Text,
        _ => Kind::Other,
    }
}

fn is_text(media_type: &str) -> bool {
    const TEXTS: &[&str] = &[
        "application/json",
        "application/xml",
        "application/javascript",
        "application/ecmascript",
        "application/yaml",
        "application/x-yaml",
        "application/toml",
        "application/x-sh",
        "application/sql",
        "application/graphql",
        "application/x-ndjson",
        "application/ld+json",
        "application/x-tex",
    ];
    media_type.starts_with("text/")
        || media_type.ends_with("+json")
        || media_type.ends_with("+xml")
        || media_type.ends_with("+yaml")
        || TEXTS.contains(&media_type)
}

fn look(body: &[u8]) -> Kind {
    let start = &body[..body.len().min(1024)];
    if crate::image::Format::of(start).is_some() {
        return Kind::Image;
    }
    if start.contains(&0) {
        return Kind::Other;
    }
    let text = String::from_utf8_lossy(start).trim_start().to_ascii_lowercase();
    if text.starts_with("<!doctype html") || text.starts_with("<html") { Kind::Html } else { Kind::Text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_is_not_read() {
        let hidden = "a\u{200b}b\u{e0041}c\u{202e}d\u{ad}e\x1b[31mf\u{200d}g";
        let page = finished(Readable { title: hidden.to_owned(), text: hidden.to_owned() }, Extent::Whole);
        assert_eq!((page.title.as_str(), page.text.as_str()), ("abcde[31mf\u{200d}g", "abcde[31mf\u{200d}g"));
    }

    #[test]
    fn types_are_told_apart() {
        for (media_type, body, meant) in [
            ("text/html", "x", Kind::Html),
            ("", "  <!DOCTYPE HTML><p>", Kind::Html),
            ("", "plain", Kind::Text),
            ("application/octet-stream", "a\0b", Kind::Other),
            ("application/octet-stream", "%PDF-1.7", Kind::Pdf),
            ("text/html", "%PDF-1.7", Kind::Pdf),
            ("application/pdf", "", Kind::Pdf),
            ("application/vnd.api+json", "{}", Kind::Text),
            ("application/rss+xml", "<rss>", Kind::Text),
            ("image/svg+xml", "<svg>", Kind::Text),
            ("image/png", "", Kind::Image),
            ("video/mp4", "", Kind::Other),
            ("application/zip", "PK", Kind::Other),
        ] {
            assert_eq!(kind(media_type, body.as_bytes()), meant, "{media_type} {body}");
        }
    }
}
