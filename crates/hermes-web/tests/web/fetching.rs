//! Getting pages: how much, how long, in which form.

use std::io::Write;
use std::sync::Mutex;
use std::sync::mpsc;
use std::time::Duration;

use hermes_guard::url::Private;
use hermes_testkit::{Page, PageServer};
use hermes_web::fetch::{Beyond, Extent, FetchError, Order};
use hermes_web::page::{self, PageError};
use hermes_web::{Fetched, Fetcher, Network};
use tokio_util::sync::CancellationToken;

use crate::names::policy;

fn fetcher() -> Fetcher {
    Fetcher::new(policy(Private::Allowed), Network::default())
}

async fn get(server: &PageServer, path: &str, order: &Order) -> Result<Fetched, FetchError> {
    fetcher().fetch(&server.url(path), order, &CancellationToken::new()).await
}

#[tokio::test]
async fn a_page_comes_as_text() {
    let server = PageServer::start(|_| {
        Page::of(
            "text/html; charset=ISO-8859-1",
            b"<title>Caf\xe9</title><h1>Men\xfc</h1><a href=a>x</a>".to_vec(),
        )
    });
    let fetched = get(&server, "/dir/", &Order::PAGE).await.unwrap();
    let page = page::read(&fetched).unwrap();
    assert_eq!(
        (page.title.as_str(), page.text),
        ("Café", format!("# Menü\n\n[x]({})", server.url("/dir/a")))
    );
    let visit = &server.visits()[0];
    assert!(visit.header("user-agent").unwrap().starts_with("hermes/"));
    assert_eq!(visit.header("accept-encoding"), Some("gzip, deflate"));
}

#[tokio::test]
async fn compressed_pages_are_unpacked_within_bounds() {
    let server = PageServer::start(|visit| {
        let text = if visit.target == "/bomb" { vec![b'a'; 20_000_000] } else { b"<p>packed".to_vec() };
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(&text).unwrap();
        let coding = if visit.target == "/br" { "br" } else { "gzip" };
        Page::of("text/html", packer.finish().unwrap()).with("Content-Encoding", coding)
    });
    assert_eq!(get(&server, "/", &Order::PAGE).await.unwrap().body, b"<p>packed");
    let bomb = get(&server, "/bomb", &Order::PAGE).await.unwrap();
    assert_eq!((bomb.body.len(), bomb.extent), (Order::PAGE.largest, Extent::Cut));
    assert!(page::read(&bomb).unwrap().text.ends_with("the rest is missing.]"));
    assert!(matches!(get(&server, "/br", &Order::PAGE).await, Err(FetchError::Coding { .. })));
}

#[tokio::test]
async fn what_must_be_whole_is_refused_when_it_is_too_large() {
    let server = PageServer::start(|_| Page::of("image/png", vec![0; 5000]));
    let order = Order { largest: 1000, beyond: Beyond::Refuse, ..Order::PAGE };
    assert!(matches!(get(&server, "/", &order).await, Err(FetchError::TooLarge { .. })));
}

#[tokio::test]
async fn statuses_and_types_are_told_in_words() {
    let server = PageServer::start(|visit| match visit.target.as_str() {
        "/404" => Page::status(404),
        "/503" => Page::status(503),
        "/pdf" => Page::of("application/pdf", "%PDF-1.7"),
        "/zip" => Page::of("application/zip", "PK"),
        "/json" => Page::json("{\"a\": 1}"),
        _ => Page::html("<div id=app></div>"),
    });
    assert!(get(&server, "/404", &Order::PAGE).await.unwrap_err().to_string().contains("no such page"));
    assert!(get(&server, "/503", &Order::PAGE).await.unwrap_err().to_string().contains("try later"));
    let read = async |path: &str| page::read(&get(&server, path, &Order::PAGE).await.unwrap());
    assert_eq!(read("/pdf").await, Err(PageError::Pdf));
    assert_eq!(read("/zip").await, Err(PageError::NotText("application/zip".into())));
    assert_eq!(read("/json").await.unwrap().text, "{\"a\": 1}");
    assert!(read("/app").await.unwrap().text.contains("scripts"));
    let closed = fetcher().fetch("http://127.0.0.1:1/", &Order::PAGE, &CancellationToken::new()).await;
    assert!(matches!(closed, Err(FetchError::Connect { .. })), "{closed:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_server_is_left_and_so_is_one_that_nobody_waits_for() {
    let (done, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let server = PageServer::start(move |_| {
        // Until the test is over.
        let _over = wait.lock().unwrap().recv();
        Page::html("late")
    });
    let order = Order { within: Duration::from_millis(50), ..Order::PAGE };
    assert!(matches!(get(&server, "/", &order).await, Err(FetchError::Slow { .. })));
    let cancel = CancellationToken::new();
    let (fetcher, url) = (fetcher(), server.url("/"));
    let running = tokio::spawn({
        let cancel = cancel.clone();
        async move { fetcher.fetch(&url, &Order::PAGE, &cancel).await }
    });
    cancel.cancel();
    assert!(matches!(running.await.unwrap(), Err(FetchError::Cancelled)));
    drop(done);
}
