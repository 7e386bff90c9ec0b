//! Token counts of an answer, in buckets that do not overlap where they are paid for differently.

use std::ops::AddAssign;

use crate::money::MicroDollars;

/// Tokens of one answer, or of several added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Prompt tokens that were neither read from a cache nor written to one.
    pub input: u64,
    /// Generated tokens, reasoning included.
    pub output: u64,
    /// Prompt tokens read from the provider's cache.
    pub cache_read: u64,
    /// Prompt tokens written to the provider's cache.
    pub cache_write: u64,
    /// The part of the output that was reasoning.
    pub reasoning: u64,
    /// What the provider says it charged, when it says so.
    pub charged: Option<MicroDollars>,
}

impl Usage {
    /// The whole prompt.
    pub fn prompt(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }

    /// Prompt and output.
    pub fn total(&self) -> u64 {
        self.prompt().saturating_add(self.output)
    }

    /// True before anything was counted.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// From counts where the cached parts are included in the prompt, as `OpenAI` counts.
    pub(crate) fn of_whole_prompt(prompt: u64, output: u64, cache_read: u64, cache_write: u64) -> Self {
        let cached = cache_read.saturating_add(cache_write);
        Self { input: prompt.saturating_sub(cached), output, cache_read, cache_write, ..Self::default() }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
        self.charged = match (self.charged, other.charged) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or_default() + b.unwrap_or_default()),
        };
    }
}
