//! What is known about well-known models: the size of the window and the price. Small on purpose: what is not here stays
//! unknown until the user or the provider says it.

use crate::money::Price;

/// What is known about a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Facts {
    /// The size of its window in tokens.
    pub window: Option<u64>,
    /// What it costs at its maker.
    pub price: Option<Price>,
}

/// One family of models, found by the beginning of the name.
struct Row {
    name: &'static str,
    window: u64,
    /// Who sells it at this price.
    seller: &'static str,
    price: Option<Price>,
}

/// Dollars per million tokens, in thousandths: input, output, read from the cache, written to it.
const fn row(name: &'static str, window: u64, seller: &'static str, price: [u64; 4]) -> Row {
    let [input, output, cache_read, cache_write] = price;
    let price = Price {
        input: input * 1000,
        output: output * 1000,
        cache_read: cache_read * 1000,
        cache_write: cache_write * 1000,
    };
    Row { name, window, seller, price: Some(price) }
}

/// The price changes with the length of the prompt, or nobody sells it for all.
const fn size(name: &'static str, window: u64) -> Row {
    Row { name, window, seller: "", price: None }
}

/// Longer names first within a family; dots are written as dashes, because providers do not agree on them.
static ROWS: &[Row] = &[
    size("claude-sonnet-5", 1_000_000),
    row("claude-opus-4-8", 1_000_000, "anthropic", [5000, 25_000, 500, 6250]),
    row("claude-opus-4-7", 1_000_000, "anthropic", [5000, 25_000, 500, 6250]),
    row("claude-opus-4-6", 1_000_000, "anthropic", [5000, 25_000, 500, 6250]),
    row("claude-opus-4-5", 200_000, "anthropic", [5000, 25_000, 500, 6250]),
    row("claude-opus-4", 200_000, "anthropic", [15_000, 75_000, 1500, 18_750]),
    row("claude-sonnet-4-6", 1_000_000, "anthropic", [3000, 15_000, 300, 3750]),
    row("claude-sonnet-4", 200_000, "anthropic", [3000, 15_000, 300, 3750]),
    row("claude-haiku-4-5", 200_000, "anthropic", [1000, 5000, 100, 1250]),
    row("claude-3-7-sonnet", 200_000, "anthropic", [3000, 15_000, 300, 3750]),
    row("claude-3-5-sonnet", 200_000, "anthropic", [3000, 15_000, 300, 3750]),
    row("claude-3-5-haiku", 200_000, "anthropic", [800, 4000, 80, 1000]),
    row("claude-3-opus", 200_000, "anthropic", [15_000, 75_000, 1500, 18_750]),
    row("claude-3-haiku", 200_000, "anthropic", [250, 1250, 30, 300]),
    size("claude", 200_000),
    row("gpt-5-6-sol", 1_050_000, "openai-api", [5000, 30_000, 500, 6250]),
    row("gpt-5-6-terra", 1_050_000, "openai-api", [2500, 15_000, 250, 3125]),
    row("gpt-5-6-luna", 1_050_000, "openai-api", [1000, 6000, 100, 1250]),
    size("gpt-5-5", 1_050_000),
    size("gpt-5-4-nano", 400_000),
    size("gpt-5-4-mini", 400_000),
    size("gpt-5-4", 1_050_000),
    size("gpt-5-3-codex-spark", 128_000),
    size("gpt-5-3", 400_000),
    row("gpt-5-2", 400_000, "openai-api", [1750, 14_000, 175, 1750]),
    size("gpt-5-1-chat", 128_000),
    row("gpt-5-1", 400_000, "openai-api", [1250, 10_000, 125, 1250]),
    row("gpt-5-mini", 400_000, "openai-api", [250, 2000, 25, 250]),
    row("gpt-5-nano", 400_000, "openai-api", [50, 400, 5, 50]),
    size("gpt-5-chat", 128_000),
    size("gpt-5-pro", 400_000),
    row("gpt-5", 400_000, "openai-api", [1250, 10_000, 125, 1250]),
    row("gpt-4-1-mini", 1_047_576, "openai-api", [400, 1600, 100, 400]),
    row("gpt-4-1-nano", 1_047_576, "openai-api", [100, 400, 25, 100]),
    row("gpt-4-1", 1_047_576, "openai-api", [2000, 8000, 500, 2000]),
    row("gpt-4o-mini", 128_000, "openai-api", [150, 600, 75, 150]),
    row("gpt-4o", 128_000, "openai-api", [2500, 10_000, 1250, 2500]),
    row("o3-mini", 200_000, "openai-api", [1100, 4400, 550, 1100]),
    size("o3-pro", 200_000),
    row("o3", 200_000, "openai-api", [2000, 8000, 500, 2000]),
    row("o4-mini", 200_000, "openai-api", [1100, 4400, 275, 1100]),
    size("gpt-oss", 131_072),
    size("gemini", 1_048_576),
    size("gemma-4", 256_000),
    size("gemma-3", 131_072),
    Row {
        name: "deepseek-v4-pro",
        window: 1_000_000,
        seller: "deepseek",
        price: Some(Price { input: 435_000, output: 870_000, cache_read: 3625, cache_write: 435_000 }),
    },
    Row { name: "deepseek-v4-flash", window: 1_000_000, seller: "deepseek", price: Some(DEEPSEEK) },
    Row { name: "deepseek-chat", window: 1_000_000, seller: "deepseek", price: Some(DEEPSEEK) },
    Row { name: "deepseek-reasoner", window: 1_000_000, seller: "deepseek", price: Some(DEEPSEEK) },
    size("grok-4-5", 500_000),
    size("grok-4-3", 1_000_000),
    size("grok-4-20", 2_000_000),
    row("grok-4-fast", 2_000_000, "xai", [200, 500, 50, 200]),
    row("grok-4-1-fast", 2_000_000, "xai", [200, 500, 50, 200]),
    row("grok-4", 256_000, "xai", [3000, 15_000, 750, 3000]),
    row("grok-code-fast", 256_000, "xai", [200, 1500, 20, 200]),
    row("grok-3-mini", 131_072, "xai", [300, 500, 75, 300]),
    row("grok-3", 131_072, "xai", [3000, 15_000, 750, 3000]),
    size("kimi-k2-thinking", 262_144),
    size("kimi-k2-5", 262_144),
    size("kimi-k2-0905", 262_144),
    size("glm-5-2", 1_048_576),
    size("glm-5", 202_752),
    size("glm-4-7", 202_752),
    size("glm-4-6", 202_752),
    size("glm-4-5", 131_072),
    size("minimax-m3", 1_000_000),
    size("minimax-m2", 204_800),
    size("qwen3-coder-plus", 1_000_000),
    size("qwen3-coder", 262_144),
    size("qwen3-max", 262_144),
    size("qwen3-7-plus", 1_048_576),
    size("qwen3-6-plus", 1_048_576),
    size("llama-3-3", 131_072),
    size("llama-3-1", 131_072),
];

const DEEPSEEK: Price = Price { input: 140_000, output: 280_000, cache_read: 2800, cache_write: 140_000 };

/// What is known about a model at a provider. The price is that of its maker; elsewhere it is unknown.
pub fn facts(provider: &str, model: &str) -> Facts {
    let name = normal(model);
    let Some(row) = ROWS.iter().filter(|row| begins(&name, row.name)).max_by_key(|row| row.name.len()) else {
        return Facts::default();
    };
    Facts { window: Some(row.window), price: row.price.filter(|_| row.seller == provider) }
}

/// The bare name in one spelling: `anthropic/claude-sonnet-4.5` is `claude-sonnet-4-5`.
fn normal(model: &str) -> String {
    let bare = model.rsplit('/').next().unwrap_or(model);
    bare.trim().to_lowercase().replace(['.', '_'], "-")
}

/// Whether a name begins with a family's, as whole words: `o3` is not the family of `o30`.
fn begins(name: &str, family: &str) -> bool {
    name.strip_prefix(family).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', ':', '@']))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use crate::provider;
    use std::collections::BTreeSet;

    #[test]
    fn models_are_found_under_every_spelling() {
        for (provider, model, window) in [
            ("anthropic", "claude-sonnet-4-5-20250929", 200_000),
            ("openrouter", "anthropic/claude-opus-4.6", 1_000_000),
            ("openai-api", "gpt-5-mini", 400_000),
            ("openrouter", "openai/gpt-4.1", 1_047_576),
            ("custom", "claude-something-new", 200_000),
            ("zai", "GLM-4.6", 202_752),
            ("openrouter", "deepseek/deepseek-chat:free", 1_000_000),
        ] {
            assert_eq!(facts(provider, model).window, Some(window), "{model}");
        }
    }

    #[test]
    fn unknown_stays_unknown() {
        for model in ["", "my-model", "o30", "gpt-5x", "llama", "mock-model"] {
            assert_eq!(facts("openai-api", model), Facts::default(), "{model}");
        }
        assert_eq!(facts("custom", "deepseek-chat").price, None, "nobody knows what it costs elsewhere");
        assert_eq!(
            facts("gemini", "gemini-2.5-pro").price,
            None,
            "its price depends on the length of the prompt"
        );
    }

    #[test]
    fn the_longest_family_decides() {
        let price = |model: &str| facts("anthropic", model).price.unwrap();
        assert_eq!(price("claude-opus-4-5").input, 5_000_000);
        assert_eq!(price("claude-opus-4-1-20250805").input, 15_000_000);
        assert_eq!(price("claude-opus-4-20250514").output, 75_000_000);
        assert_eq!(facts("openai-api", "gpt-5.1-chat-latest"), Facts { window: Some(128_000), price: None });
    }

    #[test]
    fn the_table_is_consistent() {
        let mut seen = BTreeSet::new();
        for row in ROWS {
            assert!(seen.insert(row.name), "{} stands twice", row.name);
            assert_eq!(row.name, normal(row.name));
            assert!(row.window >= 100_000, "{}", row.name);
            assert_eq!(row.price.is_some(), provider::find(row.seller).is_some(), "{}", row.name);
            if let Some(price) = row.price {
                assert!(price.cache_read <= price.input && price.input <= price.output, "{}", row.name);
            }
        }
    }
}
