//! Short names for families of models. What the user defines under `model_aliases` wins.

/// A family of models and where it is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Family {
    /// The short name.
    pub alias: &'static str,
    /// The provider that makes it; nothing when it is only sold by others.
    pub maker: Option<&'static str>,
    /// What routers put before the name.
    vendor: &'static str,
    /// What names of the family begin with.
    stem: &'static str,
    /// The model to take when there is no list to look into, as its maker writes it.
    usual: &'static str,
    /// The same as routers write it.
    routed: &'static str,
}

const fn family(
    alias: &'static str,
    maker: &'static str,
    vendor: &'static str,
    stem: &'static str,
    usual: [&'static str; 2],
) -> Family {
    let [usual, routed] = usual;
    let maker = if maker.is_empty() { None } else { Some(maker) };
    Family { alias, maker, vendor, stem, usual, routed }
}

/// All short names.
pub static FAMILIES: &[Family] = &[
    family("sonnet", "anthropic", "anthropic", "claude-sonnet", ["claude-sonnet-5", "claude-sonnet-5"]),
    family("opus", "anthropic", "anthropic", "claude-opus", ["claude-opus-4-8", "claude-opus-4.8"]),
    family("haiku", "anthropic", "anthropic", "claude-haiku", ["claude-haiku-4-5", "claude-haiku-4.5"]),
    family("claude", "anthropic", "anthropic", "claude-sonnet", ["claude-sonnet-5", "claude-sonnet-5"]),
    family("gpt5", "openai-api", "openai", "gpt-5", ["gpt-5.5", "gpt-5.5"]),
    family("gpt", "openai-api", "openai", "gpt-5", ["gpt-5.5", "gpt-5.5"]),
    family("codex", "openai-api", "openai", "gpt-5.3-codex", ["gpt-5.3-codex", "gpt-5.3-codex"]),
    family("o3", "openai-api", "openai", "o3", ["o3", "o3"]),
    family("o4", "openai-api", "openai", "o4", ["o4-mini", "o4-mini"]),
    family("gemini", "gemini", "google", "gemini", ["gemini-3.1-pro-preview", "gemini-3.1-pro-preview"]),
    family("deepseek", "deepseek", "deepseek", "deepseek", ["deepseek-v4-pro", "deepseek-v4-pro"]),
    family("grok", "xai", "x-ai", "grok", ["grok-4.5", "grok-4.5"]),
    family("llama", "", "meta-llama", "llama", ["llama-3.3-70b-instruct", "llama-3.3-70b-instruct"]),
    family("qwen", "alibaba", "qwen", "qwen", ["qwen3.7-max", "qwen3.7-max"]),
    family("minimax", "minimax", "minimax", "minimax-m", ["MiniMax-M3", "minimax-m3"]),
    family(
        "nemotron",
        "nvidia",
        "nvidia",
        "nemotron",
        ["nvidia/nemotron-3-super-120b-a12b", "nemotron-3-super-120b-a12b"],
    ),
    family("kimi", "kimi-coding", "moonshotai", "kimi-k", ["kimi-k3", "kimi-k3"]),
    family("glm", "zai", "z-ai", "glm", ["glm-5.2", "glm-5.2"]),
    family("step", "stepfun", "stepfun", "step", ["step-3.5-flash", "step-3.7-flash"]),
    family("mimo", "xiaomi", "xiaomi", "mimo", ["mimo-v2.5-pro", "mimo-v2.5-pro"]),
    family("trinity", "arcee", "arcee-ai", "trinity", ["trinity-large-thinking", "trinity-large-thinking"]),
];

/// Providers that pass requests on to many makers and name models `VENDOR/MODEL`.
const ROUTERS: [&str; 2] = ["openrouter", "kilocode"];

impl Family {
    /// The family of this short name.
    pub fn find(alias: &str) -> Option<&'static Self> {
        FAMILIES.iter().find(|family| family.alias.eq_ignore_ascii_case(alias.trim()))
    }

    /// The model at a provider; nothing when it is not sold there as far as we know.
    pub fn at(&self, provider: &str) -> Option<String> {
        if self.maker == Some(provider) {
            Some(self.usual.to_owned())
        } else if ROUTERS.contains(&provider) {
            Some(format!("{}/{}", self.vendor, self.routed))
        } else {
            None
        }
    }

    /// The newest of the family in a list of models: the highest version, and of one version the shortest name, because
    /// what is added to a name makes it something special (`-mini`, `-preview`, a date).
    pub fn newest<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
        let of_family = |name: &&str| {
            let bare = name.rsplit('/').next().unwrap_or(name).to_lowercase();
            bare.strip_prefix(self.stem)
                .is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphabetic()))
                && !bare.contains(':')
        };
        let rank = |name: &&str| (version(name), std::cmp::Reverse(name.len()));
        names.into_iter().filter(of_family).max_by_key(rank)
    }
}

/// The numbers in a name, up to the first that is a date or a size: `claude-opus-4.8-fast` is 4, 8.
fn version(name: &str) -> Vec<u32> {
    let bare = name.rsplit('/').next().unwrap_or(name);
    let numbers = bare.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
    numbers.map_while(|part| part.parse().ok().filter(|number| *number < 100)).take(3).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::super::table;
    use super::*;
    use crate::catalog;
    use std::collections::BTreeSet;

    #[test]
    fn short_names_are_unique_and_their_makers_exist() {
        let mut seen = BTreeSet::new();
        for family in FAMILIES {
            assert!(seen.insert(family.alias), "{}", family.alias);
            let known =
                family.maker.is_none_or(|maker| table::find(maker).is_some_and(|spec| spec.id == maker));
            assert!(known, "{}", family.alias);
            for router in ROUTERS {
                assert!(table::find(router).is_some() && family.at(router).unwrap().contains('/'));
            }
        }
        assert_eq!(seen.len(), 21);
    }

    #[test]
    fn a_family_is_named_as_the_provider_names_it() {
        let opus = Family::find("Opus").unwrap();
        assert_eq!(opus.at("anthropic").as_deref(), Some("claude-opus-4-8"));
        assert_eq!(opus.at("openrouter").as_deref(), Some("anthropic/claude-opus-4.8"));
        assert_eq!(opus.at("zai"), None);
        assert!(Family::find("unheard-of").is_none());
        assert!(catalog::facts("anthropic", "claude-opus-4-8").price.is_some());
    }

    #[test]
    fn the_newest_of_a_list_is_found() {
        let names = [
            "anthropic/claude-3.5-sonnet",
            "anthropic/claude-sonnet-4",
            "anthropic/claude-sonnet-4.6",
            "anthropic/claude-sonnet-4.6-20260301",
            "anthropic/claude-sonnet-4.6:beta",
            "openai/gpt-5.5-pro",
            "openai/gpt-5.5",
            "openai/o3-mini",
            "openai/o3",
        ];
        let newest = |alias: &str| Family::find(alias).unwrap().newest(names);
        assert_eq!(newest("sonnet"), Some("anthropic/claude-sonnet-4.6"));
        assert_eq!(newest("gpt"), Some("openai/gpt-5.5"));
        assert_eq!(newest("o3"), Some("openai/o3"));
        assert_eq!(newest("glm"), None);
    }
}
