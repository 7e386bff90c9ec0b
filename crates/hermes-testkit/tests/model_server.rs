//! The model server as a server: order, matching, recording, broken transport, and an end without leaks.

#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use std::time::{Duration, Instant};

use hermes_testkit::model::{Matcher, Usage};
use hermes_testkit::{Answer, ModelServer, Script, TestHome, wait_until};
use serde_json::{Value, json};
use support::Client;

const CHAT: &str = "/v1/chat/completions";
const SOON: Duration = Duration::from_secs(20);

fn chat(text: &str, stream: bool) -> Value {
    json!({"model": "m", "stream": stream, "messages": [{"role": "user", "content": text}]})
}

fn said(server: &ModelServer, text: &str) -> String {
    let response = Client::connect(&server.url()).post(CHAT, &chat(text, false));
    response.json()["choices"][0]["message"]["content"].as_str().unwrap_or("(nothing)").to_owned()
}

#[test]
fn answers_come_in_order_and_by_match() {
    let server = ModelServer::scripted(
        r#"
        say "one"
        ---
        when "special"
        say "for you"
        ---
        when model "other"
        say "other model"
        ---
        say "two"
        ---
        when "title"
        always
        say "A title"
        "#,
    );
    assert_eq!(said(&server, "first"), "one");
    assert_eq!(said(&server, "second"), "two");
    assert_eq!(said(&server, "a special one"), "for you");
    assert_eq!(said(&server, "title please"), "A title");
    assert_eq!(said(&server, "title again"), "A title");
    let left = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| server.assert_done())).unwrap_err();
    assert!(left.downcast_ref::<String>().unwrap().contains("other model"));
}

#[test]
fn a_script_that_ran_out_is_told() {
    let server = ModelServer::start(Script::new());
    let response = Client::connect(&server.url()).post(CHAT, &chat("hello?", true));
    assert_eq!(response.status, 500);
    let message = response.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("no answer for request 1") && message.contains("hello?"), "{message}");
    assert_eq!(server.problems(), [message]);
    server.add(Answer::new().say("late").usage(Usage::default()).when(Matcher::User("hello".into())));
    assert_eq!(said(&server, "hello again"), "late");
}

#[test]
fn requests_are_recorded() {
    let server =
        ModelServer::start(Script::new().answer(Answer::new().say("x")).answer(Answer::new().say("y")));
    server.set_models(["a", "b"]);
    let mut client = Client::connect(&server.url());
    assert_eq!(client.get("/v1/models").json()["data"][1]["id"], "b");
    assert_eq!(client.get("/v1/unknown").status, 404);
    client.post(CHAT, &chat("hi", false));
    client.post("/v1/messages?beta=true", &chat("ho", true));
    let orders: Vec<usize> = server.requests().iter().map(|request| request.order).collect();
    assert_eq!(orders, [1, 2, 3, 4], "one connection carries them all");
    let calls = server.wait_for_calls(2, SOON);
    assert_eq!(calls[0].header("AUTHORIZATION"), Some("Bearer sk-secret"));
    assert_eq!(calls[0].key(), Some("sk-secret"));
    assert_eq!(calls[0].body["messages"][0]["content"], "hi");
    assert_eq!((calls[1].path.as_str(), calls[1].query.as_str()), ("/v1/messages", "beta=true"));
    assert_eq!(server.last_call().newest_user_text(), "ho");
    server.assert_done();
}

#[test]
fn split_cuts_characters_and_events() {
    let server = ModelServer::scripted("split 3\nsay \"Grüße 🙂\"");
    let response = Client::connect(&server.url()).post(CHAT, &chat("x", true));
    assert!(response.complete && response.chunks.iter().all(|chunk| chunk.len() <= 3));
    assert!(response.chunks.iter().any(|chunk| str::from_utf8(chunk).is_err()), "a character is cut");
    let text: String = response
        .data()
        .iter()
        .filter_map(|event| event["choices"][0]["delta"]["content"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(text, "Grüße 🙂");
}

#[test]
fn a_cut_ends_the_connection_without_an_end() {
    let server = ModelServer::scripted("say \"half\"\ncut\n---\nsay \"half\"\ncut");
    let streamed = Client::connect(&server.url()).post(CHAT, &chat("x", true));
    assert!(!streamed.complete && streamed.text().contains("half"));
    let whole = Client::connect(&server.url()).post(CHAT, &chat("x", false));
    assert!(!whole.complete && !whole.chunks[0].is_empty());
}

#[test]
fn garbage_is_sent_as_it_is() {
    let server = ModelServer::scripted("say \"a\"\ngarbage\nsay \"b\"\n---\ngarbage \"<html>\"");
    let streamed = Client::connect(&server.url()).post(CHAT, &chat("x", true));
    assert!(streamed.text().contains("data: {\"broken\n\n") && streamed.text().ends_with("[DONE]\n\n"));
    assert_eq!(Client::connect(&server.url()).post(CHAT, &chat("x", false)).text(), "<html>");
}

#[test]
fn a_stall_lasts_until_the_client_leaves() {
    let server = ModelServer::scripted("say \"first words\"\nstall\n---\nsay \"after\"");
    let mut client = Client::connect(&server.url());
    client.send(CHAT, &chat("x", true));
    wait_until(SOON, "the first words are there", || client.line().contains("words"));
    assert_eq!(said(&server, "another"), "after", "others are served meanwhile");
    drop(client);
    drop(server);
}

#[test]
fn slow_and_late_take_their_time() {
    let server = ModelServer::scripted("late 60ms\nslow 20ms\nsay \"a b c\"");
    let began = Instant::now();
    Client::connect(&server.url()).post(CHAT, &chat("x", true));
    // Only a lower bound: the pauses are really made, however busy the machine is.
    assert!(began.elapsed() >= Duration::from_millis(60 + 5 * 20));
}

#[test]
fn dropping_ends_stalled_connections_and_threads() {
    let server = ModelServer::scripted("stall\n---\nstall\n---\nlate 3600s");
    let mut clients = [(); 3].map(|()| Client::connect(&server.url()));
    for client in &mut clients {
        client.send(CHAT, &chat("x", true));
    }
    let mut idle = Client::connect(&server.url());
    idle.get("/v1/models");
    server.wait_for_calls(3, SOON);
    let url = server.url();
    // The drop joins all threads: it would hang here if one stayed.
    drop(server);
    assert!(
        std::net::TcpStream::connect(url.strip_prefix("http://").unwrap()).is_err(),
        "the port is closed"
    );
}

#[test]
fn a_broken_request_is_a_problem() {
    use std::io::Write;
    let server = ModelServer::start(Script::new());
    let mut stream = std::net::TcpStream::connect(server.url().strip_prefix("http://").unwrap()).unwrap();
    stream.write_all(b"POST /v1/messages HTTP/1.1\r\ncontent-length: lots\r\n\r\n").unwrap();
    wait_until(SOON, "the problem is noted", || !server.problems().is_empty());
}

#[test]
fn a_home_can_be_set_up_for_the_server() {
    let server = ModelServer::start(Answer::new().say("x"));
    let home = TestHome::new();
    home.config_for(&server);
    let config = home.read("config.yaml");
    assert!(config.starts_with("model:\n  default: test-model\n  provider: custom\n"), "{config}");
    assert!(config.contains(&format!("base_url: {}/v1\n", server.url())), "{config}");
    assert!(config.contains("context_length: 200000"), "{config}");
}
