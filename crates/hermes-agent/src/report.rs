//! What came of a turn.

use hermes_model::{Cost, Usage};
use serde::Serialize;

/// What came of a turn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TurnReport {
    /// The conversation.
    pub session_id: String,
    /// How it ended.
    pub outcome: Outcome,
    /// The answer; what there is of it when the turn did not complete.
    pub text: String,
    /// What went wrong, for people.
    pub error: Option<String>,
    /// Who answered last.
    pub provider: String,
    /// Which model answered last.
    pub model: String,
    /// What it took.
    pub spending: Spending,
    /// Tool calls that were run.
    pub tool_calls: u32,
    /// How long it took.
    pub elapsed_ms: u64,
    /// Guidance that came too late for this turn.
    pub left_over: Option<String>,
}

impl TurnReport {
    /// The report of something that is no question and took nothing.
    pub fn without_answer(session_id: &str, outcome: Outcome, error: Option<String>) -> Self {
        Self {
            session_id: session_id.to_owned(),
            outcome,
            text: String::new(),
            error,
            provider: String::new(),
            model: String::new(),
            spending: Spending::default(),
            tool_calls: 0,
            elapsed_ms: 0,
            left_over: None,
        }
    }
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// With an answer.
    Completed,
    /// With part of an answer: it was cut off, or the model kept making mistakes.
    Partial,
    /// The limit of model calls was reached; the answer says how far it got.
    OutOfCalls,
    /// The budget is used up.
    OutOfBudget,
    /// Somebody wanted it to end.
    Interrupted,
    /// Without an answer.
    Failed,
}

impl Outcome {
    /// Whether scripts should see success.
    pub fn is_success(self) -> bool {
        self == Self::Completed
    }
}

/// What model calls took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Spending {
    /// Calls made.
    pub calls: u32,
    /// Prompt tokens that were not cached.
    pub input: u64,
    /// Generated tokens, reasoning included.
    pub output: u64,
    /// Prompt tokens read from a cache.
    pub cache_read: u64,
    /// Prompt tokens written to a cache.
    pub cache_write: u64,
    /// Reasoning tokens.
    pub reasoning: u64,
    /// Millionths of a dollar, as far as prices are known.
    pub micro_dollars: u64,
    /// Tokens whose price is not known.
    pub unpriced: u64,
}

impl Spending {
    /// Counts one call.
    pub fn count(&mut self, usage: &Usage, cost: Cost) {
        self.calls += 1;
        self.input += usage.input;
        self.output += usage.output;
        self.cache_read += usage.cache_read;
        self.cache_write += usage.cache_write;
        self.reasoning += usage.reasoning;
        match cost.amount() {
            Some(amount) => self.micro_dollars += amount.0,
            None => self.unpriced += usage.total(),
        }
    }

    /// Prompt and output together.
    pub fn tokens(&self) -> u64 {
        self.input + self.output + self.cache_read + self.cache_write
    }
}

impl std::ops::Add for Spending {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            calls: self.calls + other.calls,
            input: self.input + other.input,
            output: self.output + other.output,
            cache_read: self.cache_read + other.cache_read,
            cache_write: self.cache_write + other.cache_write,
            reasoning: self.reasoning + other.reasoning,
            micro_dollars: self.micro_dollars + other.micro_dollars,
            unpriced: self.unpriced + other.unpriced,
        }
    }
}
