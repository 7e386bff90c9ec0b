//! The `web_search` tool.

use hermes_guard::url::host_of;
use hermes_model::ToolSpec;
use hermes_web::service::{Hit, ServiceError};
use serde_json::{Value, json};

use super::{Web, outside, required};
use crate::tool::{Arguments, Availability, Run, Running, Sharing, Tool, ToolOutput};

/// Results of a search that asks for no number.
const USUAL: u64 = 5;
/// Most results.
const MOST: u64 = 100;

/// Searches the web by the service the user has.
#[derive(Debug, Clone)]
pub struct WebSearch {
    web: Web,
}

impl WebSearch {
    /// The tool.
    pub fn new(web: Web) -> Self {
        Self { web }
    }

    async fn work(&self, run: Run<'_>) -> Result<Value, String> {
        let query = required(run.arguments, "query")?;
        let limit = limit(run.arguments)?;
        let (fetcher, backend) = (self.web.fetcher()?, self.web.0.search.as_ref().map_err(Clone::clone)?);
        if fetcher.policy().leaks(query) {
            return Err(
                "the query contains a key or another secret, which must not leave this machine".to_owned()
            );
        }
        let found = backend.search(query, limit, run.cancel).await.map_err(|error| match error {
            ServiceError::Cancelled => "interrupted".to_owned(),
            error => error.to_string(),
        })?;
        let wanted = |hit: &Hit| {
            let host = url_host(&hit.url);
            host.is_none_or(|host| fetcher.policy().blocks(&host).is_none())
        };
        let rows: Vec<Value> = found.iter().filter(|hit| wanted(hit)).enumerate().map(row).collect();
        Ok(json!({ "success": true, "data": { "web": rows } }))
    }
}

fn url_host(address: &str) -> Option<String> {
    host_of(&hermes_web::Url::parse(address).ok()?)
}

fn row((place, hit): (usize, &Hit)) -> Value {
    json!({ "title": hit.title, "url": hit.url, "description": hit.description, "position": place + 1 })
}

fn limit(arguments: &Arguments) -> Result<u64, String> {
    match arguments.get("limit") {
        None | Some(Value::Null) => Ok(USUAL),
        Some(value) => match value.as_u64() {
            Some(limit) if limit > 0 => Ok(limit.min(MOST)),
            _ => Err("\"limit\" must be a whole number, 1 or more".to_owned()),
        },
    }
}

impl Tool for WebSearch {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "web_search".to_owned(),
            description: "Search the web. Returns title, url and description of each result; read pages with web_extract."
                .to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "query": { "type": "string" },
                    "limit": { "type": "integer", "minimum": 1, "maximum": MOST, "default": USUAL }
                },
                "required": ["query"]
            }),
        }
    }

    fn toolset(&self) -> &'static str {
        "web"
    }

    fn brief(&self, arguments: &Arguments) -> String {
        arguments.get("query").and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    fn sharing(&self, _: &Arguments) -> Sharing {
        Sharing::Freely
    }

    fn available(&self) -> Availability {
        match &self.web.0.search {
            Ok(_) => Availability::Yes,
            Err(why) => Availability::No { why: why.clone() },
        }
    }

    fn run<'a>(&'a self, run: Run<'a>) -> Running<'a> {
        Box::pin(async move {
            match self.work(run).await {
                Ok(found) => outside(found),
                Err(error) => ToolOutput::json(&json!({ "success": false, "error": error })).failed(),
            }
        })
    }
}
