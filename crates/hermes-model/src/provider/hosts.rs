//! What an address says: which format is spoken there, and whose key may go there.

use super::table::{ProviderSpec, TABLE};
use crate::url::{BaseUrl, ip_of};
use crate::wire::Wire;

/// The format spoken at an address.
pub fn wire_of_url(url: &BaseUrl) -> Wire {
    let is = |host: &str| url.host() == host;
    if is("api.openai.com") || is("api.x.ai") {
        Wire::Responses
    } else if is("api.anthropic.com")
        || url.path().ends_with("/anthropic")
        || (is("api.kimi.com") && in_path(url, "/coding"))
    {
        Wire::Messages
    } else {
        Wire::Chat
    }
}

fn in_path(url: &BaseUrl, start: &str) -> bool {
    url.path().strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The format for a model, at routers that speak several.
pub(super) fn wire_of_model(spec: &ProviderSpec, model: &str) -> Wire {
    let name = model.rsplit('/').next().unwrap_or(model).to_lowercase();
    match spec.id {
        "opencode-zen" if name.contains("claude") => Wire::Messages,
        "opencode-zen" if name.starts_with("gpt-5") || name.contains("codex") => Wire::Responses,
        "opencode-go" if name.contains("minimax") => Wire::Messages,
        _ => spec.wire,
    }
}

/// Whether the keys of a provider may go to an address.
pub(super) fn owns(spec: &ProviderSpec, url: &BaseUrl) -> bool {
    let is_default =
        !spec.base_url.is_empty() && BaseUrl::parse(spec.base_url).is_ok_and(|own| own.host() == url.host());
    is_default || spec.domains.iter().any(|domain| url.is_in(domain))
}

/// The variable whose key is meant for a host that is in no table: `FOO_API_KEY` for `api.foo.com`. Addresses without a
/// name get none; and a name that only looks like a known provider's gets none of its keys.
pub fn vendor_variable(url: &BaseUrl) -> Option<String> {
    let host = url.host();
    if url.is_local() || ip_of(host).is_some() {
        return None;
    }
    let label = registrable_label(host)?;
    let upper: String =
        label.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    let variable = format!("{upper}_API_KEY");
    let mut owners = TABLE.iter().filter(|spec| spec.key_env.contains(&variable.as_str())).peekable();
    let is_free = owners.peek().is_none() || owners.any(|spec| owns(spec, url));
    is_free.then_some(variable)
}

/// The part of a host that was registered: `foo` of `api.foo.com` and of `foo.co.uk`.
fn registrable_label(host: &str) -> Option<&str> {
    /// Second-level names under which countries let people register.
    const SHARED: [&str; 8] = ["co", "com", "org", "net", "ac", "gov", "edu", "or"];
    let labels: Vec<&str> = host.split('.').collect();
    let (last, rest) = labels.split_last()?;
    let (second, before) = rest.split_last()?;
    let shared = last.len() == 2 && SHARED.contains(second);
    if shared { before.last().copied() } else { Some(second) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    fn url(text: &str) -> BaseUrl {
        BaseUrl::parse(text).unwrap()
    }

    #[test]
    fn addresses_tell_the_format() {
        for (address, wire) in [
            ("https://api.openai.com/v1", Wire::Responses),
            ("https://api.x.ai/v1", Wire::Responses),
            ("https://api.anthropic.com", Wire::Messages),
            ("https://proxy.test/anthropic/", Wire::Messages),
            ("https://api.kimi.com/coding/v1", Wire::Messages),
            ("https://api.kimi.com/codings", Wire::Chat),
            ("https://openrouter.ai/api/v1", Wire::Chat),
            ("https://api.openai.com.evil.test/v1", Wire::Chat),
            ("http://127.0.0.1:8000/v1", Wire::Chat),
        ] {
            assert_eq!(wire_of_url(&url(address)), wire, "{address}");
        }
    }

    #[test]
    fn unknown_hosts_get_the_variable_of_their_name() {
        for (address, variable) in [
            ("https://api.groq.com/openai/v1", Some("GROQ_API_KEY")),
            ("https://llm.my-corp.co.uk/v1", Some("MY_CORP_API_KEY")),
            ("https://api.openai.com/v1", Some("OPENAI_API_KEY")),
            ("https://openai.evil.test/v1", Some("EVIL_API_KEY")),
            ("https://openai.xyz/v1", None),
            ("https://openrouter.ai.evil.test", Some("EVIL_API_KEY")),
            ("http://127.0.0.1:1/v1", None),
            ("https://203.0.113.7/v1", None),
            ("http://localhost:1/v1", None),
            ("http://gpu:8000/v1", None),
        ] {
            assert_eq!(vendor_variable(&url(address)).as_deref(), variable, "{address}");
        }
    }
}
