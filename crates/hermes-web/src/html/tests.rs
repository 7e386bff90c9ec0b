//! What pages become, piece by piece; whole pages are in `tests/pages`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::prelude::*;

use super::*;

fn base() -> Url {
    Url::parse("https://site.test/dir/page").unwrap()
}

fn text(html: &str) -> String {
    readable(html, &base()).text
}

#[test]
fn blocks_become_markdown() {
    for (html, meant) in [
        ("<p>a <b>b</b>\n c<p>d", "a b c\n\nd"),
        ("<h2>T <code>x</code></h2><p>y", "## T `x`\n\ny"),
        ("a<br>b<br><br>c", "a\nb\n\nc"),
        ("<ul><li>a<li>b<ul><li>c</ul><li>d</ul>", "- a\n- b\n  - c\n- d"),
        ("<ol start=3><li><p>a</p></li><li><p>b</p><p>c</p></li></ol>x", "3. a\n4. b\n\n   c\n\nx"),
        ("<blockquote><p>a<p>b</blockquote>c", "> a\n>\n> b\n\nc"),
        (
            "<pre><code class='language-rust'>fn a() {\n    b &lt; c;\n}\n</code></pre>",
            "```rust\nfn a() {\n    b < c;\n}\n```",
        ),
        ("<pre>a\n\n```\nb</pre>", "````\na\n\n```\nb\n````"),
        ("<dl><dt>t<dd>d<dt>u<dd>e</dl>", "t\n: d\nu\n: e"),
        ("<p>a<hr><p>b", "a\n\n---\n\nb"),
        ("<table><tr><th>a<th>b<tr><td>1|2<td>c</table>", "| a | b |\n| --- | --- |\n| 1\\|2 | c |"),
        ("<table><tr><td>one</td></tr></table>", "one"),
        (
            "<table><tr><td><table><tr><td>a</td><td>b</td></tr></table></td><td>c</td></tr></table>",
            "a b\n\nc",
        ),
        ("say <q>hi</q>", "say “hi”"),
        ("1 < 2 && 3 > 2", "1 < 2 && 3 > 2"),
    ] {
        assert_eq!(text(html), meant, "{html}");
    }
}

#[test]
fn links_are_whole_and_harmless() {
    for (html, meant) in [
        (
            "see<a href='x?a=1&amp;b=2'> the  page </a>now",
            "see [the page](https://site.test/dir/x?a=1&b=2) now",
        ),
        ("<a href='//other.test'>o</a>", "[o](https://other.test/)"),
        ("<a href='#top'>up</a> <a href='javascript:x()'>go</a> <a>none</a>", "up go none"),
        ("<h2>Head<a href='#head'>¶</a></h2>", "## Head"),
        ("<a href='mailto:a@b.test'>write</a>", "[write](mailto:a@b.test)"),
        ("<a href='https://u:pw@x.test/'>login</a>", "login"),
        ("<a href='/w/R_(l)'>r [1]</a>", "[r \\[1\\]](https://site.test/w/R_(l))"),
        ("<a href='/x'><div><h3>Card</h3><p>text</p></div></a>", "[Card text](https://site.test/x)"),
        ("<a href='https://x.test/'>https://x.test/</a>", "https://x.test/"),
        ("<img src=a.png alt='A &quot;b&quot;'><img src=t.gif>", "![A \"b\"](https://site.test/dir/a.png)"),
        ("<img src='data:image/png;base64,AAAA' alt=x>", "(image: x)"),
        ("<base href='https://cdn.test/d/'><a href=p>x</a>", "[x](https://cdn.test/d/p)"),
    ] {
        assert_eq!(text(html), meant, "{html}");
    }
}

#[test]
fn what_is_hidden_is_not_read() {
    for html in [
        "<script>if (a</b) x()</script>seen",
        "<style>p { }</style>seen",
        "<!-- no <p>x</p> -->seen",
        "<p hidden>no</p>seen",
        "<div style='color: red; Display : none !important'>no <p>no</div>seen",
        "<x-note aria-hidden=true>no</x-note>seen",
        "<template><p>no</p></template>seen",
        "<svg><title>no</title><text>no</text></svg>seen",
        "<noscript>no</noscript>seen<textarea>no</textarea>",
        "<![CDATA[no]]>seen",
        "seen<!--",
        "seen<p title='",
        "seen<script>no",
    ] {
        assert_eq!(text(html), "seen", "{html}");
    }
}

#[test]
fn the_title_is_found() {
    let of = |html: &str| readable(html, &base()).title;
    assert_eq!(of("<title> A\n &amp; B </title><svg><title>no</title></svg>"), "A & B");
    assert_eq!(of("<meta property='og:title' content='C'><h1>D</h1>"), "C");
    assert_eq!(of("<h1>D <i>e</i></h1>"), "D e");
    assert_eq!(of(""), "");
}

#[test]
fn a_page_without_text_says_what_it_is() {
    let html = "<meta name=description content='An app'><div id=root></div><script src=a.js></script>";
    assert_eq!(text(html), "An app");
}

#[test]
fn depth_and_size_are_bounded() {
    let deep = format!("{}x{}", "<div><blockquote><ul><li>".repeat(5_000), "</div>".repeat(5_000));
    assert!(text(&deep).ends_with('x'));
    let quoted = format!("{}{}", "<blockquote>".repeat(100), "a<br>".repeat(50_000));
    assert!(text(&quoted).len() < 4 * 1024 * 1024);
}

/// Twice the page takes about twice the work, which is counted in nodes and bytes, not in seconds.
#[test]
fn pathological_pages_stay_small() {
    for piece in [
        "<a href=x>",
        "<p>",
        "<table><tr><td>",
        "<b",
        "</p>",
        "<!--",
        "&amp",
        "<h1>",
        "<pre>`",
        "<li>",
        "<script>",
        "<a='",
    ] {
        let html = piece.repeat(20_000);
        let page = readable(&html, &base());
        assert!(page.text.len() <= 4 * html.len(), "{piece}: {}", page.text.len());
    }
}

fn fragment() -> impl Strategy<Value = String> {
    let names = "p|div|a|ul|ol|li|table|tr|td|th|pre|code|h1|h3|blockquote|br|img|script|style|title|main|nav|dl|dt|dd|x-y|b";
    prop_oneof![
        names.prop_map(|name| format!("<{name}>")),
        names.prop_map(|name| format!("</{name}>")),
        ("a|div|img|p", "href|src|class|style|hidden", "[^<>]{0,8}")
            .prop_map(|(tag, name, value)| format!("<{tag} {name}=\"{value}\">")),
        "[a-zé &;<>/\"'=!-]{0,12}",
        Just("<!--".to_owned()),
        Just("-->".to_owned()),
    ]
}

proptest! {
    #[test]
    fn any_page_is_read(pieces in prop::collection::vec(fragment(), 0..60)) {
        let page = readable(&pieces.concat(), &base());
        prop_assert_eq!(page.text.trim(), page.text.as_str());
        prop_assert!(!page.text.contains("\n\n\n") || page.text.contains("```"), "{:?}", page.text);
    }

    #[test]
    fn any_bytes_are_read(text in "\\PC{0,200}") {
        readable(&text, &base());
    }
}
