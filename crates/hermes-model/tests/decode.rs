//! Streams as providers send them: what they say, and that the way the bytes are cut does not matter.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use hermes_model::message::Replay;
use hermes_model::wire::Progress;
use hermes_model::{
    Answer, Collector, Event, Finish, MicroDollars, Part, StreamError, ToolCall, Usage, Wire,
};
use proptest::prelude::*;
use serde_json::json;

const STREAMS: [(Wire, &str); 9] = [
    (Wire::Chat, include_str!("streams/chat_parallel.sse")),
    (Wire::Chat, include_str!("streams/chat_index_reuse.sse")),
    (Wire::Chat, include_str!("streams/chat_no_ids.sse")),
    (Wire::Chat, include_str!("streams/chat_think_details.sse")),
    (Wire::Chat, include_str!("streams/chat_error.sse")),
    (Wire::Messages, include_str!("streams/messages_thinking.sse")),
    (Wire::Messages, include_str!("streams/messages_error.sse")),
    (Wire::Responses, include_str!("streams/responses_tools.sse")),
    (Wire::Responses, include_str!("streams/responses_failed.sse")),
];

fn events<'a>(wire: Wire, pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Event> {
    let mut decoder = wire.decoder();
    let mut events: Vec<Event> = pieces.into_iter().flat_map(|piece| decoder.push(piece)).collect();
    events.extend(decoder.finish());
    assert_eq!(decoder.progress(), Progress::Done);
    events
}

fn read(wire: Wire, text: &str) -> (Answer, Vec<Event>) {
    let events = events(wire, [text.as_bytes()]);
    let mut collector = Collector::new("host");
    for event in &events {
        collector.add(event);
    }
    (collector.finish(), events)
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall { id: id.into(), name: name.into(), arguments: arguments.into(), ..ToolCall::default() }
}

fn calls(answer: &Answer) -> Vec<ToolCall> {
    answer.calls().cloned().collect()
}

fn thoughts(answer: &Answer) -> Vec<(String, Option<Replay>)> {
    let thought = |part: &Part| match part {
        Part::Reasoning(reasoning) => Some((reasoning.text.clone(), reasoning.replay.clone())),
        _ => None,
    };
    answer.parts.iter().filter_map(thought).collect()
}

#[test]
fn chat_calls_come_in_parallel_and_in_fragments() {
    let (answer, _) = read(STREAMS[0].0, STREAMS[0].1);
    assert_eq!(answer.text(), "Grüße, I look 🎉.");
    let expected =
        [call("call_a", "terminal", r#"{"command":"ls"}"#), call("call_b", "read_file", r#"{"path":"ä"}"#)];
    assert_eq!(calls(&answer), expected);
    assert_eq!(answer.finish, Finish::ToolCalls);
    let usage = Usage {
        input: 200,
        output: 40,
        cache_read: 1000,
        cache_write: 0,
        reasoning: 8,
        charged: Some(MicroDollars(1230)),
    };
    assert_eq!(answer.usage, usage);
}

#[test]
fn a_new_id_at_a_used_index_is_a_new_call() {
    let (answer, _) = read(STREAMS[1].0, STREAMS[1].1);
    let expected =
        [call("call_1", "terminal", r#"{"command":"a"}"#), call("call_2", "terminal", r#"{"command":"b"}"#)];
    assert_eq!(calls(&answer), expected);
    assert_eq!(answer.finish, Finish::ToolCalls, "'stop' with calls means that they should run");
}

#[test]
fn calls_without_id_or_index_get_stable_ids() {
    let (answer, _) = read(STREAMS[2].0, STREAMS[2].1);
    let (again, _) = read(STREAMS[2].0, STREAMS[2].1);
    let found = calls(&answer);
    assert_eq!(found.iter().map(|call| call.name.as_str()).collect::<Vec<_>>(), ["terminal", "todo"]);
    assert_eq!(found[0].arguments, r#"{"command":"a"}"#);
    assert_ne!(found[0].id, found[1].id);
    assert_eq!(found, calls(&again));
    assert_eq!(answer.finish, Finish::ToolCalls);
}

#[test]
fn thoughts_are_found_wherever_they_stand() {
    let (answer, _) = read(STREAMS[3].0, STREAMS[3].1);
    assert_eq!(answer.text(), "Done");
    let details = json!([{"type": "reasoning.text", "text": "Let me see", "format": "anthropic-claude-v1",
        "index": 0, "signature": "sig=="}]);
    let details = details.as_array().unwrap().clone();
    let found = thoughts(&answer);
    assert_eq!(found[0], ("Let me seeinner".to_owned(), None));
    assert_eq!(found[1], (String::new(), Some(Replay::Details(details))));
    assert_eq!(answer.finish, Finish::Stop, "the end counts without [DONE]");
    assert_eq!(answer.usage.prompt(), 10);
}

#[test]
fn an_error_in_the_middle_ends_the_stream() {
    let (answer, events) = read(STREAMS[4].0, STREAMS[4].1);
    assert_eq!((answer.text().as_str(), answer.finish), ("Half an", Finish::Interrupted));
    let error = StreamError::Reported {
        code: None,
        status: Some(502),
        message: "Provider disconnected unexpectedly".into(),
    };
    assert_eq!(events.last(), Some(&Event::ProviderError(error)));
    let (_, events) = read(STREAMS[6].0, STREAMS[6].1);
    let error = StreamError::Reported {
        code: Some("overloaded_error".into()),
        status: None,
        message: "Overloaded".into(),
    };
    assert_eq!(events.last(), Some(&Event::ProviderError(error)));
    let (_, events) = read(STREAMS[8].0, STREAMS[8].1);
    let code = Some("rate_limit_exceeded".into());
    let error = StreamError::Reported { code, status: None, message: "Slow down".into() };
    assert_eq!(events, [Event::ProviderError(error)]);
}

#[test]
fn messages_keep_signatures_and_count_the_cache_apart() {
    let (answer, _) = read(STREAMS[5].0, STREAMS[5].1);
    let expected = [
        ("Ich überlege".to_owned(), Some(Replay::Signature("EqQB".into()))),
        (String::new(), Some(Replay::Redacted("opaque".into()))),
    ];
    assert_eq!(thoughts(&answer), expected);
    assert_eq!(answer.text(), "Hello 🎉");
    let expected = [call("toolu_1", "terminal", r#"{"command": "ls"}"#), call("toolu_2", "todo", "{}")];
    assert_eq!(calls(&answer), expected);
    let usage = Usage { input: 25, output: 89, cache_read: 4000, cache_write: 300, ..Usage::default() };
    assert_eq!((answer.usage, answer.finish), (usage, Finish::ToolCalls));
}

#[test]
fn responses_bring_items_in_any_order() {
    let (answer, _) = read(STREAMS[7].0, STREAMS[7].1);
    let encrypted = Replay::Encrypted { id: "rs_1".into(), content: "gAAA".into() };
    assert_eq!(thoughts(&answer), [("First\n\nSecond".to_owned(), Some(encrypted))]);
    assert_eq!(answer.text(), "Zwei Wörter");
    let item = |id: &str, call: ToolCall| ToolCall { item_id: Some(id.into()), ..call };
    let expected = [
        item("fc_2", call("call_b", "todo", "{}")),
        item("fc_1", call("call_a", "terminal", r#"{"command":"ls"}"#)),
    ];
    assert_eq!(calls(&answer), expected);
    let usage = Usage { input: 100, output: 60, cache_read: 400, reasoning: 20, ..Usage::default() };
    assert_eq!((answer.usage, answer.finish), (usage, Finish::ToolCalls));
}

#[test]
fn a_stream_that_breaks_off_says_so_and_runs_no_half_calls() {
    for (wire, text) in STREAMS {
        for cut in 0..text.len() {
            let events = events(wire, [&text.as_bytes()[..cut]]);
            let ends = |event: &Event| matches!(event, Event::Finished(_) | Event::ProviderError(_));
            assert_eq!(events.iter().filter(|event| ends(event)).count(), 1, "cut at {cut}");
            assert!(events.last().is_some_and(ends), "cut at {cut}");
            if wire == Wire::Chat && matches!(events.last(), Some(Event::ProviderError(_))) {
                let done = events.iter().any(|event| matches!(event, Event::ToolCallDone { .. }));
                assert!(!done, "cut at {cut}: a call may lack its end");
            }
        }
    }
}

#[test]
fn garbage_ends_a_stream_but_not_an_answer_that_is_complete() {
    let broken = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: {\"broken\n\ndata: {\"choices\":[]}\n\n";
    let found = events(Wire::Chat, [broken.as_bytes()]);
    assert_eq!(found[0], Event::TextDelta("a".into()));
    assert!(matches!(&found[1], Event::ProviderError(StreamError::Malformed(_))), "{found:?}");
    assert_eq!(found.len(), 2);
    let late = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\ndata: <html>\n\n";
    assert_eq!(events(Wire::Chat, [late.as_bytes()]).last(), Some(&Event::Finished(Finish::Stop)));
    let other = "<html>\n<body>Bad gateway</body>\n";
    assert_eq!(events(Wire::Chat, [other.as_bytes()]), [Event::ProviderError(StreamError::Cut)]);
}

#[test]
fn memory_is_bounded() {
    for wire in [Wire::Chat, Wire::Messages, Wire::Responses] {
        let mut decoder = wire.decoder();
        let piece = vec![b'a'; 1024 * 1024];
        let found: Vec<Event> = (0..100).flat_map(|_| decoder.push(&piece)).collect();
        assert_eq!(found, [Event::ProviderError(StreamError::TooLarge)]);
    }
    let mut decoder = Wire::Chat.decoder();
    let event =
        format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{}\"}}}}]}}\n\n", "x".repeat(1 << 20));
    let last = (0..100).flat_map(|_| decoder.push(event.as_bytes())).last();
    assert_eq!(last, Some(Event::ProviderError(StreamError::TooLarge)));
}

#[test]
fn one_piece_says_the_same_as_a_stream() {
    let chat = json!({"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
        "role": "assistant", "content": "<think>a</think>Hi", "reasoning_content": "b",
        "tool_calls": [{"id": "", "type": "function", "function": {"name": "t", "arguments": "{}"}},
            {"id": "", "type": "function", "function": {"name": "t", "arguments": "{}"}}]}}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2}});
    let read_whole = |wire: Wire, body: &serde_json::Value| {
        let mut collector = Collector::new("host");
        wire.decode_whole(body.to_string().as_bytes()).iter().for_each(|event| collector.add(event));
        collector.finish()
    };
    let answer = read_whole(Wire::Chat, &chat);
    assert_eq!((answer.text().as_str(), answer.finish.clone()), ("Hi", Finish::ToolCalls));
    assert_eq!(answer.calls().count(), 2);
    assert_eq!(thoughts(&answer), [("ba".to_owned(), None)]);

    let messages = json!({"type": "message", "stop_reason": "tool_use", "usage": {"input_tokens": 3, "output_tokens": 2},
        "content": [{"type": "thinking", "thinking": "a", "signature": "s"}, {"type": "text", "text": "Hi"},
            {"type": "tool_use", "id": "t1", "name": "t", "input": {"a": 1}}]});
    let answer = read_whole(Wire::Messages, &messages);
    assert_eq!((answer.text().as_str(), answer.finish.clone()), ("Hi", Finish::ToolCalls));
    assert_eq!(calls(&answer), [call("t1", "t", r#"{"a":1}"#)]);
    assert_eq!(thoughts(&answer), [("a".to_owned(), Some(Replay::Signature("s".into())))]);

    let responses = json!({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "error": null,
        "output": [{"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "a"}]},
            {"type": "message", "content": [{"type": "output_text", "text": "Hi"}]}],
        "usage": {"input_tokens": 3, "output_tokens": 2}});
    let answer = read_whole(Wire::Responses, &responses);
    assert_eq!((answer.text().as_str(), answer.finish.clone()), ("Hi", Finish::Length));
    assert_eq!(thoughts(&answer), [("a".to_owned(), None)]);

    for wire in [Wire::Chat, Wire::Messages, Wire::Responses] {
        let odd: [&[u8]; 5] =
            [b"", b"{}", b"[]", b"<html>", b"{\"error\":{\"message\":\"no\",\"type\":\"t\"}}"];
        for body in odd {
            assert!(
                matches!(wire.decode_whole(body).last(), Some(Event::ProviderError(_))),
                "{wire} {body:?}"
            );
        }
    }
}

fn cut<'a>(bytes: &'a [u8], cuts: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    at.push(bytes.len());
    at.sort_unstable();
    let mut start = 0;
    at.into_iter().map(|end| &bytes[std::mem::replace(&mut start, end)..end]).collect()
}

proptest! {
    #[test]
    fn any_cutting_gives_the_same_events(
        which in 0..STREAMS.len(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let (wire, text) = STREAMS[which];
        prop_assert_eq!(events(wire, cut(text.as_bytes(), &cuts)), events(wire, [text.as_bytes()]));
    }

    #[test]
    fn random_bytes_never_panic(
        which in 0..3usize,
        pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), 0..10),
    ) {
        let wire = [Wire::Chat, Wire::Messages, Wire::Responses][which];
        let _ = events(wire, pieces.iter().map(Vec::as_slice));
        let _ = wire.decode_whole(&pieces.concat());
    }

    /// Streams whose events are the right JSON in the wrong place, or damaged: no panic, exactly one end.
    #[test]
    fn damaged_streams_have_one_end(
        which in 0..STREAMS.len(),
        as_wire in 0..3usize,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
    ) {
        let wire = [Wire::Chat, Wire::Messages, Wire::Responses][as_wire];
        let mut bytes = STREAMS[which].1.as_bytes().to_vec();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let events = events(wire, [bytes.as_slice()]);
        let ends = |event: &&Event| matches!(event, Event::Finished(_) | Event::ProviderError(_));
        prop_assert_eq!(events.iter().filter(ends).count(), 1);
        prop_assert!(events.last().as_ref().is_some_and(ends));
    }

    /// However broken a stream is and wherever it stops, cutting it differently changes nothing.
    #[test]
    fn broken_streams_say_the_same_however_they_are_cut(
        which in 0..STREAMS.len(),
        as_wire in 0..3usize,
        end in any::<prop::sample::Index>(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let wire = [Wire::Chat, Wire::Messages, Wire::Responses][as_wire];
        let whole = STREAMS[which].1.as_bytes();
        let mut bytes = whole[..=end.index(whole.len())].to_vec();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        prop_assert_eq!(events(wire, cut(&bytes, &cuts)), events(wire, [bytes.as_slice()]));
    }

    /// Pieces of the formats in any order: closer to what breaks decoders than plain noise.
    #[test]
    fn grammar_in_any_order_never_panics(
        which in 0..3usize,
        pieces in prop::collection::vec(0..FRAGMENTS.len(), 0..40),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..10),
    ) {
        let wire = [Wire::Chat, Wire::Messages, Wire::Responses][which];
        let text: String = pieces.into_iter().map(|piece| FRAGMENTS[piece]).collect();
        prop_assert_eq!(events(wire, cut(text.as_bytes(), &cuts)), events(wire, [text.as_bytes()]));
        let _ = wire.decode_whole(text.as_bytes());
    }
}

const FRAGMENTS: [&str; 24] = [
    "data: ",
    "event: error",
    "\n\n",
    "\r\n",
    ":",
    "[DONE]",
    "{",
    "}",
    "[",
    "]",
    "\"choices\":",
    "\"delta\":",
    "\"tool_calls\":[{\"index\":18446744073709551615,\"function\":{\"name\":\"\",\"arguments\":\"{\"}}]",
    "\"content\":",
    "null",
    "-1",
    "1e999",
    "\"\\ud800\"",
    "\u{fffd}",
    "data: {\"type\":\"content_block_delta\",\"index\":-5,\"delta\":{\"type\":\"text_delta\",\"text\":\"x\"}}\n\n",
    "data: {\"type\":\"content_block_start\",\"index\":3,\"content_block\":{\"type\":\"tool_use\"}}\n\n",
    "data: {\"type\":\"response.output_item.added\",\"item\":{\"type\":\"function_call\"}}\n\n",
    "data: {\"choices\":[{\"delta\":{\"content\":\"<think>\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":-1}}\n\n",
    ",",
];
