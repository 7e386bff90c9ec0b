//! Makes a conversation acceptable to every provider, on a copy: pairs of calls and results, no empty messages, no two
//! user messages in a row.

use crate::message::{Content, Message, Part, ToolCall, ToolResult, ToolStatus};

/// What the model is told about a call whose result was never stored.
const NO_RESULT: &str = "No result was recorded for this call: it was interrupted before it ended.";

/// The conversation as it can be sent.
pub fn tidy(messages: &[Message]) -> Vec<Message> {
    let mut tidied = Tidied::default();
    for message in messages {
        match message {
            Message::User(content) => tidied.user(content),
            Message::Assistant(parts) => tidied.assistant(parts),
            Message::Tool(result) => tidied.result(result),
        }
    }
    tidied.close_calls();
    tidied.messages
}

#[derive(Default)]
struct Tidied {
    messages: Vec<Message>,
    /// The calls of the newest answer, with the results that have come.
    open: Vec<(ToolCall, Option<ToolResult>)>,
}

impl Tidied {
    fn user(&mut self, content: &[Content]) {
        let has_something = |item: &&Content| !matches!(item, Content::Text(text) if text.trim().is_empty());
        let content: Vec<Content> = content.iter().filter(has_something).cloned().collect();
        if content.is_empty() {
            return;
        }
        self.close_calls();
        match self.messages.last_mut() {
            Some(Message::User(before)) => before.extend(content),
            _ => self.messages.push(Message::User(content)),
        }
    }

    /// Answers that hold nothing but thoughts are refused by some providers and help nobody: they are left out.
    fn assistant(&mut self, parts: &[Part]) {
        let mut kept: Vec<Part> = Vec::new();
        for part in parts {
            match part {
                // Trailing blanks at the end of a prefilled answer are refused.
                Part::Text(text) if text.trim().is_empty() => {}
                Part::Text(text) => kept.push(Part::Text(text.trim_end().to_owned())),
                other => kept.push(other.clone()),
            }
        }
        if kept.iter().all(|part| matches!(part, Part::Reasoning(_))) {
            return;
        }
        self.close_calls();
        let message = Message::Assistant(kept);
        self.open = message.calls().map(|call| (call.clone(), None)).collect();
        self.messages.push(message);
    }

    /// A result of a call that is not open is an orphan: every provider refuses a request with one.
    fn result(&mut self, result: &ToolResult) {
        let open = self.open.iter_mut().find(|(call, done)| call.id == result.call_id && done.is_none());
        if let Some((_, done)) = open {
            *done = Some(result.clone());
        }
    }

    /// Writes the results down in the order of the calls.
    fn close_calls(&mut self) {
        for (call, result) in self.open.drain(..) {
            self.messages.push(Message::Tool(result.unwrap_or_else(|| missing(&call))));
        }
    }
}

fn missing(call: &ToolCall) -> ToolResult {
    ToolResult { status: ToolStatus::Failed, ..ToolResult::ok(call, NO_RESULT) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Reasoning;
    use proptest::prelude::*;

    fn call(id: &str) -> Part {
        Part::Call(ToolCall {
            id: id.into(),
            name: "t".into(),
            arguments: "{}".into(),
            ..ToolCall::default()
        })
    }

    fn result(id: &str, text: &str) -> Message {
        let call = ToolCall { id: id.into(), name: "t".into(), ..ToolCall::default() };
        Message::Tool(ToolResult::ok(&call, text))
    }

    #[test]
    fn orphans_go_and_missing_results_are_filled_in_call_order() {
        let tidied = tidy(&[
            result("x", "orphan"),
            Message::user("go"),
            Message::Assistant(vec![call("a"), call("b")]),
            result("b", "second"),
            result("b", "again"),
            Message::user("next"),
            result("a", "too late"),
        ]);
        let texts: Vec<String> = tidied.iter().map(Message::text).collect();
        assert_eq!(texts, ["go", "", NO_RESULT, "second", "next"]);
    }

    #[test]
    fn user_messages_in_a_row_become_one_and_empty_ones_go() {
        let thought = Part::Reasoning(Reasoning { text: "hm".into(), ..Reasoning::default() });
        let tidied = tidy(&[
            Message::user("a"),
            Message::Assistant(vec![thought]),
            Message::user("  "),
            Message::user("b"),
            Message::assistant("done \n"),
        ]);
        assert_eq!(tidied.iter().map(Message::text).collect::<Vec<_>>(), ["a\nb", "done"]);
    }

    fn any_message() -> impl Strategy<Value = Message> {
        let id = prop::sample::select(vec!["a", "b", "c"]);
        let part = prop_oneof![
            id.clone().prop_map(call),
            Just(Part::Text("t".into())),
            Just(Part::Reasoning(Reasoning::default())),
        ];
        prop_oneof![
            Just(Message::user("u")),
            prop::collection::vec(part, 0..4).prop_map(Message::Assistant),
            id.prop_map(|id| result(id, "r")),
        ]
    }

    proptest! {
        #[test]
        fn every_call_is_followed_by_its_result_and_nothing_else_is_a_result(
            messages in prop::collection::vec(any_message(), 0..20)
        ) {
            let tidied = tidy(&messages);
            let mut expected: Vec<String> = Vec::new();
            for message in &tidied {
                if let Message::Tool(result) = message {
                    prop_assert!(!expected.is_empty(), "an orphan");
                    prop_assert_eq!(&expected.remove(0), &result.call_id);
                } else {
                    prop_assert!(expected.is_empty(), "a call without result");
                    expected = message.calls().map(|call| call.id.clone()).collect();
                }
            }
            prop_assert!(expected.is_empty());
            prop_assert_eq!(tidy(&tidied), tidied, "tidying twice changes nothing");
        }
    }
}
