//! What came of a turn.

use hermes_model::call::Report;
use hermes_model::failure::Class;
use hermes_model::retry::Attempt;
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
    /// Whose fault it was, where a model could not be asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
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
            cause: None,
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

/// Whose fault it is that a model could not be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The provider had enough: too many requests, or no money left.
    Quota {
        /// How long it asks to wait, if it said so.
        wait_seconds: Option<u64>,
    },
    /// What is around the conversation: the key, the address, the server.
    Surroundings,
    /// What was asked: another server would not take it either.
    Request,
}

impl Cause {
    /// Whose fault the end of all attempts is. A provider that had enough outweighs the others: waiting helps.
    pub fn of(report: &Report) -> Self {
        let tired = |attempt: &&Attempt| matches!(attempt.failure.class, Class::RateLimit | Class::Billing);
        let mut quota = report.attempts.iter().filter(tired).peekable();
        if quota.peek().is_some() {
            let wait = quota.filter_map(|attempt| attempt.failure.observed.retry_after).max();
            return Self::Quota { wait_seconds: wait.map(|wait| wait.as_secs()) };
        }
        match report.class() {
            Class::Auth
            | Class::Billing
            | Class::RateLimit
            | Class::ProviderPolicy
            | Class::ModelNotFound
            | Class::Server
            | Class::Overloaded
            | Class::Timeout
            | Class::Certificate
            | Class::Unknown => Self::Surroundings,
            Class::ContentPolicy
            | Class::ThinkingSignature
            | Class::EncryptedThoughts
            | Class::LongContextTier
            | Class::GrammarPattern
            | Class::PayloadTooLarge
            | Class::ToolImages
            | Class::ImageTooLarge
            | Class::Images
            | Class::ContextOverflow
            | Class::OutputCap
            | Class::Parameter(_)
            | Class::Streaming
            | Class::Format => Self::Request,
        }
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
