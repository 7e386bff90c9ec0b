//! The `web_extract` tool.

use std::borrow::Cow;

use hermes_guard::Policy;
use hermes_home::Settings;
use hermes_home::settings::table::tools;
use hermes_model::ToolSpec;
use hermes_web::fetch::{FetchError, Order};
use hermes_web::html::Readable;
use hermes_web::service::{Backend, Extraction, ServiceError};
use hermes_web::{Fetcher, Url, page};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{Web, cut, outside};
use crate::limits::Shelf;
use crate::tool::{Arguments, Run, Running, Sharing, Tool, ToolOutput};
use crate::workplace::Workplace;

/// Most pages of a call.
const MOST_URLS: usize = 5;
/// Shortest and longest a page may be asked to be.
const CHARS: std::ops::RangeInclusive<usize> = 2_000..=90_000;

/// Reads pages of the web.
#[derive(Debug, Clone)]
pub struct WebExtract {
    web: Web,
    place: Workplace,
    /// Characters of a page that the model sees.
    chars: usize,
}

/// What a call asks for.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    urls: Vec<String>,
    chars: usize,
}

/// What came of an address.
struct Outcome {
    url: String,
    page: Result<Readable, String>,
}

impl WebExtract {
    /// The tool; long pages are kept in the place.
    pub fn new(web: Web, place: Workplace, settings: &Settings) -> Self {
        // A setting that does not fit is told by whoever reads all of them.
        let chars =
            settings.get(&tools::WEB_EXTRACT_CHAR_LIMIT).ok().and_then(|chars| usize::try_from(chars).ok());
        Self { web, place, chars: chars.unwrap_or(15_000) }
    }

    async fn work(&self, run: Run<'_>) -> Result<ToolOutput, String> {
        let wanted = Wanted::read(run.arguments, self.chars)?;
        let fetcher = self.web.fetcher()?;
        let extraction = self.web.0.extraction.as_ref().map_err(Clone::clone)?;
        let read = async {
            match extraction {
                Extraction::Own => read_all(fetcher, &wanted.urls, run.cancel).await,
                Extraction::Service(backend) => ask_service(fetcher, backend, &wanted.urls, run.cancel).await,
            }
        };
        let read = tokio::select! {
            read = read => read?,
            () = run.cancel.cancelled() => return Err("interrupted".to_owned()),
        };
        let failed = read.iter().all(|outcome| outcome.page.is_err());
        let mut results = Vec::new();
        for (place, outcome) in read.into_iter().enumerate() {
            results.push(self.shown(outcome, place, wanted.chars, &run).await);
        }
        let output = outside(json!({ "results": results }));
        Ok(if failed { output.failed() } else { output })
    }

    /// A page as the model sees it.
    async fn shown(&self, outcome: Outcome, place: usize, chars: usize, run: &Run<'_>) -> Value {
        let redactor = &self.place.options().redactor;
        let masked = |text: &str| match redactor.redact(text, Policy::Code) {
            Cow::Borrowed(text) => text.to_owned(),
            Cow::Owned(text) => text,
        };
        match outcome.page {
            Err(error) => json!({ "url": outcome.url, "title": "", "content": "", "error": error }),
            Ok(page) => {
                let text = masked(&page.text);
                let content = match cut::cut(&text, chars) {
                    None => text,
                    Some(parts) => {
                        let name = format!("{}-page{}", run.call_id, place + 1);
                        let kept = self.place.put(run.session, &name, &text).await;
                        parts.with_notice(kept.as_deref().map_err(String::as_str))
                    }
                };
                json!({ "url": outcome.url, "title": masked(&page.title), "content": content, "error": null })
            }
        }
    }
}

impl Wanted {
    fn read(arguments: &Arguments, usual: usize) -> Result<Self, String> {
        let urls = match arguments.get("urls") {
            Some(Value::String(one)) => vec![one.clone()],
            Some(Value::Array(items)) => items
                .iter()
                .map(|item| item.as_str().map(str::to_owned))
                .collect::<Option<Vec<String>>>()
                .ok_or("\"urls\" must be a list of strings")?,
            Some(_) => return Err("\"urls\" must be a list of strings".to_owned()),
            None => return Err("\"urls\" is missing".to_owned()),
        };
        let urls: Vec<String> =
            urls.into_iter().map(|url| url.trim().to_owned()).filter(|url| !url.is_empty()).collect();
        if urls.is_empty() {
            return Err("\"urls\" is empty".to_owned());
        }
        if urls.len() > MOST_URLS {
            return Err(format!(
                "{} addresses are too many for one call: give at most {MOST_URLS}",
                urls.len()
            ));
        }
        let chars = match arguments.get("char_limit") {
            None | Some(Value::Null) => usual,
            Some(value) => value
                .as_u64()
                .and_then(|chars| usize::try_from(chars).ok())
                .ok_or("\"char_limit\" must be a whole number")?
                .clamp(*CHARS.start(), *CHARS.end()),
        };
        Ok(Self { urls, chars })
    }
}

/// Reads all pages at once, each with what came of it, in the order they were asked for.
async fn read_all(
    fetcher: &Fetcher,
    urls: &[String],
    cancel: &CancellationToken,
) -> Result<Vec<Outcome>, String> {
    let mut reading = JoinSet::new();
    for (place, url) in urls.iter().enumerate() {
        let (fetcher, url, cancel) = (fetcher.clone(), url.clone(), cancel.clone());
        reading.spawn(async move { (place, read_one(&fetcher, &url, &cancel).await) });
    }
    let mut pages: Vec<Option<Result<Readable, String>>> = urls.iter().map(|_| None).collect();
    while let Some(done) = reading.join_next().await {
        if let Ok((place, page)) = done {
            pages[place] = Some(page);
        }
    }
    let broken = || Err("the tool itself failed: see the log".to_owned());
    let outcome = |(url, page): (&String, Option<_>)| Outcome {
        url: shown_url(fetcher, url),
        page: page.unwrap_or_else(broken),
    };
    Ok(urls.iter().zip(pages).map(outcome).collect())
}

async fn read_one(fetcher: &Fetcher, url: &str, cancel: &CancellationToken) -> Result<Readable, String> {
    let answer =
        fetcher.fetch(url, &Order::PAGE, cancel).await.map_err(|error: FetchError| error.to_string())?;
    // A large page takes a moment, which others should not wait for.
    let read = tokio::task::spawn_blocking(move || page::read(&answer)).await;
    read.map_err(|_| "the page could not be read: see the log".to_owned())?.map_err(|error| error.to_string())
}

/// Has a service read the pages that may be opened.
async fn ask_service(
    fetcher: &Fetcher,
    backend: &Backend,
    urls: &[String],
    cancel: &CancellationToken,
) -> Result<Vec<Outcome>, String> {
    let refusals: Vec<Option<String>> = urls
        .iter()
        .map(|url| fetcher.policy().check(url).err().map(|refusal| format!("refused: {refusal}")))
        .collect();
    let allowed: Vec<String> = urls
        .iter()
        .zip(&refusals)
        .filter(|(_, refusal)| refusal.is_none())
        .map(|(url, _)| url.clone())
        .collect();
    let read = if allowed.is_empty() { Ok(Vec::new()) } else { backend.extract(&allowed, cancel).await };
    let mut read = match read {
        Ok(read) => read.into_iter().map(|extract| extract.page).collect::<Vec<_>>(),
        Err(ServiceError::Cancelled) => return Err("interrupted".to_owned()),
        Err(error) => allowed.iter().map(|_| Err(error.to_string())).collect(),
    }
    .into_iter();
    let missing = || Err("the service did not answer for this page".to_owned());
    let outcome = |(url, refusal): (&String, Option<String>)| Outcome {
        url: shown_url(fetcher, url),
        page: refusal.map_or_else(|| read.next().unwrap_or_else(missing), Err),
    };
    Ok(urls.iter().zip(refusals).map(outcome).collect())
}

/// The address as it is shown: one with a login or a secret only by its host.
fn shown_url(fetcher: &Fetcher, text: &str) -> String {
    let Ok(mut url) = Url::parse(text) else { return text.to_owned() };
    let login = url.password().is_some() || !url.username().is_empty();
    if !login && !fetcher.policy().leaks(text) {
        return text.to_owned();
    }
    url.set_path("/");
    url.set_query(None);
    url.set_fragment(None);
    // Fails only for addresses that have no login.
    let _ = (url.set_username(""), url.set_password(None));
    url.into()
}

impl Tool for WebExtract {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "web_extract".to_owned(),
            description: "Read web pages as Markdown. Long pages are cut in the middle; the whole text is kept in a file \
                          that the result names."
                .to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "urls": { "type": "array", "items": { "type": "string" }, "maxItems": MOST_URLS },
                    "char_limit": { "type": "integer", "description": "Characters of each page to return" }
                },
                "required": ["urls"]
            }),
        }
    }

    fn toolset(&self) -> &'static str {
        "web"
    }

    fn brief(&self, arguments: &Arguments) -> String {
        match arguments.get("urls") {
            Some(Value::Array(urls)) => urls.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "),
            Some(Value::String(url)) => url.clone(),
            _ => String::new(),
        }
    }

    fn sharing(&self, _: &Arguments) -> Sharing {
        Sharing::Freely
    }

    fn run<'a>(&'a self, run: Run<'a>) -> Running<'a> {
        Box::pin(async move { self.work(run).await.unwrap_or_else(ToolOutput::error) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: Value) -> Result<Wanted, String> {
        let Value::Object(arguments) = value else { panic!("an object is needed") };
        Wanted::read(&arguments, 15_000)
    }

    #[test]
    fn arguments_are_checked() {
        let one = read(json!({ "urls": [" https://a.test/ "] })).unwrap();
        assert_eq!(one, Wanted { urls: vec!["https://a.test/".into()], chars: 15_000 });
        assert_eq!(read(json!({ "urls": "https://a.test/", "char_limit": 10 })).unwrap().chars, 2_000);
        for (bad, word) in [
            (json!({}), "missing"),
            (json!({ "urls": [] }), "empty"),
            (json!({ "urls": [1] }), "list of strings"),
            (json!({ "urls": ["a", "b", "c", "d", "e", "f"] }), "at most 5"),
            (json!({ "urls": ["a"], "char_limit": "x" }), "char_limit"),
        ] {
            assert!(read(bad.clone()).unwrap_err().contains(word), "{bad}");
        }
    }
}
