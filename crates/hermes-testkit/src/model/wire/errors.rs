//! Error objects as each provider writes them.

use serde_json::{Value, json};

use super::Api;

/// The error object for a status.
pub(super) fn status(api: Api, code: u16) -> Value {
    let message = format!("scripted error with status {code}");
    match api {
        Api::Messages => shaped(api, &message, anthropic_type(code), None),
        Api::Chat | Api::Responses => {
            let (kind, name) = openai_type(code);
            shaped(api, &message, kind, name)
        }
    }
}

/// The error for a prompt that does not fit, by which clients know that they must shorten it.
pub(super) fn overflow(api: Api) -> Value {
    let kind = "invalid_request_error";
    let code = Some("context_length_exceeded");
    match api {
        Api::Chat => {
            let message = "This model's maximum context length is 8192 tokens. However, your messages resulted in \
                           9000 tokens. Please reduce the length of the messages.";
            let mut error = shaped(api, message, kind, code);
            error["error"]["param"] = json!("messages");
            error
        }
        Api::Responses => {
            let message = "Your input exceeds the context window of this model. Please adjust your input and try again.";
            let mut error = shaped(api, message, kind, code);
            error["error"]["param"] = json!("input");
            error
        }
        Api::Messages => shaped(api, "prompt is too long: 210000 tokens > 200000 maximum", kind, None),
    }
}

/// An error object of a provider.
pub(super) fn shaped(api: Api, message: &str, kind: &str, code: Option<&str>) -> Value {
    match api {
        Api::Messages => json!({"type": "error", "error": {"type": kind, "message": message}}),
        Api::Chat | Api::Responses => {
            json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
        }
    }
}

fn anthropic_type(code: u16) -> &'static str {
    match code {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        500..=599 => "api_error",
        _ => "invalid_request_error",
    }
}

fn openai_type(code: u16) -> (&'static str, Option<&'static str>) {
    match code {
        401 => ("invalid_request_error", Some("invalid_api_key")),
        402 => ("insufficient_quota", Some("insufficient_quota")),
        404 => ("invalid_request_error", Some("model_not_found")),
        429 => ("requests", Some("rate_limit_exceeded")),
        500..=599 => ("server_error", None),
        _ => ("invalid_request_error", None),
    }
}
