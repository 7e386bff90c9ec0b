//! Token counts of the chat format, with the names different servers give them.

use serde_json::Value;

use crate::json::count;
use crate::money::MicroDollars;
use crate::usage::Usage;

/// Reads a `usage` object.
pub(super) fn usage_of(usage: &Value) -> Option<Usage> {
    if !usage.is_object() {
        return None;
    }
    let first = |paths: &[&[&str]]| paths.iter().map(|path| count(usage, path)).find(|n| *n > 0).unwrap_or(0);
    let cache_read = first(&[
        &["prompt_tokens_details", "cached_tokens"],
        &["prompt_cache_hit_tokens"],
        &["cache_read_input_tokens"],
        &["cached_tokens"],
    ]);
    let cache_write =
        first(&[&["prompt_tokens_details", "cache_write_tokens"], &["cache_creation_input_tokens"]]);
    let prompt = first(&[&["prompt_tokens"], &["input_tokens"]]);
    let output = first(&[&["completion_tokens"], &["output_tokens"]]);
    let mut counted = Usage::of_whole_prompt(prompt, output, cache_read, cache_write);
    counted.reasoning = first(&[&["completion_tokens_details", "reasoning_tokens"], &["reasoning_tokens"]]);
    counted.charged = charged(usage);
    Some(counted)
}

/// What a router says it charged, in dollars.
fn charged(usage: &Value) -> Option<MicroDollars> {
    match usage.get("cost")? {
        Value::Number(number) => MicroDollars::parse(&number.to_string()),
        Value::String(text) => MicroDollars::parse(text),
        _ => None,
    }
}
