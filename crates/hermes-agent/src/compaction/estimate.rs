//! How many tokens a text has: guessed from its bytes, corrected by what the provider counted last.

use hermes_model::{Content, Message, Part, ToolSpec};

/// What a picture counts for, in bytes of text: providers charge some 1500 tokens for one.
const IMAGE_BYTES: u64 = 6_000;
/// What the frame of a message or a call counts for.
const FRAME_BYTES: u64 = 16;
/// Bytes a token until a provider has counted.
const FIRST_GUESS: f64 = 4.0;
/// What a provider can mean: code and English lie around four, scripts of many bytes a letter around two.
const POSSIBLE: std::ops::RangeInclusive<f64> = 1.0..=8.0;
/// Prompts with fewer tokens say little about bytes: frames and hidden prefixes of the provider weigh too much.
const TELLING: u64 = 200;

/// Turns bytes into tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimator {
    bytes_per_token: f64,
    observed: bool,
}

impl Default for Estimator {
    fn default() -> Self {
        Self { bytes_per_token: FIRST_GUESS, observed: false }
    }
}

impl Estimator {
    /// Learns from a request of so many bytes for which the provider counted so many prompt tokens.
    pub fn observe(&mut self, bytes: u64, reported: u64) {
        if reported < TELLING || bytes == 0 {
            return;
        }
        let sample = (bytes as f64 / reported as f64).clamp(*POSSIBLE.start(), *POSSIBLE.end());
        self.bytes_per_token =
            if self.observed { f64::midpoint(self.bytes_per_token, sample) } else { sample };
        self.observed = true;
    }

    /// The tokens of so many bytes.
    pub fn tokens(&self, bytes: u64) -> u64 {
        (bytes as f64 / self.bytes_per_token).ceil() as u64
    }

    /// The bytes that so many tokens have.
    pub fn bytes(&self, tokens: u64) -> u64 {
        (tokens as f64 * self.bytes_per_token) as u64
    }

    /// The tokens of a message.
    pub fn message(&self, message: &Message) -> u64 {
        self.tokens(message_bytes(message))
    }
}

/// The bytes of a whole request, for [`Estimator::observe`] and [`Estimator::tokens`].
pub fn request_bytes<'m>(
    system: &str,
    tools: &[ToolSpec],
    messages: impl IntoIterator<Item = &'m Message>,
) -> u64 {
    system.len() as u64 + tools_bytes(tools) + messages.into_iter().map(message_bytes).sum::<u64>()
}

/// The bytes of the tools on offer.
pub fn tools_bytes(tools: &[ToolSpec]) -> u64 {
    let size = |tool: &ToolSpec| {
        (tool.name.len() + tool.description.len() + tool.parameters.to_string().len()) as u64 + FRAME_BYTES
    };
    tools.iter().map(size).sum()
}

/// The bytes of a message. Signatures and encrypted thoughts are not counted: providers do not charge them by length.
pub fn message_bytes(message: &Message) -> u64 {
    FRAME_BYTES
        + match message {
            Message::User(items) => content_bytes(items),
            Message::Tool(result) => content_bytes(&result.content),
            Message::Assistant(parts) => parts.iter().map(part_bytes).sum(),
        }
}

/// The bytes of a content.
pub(crate) fn content_bytes(items: &[Content]) -> u64 {
    let size = |item: &Content| match item {
        Content::Text(text) => text.len() as u64,
        Content::Image(_) => IMAGE_BYTES,
    };
    items.iter().map(size).sum()
}

/// The bytes of a part of an answer.
pub(crate) fn part_bytes(part: &Part) -> u64 {
    match part {
        Part::Text(text) => text.len() as u64,
        Part::Reasoning(reasoning) => reasoning.text.len() as u64,
        Part::Call(call) => (call.name.len() + call.arguments.len()) as u64 + FRAME_BYTES,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_provider_knows_better() {
        let mut estimator = Estimator::default();
        assert_eq!(estimator.tokens(4_000), 1_000);
        estimator.observe(4_000, 2_000);
        assert_eq!(estimator.tokens(4_000), 2_000);
        // Later counts move the guess, they do not replace it.
        estimator.observe(8_000, 2_000);
        assert_eq!(estimator.tokens(6_000), 2_000);
        // Too little to learn from.
        estimator.observe(10_000, 3);
        assert_eq!(estimator.tokens(6_000), 2_000);
    }

    proptest! {
        #[test]
        fn no_count_makes_nonsense(counts in prop::collection::vec((any::<u64>(), any::<u64>()), 0..9), bytes in 0u64..1 << 40) {
            let mut estimator = Estimator::default();
            for (bytes, reported) in counts {
                estimator.observe(bytes, reported);
            }
            let tokens = estimator.tokens(bytes);
            prop_assert!(tokens <= bytes && tokens >= bytes / 8);
        }
    }
}
