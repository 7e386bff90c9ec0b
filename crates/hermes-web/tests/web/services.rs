//! Services that search and read, as they answer and as they fail.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hermes_guard::Secret;
use hermes_testkit::{Page, PageServer};
use hermes_web::Network;
use hermes_web::service::{Backend, Patience, Service, ServiceError};
use tokio_util::sync::CancellationToken;
use url::Url;

const KEY: &str = "tvly-abcdefghijklmnop123456";

fn backend(name: &str, server: &PageServer) -> Backend {
    let base = Url::parse(&server.url("/base/")).unwrap();
    let patience = Patience { pause: Duration::ZERO, longest: Duration::from_secs(1), ..Patience::default() };
    Backend::new(Service::named(name).unwrap(), base, Some(Secret::new(KEY)), Network::default())
        .with_patience(patience)
}

async fn search(backend: &Backend) -> Result<Vec<hermes_web::service::Hit>, ServiceError> {
    backend.search("rust & lang", 3, &CancellationToken::new()).await
}

#[tokio::test]
async fn keys_travel_in_headers_only() {
    let server = PageServer::start(|_| {
        Page::json(
            r#"{"results": [{"title": "T", "url": "https://a.test/", "content": "C"}], "web": {"results": []}}"#,
        )
    });
    for (name, header, value) in [
        ("tavily", "authorization", format!("Bearer {KEY}")),
        ("exa", "x-api-key", KEY.to_owned()),
        ("firecrawl", "authorization", format!("Bearer {KEY}")),
        ("parallel", "x-api-key", KEY.to_owned()),
        ("brave", "x-subscription-token", KEY.to_owned()),
    ] {
        search(&backend(name, &server)).await.unwrap();
        let visit = server.visits().pop().unwrap();
        assert_eq!(visit.header(header), Some(value.as_str()), "{name}");
        assert!(!visit.target.contains(KEY) && !visit.body.contains(KEY), "{name}");
        assert!(visit.target.starts_with("/base/"), "{}", visit.target);
    }
    search(&backend("searxng", &server)).await.unwrap();
    let visit = server.visits().pop().unwrap();
    assert_eq!(visit.target, "/base/search?q=rust+%26+lang&format=json");
    assert_eq!((visit.header("authorization"), visit.header("x-api-key")), (None, None));
}

#[tokio::test]
async fn a_service_that_stumbles_is_asked_again_and_not_for_ever() {
    let count = AtomicUsize::new(0);
    let server = PageServer::start(move |_| match count.fetch_add(1, Ordering::SeqCst) {
        0 => Page::status(503),
        1 => Page::status(429).with("Retry-After", "0"),
        2 => Page::json(r#"{"results": []}"#),
        _ => Page::status(500),
    });
    let backend = backend("tavily", &server);
    assert_eq!(search(&backend).await, Ok(Vec::new()));
    assert_eq!(server.visits().len(), 3);
    assert!(matches!(search(&backend).await, Err(ServiceError::Failed { status: 500, .. })));
    assert_eq!(server.visits().len(), 6);
}

#[tokio::test]
async fn a_pause_nobody_waits_for_is_a_no() {
    let server = PageServer::start(|_| Page::status(429).with("Retry-After", "3600"));
    let refused = search(&backend("exa", &server)).await;
    assert!(matches!(refused, Err(ServiceError::TooOften { .. })), "{refused:?}");
    assert_eq!(server.visits().len(), 1);
}

#[tokio::test]
async fn failures_say_what_to_do_and_never_show_the_key() {
    let server = PageServer::start(|_| Page {
        status: 401,
        ..Page::json(&format!(r#"{{"detail": {{"error": "key {KEY} is unknown"}}}}"#))
    });
    let refused = search(&backend("tavily", &server)).await.unwrap_err().to_string();
    assert!(refused.contains("TAVILY_API_KEY") && refused.contains("is unknown"), "{refused}");
    assert!(!refused.contains(KEY), "{refused}");
    let odd = PageServer::start(|_| Page::html("<p>a login page of the hotel"));
    assert!(matches!(search(&backend("brave", &odd)).await, Err(ServiceError::Unreadable { .. })));
}

#[tokio::test]
async fn a_redirect_does_not_get_the_key() {
    let thief = PageServer::start(|_| Page::json(r#"{"results": []}"#));
    let to = thief.url("/");
    let server = PageServer::start(move |_| Page::redirect(&to));
    assert!(matches!(
        search(&backend("tavily", &server)).await,
        Err(ServiceError::Refused { status: 302, .. })
    ));
    assert!(thief.visits().is_empty());
}

#[tokio::test]
async fn pages_are_read_one_by_one_or_together() {
    let server = PageServer::start(|visit| match visit.target.as_str() {
        "/base/extract" => Page::json(
            r#"{"results": [{"url": "https://a.test/", "raw_content": "A"}], "failed_results": [{"url": "https://b.test/", "error": "gone"}]}"#,
        ),
        _ if visit.body.contains("a.test") => {
            Page::json(r#"{"success": true, "data": {"markdown": "A", "metadata": {"title": "T"}}}"#)
        }
        _ => Page { status: 400, ..Page::json(r#"{"error": "no such page"}"#) },
    });
    let urls = ["https://a.test/".to_owned(), "https://b.test/".to_owned()];
    for (name, requests) in [("tavily", 1), ("firecrawl", 2)] {
        let before = server.visits().len();
        let read = backend(name, &server).extract(&urls, &CancellationToken::new()).await.unwrap();
        assert_eq!(server.visits().len() - before, requests, "{name}");
        assert_eq!(read[0].page.as_ref().unwrap().text, "A", "{name}");
        assert!(read[1].page.is_err(), "{name}");
    }
}
