//! Requests put together and answers taken apart, as the table says. Pure.

use serde_json::{Map, Value, json};

use super::table::{Field, Method, Read, Request, Search};
use super::{Extract, Hit};
use crate::html::Readable;

/// Longest description of a result.
const LONGEST_TEXT: usize = 2000;

/// What the fields of a request are filled with.
#[derive(Debug, Clone, Copy)]
pub(super) enum Filling<'a> {
    Search { query: &'a str, limit: u64 },
    Pages(&'a [String]),
}

/// What is sent.
#[derive(Debug, PartialEq)]
pub(super) enum Sent {
    /// Parameters of the address.
    Query(Vec<(&'static str, String)>),
    /// A body.
    Body(Value),
}

/// Puts a request together.
pub(super) fn fill(request: &Request, filling: Filling<'_>) -> Sent {
    let fields = request.fields.iter().map(|(name, field)| (*name, value(*field, filling)));
    match request.method {
        Method::Get => Sent::Query(fields.map(|(name, value)| (name, plain(&value))).collect()),
        Method::Post => {
            let mut body = Map::new();
            for (name, value) in fields {
                put(&mut body, name, value);
            }
            Sent::Body(Value::Object(body))
        }
    }
}

fn value(field: Field, filling: Filling<'_>) -> Value {
    match (field, filling) {
        (Field::Query, Filling::Search { query, .. }) => json!(query),
        (Field::Queries, Filling::Search { query, .. }) => json!([query]),
        (Field::Limit, Filling::Search { limit, .. }) => json!(limit),
        (Field::Urls, Filling::Pages(urls)) => json!(urls),
        (Field::Url, Filling::Pages(urls)) => json!(urls.first()),
        (Field::True, _) => json!(true),
        (Field::Text(text), _) => json!(text),
        (Field::Texts(text), _) => json!([text]),
        _ => Value::Null,
    }
}

fn put(into: &mut Map<String, Value>, name: &str, value: Value) {
    match name.split_once('.') {
        None => {
            into.insert(name.to_owned(), value);
        }
        Some((outer, inner)) => {
            let object = into.entry(outer).or_insert_with(|| json!({}));
            if let Value::Object(object) = object {
                put(object, inner, value);
            }
        }
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// What a search found; nothing if the answer has no list where it should.
pub(super) fn hits(search: &Search, answer: &Value, limit: usize) -> Option<Vec<Hit>> {
    let rows = search.rows.iter().find_map(|pointer| answer.pointer(pointer)?.as_array());
    let Some(rows) = rows else {
        // Some leave the list out when nothing was found.
        return answer.is_object().then(Vec::new).filter(|_| answer.get("error").is_none());
    };
    let field = |row: &Value, name: &str| row.get(name).map(text).unwrap_or_default();
    let hit = |row: &Value| Hit {
        title: field(row, "title"),
        url: field(row, "url"),
        description: search
            .text
            .iter()
            .map(|name| field(row, name))
            .find(|text| !text.is_empty())
            .unwrap_or_default(),
    };
    Some(rows.iter().map(hit).filter(|hit| !hit.url.is_empty()).take(limit).collect())
}

/// Text of a field in one line, without the marks some services put on the words that were searched for.
fn text(value: &Value) -> String {
    let whole = match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" … "),
        _ => String::new(),
    };
    let whole = whole.replace("<strong>", "").replace("</strong>", "").replace("<b>", "").replace("</b>", "");
    let line = whole.split_whitespace().collect::<Vec<_>>().join(" ");
    line[..line.floor_char_boundary(LONGEST_TEXT)].to_owned()
}

/// The pages of an answer, one for each address that was asked for.
pub(super) fn pages(read: &Read, answer: &Value, asked: &[String]) -> Vec<Extract> {
    let rows: Vec<&Value> = match answer.pointer(read.rows) {
        Some(Value::Array(rows)) => rows.iter().collect(),
        Some(row @ Value::Object(_)) => vec![row],
        _ => Vec::new(),
    };
    let at = |row: &Value, pointers: &[&str]| {
        pointers.iter().find_map(|pointer| row.pointer(pointer).map(long_text).filter(|t| !t.is_empty()))
    };
    let page = |url: &String, place: usize| {
        let same =
            |row: &&&Value| row.get("url").and_then(Value::as_str).is_some_and(|found| same_page(found, url));
        // A service that was asked for one page may name it otherwise.
        let row =
            rows.iter().find(same).or_else(|| rows.get(place).filter(|row| row.get("url").is_none()))?;
        let text = at(row, read.text)?;
        Some(Readable { title: at(row, read.title).unwrap_or_default(), text })
    };
    let fault = |url: &String| {
        let (list, field) = read.failed?;
        let rows = answer.pointer(list)?.as_array()?;
        let row = rows.iter().find(|row| row.get("url").and_then(Value::as_str) == Some(url))?;
        row.get(field).map(text).filter(|text| !text.is_empty())
    };
    let extract = |(place, url): (usize, &String)| Extract {
        url: url.clone(),
        page: page(url, place)
            .ok_or_else(|| fault(url).unwrap_or_else(|| "the service has no text of this page".to_owned())),
    };
    asked.iter().enumerate().map(extract).collect()
}

fn long_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n\n"),
        _ => String::new(),
    }
}

/// Services put a slash at the end, or take it away.
fn same_page(a: &str, b: &str) -> bool {
    a.trim_end_matches('/') == b.trim_end_matches('/')
}

/// What a service says about a failure.
pub(super) fn message(answer: &Value) -> String {
    const PLACES: &[&str] =
        &["/error/message", "/error/detail", "/detail/error", "/error", "/message", "/detail"];
    let found = PLACES.iter().find_map(|place| answer.pointer(place)?.as_str());
    found.map(|text| text.chars().take(300).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::Service;
    use super::*;

    fn service(name: &str) -> &'static Service {
        Service::named(name).unwrap()
    }

    fn sent(name: &str) -> Sent {
        let filling = Filling::Search { query: "rust lang", limit: 3 };
        fill(&service(name).search.as_ref().unwrap().request, filling)
    }

    #[test]
    fn requests_have_the_shape_of_each_service() {
        assert_eq!(sent("tavily"), Sent::Body(json!({"query": "rust lang", "max_results": 3})));
        assert_eq!(
            sent("exa"),
            Sent::Body(json!({"query": "rust lang", "numResults": 3, "contents": {"highlights": true}}))
        );
        assert_eq!(
            sent("parallel"),
            Sent::Body(
                json!({"search_queries": ["rust lang"], "mode": "basic", "advanced_settings": {"max_results": 3}})
            )
        );
        assert_eq!(sent("firecrawl"), Sent::Body(json!({"query": "rust lang", "limit": 3})));
        assert_eq!(sent("brave-free"), Sent::Query(vec![("q", "rust lang".into()), ("count", "3".into())]));
        assert_eq!(sent("searxng"), Sent::Query(vec![("q", "rust lang".into()), ("format", "json".into())]));
        let urls = ["https://a.test/".to_owned()];
        let read = |name: &str| fill(&service(name).extract.as_ref().unwrap().request, Filling::Pages(&urls));
        assert_eq!(read("firecrawl"), Sent::Body(json!({"url": "https://a.test/", "formats": ["markdown"]})));
        assert_eq!(read("exa"), Sent::Body(json!({"urls": ["https://a.test/"], "text": true})));
    }

    #[test]
    fn answers_of_each_service_are_understood() {
        let row = |text: Value, name: &str| json!({"title": "T", "url": "https://a.test/", name: text});
        for (name, answer) in [
            ("tavily", json!({"results": [row(json!("d"), "content")]})),
            ("exa", json!({"results": [row(json!(["d"]), "highlights")]})),
            ("parallel", json!({"results": [row(json!(["d"]), "excerpts")]})),
            ("firecrawl", json!({"success": true, "data": {"web": [row(json!("d"), "description")]}})),
            ("firecrawl", json!({"success": true, "data": [row(json!("d"), "description")]})),
            ("brave", json!({"web": {"results": [row(json!("<strong>d</strong>"), "description")]}})),
            ("searxng", json!({"results": [row(json!("d"), "content")]})),
        ] {
            let found = hits(service(name).search.as_ref().unwrap(), &answer, 5).unwrap();
            let meant = Hit { title: "T".into(), url: "https://a.test/".into(), description: "d".into() };
            assert_eq!(found, [meant], "{name}");
        }
        let tavily = service("tavily").search.as_ref().unwrap();
        assert_eq!(hits(tavily, &json!({"results": []}), 5), Some(vec![]));
        assert_eq!(hits(tavily, &json!({"error": "no"}), 5), None);
        assert_eq!(hits(tavily, &json!("no"), 5), None);
    }

    #[test]
    fn pages_are_matched_with_what_was_asked() {
        let asked =
            ["https://a.test/x".to_owned(), "https://b.test".to_owned(), "https://c.test/".to_owned()];
        let answer = json!({
            "results": [{"url": "https://b.test/", "raw_content": "B", "title": "TB"}, {"url": "https://a.test/x", "raw_content": "A"}],
            "failed_results": [{"url": "https://c.test/", "error": "timed out"}],
        });
        let found = pages(service("tavily").extract.as_ref().unwrap(), &answer, &asked);
        let page = |place: usize| found[place].page.clone().map(|page| (page.title, page.text));
        assert_eq!(page(0), Ok((String::new(), "A".into())));
        assert_eq!(page(1), Ok(("TB".into(), "B".into())));
        assert_eq!(page(2), Err("timed out".into()));
        let one = json!({"data": {"markdown": "M", "metadata": {"title": "T"}}});
        let found = pages(service("firecrawl").extract.as_ref().unwrap(), &one, &asked[..1]);
        assert_eq!(found[0].page.as_ref().unwrap().text, "M");
    }
}
