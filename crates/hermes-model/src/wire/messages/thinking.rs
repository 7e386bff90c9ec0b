//! How much a model of Anthropic thinks and may write, by its name.

use serde_json::{Map, Value, json};

use crate::message::{Message, Part, Replay};
use crate::request::{Effort, Request};

/// A generation such as 4.6.
type Version = (u32, u32);

/// The ways to ask for thoughts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thinking {
    /// None.
    Off,
    /// So many tokens for thoughts.
    Budget(u64),
    /// As much as the model sees fit, with a word about the effort.
    Adaptive(&'static str),
}

/// What is asked of this model.
pub(super) fn thinking_for(request: &Request, issuer: &str) -> Thinking {
    let model = request.model.to_lowercase();
    let Some(effort) = request.effort.filter(|effort| *effort != Effort::None) else { return Thinking::Off };
    // Other makers speak this format too, but not these fields.
    if !model.contains("claude") || model.contains("haiku") {
        return Thinking::Off;
    }
    match version(&model) {
        Some(version) if version >= (4, 6) => Thinking::Adaptive(effort_word(effort, version)),
        Some(version) if version >= (3, 7) && can_continue_thinking(request, issuer) => {
            Thinking::Budget(budget(effort))
        }
        _ => Thinking::Off,
    }
}

fn budget(effort: Effort) -> u64 {
    match effort {
        Effort::None | Effort::Minimal | Effort::Low => 4000,
        Effort::Medium => 8000,
        Effort::High => 16_000,
        Effort::XHigh => 32_000,
    }
}

fn effort_word(effort: Effort, version: Version) -> &'static str {
    match effort {
        Effort::None | Effort::Minimal | Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
        Effort::XHigh if version >= (4, 7) => "xhigh",
        Effort::XHigh => "max",
    }
}

/// With a budget for thoughts, a turn that waits for tool results must begin with signed thoughts. One that was begun by
/// another model cannot, so it is finished without.
fn can_continue_thinking(request: &Request, issuer: &str) -> bool {
    let newest = request.messages.iter().rev().find(|message| !matches!(message, Message::Tool(_)));
    let Some(Message::Assistant(parts)) = newest else { return true };
    let signed = |part: &Part| {
        matches!(part, Part::Reasoning(reasoning) if reasoning.issuer == issuer
            && matches!(reasoning.replay, Some(Replay::Signature(_) | Replay::Redacted(_))))
    };
    parts.first().is_some_and(signed)
}

/// The fields of the request, and the limit for the output that goes with them.
pub(super) fn limit_and_fields(request: &Request, thinking: Thinking) -> (u64, Map<String, Value>) {
    /// What must be left for the answer itself.
    const ROOM_FOR_ANSWER: u64 = 4096;
    let limit = request.max_tokens.unwrap_or_else(|| most_output(&request.model));
    let fields = match thinking {
        Thinking::Off => json!({}),
        Thinking::Budget(tokens) => json!({"thinking": {"type": "enabled", "budget_tokens": tokens}}),
        Thinking::Adaptive(effort) => json!({
            "thinking": {"type": "adaptive", "display": "summarized"},
            "output_config": {"effort": effort},
        }),
    };
    let limit =
        if let Thinking::Budget(tokens) = thinking { limit.max(tokens + ROOM_FOR_ANSWER) } else { limit };
    (limit, if let Value::Object(fields) = fields { fields } else { Map::new() })
}

/// Most tokens an answer of this model may have; the format wants a number with every request.
pub(super) fn most_output(model: &str) -> u64 {
    let model = model.to_lowercase();
    let line = ["opus", "sonnet", "haiku"].into_iter().find(|line| model.contains(line));
    match (line, version(&model)) {
        (_, Some((3, minor))) if minor < 7 => 8192,
        (Some("opus"), Some(version)) if version < (4, 5) => 32_000,
        (Some(_), Some(version)) if version < (4, 6) => 64_000,
        (Some("sonnet" | "haiku"), Some(version)) if version < (4, 7) => 64_000,
        _ => 128_000,
    }
}

/// Whether the sampling temperature may be set.
pub(super) fn takes_temperature(model: &str) -> bool {
    version(&model.to_lowercase()).is_none_or(|version| version < (4, 7))
}

/// The generation in a name: `claude-opus-4-6-20250414`, `claude-sonnet-4.5`, `claude-3-5-haiku-20241022`.
fn version(model: &str) -> Option<Version> {
    let numbers: Vec<&str> = model
        .split(['-', '.', '/', ':', '@', '_'])
        .skip_while(|word| !word.contains("claude"))
        .filter(|word| !word.is_empty() && word.len() <= 2 && word.bytes().all(|b| b.is_ascii_digit()))
        .collect();
    let major = numbers.first()?.parse().ok()?;
    Some((major, numbers.get(1).and_then(|minor| minor.parse().ok()).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_generation() {
        for (name, expected) in [
            ("claude-opus-4-6-20250414", Some((4, 6))),
            ("anthropic/claude-sonnet-4.5", Some((4, 5))),
            ("claude-3-5-haiku-20241022", Some((3, 5))),
            ("claude-sonnet-4-20250514", Some((4, 0))),
            ("claude-sonnet-5", Some((5, 0))),
            ("anthropic.claude-opus-4-1-20250805-v1:0", Some((4, 1))),
            ("minimax-m2", None),
        ] {
            assert_eq!(version(name), expected, "{name}");
        }
    }

    #[test]
    fn limits_follow_the_table() {
        for (name, expected) in [
            ("claude-3-5-sonnet-20241022", 8192),
            ("claude-opus-4-20250514", 32_000),
            ("claude-opus-4-5", 64_000),
            ("claude-sonnet-4-5", 64_000),
            ("claude-haiku-4-5", 64_000),
            ("claude-sonnet-4-6", 64_000),
            ("claude-opus-4-6", 128_000),
            ("claude-opus-4-8", 128_000),
            ("something-new", 128_000),
        ] {
            assert_eq!(most_output(name), expected, "{name}");
        }
    }

    #[test]
    fn thoughts_are_asked_for_as_the_model_understands() {
        let ask = |model: &str, effort| {
            let mut request = Request::new(model);
            request.effort = effort;
            thinking_for(&request, "h")
        };
        assert_eq!(ask("claude-opus-4-6", Some(Effort::XHigh)), Thinking::Adaptive("max"));
        assert_eq!(ask("claude-opus-4-7", Some(Effort::XHigh)), Thinking::Adaptive("xhigh"));
        assert_eq!(ask("claude-sonnet-4-5", Some(Effort::High)), Thinking::Budget(16_000));
        for (model, effort) in [
            ("claude-sonnet-4-5", None),
            ("claude-sonnet-4-5", Some(Effort::None)),
            ("claude-haiku-4-5", Some(Effort::High)),
            ("claude-3-5-sonnet", Some(Effort::High)),
            ("MiniMax-M2", Some(Effort::High)),
        ] {
            assert_eq!(ask(model, effort), Thinking::Off, "{model}");
        }
    }

    #[test]
    fn a_budget_leaves_room_for_the_answer() {
        let mut request = Request::new("claude-sonnet-4-5");
        request.max_tokens = Some(1000);
        assert_eq!(limit_and_fields(&request, Thinking::Budget(8000)).0, 12_096);
        assert_eq!(limit_and_fields(&request, Thinking::Off).0, 1000);
    }
}
