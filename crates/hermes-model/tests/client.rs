//! Calls over real connections: every wire format, every way an answer can travel or break.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod support;

use std::io::Write;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use hermes_guard::Secret;
use hermes_model::failure::Transport;
use hermes_model::{
    Call, CallError, Class, Client, Deadlines, Delivery, Event, Failure, Finish, Part, Request, Wire,
};
use hermes_testkit::model::ModelServer;
use support::{
    PATIENT, RawServer, STREAM_HEAD, WIRES, ask, call, endpoint, endpoint_at, read_request, report_close,
    request, write_chunk,
};
use tokio_util::sync::CancellationToken;

/// How long a test waits for something that must happen.
const SOON: Duration = Duration::from_secs(20);

async fn fail(server: &ModelServer, wire: Wire) -> Failure {
    let endpoint = endpoint(server, wire);
    match ask(&Client::default(), call(&endpoint, &request())).await {
        Err(CallError::Failed(failure)) => *failure,
        other => panic!("{wire}: {other:?}"),
    }
}

#[tokio::test]
async fn all_formats_say_the_same_streamed_or_whole() {
    for wire in WIRES {
        for (delivery, travel) in [
            (Delivery::Stream, ""),
            (Delivery::Stream, "split 1\nkeepalive"),
            (Delivery::Stream, "slow 1ms\nsplit 7"),
            (Delivery::Whole, ""),
        ] {
            let script = format!(
                "{travel}\nthink \"Ich überlege.\"\nsay \"Grüße 🎉, zwei\"\ncall terminal id=c1 {{\"command\":\"ls\"}}\n\
                 call read_file id=c2 {{\"path\":\"ä\"}}\nusage in=120 out=30 cached=100 reasoning=8"
            );
            let server = ModelServer::scripted(&script);
            let endpoint = endpoint(&server, wire);
            let request = Request { delivery, ..request() };
            let answer = ask(&Client::default(), call(&endpoint, &request)).await.unwrap();
            assert_eq!(answer.text(), "Grüße 🎉, zwei", "{wire} {travel}");
            let calls: Vec<_> = answer.calls().map(|c| (c.id.as_str(), c.arguments.as_str())).collect();
            assert_eq!(calls, [("c1", r#"{"command":"ls"}"#), ("c2", r#"{"path":"ä"}"#)], "{wire} {travel}");
            let thought =
                answer.parts.iter().find_map(|p| if let Part::Reasoning(r) = p { Some(r) } else { None });
            assert_eq!(thought.unwrap().text, "Ich überlege.");
            assert_eq!(answer.finish, Finish::ToolCalls);
            assert_eq!((answer.usage.prompt(), answer.usage.cache_read, answer.usage.output), (120, 100, 30));
            server.assert_done();
        }
    }
}

#[tokio::test]
async fn the_key_travels_as_the_format_wants_it() {
    for wire in WIRES {
        let server = ModelServer::scripted("say \"hi\"");
        let endpoint = endpoint(&server, wire);
        let key = Secret::new(" test-key-0123456789\n");
        let request = request();
        let with_key = Call { key: Some(&key), ..call(&endpoint, &request) };
        ask(&Client::default(), with_key).await.unwrap();
        let sent = server.last_call();
        assert_eq!(sent.key(), Some("test-key-0123456789"));
        assert_eq!(sent.header("x-api-key").is_some(), wire == Wire::Messages);
        assert!(sent.header("user-agent").unwrap().starts_with("hermes/"));
    }
}

#[tokio::test]
async fn broken_answers_are_failures_and_say_what_came_before() {
    for wire in WIRES {
        for (end, class) in [
            ("cut", Class::Timeout),
            ("garbage", Class::Timeout),
            ("error \"Overloaded\" type=overloaded_error", Class::Overloaded),
            ("error \"too fast\" type=rate_limit_error", Class::RateLimit),
        ] {
            let server = ModelServer::scripted(&format!("say \"half an \"\n{end}"));
            let endpoint = endpoint(&server, wire);
            let request = request();
            let cancel = CancellationToken::new();
            let client = Client::default();
            let mut stream = client.stream(call(&endpoint, &request), &cancel).await.unwrap();
            let mut text = String::new();
            let failure = loop {
                match stream.next().await.expect("an end") {
                    Ok(Event::TextDelta(delta)) => text.push_str(&delta),
                    Ok(_) => {}
                    Err(CallError::Failed(failure)) => break failure,
                    Err(CallError::Cancelled) => panic!("nobody cancelled"),
                }
            };
            assert_eq!((text.as_str(), failure.class), ("half an ", class), "{wire} {end}: {failure}");
            assert!(stream.next().await.is_none());
        }
    }
}

#[tokio::test]
async fn refusals_are_classified_with_what_they_ask_for() {
    for wire in WIRES {
        for (script, class) in [
            ("status 401", Class::Auth),
            ("status 402", Class::Billing),
            ("status 404", Class::ModelNotFound),
            ("status 413", Class::PayloadTooLarge),
            ("status 429 retry-after=7", Class::RateLimit),
            ("status 500", Class::Server),
            ("status 503", Class::Overloaded),
            ("status 529", Class::Overloaded),
            ("overflow", Class::ContextOverflow),
        ] {
            // A 404 of Anthropic names the model; the scripted one does not.
            if wire == Wire::Messages && script == "status 404" {
                continue;
            }
            let server = ModelServer::scripted(script);
            let failure = fail(&server, wire).await;
            assert_eq!(failure.class, class, "{wire} {script}: {failure}");
            assert!(failure.observed.request_id.as_deref().is_some_and(|id| id.starts_with("req_")));
            let wait = script.contains("retry-after").then_some(Duration::from_secs(7));
            assert_eq!(failure.observed.retry_after, wait);
        }
    }
}

#[tokio::test]
async fn a_stall_ends_by_its_deadline() {
    for wire in WIRES {
        for script in ["say \"half\"\nstall", "stall"] {
            let server = ModelServer::scripted(script);
            let endpoint = endpoint(&server, wire);
            let deadlines = Deadlines { stale: Duration::from_millis(80), ..PATIENT };
            let failed = ask(&Client::default(), Call { deadlines, ..call(&endpoint, &request()) }).await;
            let Err(CallError::Failed(failure)) = failed else { panic!("{failed:?}") };
            assert_eq!(
                (failure.class, failure.observed.transport),
                (Class::Timeout, Some(Transport::Silent))
            );
        }
    }
}

#[tokio::test]
async fn an_answer_that_never_begins_ends_by_its_deadline() {
    let server = ModelServer::scripted("late 60s\nsay \"x\"");
    let endpoint = endpoint(&server, Wire::Chat);
    let deadlines = Deadlines { stale: Duration::from_millis(80), ..PATIENT };
    let failed = ask(&Client::default(), Call { deadlines, ..call(&endpoint, &request()) }).await;
    assert!(matches!(failed, Err(CallError::Failed(failure)) if failure.class == Class::Timeout));
}

#[tokio::test]
async fn keep_alives_do_not_hide_a_stall() {
    let server = RawServer::start(|_, mut stream| {
        thread::spawn(move || {
            read_request(&mut stream);
            let _written = stream.write_all(STREAM_HEAD.as_bytes());
            while write_chunk(&mut stream, ": still here\n\n") {
                thread::sleep(Duration::from_millis(5));
            }
        });
    });
    let endpoint = endpoint_at(&server.url(), Wire::Chat);
    let deadlines = Deadlines { stale: Duration::from_millis(150), ..PATIENT };
    let failed = ask(&Client::default(), Call { deadlines, ..call(&endpoint, &request()) }).await;
    let Err(CallError::Failed(failure)) = failed else { panic!("{failed:?}") };
    assert!(failure.to_string().contains("nothing of the answer came"), "{failure}");
}

#[tokio::test]
async fn a_complete_answer_is_not_held_back_by_a_server_that_stays() {
    let server = RawServer::start(|_, mut stream| {
        read_request(&mut stream);
        let _written = stream.write_all(STREAM_HEAD.as_bytes());
        write_chunk(
            &mut stream,
            "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\n",
        );
        std::mem::forget(stream);
    });
    let endpoint = endpoint_at(&server.url(), Wire::Chat);
    let deadlines = Deadlines { ending: Duration::from_millis(50), ..PATIENT };
    let answer = ask(&Client::default(), Call { deadlines, ..call(&endpoint, &request()) }).await.unwrap();
    assert_eq!((answer.text().as_str(), answer.finish), ("hi", Finish::Stop));
}

#[tokio::test]
async fn cancelling_closes_the_connection_at_once() {
    for begins in [true, false] {
        let (closed, was_closed) = mpsc::channel();
        let (asked, was_asked) = mpsc::channel();
        let server = RawServer::start(move |_, mut stream| {
            read_request(&mut stream);
            if begins {
                let _written = stream.write_all(STREAM_HEAD.as_bytes());
                write_chunk(&mut stream, "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\n");
            }
            asked.send(()).unwrap();
            report_close(stream, &closed);
        });
        let endpoint = endpoint_at(&server.url(), Wire::Chat);
        let (client, request, cancel) = (Client::default(), request(), CancellationToken::new());
        let stop = cancel.clone();
        let stopper = thread::spawn(move || {
            was_asked.recv_timeout(SOON).unwrap();
            stop.cancel();
        });
        let ended = async {
            let mut stream = client.stream(call(&endpoint, &request), &cancel).await?;
            while let Some(event) = stream.next().await {
                event?;
            }
            Ok(())
        };
        assert!(matches!(ended.await, Err(CallError::Cancelled)));
        stopper.join().unwrap();
        tokio::task::spawn_blocking(move || was_closed.recv_timeout(SOON).unwrap()).await.unwrap();
    }
}

#[tokio::test]
async fn connections_are_used_again() {
    let (counted, count) = mpsc::channel();
    let server = RawServer::start(move |number, mut stream| {
        let counted = counted.clone();
        thread::spawn(move || {
            while read_request(&mut stream) {
                counted.send(number).unwrap();
                let _written = stream.write_all(STREAM_HEAD.as_bytes());
                write_chunk(
                    &mut stream,
                    "data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
                );
                let _written = stream.write_all(b"0\r\n\r\n");
            }
        });
    });
    let endpoint = endpoint_at(&server.url(), Wire::Chat);
    let client = Client::default();
    for _ in 0..3 {
        ask(&client, call(&endpoint, &request())).await.unwrap();
    }
    assert_eq!(count.try_iter().collect::<Vec<_>>(), [0, 0, 0]);
}

#[tokio::test]
async fn keys_are_in_no_error_and_no_debug_output() {
    let secret = "test-secret-abcdefghij-0123456789";
    let echo = format!("status 401 body=\"{{\\\"error\\\":{{\\\"message\\\":\\\"bad key {secret}\\\"}}}}\"");
    let server = ModelServer::scripted(&echo);
    let endpoint = endpoint(&server, Wire::Chat);
    let key = Secret::new(secret);
    let request = request();
    let with_key = Call { key: Some(&key), ..call(&endpoint, &request) };
    assert!(!format!("{with_key:?}").contains(secret));
    let failed = ask(&Client::default(), with_key).await.unwrap_err();
    assert!(!format!("{failed:?} {failed}").contains(secret), "{failed:?}");
    assert!(failed.to_string().contains("bad key"), "{failed}");

    let broken = Secret::new("line\nend-of-a-key");
    let failed =
        ask(&Client::default(), Call { key: Some(&broken), ..call(&endpoint, &request) }).await.unwrap_err();
    assert!(matches!(&failed, CallError::Failed(failure) if failure.class == Class::Auth), "{failed:?}");
    assert!(!format!("{failed:?} {failed}").contains("end-of-a-key"));
}

#[tokio::test]
async fn a_key_does_not_follow_a_redirect() {
    let elsewhere = ModelServer::scripted("say \"stolen\"");
    let server =
        ModelServer::scripted(&format!("status 307 location={}/chat/completions", elsewhere.openai_url()));
    let failure = fail(&server, Wire::Chat).await;
    assert_eq!(failure.observed.status, Some(307));
    assert!(elsewhere.requests().is_empty());
}

#[tokio::test]
async fn nobody_there_is_a_connection_that_failed() {
    let free = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    let endpoint = endpoint_at(&format!("http://{free}/v1?key=in-the-address"), Wire::Chat);
    let failed = ask(&Client::default(), call(&endpoint, &request())).await;
    let Err(CallError::Failed(failure)) = failed else { panic!("{failed:?}") };
    assert_eq!((failure.class, failure.observed.transport), (Class::Timeout, Some(Transport::Connect)));
    assert!(!format!("{failure:?}").contains("in-the-address"), "{failure:?}");
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_read_all_the_same() {
    let body = r#"{"choices":[{"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}"#;
    let server = RawServer::start(move |_, mut stream| {
        read_request(&mut stream);
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let _written = stream.write_all(format!("{head}{body}").as_bytes());
    });
    let endpoint = endpoint_at(&server.url(), Wire::Chat);
    let answer = ask(&Client::default(), call(&endpoint, &request())).await.unwrap();
    assert_eq!((answer.text().as_str(), answer.finish), ("hi", Finish::Stop));
}
