//! The official client libraries agree with what we send: recorded request bodies are checked against their types.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod support;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hermes_model::message::{Reasoning, Replay};
use hermes_model::{
    Client, Content, Delivery, Effort, Image, Message, Part, Request, ToolCall, ToolResult, ToolStatus,
    ToolUse, Wire,
};
use hermes_testkit::model::ModelServer;
use hermes_testkit::need;
use serde_json::{Value, json};
use support::{WIRES, ask, call, endpoint, request};

/// A Python with the libraries: the one `HERMES_TEST_CLIENTS` names, else one of our own that is set up once.
fn python() -> Result<PathBuf, String> {
    if let Some(python) = std::env::var_os("HERMES_TEST_CLIENTS") {
        return Ok(PathBuf::from(python));
    }
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("clients");
    let python = dir.join("bin/python");
    if !has_libraries(&python) {
        run(Command::new("python3").args(["-m", "venv"]).arg(&dir))?;
        run(Command::new(&python).args(["-m", "pip", "install", "--quiet", "openai", "anthropic"]))?;
    }
    if has_libraries(&python) { Ok(python) } else { Err("they cannot be imported".to_owned()) }
}

fn has_libraries(python: &Path) -> bool {
    let import = Command::new(python).args(["-c", "import openai, anthropic"]).stderr(Stdio::null()).status();
    import.is_ok_and(|status| status.success())
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(()) } else { Err(format!("{command:?}: {said}")) }
}

/// Everything a conversation can hold.
fn conversation() -> Request {
    let call = |id: &str| ToolCall {
        id: id.into(),
        name: "terminal".into(),
        arguments: r#"{"command":"ls"}"#.into(),
        ..ToolCall::default()
    };
    let thought = |replay: Replay| {
        Part::Reasoning(Reasoning { text: "hm".into(), issuer: "127.0.0.1".into(), replay: Some(replay) })
    };
    let picture = || Content::Image(Image::from_url("data:image/png;base64,iVBORw0KGgo="));
    let mut request = request();
    request.messages = vec![
        Message::User(vec![
            Content::Text("look".into()),
            picture(),
            Content::Image(Image::Url("https://x.test/a.png".into())),
        ]),
        Message::Assistant(vec![
            thought(Replay::Signature("c2ln".into())),
            thought(Replay::Redacted("b3BhcXVl".into())),
            thought(Replay::Encrypted { id: "rs_1".into(), content: "Z0FB".into() }),
            Part::Text("I look.".into()),
            Part::Call(call("c1")),
            Part::Call(call("c2")),
        ]),
        Message::Tool(ToolResult { status: ToolStatus::Failed, ..ToolResult::ok(&call("c1"), "no") }),
        Message::Tool(ToolResult {
            content: vec![Content::Text("shot".into()), picture()],
            ..ToolResult::ok(&call("c2"), "")
        }),
        Message::assistant("Done."),
        Message::user("more"),
    ];
    request
}

/// Requests that differ in everything that shapes a body.
fn requests(wire: Wire) -> Vec<Request> {
    let model = match wire {
        Wire::Chat => "gpt-4.1",
        Wire::Messages => "claude-sonnet-4-5",
        Wire::Responses => "gpt-5",
    };
    let base = Request { model: model.into(), ..conversation() };
    vec![
        Request { model: model.into(), ..request() },
        base.clone(),
        Request {
            delivery: Delivery::Whole,
            max_tokens: Some(50_000),
            temperature: Some(0.3),
            ..base.clone()
        },
        Request { effort: Some(Effort::High), session: Some("s1".into()), ..base.clone() },
        Request { tool_use: ToolUse::Forbidden, tools: base.tools.clone(), ..base.clone() },
        Request {
            tools: Vec::new(),
            system: String::new(),
            cache: hermes_model::CacheMarks::OneHour,
            ..base.clone()
        },
        Request { model: "claude-opus-4-7".into(), effort: Some(Effort::XHigh), ..base },
    ]
}

#[tokio::test]
async fn recorded_requests_fit_the_official_types() {
    let Some(python) = need("Python with the packages 'openai' and 'anthropic'", python()) else { return };
    check_finds_mistakes(&python);
    let server = ModelServer::scripted("always\nsay \"hi\"");
    let client = Client::default();
    for wire in WIRES {
        let endpoint = endpoint(&server, wire);
        for request in requests(wire) {
            ask(&client, call(&endpoint, &request)).await.unwrap();
        }
    }
    let kind = |path: &str| {
        if path.ends_with("/messages") {
            "messages"
        } else if path.ends_with("/responses") {
            "responses"
        } else {
            "chat"
        }
    };
    let bodies: Vec<Value> =
        server.calls().iter().map(|call| json!({"kind": kind(&call.path), "body": call.body})).collect();
    let found = validate(&python, &bodies);
    assert_eq!(found.len(), bodies.len());
    for (problems, body) in found.iter().zip(&bodies) {
        let problems: Vec<&str> = problems.as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let unexpected: Vec<&&str> = problems.iter().filter(|problem| !is_known(body, problem)).collect();
        assert!(unexpected.is_empty(), "{unexpected:#?} in {body:#}");
    }
}

/// Fields the libraries do not list: servers of chat completions want two, and older models of Anthropic take a
/// temperature.
fn is_known(body: &Value, problem: &str) -> bool {
    match body["kind"].as_str().unwrap_or_default() {
        "chat" => problem.ends_with("/name is unknown") || problem.ends_with("/reasoning_content is unknown"),
        "messages" => problem == "/temperature is unknown",
        _ => false,
    }
}

/// A check that accepts everything would prove nothing.
fn check_finds_mistakes(python: &Path) {
    let wrong = [
        json!({"kind": "chat", "body": {"model": "m", "messages": [{"role": "tool", "content": "no id"}]}}),
        json!({"kind": "messages", "body": {"model": "m", "messages": [], "max_tokens": "many"}}),
        json!({"kind": "responses", "body": {"model": "m", "input": [{"type": "function_call", "call_id": "c", "name": "x"}]}}),
        json!({"kind": "chat", "body": {"model": "m", "messages": [], "invented": 1}}),
    ];
    for problems in validate(python, &wrong) {
        assert!(problems.as_array().is_some_and(|list| !list.is_empty()));
    }
}

fn validate(python: &Path, bodies: &[Value]) -> Vec<Value> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients/validate.py");
    let mut child = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("Python starts");
    child.stdin.take().unwrap().write_all(json!(bodies).to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "the script failed");
    serde_json::from_slice(&output.stdout).unwrap()
}
