//! From what was seen to what kind of failure it is. Codes first, then statuses, then words.

use super::words::{self, any};
use super::{CallSize, Class, Failure, Observed, Transport, limits};
use crate::adjust::Adjustment;

/// Longer messages of errors are cut.
const LONGEST_MESSAGE: usize = 2000;

/// Classifies a failure and reads what it quotes.
pub fn failure_of(mut observed: Observed, size: &CallSize) -> Failure {
    if let Some((end, _)) = observed.message.char_indices().nth(LONGEST_MESSAGE) {
        observed.message.truncate(end);
    }
    let message = observed.message.to_lowercase();
    let class = classify(&observed, size);
    let quoted_window = matches!(class, Class::ContextOverflow | Class::OutputCap)
        .then(|| limits::quoted_window(&message))
        .flatten();
    let output_room = (class == Class::OutputCap).then(|| limits::output_room(&message)).flatten();
    Failure { class, observed, quoted_window, output_room }
}

/// The kind of a failure.
pub fn classify(observed: &Observed, size: &CallSize) -> Class {
    if let Some(transport) = observed.transport {
        return of_transport(transport, size);
    }
    let message = observed.message.to_lowercase();
    let code = observed.code.as_deref().unwrap_or_default().to_lowercase();
    of_code(&code, &message, observed)
        .or_else(|| observed.status.map(|status| of_status(status, &code, &message, observed, size)))
        .unwrap_or_else(|| of_words(&message))
}

fn of_transport(transport: Transport, size: &CallSize) -> Class {
    match transport {
        Transport::Certificate => Class::Certificate,
        // Some servers drop the connection instead of saying that the prompt is too long.
        Transport::NoAnswer if size.fills(Fill::Most) => Class::ContextOverflow,
        _ => Class::Timeout,
    }
}

/// Codes are made for programs: where a provider gives one that means something, it decides.
fn of_code(code: &str, message: &str, observed: &Observed) -> Option<Class> {
    Some(match code {
        "content_filter" | "responsibleaipolicyviolation" | "content_policy_violation" => {
            Class::ContentPolicy
        }
        "context_length_exceeded" | "string_above_max_length" => overflow_or_cap(message),
        "insufficient_quota"
        | "billing_error"
        | "billing_not_active"
        | "billing_hard_limit_reached"
        | "payment_required"
        | "insufficient_credits"
        | "balance_depleted" => Class::Billing,
        "rate_limit_exceeded"
        | "rate_limit_error"
        | "too_many_requests"
        | "tokens"
        | "requests"
        | "throttlingexception"
        | "throttling" => rate_limit(message),
        "resource_exhausted" => Class::RateLimit,
        "invalid_api_key" | "authentication_error" | "unauthenticated" => Class::Auth,
        "model_not_found" | "model_not_available" => Class::ModelNotFound,
        "not_found_error" if message.contains("model") => Class::ModelNotFound,
        "overloaded_error" | "overloaded" | "server_is_overloaded" | "unavailable" | "slow_down" => {
            Class::Overloaded
        }
        "request_too_large" => Class::PayloadTooLarge,
        "timeout_error" | "deadline_exceeded" => Class::Timeout,
        "invalid_encrypted_content" => Class::EncryptedThoughts,
        "image_too_large" => Class::ImageTooLarge,
        "unsupported_parameter" | "unsupported_value" | "unknown_parameter" => parameter(observed, message)?,
        "server_error" | "api_error" | "internal_error" | "internal" if observed.status.is_none() => {
            Class::Server
        }
        _ => return None,
    })
}

fn of_status(status: u16, code: &str, message: &str, observed: &Observed, size: &CallSize) -> Class {
    match status {
        402 if any(message, words::QUOTA) && any(message, words::COMES_BACK) => Class::RateLimit,
        402 => Class::Billing,
        401 | 403 => forbidden(status, message),
        404 => not_found(code, message),
        408 | 504 | 522 | 524 => Class::Timeout,
        413 => Class::PayloadTooLarge,
        429 => rate_limit(message),
        503 | 529 => Class::Overloaded,
        500 | 502 if any(message, words::VALIDATION) => Class::Format,
        500 if any(message, words::OVERFLOW) => overflow_or_cap(message),
        500 if any(message, words::NO_IMAGES) => Class::Images,
        500..=599 => Class::Server,
        _ => bad_request(message, observed, size),
    }
}

fn forbidden(status: u16, message: &str) -> Class {
    let table = [
        (words::BILLING, Class::Billing),
        (words::KEY_LIMIT, Class::Billing),
        (words::CONTENT_POLICY, Class::ContentPolicy),
    ];
    first(message, &table).filter(|_| status == 403).unwrap_or(Class::Auth)
}

fn not_found(code: &str, message: &str) -> Class {
    let table = [
        (words::PROVIDER_POLICY, Class::ProviderPolicy),
        (words::NO_IMAGES, Class::Images),
        (words::BILLING, Class::Billing),
        (words::MODEL, Class::ModelNotFound),
    ];
    let names_model = code.contains("model")
        || (message.contains("model") && any(message, &["does not exist", "not found", "not exist"]));
    let unknown = if names_model { Class::ModelNotFound } else { Class::Unknown };
    first(message, &table).unwrap_or(unknown)
}

fn rate_limit(message: &str) -> Class {
    if message.contains("extra usage") && message.contains("long context") {
        return Class::LongContextTier;
    }
    let table = [(words::BILLING, Class::Billing), (words::OVERLOADED, Class::Overloaded)];
    first(message, &table).unwrap_or(Class::RateLimit)
}

/// Statuses that say no more than "not like this".
fn bad_request(message: &str, observed: &Observed, size: &CallSize) -> Class {
    let precise = [
        (words::CONTENT_POLICY, Class::ContentPolicy),
        (words::ENCRYPTED, Class::EncryptedThoughts),
        (words::GRAMMAR, Class::GrammarPattern),
        (words::TOOL_CONTENT, Class::ToolImages),
        (words::IMAGE_SIZE, Class::ImageTooLarge),
        (words::NO_IMAGES, Class::Images),
    ];
    let common = [
        (words::PROVIDER_POLICY, Class::ProviderPolicy),
        (words::BILLING, Class::Billing),
        (words::MODEL, Class::ModelNotFound),
    ];
    let vague = [(words::AUTH, Class::Auth), (words::RATE_LIMIT, Class::RateLimit)];
    let signature = message.contains("signature") && message.contains("thinking");
    let streaming = message.contains("stream") && message.contains("not supported");
    let too_long = limits::output_room(message).is_some() || any(message, words::OVERFLOW);
    // "Bad request" and nothing else, to a long conversation: that is what is bad about it.
    let silent = message.len() < 80 && !message.contains("invalid") && size.fills(Fill::Much);
    signature
        .then_some(Class::ThinkingSignature)
        .or_else(|| first(message, &precise))
        .or_else(|| too_long.then(|| overflow_or_cap(message)))
        .or_else(|| first(message, &common))
        .or_else(|| parameter(observed, message))
        .or(streaming.then_some(Class::Streaming))
        .or_else(|| first(message, &vague))
        .or(silent.then_some(Class::ContextOverflow))
        .unwrap_or(Class::Format)
}

/// Words alone, inside a stream or from a server without manners.
fn of_words(message: &str) -> Class {
    let table = [
        (words::CONTENT_POLICY, Class::ContentPolicy),
        (words::OVERLOADED, Class::Overloaded),
        (words::OVERFLOW, overflow_or_cap(message)),
        (words::BILLING, Class::Billing),
        (words::RATE_LIMIT, Class::RateLimit),
        (words::AUTH, Class::Auth),
        (words::MODEL, Class::ModelNotFound),
        (words::CONNECTION, Class::Timeout),
    ];
    first(message, &table).unwrap_or(Class::Unknown)
}

/// The class of the first list that holds a piece of the message.
fn first(message: &str, table: &[(&[&str], Class)]) -> Option<Class> {
    table.iter().find(|(pieces, _)| any(message, pieces)).map(|(_, class)| *class)
}

/// Too long because of what was asked for, not because of what was said.
fn overflow_or_cap(message: &str) -> Class {
    if limits::output_room(message).is_some() { Class::OutputCap } else { Class::ContextOverflow }
}

/// A field that is not accepted, when it is one that can be left out.
fn parameter(observed: &Observed, message: &str) -> Option<Class> {
    let named = observed.param.as_deref().unwrap_or_default().to_lowercase();
    let refused = any(message, words::NOT_ACCEPTED)
        || observed.code.as_deref().is_some_and(|code| code.starts_with("un"));
    if !refused {
        return None;
    }
    let is_about = |field: &str| named.starts_with(field) || (named.is_empty() && message.contains(field));
    let fields = [
        ("stream_options", Adjustment::NoStreamOptions),
        ("temperature", Adjustment::NoTemperature),
        ("reasoning", Adjustment::NoEffort),
        ("thinking", Adjustment::NoEffort),
        ("output_config", Adjustment::NoEffort),
        ("max_tokens", Adjustment::OtherLimitField),
        ("max_completion_tokens", Adjustment::OtherLimitField),
        ("max_output_tokens", Adjustment::OtherLimitField),
        ("parallel_tool_calls", Adjustment::NoParallelCalls),
        ("cache_control", Adjustment::NoCacheMarks),
        ("include", Adjustment::NoEffort),
    ];
    fields.into_iter().find(|(field, _)| is_about(field)).map(|(_, adjustment)| Class::Parameter(adjustment))
}

/// How full a window is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fill {
    /// Enough to explain a short refusal.
    Much,
    /// Enough to explain a dropped connection.
    Most,
}

impl CallSize {
    fn fills(&self, fill: Fill) -> bool {
        /// In a larger window so many tokens or messages say nothing.
        const LARGE_WINDOW: u64 = 256_000;
        let (percent, tokens, messages) = match fill {
            Fill::Much => (40, 80_000, 80),
            Fill::Most => (60, 120_000, 200),
        };
        let by_share = self
            .window
            .is_some_and(|window| self.tokens.saturating_mul(100) > window.saturating_mul(percent));
        let by_count = self.window.is_none_or(|window| window <= LARGE_WINDOW)
            && (self.tokens > tokens || self.messages > messages);
        by_share || by_count
    }
}
