//! Any bytes as a page: they are read without a panic, and what comes out is bounded and visible text.
#![no_main]

use hermes_web::fetch::{Extent, Fetched};
use hermes_web::{Url, page};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(url) = Url::parse("https://site.example/dir/page") else { return };
    // The first byte chooses what the server says.
    let (first, body) = data.split_first().unwrap_or((&0, data));
    let media_type = ["text/html", "", "text/plain", "application/xhtml+xml"][usize::from(first & 3)].to_owned();
    let charset = ["utf-8", "utf-16le", "shift_jis", "latin1"].get(usize::from(first >> 2 & 7)).map(|c| (*c).to_owned());
    let fetched = Fetched { url, media_type, charset, body: body.to_vec(), extent: Extent::Whole };
    if let Ok(read) = page::read(&fetched) {
        // Links are made whole, so a page may grow, but not without end.
        assert!(read.text.len() <= 200 * body.len() + 1000, "{} of {}", read.text.len(), body.len());
        assert!(!read.text.contains('\u{1b}') && !read.text.contains('\u{202e}'));
    }
});
