//! The services, as data: who they are, how they know us, what they are asked and where their answers are.

use hermes_home::settings::Def;
use hermes_home::settings::table::secrets;

/// A service.
pub struct Service {
    /// Its name in the settings.
    pub name: &'static str,
    /// Other names for it there.
    pub also: &'static [&'static str],
    /// The variable with the key; one without needs none.
    pub key: Option<&'static Def<Option<String>>>,
    /// How the key is shown.
    pub auth: Auth,
    /// Where it is; empty for one that everybody runs for themselves.
    pub base: &'static str,
    /// The variable with another address.
    pub address: Option<&'static Def<String>>,
    /// How it searches.
    pub search: Option<Search>,
    /// How it reads pages.
    pub extract: Option<Read>,
}

/// How a key is shown. Only in headers: addresses and bodies end up in logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Auth {
    /// Not at all.
    None,
    /// `Authorization: Bearer`.
    Bearer,
    /// A header of its own.
    Header(&'static str),
}

/// How something is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// In the address.
    Get,
    /// As JSON.
    Post,
}

/// What a field of a request holds. Names with dots are objects in objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// What is searched for.
    Query,
    /// The same, as a list of one.
    Queries,
    /// How many results.
    Limit,
    /// The addresses of the pages.
    Urls,
    /// The one address.
    Url,
    /// Yes.
    True,
    /// A fixed text.
    Text(&'static str),
    /// A fixed list of one text.
    Texts(&'static str),
}

/// A request.
pub struct Request {
    /// How it is sent.
    pub method: Method,
    /// Where, after the address of the service.
    pub path: &'static str,
    /// What is in it.
    pub fields: &'static [(&'static str, Field)],
}

/// How a service searches.
pub struct Search {
    /// What it is asked.
    pub request: Request,
    /// Where the results are: JSON pointers, the first that leads to a list counts.
    pub rows: &'static [&'static str],
    /// Fields of a result that say something about it.
    pub text: &'static [&'static str],
    /// Most results it gives.
    pub most: u64,
}

/// How a service reads pages.
pub struct Read {
    /// What it is asked.
    pub request: Request,
    /// How many pages at once.
    pub batch: Batch,
    /// Where the pages are; the empty pointer is the answer itself.
    pub rows: &'static str,
    /// JSON pointers to a page's text, the first that is there counts.
    pub text: &'static [&'static str],
    /// The same for its title.
    pub title: &'static [&'static str],
    /// Where pages are listed that could not be read, with the field that says why.
    pub failed: Option<(&'static str, &'static str)>,
}

/// How many pages a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Batch {
    /// One.
    One,
    /// All.
    All,
}

use Field::{Limit, Queries, Query, Text, Texts, True, Url, Urls};

/// All services, in the order in which they are taken when the user names none.
pub const SERVICES: &[Service] = &[
    Service {
        name: "tavily",
        also: &[],
        key: Some(&secrets::TAVILY_API_KEY),
        auth: Auth::Bearer,
        base: "https://api.tavily.com",
        address: Some(&secrets::TAVILY_BASE_URL),
        search: Some(Search {
            request: Request {
                method: Method::Post,
                path: "/search",
                fields: &[("query", Query), ("max_results", Limit)],
            },
            rows: &["/results"],
            text: &["content"],
            most: 20,
        }),
        extract: Some(Read {
            request: Request {
                method: Method::Post,
                path: "/extract",
                fields: &[("urls", Urls), ("format", Text("markdown"))],
            },
            batch: Batch::All,
            rows: "/results",
            text: &["/raw_content"],
            title: &["/title"],
            failed: Some(("/failed_results", "error")),
        }),
    },
    Service {
        name: "exa",
        also: &[],
        key: Some(&secrets::EXA_API_KEY),
        auth: Auth::Header("x-api-key"),
        base: "https://api.exa.ai",
        address: None,
        search: Some(Search {
            request: Request {
                method: Method::Post,
                path: "/search",
                fields: &[("query", Query), ("numResults", Limit), ("contents.highlights", True)],
            },
            rows: &["/results"],
            text: &["highlights", "summary", "text"],
            most: 100,
        }),
        extract: Some(Read {
            request: Request {
                method: Method::Post,
                path: "/contents",
                fields: &[("urls", Urls), ("text", True)],
            },
            batch: Batch::All,
            rows: "/results",
            text: &["/text"],
            title: &["/title"],
            failed: None,
        }),
    },
    Service {
        name: "parallel",
        also: &[],
        key: Some(&secrets::PARALLEL_API_KEY),
        auth: Auth::Header("x-api-key"),
        base: "https://api.parallel.ai",
        address: None,
        search: Some(Search {
            request: Request {
                method: Method::Post,
                path: "/v1/search",
                fields: &[
                    ("search_queries", Queries),
                    ("mode", Text("basic")),
                    ("advanced_settings.max_results", Limit),
                ],
            },
            rows: &["/results"],
            text: &["excerpts"],
            most: 20,
        }),
        extract: Some(Read {
            request: Request {
                method: Method::Post,
                path: "/v1beta/extract",
                fields: &[("urls", Urls), ("full_content", True)],
            },
            batch: Batch::All,
            rows: "/results",
            text: &["/full_content", "/excerpts"],
            title: &["/title"],
            failed: Some(("/errors", "content")),
        }),
    },
    Service {
        name: "firecrawl",
        also: &[],
        key: Some(&secrets::FIRECRAWL_API_KEY),
        auth: Auth::Bearer,
        base: "https://api.firecrawl.dev",
        address: Some(&secrets::FIRECRAWL_API_URL),
        search: Some(Search {
            request: Request {
                method: Method::Post,
                path: "/v2/search",
                fields: &[("query", Query), ("limit", Limit)],
            },
            rows: &["/data/web", "/data"],
            text: &["description", "markdown"],
            most: 100,
        }),
        extract: Some(Read {
            request: Request {
                method: Method::Post,
                path: "/v2/scrape",
                fields: &[("url", Url), ("formats", Texts("markdown"))],
            },
            batch: Batch::One,
            rows: "/data",
            text: &["/markdown"],
            title: &["/metadata/title"],
            failed: None,
        }),
    },
    Service {
        name: "brave",
        also: &["brave-free", "brave_free"],
        key: Some(&secrets::BRAVE_SEARCH_API_KEY),
        auth: Auth::Header("X-Subscription-Token"),
        base: "https://api.search.brave.com",
        address: None,
        search: Some(Search {
            request: Request {
                method: Method::Get,
                path: "/res/v1/web/search",
                fields: &[("q", Query), ("count", Limit)],
            },
            rows: &["/web/results"],
            text: &["description"],
            most: 20,
        }),
        extract: None,
    },
    Service {
        name: "searxng",
        also: &["searx"],
        key: None,
        auth: Auth::None,
        base: "",
        address: Some(&secrets::SEARXNG_URL),
        search: Some(Search {
            request: Request {
                method: Method::Get,
                path: "/search",
                fields: &[("q", Query), ("format", Text("json"))],
            },
            rows: &["/results"],
            text: &["content"],
            most: 100,
        }),
        extract: None,
    },
];

impl Service {
    /// The service of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        let name = name.trim().to_ascii_lowercase();
        SERVICES.iter().find(|service| service.name == name || service.also.contains(&name.as_str()))
    }

    /// The variable that makes it usable.
    pub fn variable(&self) -> &'static str {
        match (self.key, self.address) {
            (Some(key), _) => key.spec.key,
            (None, Some(address)) => address.spec.key,
            (None, None) => "",
        }
    }
}
