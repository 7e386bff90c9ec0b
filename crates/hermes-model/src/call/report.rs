//! The honest end: what was tried, what each said, and what to do now.

use std::fmt;

use super::GaveUp;
use crate::failure::{Class, Transport};
use crate::retry::{Attempt, History};

/// Everything that was tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The failed attempts, oldest first.
    pub attempts: Vec<Attempt>,
}

impl Report {
    pub(super) fn new(history: History) -> Self {
        Self { attempts: history.attempts }
    }

    /// The class that decided.
    pub fn class(&self) -> Class {
        self.attempts.last().map_or(Class::Unknown, |attempt| attempt.failure.class)
    }

    /// What to do now.
    pub fn advice(&self) -> &'static str {
        // What is wrong with the first choice matters most to its user.
        let first = self.attempts.iter().rfind(|attempt| attempt.route == 0);
        first.or(self.attempts.last()).map_or(NO_MODEL, advice_for)
    }

    /// The attempts of each model in a row.
    fn by_model(&self) -> Vec<&[Attempt]> {
        self.attempts.chunk_by(|a, b| a.route == b.route).collect()
    }
}

const NO_MODEL: &str = "choose a model with `hermes model`";

/// No model is set up at all.
pub(super) fn no_route() -> GaveUp {
    GaveUp::Failed(Box::new(Report { attempts: Vec::new() }))
}

fn advice_for(attempt: &Attempt) -> &'static str {
    match attempt.failure.class {
        Class::Auth => "check the key: `hermes model` asks for it and tests it before it is saved",
        Class::Billing => "add credit at the provider, or choose another model with `hermes model`",
        Class::RateLimit => {
            "wait a little, add another key, or name a second model with `hermes fallback add`"
        }
        Class::ModelNotFound => "see which models there are with `hermes model`",
        Class::ProviderPolicy => "change the data policy in the provider's account, or choose another model",
        Class::ContentPolicy => "say it differently, or choose another model with `hermes model`",
        Class::ContextOverflow | Class::PayloadTooLarge | Class::LongContextTier => {
            "start a new conversation, or choose a model with a larger window"
        }
        Class::Certificate => {
            "if a proxy or your own server stands in between, name its certificates with HERMES_CA_BUNDLE"
        }
        Class::Timeout if attempt.failure.observed.transport == Some(Transport::Connect) => {
            "check that the address is right and that the server runs"
        }
        Class::Timeout | Class::Server | Class::Overloaded | Class::Unknown => {
            "try again later, or name a second model with `hermes fallback add`"
        }
        Class::Images | Class::ImageTooLarge | Class::ToolImages => {
            "leave the picture out, or choose a model that takes pictures"
        }
        Class::ThinkingSignature
        | Class::EncryptedThoughts
        | Class::GrammarPattern
        | Class::OutputCap
        | Class::Parameter(_)
        | Class::Streaming
        | Class::Format => {
            "this model or server does not take the request; choose another with `hermes model`"
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.attempts.is_empty() {
            return write!(f, "no model is set up: {NO_MODEL}");
        }
        for (place, attempts) in self.by_model().into_iter().enumerate() {
            let Some(last) = attempts.last() else { continue };
            let tries =
                if attempts.len() == 1 { String::new() } else { format!(", {} tries", attempts.len()) };
            let then = if place == 0 { "" } else { "\nthen " };
            write!(f, "{then}'{}' at {} did not answer{tries}: {}", last.model, last.provider, last.failure)?;
        }
        write!(f, "\n{}", self.advice())
    }
}

impl std::error::Error for Report {}
