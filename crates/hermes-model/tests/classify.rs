//! Bodies as providers send them, and what each must be taken for.

use hermes_model::adjust::Adjustment;
use hermes_model::failure::{
    Again, CallSize, Class, Elsewhere, KeyMove, Observed, OutputRoom, Transport, action_for, failure_of,
    read_error_body,
};
use hermes_model::{Failure, StreamError};

fn of(status: u16, body: &str) -> Failure {
    let observed = Observed { status: Some(status), ..read_error_body(body.as_bytes()) };
    failure_of(observed, &CallSize { tokens: 1000, messages: 3, window: Some(200_000) })
}

#[track_caller]
fn check(cases: &[(u16, &str, Class)]) {
    for (status, body, class) in cases {
        assert_eq!(of(*status, body).class, *class, "{status} {body}");
    }
}

#[test]
fn bodies_of_openai() {
    check(&[
        (
            401,
            r#"{"error":{"message":"Incorrect API key provided: sk-***.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}"#,
            Class::Auth,
        ),
        (
            429,
            r#"{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}"#,
            Class::Billing,
        ),
        (
            429,
            r#"{"error":{"message":"Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000. Please try again in 1.2s.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}"#,
            Class::RateLimit,
        ),
        (
            400,
            r#"{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
            Class::ContextOverflow,
        ),
        (
            400,
            r#"{"error":{"message":"max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.","type":"invalid_request_error","param":"max_tokens","code":"invalid_value"}}"#,
            Class::OutputCap,
        ),
        (
            400,
            r#"{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}"#,
            Class::Parameter(Adjustment::OtherLimitField),
        ),
        (
            400,
            r#"{"error":{"message":"Unsupported value: 'temperature' does not support 0.3 with this model. Only the default (1) value is supported.","type":"invalid_request_error","param":"temperature","code":"unsupported_value"}}"#,
            Class::Parameter(Adjustment::NoTemperature),
        ),
        (
            400,
            r#"{"error":{"message":"Unsupported parameter: 'reasoning.effort' is not supported with this model.","type":"invalid_request_error","param":"reasoning.effort","code":"unsupported_parameter"}}"#,
            Class::Parameter(Adjustment::NoEffort),
        ),
        (
            404,
            r#"{"error":{"message":"The model `gpt-9` does not exist or you do not have access to it.","type":"invalid_request_error","param":null,"code":"model_not_found"}}"#,
            Class::ModelNotFound,
        ),
        (
            400,
            r#"{"error":{"message":"The encrypted content could not be verified.","type":"invalid_request_error","param":null,"code":"invalid_encrypted_content"}}"#,
            Class::EncryptedThoughts,
        ),
        (
            400,
            r#"{"error":{"message":"Invalid prompt: your prompt was flagged as potentially violating our usage policies.","type":"invalid_request_error","code":"invalid_prompt"}}"#,
            Class::ContentPolicy,
        ),
        (
            500,
            r#"{"error":{"message":"The server had an error while processing your request.","type":"server_error","param":null,"code":null}}"#,
            Class::Server,
        ),
        (
            503,
            r#"{"error":{"message":"That model is currently overloaded with other requests.","type":"server_error"}}"#,
            Class::Overloaded,
        ),
        (
            400,
            r#"{"error":{"message":"Invalid type for 'messages[1].content'","type":"invalid_request_error","param":"messages[1].content","code":"invalid_type"}}"#,
            Class::Format,
        ),
    ]);
}

#[test]
fn bodies_of_anthropic() {
    check(&[
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
            Class::ContextOverflow,
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease input length or `max_tokens` and try again"}}"#,
            Class::OutputCap,
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: Invalid `signature` in `thinking` block"}}"#,
            Class::ThinkingSignature,
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes"}}"#,
            Class::ImageTooLarge,
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}"#,
            Class::Billing,
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"`temperature` is deprecated for this model."}}"#,
            Class::Parameter(Adjustment::NoTemperature),
        ),
        (
            401,
            r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#,
            Class::Auth,
        ),
        (
            403,
            r#"{"type":"error","error":{"type":"permission_error","message":"Your API key does not have permission to use the specified resource."}}"#,
            Class::Auth,
        ),
        (
            404,
            r#"{"type":"error","error":{"type":"not_found_error","message":"model: claude-9"}}"#,
            Class::ModelNotFound,
        ),
        (
            413,
            r#"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum allowed number of bytes"}}"#,
            Class::PayloadTooLarge,
        ),
        (
            429,
            r#"{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit"}}"#,
            Class::RateLimit,
        ),
        (
            429,
            r#"{"type":"error","error":{"type":"rate_limit_error","message":"Extra usage is required for long context requests."}}"#,
            Class::LongContextTier,
        ),
        (
            529,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            Class::Overloaded,
        ),
        (
            500,
            r#"{"type":"error","error":{"type":"api_error","message":"Internal server error"}}"#,
            Class::Server,
        ),
    ]);
}

#[test]
fn bodies_of_routers_and_others() {
    check(&[
        (
            402,
            r#"{"error":{"message":"Insufficient credits. Add more using https://openrouter.ai/settings/credits","code":402}}"#,
            Class::Billing,
        ),
        (
            402,
            r#"{"error":{"message":"Usage limit reached, resets in 3 hours, try again later"}}"#,
            Class::RateLimit,
        ),
        (403, r#"{"error":{"message":"Key limit exceeded (total limit).","code":403}}"#, Class::Billing),
        (
            404,
            r#"{"error":{"message":"No endpoints found matching your data policy","code":404}}"#,
            Class::ProviderPolicy,
        ),
        (
            404,
            r#"{"error":{"message":"No endpoints found that support image input","code":404}}"#,
            Class::Images,
        ),
        (404, r#"{"error":{"message":"No endpoints found for foo/bar.","code":404}}"#, Class::ModelNotFound),
        (400, r#"{"error":{"message":"foo/bar is not a valid model ID","code":400}}"#, Class::ModelNotFound),
        (
            400,
            r#"{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"prompt is too long: 250000 tokens > 200000 maximum\"}}","provider_name":"Anthropic"}}}"#,
            Class::ContextOverflow,
        ),
        (
            429,
            r#"{"error":{"code":"1305","message":"The service may be temporarily overloaded, please try again later"}}"#,
            Class::Overloaded,
        ),
        (
            400,
            r#"[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]"#,
            Class::Auth,
        ),
        (
            429,
            r#"[{"error":{"code":429,"message":"Resource has been exhausted (e.g. check quota).","status":"RESOURCE_EXHAUSTED"}}]"#,
            Class::RateLimit,
        ),
        (
            400,
            r#"{"error":{"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."}}"#,
            Class::ContextOverflow,
        ),
        (
            400,
            r#"{"error":{"code":400,"message":"the request exceeds the available context size (4096 tokens), try increasing it","type":"exceed_context_size_error"}}"#,
            Class::ContextOverflow,
        ),
        (
            400,
            r#"{"error":{"code":400,"message":"Unable to generate parser for this template. error parsing grammar","type":"invalid_request_error"}}"#,
            Class::GrammarPattern,
        ),
        (
            500,
            r#"{"error":{"code":500,"message":"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj","type":"server_error"}}"#,
            Class::Images,
        ),
        (
            400,
            r#"{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 4500 tokens (4000 in the messages, 500 in the completion).","type":"BadRequestError","code":400}"#,
            Class::ContextOverflow,
        ),
        (404, r#"{"error":"model 'llama9' not found"}"#, Class::ModelNotFound),
        (
            422,
            r#"{"detail":[{"loc":["body","stream_options"],"msg":"Extra inputs are not permitted: stream_options","type":"extra_forbidden"}]}"#,
            Class::Parameter(Adjustment::NoStreamOptions),
        ),
        (400, r#"{"error":{"message":"stream is not supported for this model"}}"#, Class::Streaming),
        (400, r#"{"error":{"message":"1210: tool message content must be a string"}}"#, Class::ToolImages),
        (
            400,
            r#"{"error":{"message":"The response was filtered","code":"content_filter","innererror":{"code":"ResponsibleAIPolicyViolation"}}}"#,
            Class::ContentPolicy,
        ),
        (400, r#"{"error":{"message":"输入超过最大长度"}}"#, Class::ContextOverflow),
        (502, "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>", Class::Server),
        (502, r#"{"error":{"message":"Unknown parameter: 'foo'"}}"#, Class::Format),
        (404, "404 page not found", Class::Unknown),
        (418, "", Class::Format),
    ]);
}

#[test]
fn a_short_refusal_of_a_long_conversation_means_its_length() {
    let observed =
        || Observed { status: Some(400), ..read_error_body(br#"{"error":{"message":"Bad Request"}}"#) };
    let long = CallSize { tokens: 90_000, messages: 10, window: Some(200_000) };
    let short = CallSize { tokens: 900, messages: 10, window: Some(200_000) };
    let roomy = CallSize { tokens: 90_000, messages: 300, window: Some(1_000_000) };
    assert_eq!(failure_of(observed(), &long).class, Class::ContextOverflow);
    assert_eq!(failure_of(observed(), &short).class, Class::Format);
    assert_eq!(failure_of(observed(), &roomy).class, Class::Format);
    let dropped = || Observed::broken(Transport::NoAnswer, "closed");
    let longer = CallSize { tokens: 130_000, ..long };
    assert_eq!(failure_of(dropped(), &longer).class, Class::ContextOverflow);
    assert_eq!(failure_of(dropped(), &short).class, Class::Timeout);
    assert_eq!(failure_of(Observed::broken(Transport::Certificate, "x"), &longer).class, Class::Certificate);
}

#[test]
fn errors_inside_a_stream_are_the_same_errors() {
    let class = |code: Option<&str>, message: &str| {
        let error =
            StreamError::Reported { code: code.map(str::to_owned), status: None, message: message.into() };
        failure_of(Observed::in_stream(&error), &CallSize::default()).class
    };
    assert_eq!(class(Some("overloaded_error"), "Overloaded"), Class::Overloaded);
    assert_eq!(class(Some("rate_limit_exceeded"), "Slow down"), Class::RateLimit);
    assert_eq!(class(Some("server_error"), "x"), Class::Server);
    assert_eq!(class(None, "Upstream timed out"), Class::Timeout);
    assert_eq!(class(None, "something else"), Class::Unknown);
    assert_eq!(
        failure_of(Observed::in_stream(&StreamError::Cut), &CallSize::default()).class,
        Class::Timeout
    );
}

#[test]
fn quoted_numbers_come_with_the_failure() {
    let body = r#"{"error":{"message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#;
    assert_eq!(of(400, body).quoted_window, Some(200_000));
    let body = r#"{"error":{"message":"max_tokens: 128000 > 64000, which is the maximum allowed number of output tokens"}}"#;
    assert_eq!(of(400, body).output_room, Some(OutputRoom::OfModel(64_000)));
}

#[test]
fn failures_say_what_happened_in_one_line() {
    let mut failure = of(503, r#"{"error":{"message":"Overloaded","type":"overloaded_error"}}"#);
    failure.observed.request_id = Some("req_1".into());
    assert_eq!(failure.to_string(), "overloaded (HTTP 503): Overloaded [request req_1]");
    let page = of(502, "<html><head><title>502 Bad Gateway</title></head></html>");
    assert_eq!(page.to_string(), "server error (HTTP 502): 502 Bad Gateway");
    let long = of(500, &format!("{{\"error\":\"{}\"}}", "x".repeat(100_000)));
    assert!(long.observed.message.len() <= 2000 && long.to_string().len() < 300);
}

#[test]
fn the_table_holds_what_was_promised() {
    let auth = action_for(Class::Auth);
    assert_eq!((auth.again, auth.key, auth.elsewhere), (Again::Never, KeyMove::AtOnce, Elsewhere::AtOnce));
    let limited = action_for(Class::RateLimit);
    assert_eq!(
        (limited.again, limited.key, limited.elsewhere),
        (Again::BackOff, KeyMove::SecondTime, Elsewhere::AtOnce)
    );
    for class in [Class::Server, Class::Overloaded, Class::Timeout, Class::Unknown] {
        let action = action_for(class);
        assert_eq!((action.again, action.elsewhere), (Again::BackOff, Elsewhere::AtLast), "{class:?}");
    }
    for class in [Class::ContextOverflow, Class::PayloadTooLarge, Class::LongContextTier] {
        assert_eq!(action_for(class).again, Again::Shorter, "{class:?}");
    }
    assert_eq!(action_for(Class::ProviderPolicy).elsewhere, Elsewhere::Never);
}
