//! The `web_search` and `web_extract` tools: what others wrote, found and read.

mod cut;
mod extract;
mod search;

use std::sync::{Arc, OnceLock};

use hermes_guard::injection;
use hermes_home::{Home, Settings};
use hermes_web::service::{self, Backend, Extraction};
use hermes_web::{Fetcher, Network, policy};
use serde_json::Value;

use crate::tool::{Arguments, ToolOutput, Trust};
pub use extract::WebExtract;
pub use search::WebSearch;

/// What the tools of the web share: built from settings, connected to nobody before the first call.
#[derive(Clone)]
pub struct Web(Arc<Inner>);

struct Inner {
    home: Home,
    settings: Settings,
    /// Made when it is first needed: it knows every secret and every blocked site, which takes time.
    fetcher: OnceLock<Result<Fetcher, String>>,
    search: Result<Backend, String>,
    extraction: Result<Extraction, String>,
}

impl Web {
    /// As the settings say. What is wrong with them is said when a tool that needs them is used.
    pub fn new(home: &Home, settings: &Settings) -> Self {
        let network = Network::from_settings(settings).map_err(|error| error.to_string());
        let of = |network: &Network| {
            let search = service::search(settings, network).map_err(|error| error.to_string());
            let extraction = service::extraction(settings, network).map_err(|error| error.to_string());
            (search, extraction)
        };
        let (search, extraction) = match &network {
            Ok(network) => of(network),
            Err(error) => (Err(error.clone()), Err(error.clone())),
        };
        let (home, settings) = (home.clone(), settings.clone());
        Self(Arc::new(Inner { home, settings, fetcher: OnceLock::new(), search, extraction }))
    }

    /// Fetches within the policy, or says what is wrong with the settings.
    pub(crate) fn fetcher(&self) -> Result<&Fetcher, String> {
        let Inner { home, settings, .. } = &*self.0;
        let made = self.0.fetcher.get_or_init(|| {
            let network = Network::from_settings(settings).map_err(|error| error.to_string())?;
            let policy = policy::from_settings(home, settings).map_err(|error| error.to_string())?;
            Ok(Fetcher::new(policy, network))
        });
        made.as_ref().map_err(Clone::clone)
    }
}

impl std::fmt::Debug for Web {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Web")
    }
}

/// A result that somebody on the network wrote: lines in it that read like orders are marked.
pub(crate) fn outside(mut result: Value) -> ToolOutput {
    disarm(&mut result);
    ToolOutput { trust: Trust::Outside, ..ToolOutput::json(&result) }
}

/// Marks every text of a result; addresses stay as they are.
fn disarm(value: &mut Value) {
    match value {
        Value::String(text) => *text = injection::disarm(text).text,
        Value::Array(all) => all.iter_mut().for_each(disarm),
        Value::Object(map) => {
            for (key, value) in map {
                if key != "url" {
                    disarm(value);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A text argument that must be there.
pub(crate) fn required<'a>(arguments: &'a Arguments, name: &str) -> Result<&'a str, String> {
    match arguments.get(name) {
        Some(serde_json::Value::String(text)) if !text.trim().is_empty() => Ok(text.trim()),
        Some(serde_json::Value::String(_)) => Err(format!("\"{name}\" is empty")),
        Some(_) => Err(format!("\"{name}\" must be a string")),
        None => Err(format!("\"{name}\" is missing")),
    }
}
