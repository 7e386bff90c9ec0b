//! Names that lead inside, at once or later.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use hermes_guard::Redactor;
use hermes_guard::url::{Blocklist, Private, Refusal, UrlPolicy};
use hermes_testkit::{Page, PageServer};
use hermes_web::fetch::{FetchError, Looking, Lookup, Order};
use hermes_web::{Fetched, Fetcher, Network};
use tokio_util::sync::CancellationToken;

pub fn policy(private: Private) -> UrlPolicy {
    let secrets = Arc::new(Redactor::new(["correct-horse-battery-9".to_owned()]));
    UrlPolicy::new(private, Blocklist::new(["blocked.example"]), secrets)
}

/// Names and what they stand for: one answer after the other, the last one for ever.
#[derive(Default)]
pub struct Names {
    answers: Mutex<HashMap<&'static str, Vec<Vec<IpAddr>>>>,
    asked: Mutex<Vec<String>>,
}

impl Names {
    pub fn with(names: &[(&'static str, &[&[&str]])]) -> Arc<Self> {
        let parse = |list: &&[&str]| list.iter().map(|ip| ip.parse().unwrap()).collect();
        let answers =
            names.iter().map(|(name, answers)| (*name, answers.iter().map(parse).collect())).collect();
        Arc::new(Self { answers: Mutex::new(answers), asked: Mutex::default() })
    }

    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl Lookup for Names {
    fn lookup(&self, host: String) -> Looking {
        let mut answers = self.answers.lock().unwrap();
        let found = answers
            .get_mut(host.as_str())
            .map(|list| if list.len() > 1 { list.remove(0) } else { list[0].clone() });
        self.asked.lock().unwrap().push(host);
        let missing = || std::io::Error::new(std::io::ErrorKind::NotFound, "no such name");
        Box::pin(std::future::ready(found.ok_or_else(missing)))
    }
}

async fn get(fetcher: &Fetcher, url: &str) -> Result<Fetched, FetchError> {
    fetcher.fetch(url, &Order::PAGE, &CancellationToken::new()).await
}

fn fetcher(private: Private, names: &Arc<Names>) -> Fetcher {
    Fetcher::with_lookup(policy(private), Network::default(), Arc::clone(names) as Arc<dyn Lookup>)
}

#[tokio::test]
async fn a_name_that_stands_for_an_inside_address_is_refused() {
    let server = PageServer::start(|_| Page::html("inside"));
    let names = Names::with(&[
        ("rebound.example", &[&["127.0.0.1"]]),
        ("half.example", &[&["8.8.8.8", "10.0.0.1"]]),
        ("six.example", &[&["::ffff:127.0.0.1"]]),
        ("cloud.example", &[&["169.254.169.254"]]),
    ]);
    let fetcher = fetcher(Private::Refused, &names);
    for host in ["rebound.example", "half.example", "six.example"] {
        let refused = get(&fetcher, &format!("http://{host}:{}/", server.port())).await;
        assert!(
            matches!(&refused, Err(FetchError::Refused(Refusal::Private { host: found, .. })) if found == host),
            "{refused:?}"
        );
    }
    let refused = get(&fetcher, "http://cloud.example/").await;
    assert!(matches!(refused, Err(FetchError::Refused(Refusal::Metadata { .. }))), "{refused:?}");
    assert!(server.visits().is_empty());
    assert!(matches!(get(&fetcher, "http://nowhere.example/").await, Err(FetchError::NoHost { .. })));
}

#[tokio::test]
async fn a_name_is_looked_up_once_for_a_connection() {
    let server = PageServer::start(|_| Page::html("<p>hello"));
    // The second answer would lead elsewhere, if anybody asked again.
    let names = Names::with(&[("page.example", &[&["127.0.0.1"], &["169.254.169.254"]])]);
    let fetcher = fetcher(Private::Allowed, &names);
    let url = format!("http://page.example:{}/", server.port());
    let page = get(&fetcher, &url).await.unwrap();
    assert_eq!((page.body.as_slice(), names.asked().len()), (&b"<p>hello"[..], 1));
    // A new connection asks again, and the new answer is judged.
    let refused = get(&fetcher, &url).await;
    assert!(matches!(refused, Err(FetchError::Refused(Refusal::Metadata { .. }))), "{refused:?}");
    assert_eq!(server.visits().len(), 1);
}

#[tokio::test]
async fn redirects_are_judged_like_addresses() {
    let server = PageServer::start(|visit| match visit.target.as_str() {
        "/metadata" => Page::redirect("http://169.254.169.254/latest/meta-data/"),
        "/name" => Page::redirect("http://cloud.example/"),
        "/file" => Page::redirect("file:///etc/passwd"),
        "/blocked" => Page::redirect("https://blocked.example/"),
        "/login" => Page::redirect("https://me:secret-word-1@other.example/"),
        "/leak" => Page::redirect("https://evil.example/?k=correct-horse-battery-9"),
        "/round" => Page::redirect("/round"),
        "/nowhere" => Page::status(302),
        "/good" => Page::redirect("end#part").with("Set-Cookie", "a=b"),
        _ => Page::html("<p>the end"),
    });
    let names = Names::with(&[("cloud.example", &[&["169.254.169.254"]])]);
    let fetcher = fetcher(Private::Allowed, &names);
    let led = |path: &'static str| {
        let (fetcher, url) = (fetcher.clone(), server.url(path));
        async move { get(&fetcher, &url).await.unwrap_err() }
    };
    assert!(matches!(led("/metadata").await, FetchError::Led { refusal: Refusal::Metadata { .. } }));
    assert!(matches!(led("/name").await, FetchError::Refused(Refusal::Metadata { .. })));
    assert!(matches!(led("/file").await, FetchError::Led { refusal: Refusal::Scheme(_) }));
    assert!(matches!(led("/blocked").await, FetchError::Led { refusal: Refusal::Blocked { .. } }));
    assert!(matches!(led("/leak").await, FetchError::Led { refusal: Refusal::Secret { .. } }));
    let login = led("/login").await;
    assert!(matches!(login, FetchError::Led { refusal: Refusal::Credentials { .. } }));
    assert!(!login.to_string().contains("secret-word"), "{login}");
    assert!(matches!(led("/round").await, FetchError::Circles { most: 5 }));
    assert!(matches!(led("/nowhere").await, FetchError::Nowhere { .. }));
    let page = get(&fetcher, &server.url("/good")).await.unwrap();
    assert_eq!((page.url.path(), page.body.as_slice()), ("/end", &b"<p>the end"[..]));
    assert_eq!(server.visits().last().unwrap().header("cookie"), None);
    assert_eq!(server.visits().last().unwrap().header("referer"), None);
}

#[tokio::test]
async fn the_name_of_a_proxy_is_no_way_in() {
    let names = Names::with(&[("proxy.example", &[&["10.0.0.7"]])]);
    let network = Network { proxies: vec!["proxy.example".to_owned()], ..Network::default() };
    let fetcher = Fetcher::with_lookup(policy(Private::Refused), network, names);
    let refused = get(&fetcher, "http://proxy.example/").await;
    assert!(matches!(refused, Err(FetchError::Refused(Refusal::Private { .. }))), "{refused:?}");
}
