//! What providers say, when their codes say nothing. Every entry is a piece of a message that was seen in the wild, in
//! lower case; each list is consulted only for the statuses it fits.

/// Whether a message holds one of the pieces.
pub(super) fn any(message: &str, pieces: &[&str]) -> bool {
    pieces.iter().any(|piece| message.contains(piece))
}

/// A safety filter.
pub(super) const CONTENT_POLICY: &[&str] = &[
    "content_filter",
    "responsibleaipolicyviolation",
    "usage policies",
    "flagged by our safety",
    "request was flagged",
    "flagged for possible",
    "due to safety",
    "content management policy",
];

/// No money, or none left for this key.
pub(super) const BILLING: &[&str] = &[
    "insufficient credit",
    "insufficient_quota",
    "insufficient balance",
    "insufficient funds",
    "credit balance is too low",
    "credits exhausted",
    "out of credits",
    "out of funds",
    "exceeded your current quota",
    "billing hard limit",
    "billing details",
    "payment required",
    "top up",
    "account is deactivated",
    "free tier",
    "余额不足",
];

/// A limit on one key or on spending, said with 403.
pub(super) const KEY_LIMIT: &[&str] =
    &["key limit", "spend limit", "spending limit", "monthly limit", "budget"];

/// A quota that comes back by itself.
pub(super) const QUOTA: &[&str] = &["usage limit", "quota", "limit exceeded", "limit reached"];
pub(super) const COMES_BACK: &[&str] = &[
    "try again",
    "retry",
    "resets at",
    "reset in",
    "resets in",
    "please wait",
    "per minute",
    "per hour",
    "window",
];

/// Too many requests.
pub(super) const RATE_LIMIT: &[&str] = &[
    "rate limit",
    "rate_limit",
    "ratelimit",
    "too many requests",
    "throttl",
    "requests per minute",
    "tokens per minute",
    "resource_exhausted",
    "resource has been exhausted",
    "rate increased too quickly",
    "concurrent requests",
];

/// Too much to do.
pub(super) const OVERLOADED: &[&str] =
    &["overloaded", "at capacity", "over capacity", "capacity exceeded", "server is busy"];

/// The account excludes every server of the model.
pub(super) const PROVIDER_POLICY: &[&str] =
    &["data policy", "guardrail restrictions", "matching your guardrail"];

/// There is no such model.
pub(super) const MODEL: &[&str] = &[
    "model not found",
    "model_not_found",
    "no such model",
    "unknown model",
    "invalid model",
    "not a valid model",
    "unsupported model",
    "model does not exist",
    "no endpoints found for",
    "no endpoints found that support tool use",
];

/// The conversation is too long.
pub(super) const OVERFLOW: &[&str] = &[
    "context length",
    "context_length",
    "context size",
    "context window",
    "maximum context",
    "context limit",
    "prompt is too long",
    "prompt too long",
    "input is too long",
    "input too long",
    "too many tokens",
    "reduce the length",
    "exceeds max length",
    "maximum number of tokens",
    "maximum number of input tokens",
    "more than max tokens allowed",
    "max_model_len",
    "maximum model length",
    "n_ctx",
    "slot context",
    "超过最大长度",
    "上下文长度",
    "输入过长",
];

/// The key.
pub(super) const AUTH: &[&str] = &[
    "invalid api key",
    "invalid_api_key",
    "incorrect api key",
    "api key not valid",
    "api key is invalid",
    "missing api key",
    "no api key",
    "unauthorized",
    "authentication",
    "invalid token",
    "token expired",
    "token revoked",
];

/// Encrypted thoughts of an earlier answer.
pub(super) const ENCRYPTED: &[&str] =
    &["invalid_encrypted_content", "encrypted content could not be", "encrypted_content"];

/// Compiling tool schemas to a grammar.
pub(super) const GRAMMAR: &[&str] = &[
    "error parsing grammar",
    "failed to parse grammar",
    "unable to generate parser",
    "json schema conversion failed",
    "grammar init",
];

/// Lists in tool messages.
pub(super) const TOOL_CONTENT: &[&str] = &[
    "tool message content must be a string",
    "tool content must be a string",
    "tool message must be a string",
    "expected string, got list",
    "expected string, got array",
    "text is not set",
];

/// The size of a picture.
pub(super) const IMAGE_SIZE: &[&str] = &[
    "image exceeds",
    "image too large",
    "image_too_large",
    "image size exceeds",
    "image dimensions exceed",
    "max allowed size",
];

/// Pictures at all.
pub(super) const NO_IMAGES: &[&str] = &[
    "support image input",
    "support image",
    "image input is not",
    "images are not supported",
    "image_url is not supported",
    "unknown variant `image_url`",
    "invalid content type. image_url",
    "not a multimodal model",
    "vision is not supported",
    "mmproj",
];

/// A request that could never be accepted, said with a server error.
pub(super) const VALIDATION: &[&str] = &[
    "unknown parameter",
    "unsupported parameter",
    "unrecognized request argument",
    "invalid_request_error",
    "validation error",
];

/// Words that say that a field is not accepted.
pub(super) const NOT_ACCEPTED: &[&str] = &[
    "unsupported parameter",
    "unsupported_parameter",
    "unsupported value",
    "unsupported_value",
    "unknown parameter",
    "unknown_parameter",
    "unrecognized request argument",
    "unrecognized field",
    "unexpected keyword",
    "extra inputs are not permitted",
    "extra_forbidden",
    "not supported",
    "does not support",
    "is deprecated for this model",
    "not permitted",
    "unknown field",
];

/// A connection behind the one we have.
pub(super) const CONNECTION: &[&str] =
    &["timed out", "timeout", "deadline exceeded", "disconnected", "connection"];
