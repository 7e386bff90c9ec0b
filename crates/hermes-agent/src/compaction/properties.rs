//! What holds for every conversation.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;

use hermes_guard::Redactor;
use hermes_model::{Content, Finish, Message, Part, ToolCall};
use proptest::prelude::*;

use super::testing::{conversation, result};
use super::*;
use crate::history::Entry;

/// Any conversation: questions, answers, answers with several calls, summaries, in any order.
fn any_conversation() -> impl Strategy<Value = Vec<Entry>> {
    let step = (0u8..8, 0usize..700, 1usize..4);
    prop::collection::vec(step, 0..60).prop_map(|steps| {
        let mut messages = Vec::new();
        for (n, (kind, size, calls)) in steps.into_iter().enumerate() {
            match kind {
                0 | 1 => messages.push(Message::user(format!("q{n} {}", "q".repeat(size)))),
                2 => messages.push(Message::assistant("a".repeat(size))),
                3 => messages.push(Summary::new("s".repeat(size)).message()),
                _ => messages.extend(calls_and_results(n, size, calls)),
            }
        }
        conversation(messages)
    })
}

fn calls_and_results(n: usize, size: usize, calls: usize) -> Vec<Message> {
    let call = |k: usize| ToolCall {
        id: format!("c{n}_{k}"),
        name: "terminal".into(),
        arguments: serde_json::json!({"command": "x".repeat(size)}).to_string(),
        ..ToolCall::default()
    };
    let mut messages = vec![Message::Assistant((0..calls).map(|k| Part::Call(call(k))).collect())];
    messages.extend((0..calls).map(|k| result(&call(k).id, "terminal", &"o".repeat(size * k))));
    messages
}

fn any_limits() -> impl Strategy<Value = Limits> {
    let keep = prop_oneof![Just(Keep::Budget), (0usize..6).prop_map(Keep::Exchanges)];
    (0usize..6, 0usize..12, 0u64..2_000, 2_000u64..200_000, keep).prop_map(
        |(protect_first, protect_last, tail_tokens, window, keep)| Limits {
            protect_first,
            protect_last,
            tail_tokens,
            window,
            keep,
            estimator: Estimator::default(),
        },
    )
}

/// As the journal does it.
fn replaced(history: &[Entry], done: &Replacement) -> Vec<Entry> {
    let first = history.iter().position(|entry| done.hidden.contains(&entry.row)).unwrap();
    let kept = |entries: &[Entry]| -> Vec<Message> {
        let kept = entries.iter().filter(|entry| !done.hidden.contains(&entry.row));
        kept.map(|entry| entry.message.clone()).collect()
    };
    let mut messages = kept(&history[..first]);
    messages.extend(done.inserted.iter().cloned());
    messages.extend(kept(&history[first..]));
    conversation(messages)
}

fn calls_of(history: &[Entry]) -> BTreeSet<String> {
    history.iter().flat_map(|entry| entry.message.calls().map(|call| call.id.clone())).collect()
}

fn results_of(history: &[Entry]) -> BTreeSet<String> {
    let id = |entry: &Entry| match &entry.message {
        Message::Tool(result) => Some(result.call_id.clone()),
        _ => None,
    };
    history.iter().filter_map(id).collect()
}

fn last_question(history: &[Entry]) -> Option<Message> {
    let is_question = |message: &&Message| matches!(message, Message::User(_)) && !is_summary(message);
    history.iter().rev().map(|entry| &entry.message).find(is_question).cloned()
}

/// The texts that a person would know the messages by.
fn names(history: &[Entry]) -> Vec<String> {
    let name = |entry: &Entry| match &entry.message {
        Message::Tool(result) => result.call_id.clone(),
        Message::User(content) => match content.first() {
            Some(Content::Text(text)) => text.chars().take(6).collect(),
            _ => String::new(),
        },
        Message::Assistant(_) => entry.message.calls().map(|call| call.id.clone()).collect(),
    };
    history.iter().map(name).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn a_summary_keeps_pairs_order_and_the_last_question(history in any_conversation(), limits in any_limits()) {
        let Ok(plan) = plan(&history, &limits) else { return Ok(()) };
        let Ok(done) = apply(&plan, "short", &Finish::Stop, &[], &Redactor::disabled()) else { return Ok(()) };
        let after = replaced(&history, &done);
        prop_assert_eq!(calls_of(&after), results_of(&after));
        prop_assert_eq!(last_question(&after), last_question(&history));
        let (before, left) = (names(&history), names(&after));
        let mut rest = before.iter();
        for name in left.iter().filter(|name| !name.starts_with("[Summa")) {
            prop_assert!(rest.any(|known| known == name), "{} is out of order", name);
        }
    }

    #[test]
    fn doing_it_twice_does_nothing_more(history in any_conversation(), limits in any_limits()) {
        let Ok(first) = plan(&history, &limits) else { return Ok(()) };
        let Ok(done) = apply(&first, "short", &Finish::Stop, &[], &Redactor::disabled()) else { return Ok(()) };
        let after = replaced(&history, &done);
        prop_assert!(plan(&after, &limits).is_err());
    }

    #[test]
    fn every_message_is_in_one_place(history in any_conversation(), limits in any_limits()) {
        let Ok(plan) = plan(&history, &limits) else { return Ok(()) };
        let mut places: Vec<usize> = plan.head.clone().chain(plan.tail.clone()).collect();
        places.extend(plan.middle.iter().chain(&plan.earlier).copied().chain(plan.pinned));
        places.sort_unstable();
        prop_assert_eq!(places, (0..history.len()).collect::<Vec<_>>());
        prop_assert!(plan.preview().tokens_after <= plan.preview().tokens);
    }

    #[test]
    fn pruning_keeps_everything_but_length(history in any_conversation(), limits in any_limits()) {
        let Ok(first) = plan(&history, &limits) else { return Ok(()) };
        let Some(done) = prune_only(&first) else { return Ok(()) };
        let after = replaced(&history, &done);
        prop_assert_eq!(names(&after), names(&history));
        prop_assert!(done.after < done.before);
        // The same places pruned again: nothing.
        prop_assert!(prune::prune(&after, &first.middle).is_empty());
    }
}
