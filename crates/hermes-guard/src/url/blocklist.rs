//! Sites the user does not want opened.

use ::url::Host;

/// Domains, each with everything below it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Blocklist {
    rules: Vec<Rule>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    written: String,
    domain: String,
    itself: Itself,
}

/// Whether a rule means the domain, or only what is below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Itself {
    Included,
    Excluded,
}

impl Blocklist {
    /// From entries as people write them: `example.com`, `*.example.com`, `https://example.com/page`. What stands
    /// behind a `#` and lines without a domain are passed over.
    pub fn new<'a>(entries: impl IntoIterator<Item = &'a str>) -> Self {
        Self { rules: entries.into_iter().filter_map(Rule::read).collect() }
    }

    /// The entry that covers this host.
    pub fn finds(&self, host: &str) -> Option<&str> {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        self.rules.iter().find(|rule| rule.covers(&host)).map(|rule| rule.written.as_str())
    }

    /// True without any entry.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }
}

impl Rule {
    fn read(line: &str) -> Option<Self> {
        let written = line.split('#').next().unwrap_or_default().trim();
        let rest = written.split_once("://").map_or(written, |(_, rest)| rest);
        let (rest, itself) = match rest.strip_prefix("*.") {
            Some(below) => (below, Itself::Excluded),
            None => (rest, Itself::Included),
        };
        let host = rest.split(['/', '?']).next().unwrap_or_default();
        // A port is no part of a domain; `[::1]` keeps its colons.
        let host = if host.starts_with('[') { host } else { host.split(':').next().unwrap_or_default() };
        let host = host.trim_matches('.').to_lowercase();
        let host = host.strip_prefix("www.").unwrap_or(&host);
        // The same spelling as in addresses: `bücher.example` is `xn--bcher-kva.example` there.
        let domain = Host::parse(host).ok()?.to_string();
        Some(Self { written: written.to_owned(), domain, itself })
    }

    fn covers(&self, host: &str) -> bool {
        match host.strip_suffix(&self.domain) {
            Some("") => self.itself == Itself::Included,
            Some(rest) => rest.ends_with('.'),
            None => false,
        }
    }
}
