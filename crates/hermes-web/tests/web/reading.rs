//! Whole pages, each of another kind, and what is read of them.

use hermes_web::fetch::{Extent, Fetched};
use hermes_web::page;
use url::Url;

fn read(name: &str) -> String {
    let path = format!("{}/tests/web/pages/{name}", env!("CARGO_MANIFEST_DIR"));
    let fetched = Fetched {
        url: Url::parse("https://site.example/section/page.html").unwrap(),
        media_type: "text/html".to_owned(),
        charset: None,
        body: std::fs::read(path).unwrap(),
        extent: Extent::Whole,
    };
    let page = page::read(&fetched).unwrap();
    format!("{}\n\n{}", page.title, page.text)
}

macro_rules! pages {
    ($($name:ident),* $(,)?) => {$(
        #[test]
        fn $name() {
            insta::assert_snapshot!(read(concat!(stringify!($name), ".html")));
        }
    )*};
}

pages!(
    article,
    docs_with_code,
    data_table,
    layout_table,
    broken,
    forum,
    search_results,
    news_front,
    recipe,
    latin1,
    sjis,
    injected,
    definition_list,
    single_page_app,
);

#[test]
fn a_deeply_nested_page_is_read() {
    let nested = format!("<body>{}deep{}", "<div><span>".repeat(20_000), "</span></div>".repeat(20_000));
    let base = Url::parse("https://site.example/").unwrap();
    assert_eq!(hermes_web::html::readable(&nested, &base).text, "deep");
}
