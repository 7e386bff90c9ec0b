//! A call through retries, keys, changes, the fallback chain and the budget, against real servers.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod support;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hermes_guard::Secret;
use hermes_model::budget::{Counted, Limit, Limits, MemoryLedger, Meter, Period, Purpose, Scope};
use hermes_model::call::Chance;
use hermes_model::keys::{Key, KeyPool, Strategy};
use hermes_model::retry::RetryPolicy;
use hermes_model::{
    Answered, Ask, CallEvent, Caller, Class, Client, Cost, Event, Finish, GaveUp, Message, MicroDollars,
    Patience, Price, Request, Route, Wire,
};
use hermes_testkit::model::ModelServer;
use support::{WIRES, endpoint, request};
use tokio_util::sync::CancellationToken;

const QUICK: RetryPolicy = RetryPolicy {
    tries: 3,
    first_pause: Duration::from_millis(1),
    longest_pause: Duration::from_millis(2),
    longest_wait: Duration::from_secs(10),
    shortenings: 3,
};

fn route(server: &ModelServer, wire: Wire, keys: &[&str]) -> Route {
    let key = |name: &&str| Key { origin: format!("VAR_{name}"), secret: Secret::new(*name) };
    Route {
        endpoint: endpoint(server, wire),
        model: "mock-model".into(),
        keys: Arc::new(Mutex::new(KeyPool::new(keys.iter().map(key), Strategy::FillFirst))),
        window: None,
        price: None,
        patience: Patience::default(),
    }
}

fn caller(routes: Vec<Route>) -> Caller {
    Caller::new(Arc::new(Client::default()), routes, QUICK).with_chance(Chance::seeded(1))
}

fn scope() -> Scope {
    Scope {
        turn: "t1".into(),
        session: "s1".into(),
        day: "2026-01-05".parse().unwrap(),
        purpose: Purpose::Main,
    }
}

/// One call, with the names of what happened on the way.
async fn run(caller: &mut Caller, request: &Request) -> (Result<Answered, GaveUp>, Vec<String>) {
    let mut told = Vec::new();
    let mut on = |event: CallEvent| {
        told.push(match event {
            CallEvent::Asking { model, .. } => format!("ask {model}"),
            CallEvent::Model(Event::TextDelta(_) | Event::Finished(_)) => "text".to_owned(),
            CallEvent::Model(_) => return,
            CallEvent::StartOver => "over".to_owned(),
            CallEvent::Waiting { failure, .. } => format!("wait {:?}", failure.class),
            CallEvent::Changed { change, .. } => format!("change {change:?}"),
            CallEvent::NextKey { origin, .. } => format!("key {origin}"),
            CallEvent::NextRoute { to, .. } => format!("route {}", to.1),
            CallEvent::NotRecorded { reason } => reason,
        });
    };
    let scope = scope();
    let ask = Ask { request, scope: &scope, shortened: 0 };
    let result = caller.call(ask, &CancellationToken::new(), &mut on).await;
    told.dedup();
    (result, told)
}

fn failed(result: Result<Answered, GaveUp>) -> String {
    match result {
        Err(GaveUp::Failed(report)) => report.to_string(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_passes_is_tried_again() {
    for wire in WIRES {
        let server = ModelServer::scripted("status 500\n---\nstatus 503\n---\nsay \"hi\"");
        let mut caller = caller(vec![route(&server, wire, &["k1"])]);
        let (result, told) = run(&mut caller, &request()).await;
        let answered = result.unwrap();
        assert_eq!((answered.answer.text().as_str(), answered.failed.len()), ("hi", 2));
        assert_eq!(
            told,
            ["ask mock-model", "wait Server", "ask mock-model", "wait Overloaded", "ask mock-model", "text"]
        );
        server.assert_done();
    }
}

#[tokio::test]
async fn the_end_says_what_was_tried_and_what_to_do() {
    let first = ModelServer::scripted("always\nstatus 503");
    let second = ModelServer::scripted("always\nstatus 401");
    let mut routes = vec![route(&first, Wire::Chat, &[]), route(&second, Wire::Messages, &["k1"])];
    routes[1].model = "other-model".into();
    let (result, _) = run(&mut caller(routes), &request()).await;
    let text = failed(result);
    assert_eq!((first.calls().len(), second.calls().len()), (3, 1), "a refused key is tried once");
    assert!(
        text.starts_with("'mock-model' at test did not answer, 3 tries: overloaded (HTTP 503)"),
        "{text}"
    );
    assert!(text.contains("\nthen 'other-model' at test did not answer: key refused (HTTP 401)"), "{text}");
    assert!(text.ends_with("try again later, or name a second model with `hermes fallback add`"), "{text}");
    let (result, _) = run(&mut caller(Vec::new()), &request()).await;
    assert_eq!(failed(result), "no model is set up: choose a model with `hermes model`");
}

#[tokio::test]
async fn keys_take_turns_when_they_are_refused() {
    let server = ModelServer::scripted("status 401\n---\nstatus 402\n---\nsay \"hi\"\n---\nsay \"again\"");
    let mut caller = caller(vec![route(&server, Wire::Chat, &["key-one", "key-two", "key-three"])]);
    let (result, told) = run(&mut caller, &request()).await;
    assert_eq!(result.unwrap().answer.text(), "hi");
    assert_eq!(told[1], "key VAR_key-one");
    run(&mut caller, &request()).await.0.unwrap();
    let used: Vec<String> = server.calls().iter().map(|call| call.key().unwrap().to_owned()).collect();
    assert_eq!(used, ["key-one", "key-two", "key-three", "key-three"], "refused keys rest");
}

#[tokio::test]
async fn a_limit_gives_the_key_a_second_chance_and_the_wait_it_asks_for() {
    let server = ModelServer::scripted(
        "status 429 retry-after-ms=3\n---\nstatus 429 retry-after-ms=3\n---\nsay \"hi\"",
    );
    let mut caller = caller(vec![route(&server, Wire::Chat, &["key-one", "key-two"])]);
    let mut pauses = Vec::new();
    let mut on = |event: CallEvent| {
        if let CallEvent::Waiting { after, .. } = event {
            pauses.push(after);
        }
    };
    let (request, scope) = (request(), scope());
    let ask = Ask { request: &request, scope: &scope, shortened: 0 };
    caller.call(ask, &CancellationToken::new(), &mut on).await.unwrap();
    assert_eq!(pauses, [Duration::from_millis(3)]);
    let used: Vec<String> = server.calls().iter().map(|call| call.key().unwrap().to_owned()).collect();
    assert_eq!(used, ["key-one", "key-one", "key-two"]);
}

#[tokio::test]
async fn a_limited_model_is_left_at_once_and_held_for_a_minute() {
    let first = ModelServer::scripted("status 429 retry-after=3600");
    let second = ModelServer::scripted("say \"hi\"\n---\nsay \"still here\"");
    let mut routes = vec![route(&first, Wire::Chat, &["k1"]), route(&second, Wire::Responses, &["k2"])];
    routes[1].model = "second".into();
    let mut caller = caller(routes);
    let (result, told) = run(&mut caller, &request()).await;
    assert_eq!(result.unwrap().model, "second");
    assert_eq!(told, ["ask mock-model", "route second", "ask second", "text"]);
    let now = Instant::now();
    caller.begin_turn(now);
    assert_eq!(caller.route().unwrap().model, "second");
    caller.begin_turn(now + Duration::from_mins(2));
    assert_eq!(caller.route().unwrap().model, "mock-model");
}

#[tokio::test]
async fn after_other_failures_the_next_turn_begins_with_the_first_model() {
    let first = ModelServer::scripted("status 404 body=\"{\\\"error\\\":\\\"model not found\\\"}\"");
    let second = ModelServer::scripted("say \"hi\"");
    let mut caller = caller(vec![route(&first, Wire::Chat, &[]), route(&second, Wire::Chat, &[])]);
    run(&mut caller, &request()).await.0.unwrap();
    caller.begin_turn(Instant::now());
    assert_eq!(caller.route().unwrap().endpoint.base_url.to_string(), first.openai_url());
}

#[tokio::test]
async fn what_was_refused_is_left_out_from_then_on() {
    let refusal = r#"status 400 body="{\"error\":{\"message\":\"Unsupported value: 'temperature' does not support 0.3 with this model.\",\"param\":\"temperature\",\"code\":\"unsupported_value\"}}""#;
    let server = ModelServer::scripted(&format!("{refusal}\n---\nsay \"a\"\n---\nsay \"b\""));
    let mut caller = caller(vec![route(&server, Wire::Chat, &[])]);
    let request = Request { temperature: Some(0.3), ..request() };
    run(&mut caller, &request).await.0.unwrap();
    run(&mut caller, &request).await.0.unwrap();
    let sent: Vec<bool> = server.calls().iter().map(|call| call.body.get("temperature").is_some()).collect();
    assert_eq!(sent, [true, false, false]);
}

#[tokio::test]
async fn less_output_is_asked_for_when_the_prompt_leaves_less_room() {
    let refusal = r#"status 400 body="{\"error\":{\"message\":\"input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000\"}}""#;
    let server = ModelServer::scripted(&format!("{refusal}\n---\nsay \"a\"\n---\nsay \"b\""));
    let mut caller = caller(vec![route(&server, Wire::Messages, &[])]);
    let request = Request { max_tokens: Some(32_000), ..request() };
    run(&mut caller, &request).await.0.unwrap();
    run(&mut caller, &request).await.0.unwrap();
    let sent: Vec<u64> =
        server.calls().iter().map(|call| call.body["max_tokens"].as_u64().unwrap()).collect();
    assert_eq!(sent, [32_000, 9936, 32_000], "a limit of one prompt is not kept for the next");
}

#[tokio::test]
async fn too_long_a_conversation_is_handed_back() {
    for wire in WIRES {
        let server = ModelServer::scripted("overflow");
        let mut caller = caller(vec![route(&server, wire, &[])]);
        let (result, _) = run(&mut caller, &request()).await;
        let Err(GaveUp::TooLong(failure)) = result else { panic!("{wire}: {result:?}") };
        assert_eq!(failure.class, Class::ContextOverflow);
        assert_eq!(caller.route().unwrap().window, failure.quoted_window);
        let (request, scope) = (request(), scope());
        server.add(hermes_testkit::model::Answer::overflow());
        let ask = Ask { request: &request, scope: &scope, shortened: 3 };
        let again = caller.call(ask, &CancellationToken::new(), &mut |_| {}).await;
        assert!(matches!(again, Err(GaveUp::Failed(_))), "not shortened for ever: {again:?}");
    }
}

#[tokio::test]
async fn text_that_was_shown_is_kept_when_the_stream_breaks() {
    for wire in WIRES {
        for end in ["cut", "error \"Overloaded\" type=overloaded_error"] {
            let server = ModelServer::scripted(&format!("say \"half an \"\n{end}"));
            let mut caller = caller(vec![route(&server, wire, &[])]);
            let (result, told) = run(&mut caller, &request()).await;
            let answered = result.unwrap();
            assert_eq!(
                (answered.answer.text().as_str(), answered.answer.finish),
                ("half an ", Finish::Interrupted)
            );
            assert_eq!(told, ["ask mock-model", "text"]);
        }
    }
}

#[tokio::test]
async fn a_call_that_was_begun_is_begun_again() {
    for wire in WIRES {
        let server = ModelServer::scripted(
            "say \"I look.\"\ncall terminal {\"command\":\"rm -rf build\"}\ncut\n---\ncall terminal {\"command\":\"ls\"}",
        );
        let mut caller = caller(vec![route(&server, wire, &[])]);
        let (result, told) = run(&mut caller, &request()).await;
        let answered = result.unwrap();
        let calls: Vec<String> = answered.answer.calls().map(|call| call.arguments.clone()).collect();
        assert_eq!(calls, [r#"{"command":"ls"}"#], "half a call never runs");
        assert!(told.contains(&"over".to_owned()), "{told:?}");
    }
}

#[tokio::test]
async fn a_pause_ends_when_it_is_cancelled() {
    let server = ModelServer::scripted("status 503 retry-after=9");
    let mut caller = caller(vec![route(&server, Wire::Chat, &[])]);
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let mut on = move |event: CallEvent| {
        if matches!(event, CallEvent::Waiting { .. }) {
            stop.cancel();
        }
    };
    let (request, scope) = (request(), scope());
    let ask = Ask { request: &request, scope: &scope, shortened: 0 };
    assert!(matches!(caller.call(ask, &cancel, &mut on).await, Err(GaveUp::Cancelled(_))));
}

#[tokio::test]
async fn what_came_before_a_cancel_is_kept_and_counted() {
    let server = ModelServer::scripted("say \"half an \"\nstall");
    let ledger = Arc::new(MemoryLedger::default());
    let meter = Arc::new(Meter::new(Limits::default(), Arc::clone(&ledger) as Arc<_>));
    let mut caller = caller(vec![route(&server, Wire::Chat, &[])]).with_meter(meter);
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let mut on = move |event: CallEvent| {
        if matches!(event, CallEvent::Model(Event::TextDelta(text)) if text.contains("an")) {
            stop.cancel();
        }
    };
    let (request, scope) = (request(), scope());
    let ask = Ask { request: &request, scope: &scope, shortened: 0 };
    let Err(GaveUp::Cancelled(partial)) = caller.call(ask, &cancel, &mut on).await else {
        panic!("it was cancelled")
    };
    assert_eq!((partial.text().as_str(), partial.finish), ("half an ", Finish::Interrupted));
    let entries = ledger.entries();
    assert_eq!((entries.len(), entries[0].counted), (1, Counted::Guessed));
    assert!(entries[0].usage.input > 0 && entries[0].usage.output > 0);
}

#[tokio::test]
async fn the_budget_stops_calls_before_they_are_made() {
    const PRICE: Price = Price { input: 1_000_000, output: 1_000_000, cache_read: 0, cache_write: 0 };
    let server = ModelServer::scripted("say \"hi\"\nusage in=960 out=30");
    let ledger = Arc::new(MemoryLedger::default());
    let limits = Limits::default().with(Period::Day, Limit { tokens: None, money: Some(MicroDollars(1000)) });
    let meter = Arc::new(Meter::new(limits, Arc::clone(&ledger) as Arc<_>));
    let mut priced = route(&server, Wire::Chat, &[]);
    priced.price = Some(PRICE);
    let mut caller = caller(vec![priced]).with_meter(meter);
    let request = request();
    let answered = run(&mut caller, &request).await.0.unwrap();
    assert_eq!(answered.cost, Cost::Estimated(MicroDollars(990)));
    let allowed = 1000 - request.estimated_tokens();
    assert_eq!(server.last_call().body["max_tokens"], allowed, "no more may be written than can be paid");
    let (result, told) = run(&mut caller, &request).await;
    let Err(GaveUp::Budget(error)) = result else { panic!("{result:?}") };
    assert!(
        error.to_string().contains("the budget of this day is used up: $0.00099 of $0.001 spent"),
        "{error}"
    );
    assert!(told.is_empty());
    assert_eq!(server.calls().len(), 1);
    assert_eq!(ledger.entries().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callers_can_work_in_parallel() {
    let server = ModelServer::scripted("always\nsay \"hi\"");
    let shared = route(&server, Wire::Chat, &["k1"]);
    let client = Arc::new(Client::default());
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let mut caller = Caller::new(Arc::clone(&client), vec![shared.clone()], QUICK);
            tokio::spawn(async move {
                let (request, scope) = (request(), scope());
                let ask = Ask { request: &request, scope: &scope, shortened: 0 };
                caller
                    .call(ask, &CancellationToken::new(), &mut |_| {})
                    .await
                    .map(|answered| answered.answer.text())
            })
        })
        .collect();
    for task in tasks {
        assert_eq!(task.await.unwrap().unwrap(), "hi");
    }
    assert_eq!(server.calls().len(), 8);
}

#[tokio::test]
async fn conversations_go_on_with_another_model() {
    let first = ModelServer::scripted(
        "think \"hm\"\nsay \"I look.\"\ncall terminal {\"command\":\"ls\"}\n---\nstatus 401",
    );
    let second = ModelServer::scripted("say \"done\"");
    let routes = vec![route(&first, Wire::Messages, &["k1"]), route(&second, Wire::Responses, &["k2"])];
    let mut caller = caller(routes);
    let mut request = request();
    let answered = run(&mut caller, &request).await.0.unwrap();
    let call = answered.answer.calls().next().unwrap().clone();
    request.messages.push(answered.answer.message());
    request.messages.push(Message::Tool(hermes_model::ToolResult::ok(&call, "README.md")));
    let answered = run(&mut caller, &request).await.0.unwrap();
    assert_eq!(answered.answer.text(), "done");
    assert_eq!(second.last_call().tool_results(), [(call.id, "README.md".to_owned())]);
}
