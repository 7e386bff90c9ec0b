//! Any text as a page: it is read without a panic, and what comes out is bounded and visible.

use hermes_web::fetch::{Extent, Fetched};
use hermes_web::{Url, page};
use proptest::prelude::*;

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[<>/!a-z\"'= &;#-]{0,30}",
        prop::sample::select(vec![
            "<p>",
            "</p>",
            "<div",
            "<a href='x'>",
            "<table><tr><td>",
            "<pre>",
            "</pre",
            "<script>",
            "</script>",
            "<style>",
            "<!--",
            "-->",
            "<![CDATA[",
            "&#x202e;",
            "&#27;",
            "&nbsp",
            "<ul><li>",
            "<title>",
            "\u{202e}",
            "<template>",
            "<svg>",
            "<textarea>",
            "<img alt=\"",
            "<h1>",
            "<br/>",
            "\0",
            "<base href='//a'>",
        ])
        .prop_map(str::to_owned),
    ]
}

proptest! {
    #[test]
    fn any_page_is_read(
        pieces in prop::collection::vec(piece(), 0..40),
        kind in prop::sample::select(vec!["text/html", "", "text/plain", "application/xhtml+xml"]),
        charset in prop::option::of(prop::sample::select(vec!["utf-8", "utf-16le", "shift_jis", "latin1"])),
    ) {
        let body = pieces.concat().into_bytes();
        let length = body.len();
        let fetched = Fetched {
            url: Url::parse("https://site.example/dir/page").unwrap(),
            media_type: kind.to_owned(),
            charset: charset.map(str::to_owned),
            body,
            extent: Extent::Whole,
        };
        if let Ok(read) = page::read(&fetched) {
            // Links are made whole, so a page may grow, but not without end.
            prop_assert!(read.text.len() <= 200 * length + 1000, "{} of {length}", read.text.len());
            let hidden = read.text.contains(['\u{1b}', '\u{202e}']);
            prop_assert!(!hidden, "what is read is visible");
        }
    }
}
