//! Numbers that errors quote: the model's window, and how much output would have been accepted.

use std::sync::LazyLock;

use regex::Regex;

use super::OutputRoom;

/// Left free below a quoted limit, because both sides count a little differently.
const MARGIN: u64 = 64;

fn pattern(text: &str) -> Option<Regex> {
    Regex::new(text).ok()
}

/// The window of the model, when the error quotes it. `message` is in lower case.
pub(super) fn quoted_window(message: &str) -> Option<u64> {
    static PATTERNS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
        [
            r"maximum context length (?:is|of) (\d[\d,]*)",
            r"> ?(\d[\d,]*) maximum",
            r"exceed context limit: [\d,]+ \+ [\d,]+ > (\d[\d,]*)",
            r"context (?:window|size|length)[^.\d]{0,30}\(?(\d[\d,]*)",
            r"(?:max_model_len|maximum model length)[^\d]{0,20}(\d[\d,]*)",
            r"n_ctx\D{0,12}(\d[\d,]*)",
            r"maximum number of (?:input )?tokens allowed \(?(\d[\d,]*)",
            r"max(?:imum)? input (?:length|tokens?)[^.\d]{0,20}(\d[\d,]*)",
        ]
        .into_iter()
        .filter_map(pattern)
        .collect()
    });
    PATTERNS
        .iter()
        .find_map(|pattern| number(pattern.captures(message)?.get(1)?.as_str()))
        .filter(|n| *n >= 512)
}

/// How much output would have been accepted. Nothing when it is the prompt itself that is too long.
pub(super) fn output_room(message: &str) -> Option<OutputRoom> {
    static BOTH: LazyLock<Option<Regex>> =
        LazyLock::new(|| pattern(r"exceed context limit: (\d[\d,]*) \+ [\d,]+ > (\d[\d,]*)"));
    static PARTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        pattern(
            r"maximum context length is (\d[\d,]*) tokens.*?\((\d[\d,]*) in the messages.*?in the completion\)",
        )
    });
    static CAPS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
        [
            r"max_tokens: [\d,]+ > (\d[\d,]*), which is the maximum allowed",
            r"supports at most (\d[\d,]*) completion tokens",
            r"max(?:_completion|_output)?_tokens[^.]{0,60}(?:must be|should be|less than or equal to|at most|<=|range of \[1, ?)\D{0,30}(\d[\d,]*)",
        ]
        .into_iter()
        .filter_map(pattern)
        .collect()
    });
    let of = |pattern: &Regex, group| number(pattern.captures(message)?.get(group)?.as_str());
    if let Some(both) = BOTH.as_ref().filter(|pattern| pattern.is_match(message)) {
        return room(of(both, 2)?, of(both, 1)?);
    }
    if let Some(parts) = PARTS.as_ref().filter(|pattern| pattern.is_match(message)) {
        return room(of(parts, 1)?, of(parts, 2)?);
    }
    CAPS.iter().find_map(|pattern| of(pattern, 1)).filter(|cap| *cap > 0).map(OutputRoom::OfModel)
}

fn room(window: u64, prompt: u64) -> Option<OutputRoom> {
    let room = window.checked_sub(prompt)?.checked_sub(MARGIN);
    room.filter(|room| *room > MARGIN).map(OutputRoom::ForPrompt)
}

fn number(text: &str) -> Option<u64> {
    text.replace(',', "").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_found_in_what_providers_say() {
        for (message, window) in [
            (
                "this model's maximum context length is 8192 tokens. however, your messages resulted in 9000 tokens.",
                8192,
            ),
            ("prompt is too long: 210000 tokens > 200000 maximum", 200_000),
            (
                "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease input",
                200_000,
            ),
            ("the request exceeds the available context size (4096 tokens), try increasing it", 4096),
            (
                "the input token count (1,200,000) exceeds the maximum number of tokens allowed (1,048,576).",
                1_048_576,
            ),
            ("the decoder prompt (length 5000) is longer than the maximum model length of 4096.", 4096),
        ] {
            assert_eq!(quoted_window(message), Some(window), "{message}");
        }
        for message in
            ["your input exceeds the context window of this model.", "rate limit reached, retry in 20s"]
        {
            assert_eq!(quoted_window(message), None, "{message}");
        }
    }

    #[test]
    fn room_for_output_is_found() {
        for (message, room) in [
            (
                "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000",
                OutputRoom::ForPrompt(10_000 - 64),
            ),
            (
                "max_tokens: 128000 > 64000, which is the maximum allowed number of output tokens for m",
                OutputRoom::OfModel(64_000),
            ),
            (
                "max_tokens is too large: 100000. this model supports at most 16384 completion tokens",
                OutputRoom::OfModel(16_384),
            ),
            (
                "this model's maximum context length is 8192 tokens. however, you requested 9000 tokens (5000 in the messages, 4000 in the completion).",
                OutputRoom::ForPrompt(8192 - 5000 - 64),
            ),
            ("max_tokens must be less than or equal to 4096", OutputRoom::OfModel(4096)),
        ] {
            assert_eq!(output_room(message), Some(room), "{message}");
        }
        for message in [
            "prompt is too long: 210000 tokens > 200000 maximum",
            "input length and `max_tokens` exceed context limit: 210000 + 100 > 200000",
        ] {
            assert_eq!(output_room(message), None, "{message}");
        }
    }
}
