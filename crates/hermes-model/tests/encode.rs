//! What goes over the wire, byte for byte where it matters.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use hermes_model::adjust::Adjustment;
use hermes_model::message::{Reasoning, Replay};
use hermes_model::{
    BaseUrl, CacheMarks, Content, Delivery, Effort, Endpoint, Image, Message, Part, Request, ToolCall,
    ToolResult, ToolSpec, ToolStatus, ToolUse, Wire,
};
use serde_json::{Value, json};

fn endpoint(url: &str, wire: Wire) -> Endpoint {
    Endpoint::new("test", BaseUrl::parse(url).unwrap(), wire)
}

fn call(id: &str) -> ToolCall {
    let arguments = r#"{ "b": 1, "a": "x" }"#;
    ToolCall { id: id.into(), name: "terminal".into(), arguments: arguments.into(), ..ToolCall::default() }
}

/// A conversation with everything in it: thoughts of this host and of another, two calls, a picture.
fn conversation(issuer: &str) -> Request {
    let thought = |text: &str, issuer: &str, replay: Replay| {
        Part::Reasoning(Reasoning { text: text.into(), issuer: issuer.into(), replay: Some(replay) })
    };
    let picture = Content::Image(Image::from_url("data:image/png;base64,AAAA"));
    let with_picture = ToolResult {
        content: vec![Content::Text("shot".into()), picture],
        ..ToolResult::ok(&call("c:2"), "")
    };
    let mut request = Request::new("some-model");
    request.system = "Be kind.".into();
    request.messages = vec![
        Message::user("look"),
        Message::Assistant(vec![
            thought("signed", issuer, Replay::Signature("sig".into())),
            thought("encrypted", issuer, Replay::Encrypted { id: "rs_1".into(), content: "gAA".into() }),
            thought("foreign", "elsewhere", Replay::Signature("bad".into())),
            Part::Text("I look.".into()),
            Part::Call(call("c1")),
            Part::Call(call("c:2")),
        ]),
        Message::Tool(ToolResult { status: ToolStatus::Failed, ..ToolResult::ok(&call("c1"), "no") }),
        Message::Tool(with_picture),
    ];
    request.tools = vec![ToolSpec {
        name: "terminal".into(),
        description: "Runs a command.".into(),
        parameters: json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "^x"}}}),
    }];
    request
}

#[test]
fn a_plain_chat_request_holds_nothing_that_was_not_asked_for() {
    let mut request = Request::new("mock-model");
    request.system = "Be kind.".into();
    request.messages = vec![Message::user("hi")];
    let out = Wire::Chat.encode(&endpoint("http://127.0.0.1:1/v1", Wire::Chat), &request);
    assert_eq!((out.path, out.headers.len()), ("/chat/completions", 0));
    let expected = r#"{"model":"mock-model","messages":[{"role":"system","content":"Be kind."},{"role":"user","content":"hi"}],"stream":true,"stream_options":{"include_usage":true}}"#;
    assert_eq!(out.body.to_string(), expected);
    request.delivery = Delivery::Whole;
    let out = Wire::Chat.encode(&endpoint("http://127.0.0.1:1/v1", Wire::Chat), &request);
    assert_eq!(out.body.get("stream"), None);
}

#[test]
fn chat_carries_calls_results_and_pictures() {
    let out = Wire::Chat.encode(&endpoint("https://h.test/v1", Wire::Chat), &conversation("h.test"));
    let arguments = r#"{"a":"x","b":1}"#;
    let calls = json!([
        {"id": "c1", "type": "function", "function": {"name": "terminal", "arguments": arguments}},
        {"id": "c:2", "type": "function", "function": {"name": "terminal", "arguments": arguments}},
    ]);
    let expected = json!([
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "look"},
        {"role": "assistant", "content": "I look.", "reasoning_content": "signedencrypted", "tool_calls": calls},
        {"role": "tool", "name": "terminal", "tool_call_id": "c1", "content": "no"},
        {"role": "tool", "name": "terminal", "tool_call_id": "c:2", "content": "shot\n[picture: see below]"},
        {"role": "user", "content": [
            {"type": "text", "text": "The pictures from the tool results above, in order:"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        ]},
    ]);
    assert_eq!(out.body["messages"], expected);
    assert_eq!(out.body["tools"][0]["function"]["name"], "terminal");
    assert_eq!(out.body.get("tool_choice"), None);
}

#[test]
fn chat_follows_the_ways_of_its_host() {
    let body = |url: &str, change: &dyn Fn(&mut Request)| {
        let mut request = conversation("h.test");
        change(&mut request);
        Wire::Chat.encode(&endpoint(url, Wire::Chat), &request).body
    };
    let openai = body("https://api.openai.com/v1", &|r| {
        r.model = "gpt-5-mini".into();
        r.max_tokens = Some(100);
        r.effort = Some(Effort::Low);
    });
    assert_eq!(openai["max_completion_tokens"], 100);
    assert_eq!(openai.get("max_tokens"), None);
    assert_eq!(openai["messages"][0]["role"], "developer");
    assert_eq!(openai["reasoning_effort"], "low");

    let router = body("https://openrouter.ai/api/v1", &|r| r.effort = Some(Effort::XHigh));
    assert_eq!(router["reasoning"], json!({"effort": "xhigh"}));
    let off = body("https://openrouter.ai/api/v1", &|r| r.effort = Some(Effort::None));
    assert_eq!(off["reasoning"], json!({"enabled": false}));

    let deepseek = body("https://api.deepseek.com/v1", &|r| r.effort = Some(Effort::XHigh));
    assert_eq!(
        (&deepseek["thinking"]["type"], &deepseek["reasoning_effort"]),
        (&json!("enabled"), &json!("max"))
    );
    assert_eq!(
        deepseek["messages"][2]["reasoning_content"], " ",
        "padded, because the thoughts are another's"
    );

    let kimi = body("https://api.moonshot.ai/v1", &|r| r.effort = Some(Effort::High));
    assert_eq!((kimi.get("thinking"), &kimi["reasoning_effort"]), (None, &json!("high")));
    let zai = body("https://api.z.ai/api/paas/v4", &|r| r.effort = Some(Effort::None));
    assert_eq!((&zai["thinking"]["type"], zai.get("reasoning_effort")), (&json!("disabled"), None));

    let words_only = body("https://h.test/v1", &|r| r.tool_use = ToolUse::Forbidden);
    assert_eq!(words_only["tool_choice"], "none");
}

#[test]
fn details_go_back_untouched() {
    let details = vec![json!({"type": "reasoning.text", "text": "x", "signature": "s"})];
    let thought = Reasoning {
        text: "x".into(),
        issuer: "openrouter.ai".into(),
        replay: Some(Replay::Details(details.clone())),
    };
    let mut request = Request::new("anthropic/claude-sonnet-4.5");
    request.messages =
        vec![Message::user("a"), Message::Assistant(vec![Part::Reasoning(thought), Part::Text("b".into())])];
    let body = Wire::Chat.encode(&endpoint("https://openrouter.ai/api/v1", Wire::Chat), &request).body;
    let answer = body["messages"].as_array().unwrap().iter().find(|m| m["role"] == "assistant").unwrap();
    assert_eq!(answer["reasoning_details"], Value::Array(details));
    assert_eq!(answer.get("reasoning_content"), None);
}

/// Every place a cache mark stands at, as JSON pointers.
fn marks(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            if map.contains_key("cache_control") {
                found.push(at.to_owned());
            }
            map.iter().for_each(|(key, value)| marks(value, &format!("{at}/{key}"), found));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(key, value)| marks(value, &format!("{at}/{key}"), found));
        }
        _ => {}
    }
}

fn marked_places(body: &Value) -> Vec<String> {
    let mut found = Vec::new();
    marks(body, "", &mut found);
    found
}

#[test]
fn cache_marks_stand_at_the_system_prompt_and_the_last_three_messages() {
    let mut request = conversation("api.anthropic.com");
    request.messages.push(Message::assistant("done"));
    request.messages.push(Message::user("more"));
    let body = Wire::Messages.encode(&endpoint("https://api.anthropic.com", Wire::Messages), &request).body;
    assert_eq!(
        marked_places(&body),
        ["/system/0", "/messages/2/content/1", "/messages/3/content/0", "/messages/4/content/0"]
    );
    request.cache = CacheMarks::OneHour;
    let body = Wire::Messages.encode(&endpoint("https://api.anthropic.com", Wire::Messages), &request).body;
    assert_eq!(body["system"][0]["cache_control"], json!({"type": "ephemeral", "ttl": "1h"}));
    request.cache = CacheMarks::Off;
    let body = Wire::Messages.encode(&endpoint("https://api.anthropic.com", Wire::Messages), &request).body;
    assert!(marked_places(&body).is_empty());

    request.cache = CacheMarks::FiveMinutes;
    request.model = "anthropic/claude-sonnet-4.5".into();
    let router = endpoint("https://openrouter.ai/api/v1", Wire::Chat);
    let body = Wire::Chat.encode(&router, &request).body;
    // Results of tools carry none here.
    assert_eq!(marked_places(&body).len(), 4);
    assert!(
        !marked_places(&body)
            .iter()
            .any(|place| body.pointer(&place.replace("/content/0", "")).unwrap()["role"] == "tool")
    );
    request.model = "openai/gpt-4.1".into();
    assert!(marked_places(&Wire::Chat.encode(&router, &request).body).is_empty());
}

#[test]
fn messages_take_turns_and_keep_only_their_own_signatures() {
    let mut request = conversation("api.anthropic.com");
    request.model = "claude-sonnet-4-5".into();
    request.effort = Some(Effort::Medium);
    request.cache = CacheMarks::Off;
    request.temperature = Some(0.3);
    let out = Wire::Messages.encode(&endpoint("https://api.anthropic.com", Wire::Messages), &request);
    assert_eq!(out.path, "/v1/messages");
    assert!(out.headers.contains(&("anthropic-version", "2023-06-01".to_owned())));
    assert_eq!(out.body["system"], json!([{"type": "text", "text": "Be kind."}]));
    assert_eq!(
        (&out.body["max_tokens"], &out.body["thinking"]["budget_tokens"]),
        (&json!(64_000), &json!(8000))
    );
    assert_eq!(out.body.get("temperature"), None, "thoughts exclude it");
    let input = json!({"a": "x", "b": 1});
    let expected = json!([
        {"role": "user", "content": [{"type": "text", "text": "look"}]},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "signed", "signature": "sig"},
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "c1", "name": "terminal", "input": input},
            {"type": "tool_use", "id": "c_2", "name": "terminal", "input": input},
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "no"}], "is_error": true},
            {"type": "tool_result", "tool_use_id": "c_2", "content": [
                {"type": "text", "text": "shot"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
            ]},
        ]},
    ]);
    assert_eq!(out.body["messages"], expected);
    assert_eq!(out.body["tools"][0]["input_schema"]["type"], "object");

    // A turn begun by another model has no signed thoughts, so it goes on without a budget for them.
    let foreign = Wire::Messages.encode(&endpoint("https://proxy.test/v1", Wire::Messages), &request);
    assert_eq!(foreign.path, "/messages");
    assert_eq!((foreign.body.get("thinking"), &foreign.body["temperature"]), (None, &json!(0.3)));
    assert_eq!(foreign.body["messages"][1]["content"][0]["type"], "text");
}

#[test]
fn responses_send_items_and_ask_for_encrypted_thoughts() {
    let mut request = conversation("api.openai.com");
    request.model = "gpt-5".into();
    request.session = Some("20260101_000000_abcdef".into());
    request.effort = Some(Effort::High);
    request.max_tokens = Some(500);
    let out = Wire::Responses.encode(&endpoint("https://api.openai.com/v1", Wire::Responses), &request);
    assert_eq!(out.path, "/responses");
    let body = &out.body;
    assert_eq!(body["instructions"], "Be kind.");
    assert_eq!(
        (&body["store"], &body["parallel_tool_calls"], &body["stream"]),
        (&json!(false), &json!(true), &json!(true))
    );
    assert_eq!(body["reasoning"], json!({"summary": "auto", "effort": "high"}));
    assert_eq!(body["include"], json!(["reasoning.encrypted_content"]));
    assert_eq!(
        (&body["prompt_cache_key"], &body["max_output_tokens"]),
        (&json!("20260101_000000_abcdef"), &json!(500))
    );
    let arguments = r#"{"a":"x","b":1}"#;
    let expected = json!([
        {"role": "user", "content": [{"type": "input_text", "text": "look"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "encrypted"}],
            "encrypted_content": "gAA"},
        {"role": "assistant", "content": "I look."},
        {"type": "function_call", "call_id": "c1", "name": "terminal", "arguments": arguments},
        {"type": "function_call", "call_id": "c:2", "name": "terminal", "arguments": arguments},
        {"type": "function_call_output", "call_id": "c1", "output": "no"},
        {"type": "function_call_output", "call_id": "c:2", "output": [
            {"type": "input_text", "text": "shot"},
            {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "auto"},
        ]},
    ]);
    assert_eq!(body["input"], expected);

    let grok = Wire::Responses.encode(
        &endpoint("https://api.x.ai/v1", Wire::Responses),
        &Request { model: "grok-4".into(), effort: None, tools: Vec::new(), ..request },
    );
    assert_eq!(grok.headers, [("x-grok-conv-id", "20260101_000000_abcdef".to_owned())]);
    let absent = ["reasoning", "include", "tools", "parallel_tool_calls"];
    assert!(absent.iter().all(|field| grok.body.get(field).is_none()), "{}", grok.body);
}

#[test]
fn what_was_refused_once_is_left_out() {
    let mut endpoint = endpoint("https://h.test/v1", Wire::Chat);
    let mut request = conversation("h.test");
    request.temperature = Some(0.3);
    request.effort = Some(Effort::Low);
    request.max_tokens = Some(100);
    for change in [
        Adjustment::NoTemperature,
        Adjustment::NoEffort,
        Adjustment::OtherLimitField,
        Adjustment::NoStreamOptions,
        Adjustment::PlainSchemas,
        Adjustment::ForgetThoughts,
        Adjustment::NoImages,
    ] {
        endpoint.learned.add(change);
    }
    let body = Wire::Chat.encode(&endpoint, &request).body;
    let text = body.to_string();
    for gone in ["temperature", "reasoning", "\"max_tokens\"", "stream_options", "pattern", "base64"] {
        assert!(!text.contains(gone), "{gone} in {text}");
    }
    assert_eq!(body["max_completion_tokens"], 100);
    endpoint.learned.add(Adjustment::NoStreaming);
    assert_eq!(Wire::Chat.encode(&endpoint, &request).body.get("stream"), None);
}

#[test]
fn equal_requests_have_equal_bytes() {
    for (wire, url) in [
        (Wire::Chat, "https://h.test/v1"),
        (Wire::Messages, "https://h.test"),
        (Wire::Responses, "https://h.test/v1"),
    ] {
        let endpoint = endpoint(url, wire);
        let first = wire.encode(&endpoint, &conversation("h.test")).body.to_string();
        let mut longer = conversation("h.test");
        longer.cache = CacheMarks::Off;
        let mut shorter = longer.clone();
        longer.messages.push(Message::user("and then"));
        shorter.messages.push(Message::user("and"));
        assert_eq!(first, wire.encode(&endpoint, &conversation("h.test")).body.to_string());
        // The cache of a provider compares bytes from the start: what comes later must not change what came before.
        let (longer, shorter) = (wire.encode(&endpoint, &longer).body, wire.encode(&endpoint, &shorter).body);
        let key = if wire == Wire::Responses { "input" } else { "messages" };
        let before = |body: &Value| body[key].to_string().split("and").next().unwrap().to_owned();
        assert_eq!(before(&longer), before(&shorter));
    }
}
