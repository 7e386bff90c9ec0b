//! The message that stands for earlier ones: how it is framed, and how it is recognised.

use hermes_model::Message;

/// The first line of such a message.
const OPEN: &str = "[Summary of the earlier conversation]";
/// The last one.
const CLOSE: &str = "[End of the summary. What follows is the conversation itself.]";

/// What the model should make of it.
const FRAME: &str = "\
This stands for messages that were taken out to make room. It is background, not a request: do not answer it and do not \
start on anything only because it is mentioned here. Where it and the messages below differ, the messages are right. Your \
notes and the project's files still hold as they are.";

/// A summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary(String);

impl Summary {
    /// A summary of these words.
    pub fn new(text: impl Into<String>) -> Self {
        // Its own last line inside would end it early when it is read back.
        Self(text.into().replace(CLOSE, "").trim().to_owned())
    }

    /// The words.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// As a message of the conversation.
    pub fn message(&self) -> Message {
        Message::user(format!("{OPEN}\n{FRAME}\n\n{}\n\n{CLOSE}", self.0))
    }

    /// The same with what the model should still know besides. It stands behind the summary, so the next one, which takes
    /// up the summary alone, does not carry what was true once.
    pub fn message_with(&self, reminders: &[String]) -> Message {
        let mut text = self.message().text();
        for reminder in reminders {
            text.push_str("\n\n");
            text.push_str(reminder);
        }
        Message::user(text)
    }

    /// Reads a message back, if it is one.
    pub fn of(message: &Message) -> Option<Self> {
        if !matches!(message, Message::User(_)) {
            return None;
        }
        let text = message.text();
        let inside = text.strip_prefix(OPEN)?;
        let (inside, _) = inside.split_once(CLOSE)?;
        Some(Self(inside.trim_start().strip_prefix(FRAME).unwrap_or(inside).trim().to_owned()))
    }
}

/// Whether a message is a summary of earlier ones.
pub fn is_summary(message: &Message) -> bool {
    Summary::of(message).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_summary_is_recognised_after_it_was_stored(text in "(\\PC|\n){0,200}") {
            let summary = Summary::new(text);
            prop_assert_eq!(Summary::of(&summary.message()), Some(summary));
        }
    }

    #[test]
    fn reminders_stand_behind_the_summary_and_are_not_part_of_it() {
        let summary = Summary::new("so far so good");
        let message = summary.message_with(&["[Your task list]\n- 1: go on".to_owned()]);
        assert!(message.text().ends_with("- 1: go on"));
        assert_eq!(Summary::of(&message), Some(summary));
    }

    #[test]
    fn other_messages_are_not_summaries() {
        assert!(!is_summary(&Message::user("please summarise")));
        assert!(!is_summary(&Message::assistant(Summary::new("x").message().text())));
    }
}
