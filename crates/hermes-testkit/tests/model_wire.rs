//! The model server speaks each provider's protocol, streaming and not.

#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use hermes_testkit::ModelServer;
use serde_json::{Value, json};
use support::{Client, Response};

const EVERYTHING: &str = r#"
    think "I should look. "
    think "Now."
    say "Let me "
    keepalive
    say "see ü."
    call terminal {"command":"ls -la /tmp"}
    call read_file id=my-id {"path":"a"}
    usage in=120 out=30 cached=100 written=5 reasoning=8
"#;

fn ask(script: &str, path: &str, body: &Value) -> Response {
    let server = ModelServer::scripted(script);
    let response = Client::connect(&server.url()).post(path, body);
    server.assert_done();
    response
}

/// Joins the strings found at a pointer of each event.
fn joined(data: &[Value], pointer: &str) -> String {
    data.iter().filter_map(|event| event.pointer(pointer)?.as_str()).collect()
}

fn body(stream: bool) -> Value {
    json!({"model": "m1", "stream": stream, "stream_options": {"include_usage": true},
           "messages": [{"role": "user", "content": "hi"}], "input": "hi"})
}

#[test]
fn chat_streams() {
    let response = ask(EVERYTHING, "/v1/chat/completions", &body(true));
    assert_eq!(response.header("content-type"), Some("text/event-stream; charset=utf-8"));
    assert!(response.complete && response.text().ends_with("data: [DONE]\n\n"));
    assert!(response.text().contains("\n\n: keep-alive\n\n"));
    let data = response.data();
    assert!(data.iter().all(|event| event["object"] == "chat.completion.chunk" && event["model"] == "m1"));
    assert_eq!(data[0]["choices"][0]["delta"]["role"], "assistant");
    assert_eq!(joined(&data, "/choices/0/delta/reasoning_content"), "I should look. Now.");
    assert_eq!(joined(&data, "/choices/0/delta/content"), "Let me see ü.");
    let calls: Vec<&Value> =
        data.iter().filter_map(|event| event.pointer("/choices/0/delta/tool_calls/0")).collect();
    let arguments = |index: u64| -> String {
        let own = calls.iter().filter(|call| call["index"] == index);
        own.filter_map(|call| call["function"]["arguments"].as_str()).collect()
    };
    assert_eq!(arguments(0), r#"{"command":"ls -la /tmp"}"#);
    assert_eq!(arguments(1), r#"{"path":"a"}"#);
    let opened: Vec<&Value> = calls.iter().filter(|call| call["id"].is_string()).copied().collect();
    assert_eq!(opened[0]["id"], "call_1_1");
    assert_eq!(opened[0]["function"]["name"], "terminal");
    assert_eq!(opened[1]["id"], "my-id");
    assert_eq!(data[data.len() - 2]["choices"][0]["finish_reason"], "tool_calls");
    let usage = &data.last().unwrap()["usage"];
    assert_eq!(usage["prompt_tokens"], 120);
    assert_eq!(usage["prompt_tokens_details"]["cached_tokens"], 100);
    assert_eq!(usage["completion_tokens_details"]["reasoning_tokens"], 8);
}

#[test]
fn chat_streams_usage_only_when_asked() {
    let request = json!({"model": "m", "stream": true, "messages": []});
    let response = ask(EVERYTHING, "/v1/chat/completions", &request);
    assert!(!response.text().contains("\"usage\""));
}

#[test]
fn chat_answers_whole() {
    let response = ask(EVERYTHING, "/v1/chat/completions", &body(false)).json();
    let message = &response["choices"][0]["message"];
    assert_eq!(message["content"], "Let me see ü.");
    assert_eq!(message["reasoning_content"], "I should look. Now.");
    assert_eq!(message["tool_calls"][1]["id"], "my-id");
    assert_eq!(message["tool_calls"][0]["function"]["arguments"], r#"{"command":"ls -la /tmp"}"#);
    assert_eq!(response["choices"][0]["finish_reason"], "tool_calls");
    assert_eq!(response["usage"]["total_tokens"], 150);
    let only_a_call = ask("call t {}", "/v1/chat/completions", &body(false)).json();
    assert_eq!(only_a_call["choices"][0]["message"]["content"], Value::Null);
}

#[test]
fn messages_stream() {
    let response = ask(EVERYTHING, "/v1/messages", &body(true));
    let events = response.events();
    assert!(response.complete);
    for (name, data) in &events {
        let data: Value = serde_json::from_str(data).unwrap();
        assert_eq!(data["type"], *name, "the name of the event and its type agree");
    }
    let mut order: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
    order.dedup();
    let block = ["content_block_start", "content_block_delta", "content_block_stop"];
    let mut expected =
        vec!["message_start", "content_block_start", "ping", "content_block_delta", "content_block_stop"];
    expected.extend([block, block, block].concat());
    expected.extend(["message_delta", "message_stop"]);
    assert_eq!(order, expected);

    let data = response.data();
    let usage = &data[0]["message"]["usage"];
    assert_eq!((&usage["input_tokens"], &usage["cache_read_input_tokens"]), (&json!(15), &json!(100)));
    assert_eq!(usage["cache_creation_input_tokens"], 5);
    let indexes: Vec<u64> = data
        .iter()
        .filter(|event| event["type"] == "content_block_start")
        .map(|event| event["index"].as_u64().unwrap())
        .collect();
    assert_eq!(indexes, [0, 1, 2, 3]);
    assert_eq!(joined(&data, "/delta/thinking"), "I should look. Now.");
    assert!(!joined(&data, "/delta/signature").is_empty());
    assert_eq!(joined(&data, "/delta/text"), "Let me see ü.");
    let of_block = |index: u64| -> String {
        let own = data.iter().filter(|event| event["index"] == index);
        own.filter_map(|event| event.pointer("/delta/partial_json")?.as_str()).collect()
    };
    assert_eq!(of_block(2), r#"{"command":"ls -la /tmp"}"#);
    assert_eq!(of_block(3), r#"{"path":"a"}"#);
    let end = &data[data.len() - 2];
    assert_eq!(end["delta"]["stop_reason"], "tool_use");
    assert_eq!(end["usage"]["output_tokens"], 30);
}

#[test]
fn messages_answer_whole() {
    let response = ask(EVERYTHING, "/v1/messages", &body(false)).json();
    let kinds: Vec<&str> =
        response["content"].as_array().unwrap().iter().map(|b| b["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["thinking", "text", "tool_use", "tool_use"]);
    assert_eq!(response["content"][2]["input"]["command"], "ls -la /tmp");
    assert_eq!(response["content"][2]["id"], "toolu_1_1");
    assert_eq!(response["stop_reason"], "tool_use");
    assert_eq!(response["usage"]["input_tokens"], 15);
}

#[test]
fn responses_stream() {
    let response = ask(EVERYTHING, "/v1/responses", &body(true));
    let data = response.data();
    assert!(response.complete);
    let numbers: Vec<u64> = data.iter().map(|event| event["sequence_number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (0..data.len() as u64).collect::<Vec<_>>());
    let mut order: Vec<&str> = data.iter().map(|event| event["type"].as_str().unwrap()).collect();
    order.dedup();
    let call = [
        "response.output_item.added",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.output_item.done",
    ];
    let mut expected = vec![
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.reasoning_summary_part.added",
        "response.reasoning_summary_text.delta",
        "response.reasoning_summary_text.done",
        "response.reasoning_summary_part.done",
        "response.output_item.done",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
    ];
    expected.extend([call, call].concat());
    expected.push("response.completed");
    assert_eq!(order, expected);

    let of_type = |name: &str| data.iter().filter(|event| event["type"] == name).cloned().collect::<Vec<_>>();
    assert_eq!(joined(&of_type("response.output_text.delta"), "/delta"), "Let me see ü.");
    let arguments = of_type("response.function_call_arguments.delta");
    let of_item = |index: u64| -> String {
        arguments.iter().filter(|e| e["output_index"] == index).filter_map(|e| e["delta"].as_str()).collect()
    };
    assert_eq!(of_item(2), r#"{"command":"ls -la /tmp"}"#);
    assert_eq!(of_item(3), r#"{"path":"a"}"#);
    let last = &data.last().unwrap()["response"];
    assert_eq!(last["status"], "completed");
    assert_eq!(last["usage"]["input_tokens_details"]["cached_tokens"], 100);
    let items: Vec<Value> =
        of_type("response.output_item.done").iter().map(|event| event["item"].clone()).collect();
    assert_eq!(last["output"], json!(items), "the end repeats the items");
    for (index, event) in of_type("response.output_item.added").iter().enumerate() {
        assert_eq!(event["item"]["id"], items[index]["id"]);
    }
}

#[test]
fn responses_answer_whole_and_as_streamed() {
    let whole = ask(EVERYTHING, "/v1/responses", &body(false)).json();
    let streamed = ask(EVERYTHING, "/v1/responses", &body(true));
    assert_eq!(whole, streamed.data().last().unwrap()["response"]);
    assert_eq!(whole["output"][3]["call_id"], "my-id");
}

#[test]
fn the_reason_for_the_end_is_each_providers_own() {
    let of = |script: &str, path: &str, pointer: &str| {
        ask(script, path, &body(false)).json().pointer(pointer).unwrap().as_str().unwrap().to_owned()
    };
    for (finish, chat, messages) in [
        ("stop", "stop", "end_turn"),
        ("length", "length", "max_tokens"),
        ("filter", "content_filter", "refusal"),
    ] {
        let script = format!("say \"x\"\nfinish {finish}");
        assert_eq!(of(&script, "/v1/chat/completions", "/choices/0/finish_reason"), chat);
        assert_eq!(of(&script, "/v1/messages", "/stop_reason"), messages);
    }
    let script = "say \"x\"\nfinish length";
    assert_eq!(of(script, "/v1/responses", "/incomplete_details/reason"), "max_output_tokens");
    let streamed = ask(script, "/v1/responses", &body(true));
    assert_eq!(streamed.data().last().unwrap()["type"], "response.incomplete");
}

#[test]
fn errors_have_each_providers_shape() {
    let limited = "status 429 retry-after=7 x-limit=\"a b\"";
    let chat = ask(limited, "/v1/chat/completions", &body(true));
    assert_eq!(
        (chat.status, chat.header("retry-after"), chat.header("x-limit")),
        (429, Some("7"), Some("a b"))
    );
    assert_eq!(chat.json()["error"]["code"], "rate_limit_exceeded");
    let messages = ask(limited, "/v1/messages", &body(true)).json();
    assert_eq!(
        (&messages["type"], &messages["error"]["type"]),
        (&json!("error"), &json!("rate_limit_error"))
    );
    assert_eq!(ask("status 529", "/v1/messages", &body(true)).json()["error"]["type"], "overloaded_error");
    assert_eq!(ask("status 401", "/v1/responses", &body(true)).json()["error"]["code"], "invalid_api_key");
    assert_eq!(ask("status 502 body=\"<html>\"", "/v1/messages", &body(true)).text(), "<html>");

    let overflow = |path: &str| ask("overflow", path, &body(true)).json()["error"].clone();
    assert_eq!(overflow("/v1/chat/completions")["code"], "context_length_exceeded");
    assert_eq!(overflow("/v1/responses")["code"], "context_length_exceeded");
    assert!(overflow("/v1/messages")["message"].as_str().unwrap().starts_with("prompt is too long"));
}

#[test]
fn an_error_can_come_in_the_middle() {
    let script = "say \"half\"\nerror \"too busy\" type=overloaded_error\nsay \"never\"";
    let chat = ask(script, "/v1/chat/completions", &body(true));
    assert_eq!(chat.data().last().unwrap()["error"]["message"], "too busy");
    assert!(chat.complete && !chat.text().contains("[DONE]") && !chat.text().contains("never"));
    let messages = ask(script, "/v1/messages", &body(true));
    assert_eq!(messages.events().last().unwrap().0, "error");
    assert_eq!(messages.data().last().unwrap()["error"]["type"], "overloaded_error");
    let responses = ask(script, "/v1/responses", &body(true));
    assert_eq!(responses.data().last().unwrap()["response"]["error"]["code"], "overloaded_error");
    assert_eq!(ask(script, "/v1/messages", &body(false)).status, 500);
}
