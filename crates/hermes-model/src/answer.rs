//! Puts the events of a stream together to one answer.

use crate::event::{Event, Finish};
use crate::message::{Message, Part, Reasoning, ToolCall};
use crate::usage::Usage;

/// An answer of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// What it says, in the order it came.
    pub parts: Vec<Part>,
    /// Why it ended.
    pub finish: Finish,
    /// What it took.
    pub usage: Usage,
}

impl Answer {
    /// As a message of the conversation.
    pub fn message(&self) -> Message {
        Message::Assistant(self.parts.clone())
    }

    /// All its text.
    pub fn text(&self) -> String {
        self.message().text()
    }

    /// The tool calls in it.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| if let Part::Call(call) = part { Some(call) } else { None })
    }
}

/// Collects events.
#[derive(Debug, Clone, Default)]
pub struct Collector {
    issuer: String,
    parts: Vec<Part>,
    /// Thoughts that may still grow.
    open: Option<Reasoning>,
    usage: Usage,
    finish: Option<Finish>,
    calls_begun: bool,
}

impl Collector {
    /// For an answer that comes from this host.
    pub fn new(issuer: impl Into<String>) -> Self {
        Self { issuer: issuer.into(), ..Self::default() }
    }

    /// Takes the next event.
    pub fn add(&mut self, event: &Event) {
        match event {
            Event::TextDelta(delta) => self.text(delta),
            Event::ReasoningDelta(delta) => self.thoughts().text.push_str(delta),
            Event::ReasoningDone(replay) => {
                // A provider that hides the thoughts sends only what it wants back.
                if replay.is_some() {
                    self.thoughts().replay.clone_from(replay);
                }
                self.close_thoughts();
            }
            Event::ToolCallStarted { .. } | Event::ToolCallArgs { .. } => {
                self.calls_begun = true;
                self.close_thoughts();
            }
            Event::ToolCallDone { call, .. } => {
                self.close_thoughts();
                self.parts.push(Part::Call(call.clone()));
            }
            Event::Usage(usage) => self.usage = *usage,
            Event::Finished(finish) => self.finish = Some(finish.clone()),
            Event::ProviderError(_) => {}
        }
    }

    /// Whether text for the user has arrived.
    pub fn has_text(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Text(text) if !text.is_empty()))
    }

    /// Whether a tool call has begun.
    pub fn has_calls(&self) -> bool {
        self.calls_begun || self.parts.iter().any(|part| matches!(part, Part::Call(_)))
    }

    /// Whether anything has arrived.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.open.is_none() && !self.calls_begun
    }

    /// Whether the end has come.
    pub fn has_ended(&self) -> bool {
        self.finish.as_ref().is_some_and(|finish| *finish != Finish::Interrupted)
    }

    /// The counts so far.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// Bytes of text and thoughts so far, to guess the usage of an answer that broke off.
    pub fn size(&self) -> usize {
        let size = |part: &Part| match part {
            Part::Text(text) => text.len(),
            Part::Reasoning(reasoning) => reasoning.text.len(),
            Part::Call(call) => call.arguments.len(),
        };
        let open = self.open.as_ref().map_or(0, |reasoning| reasoning.text.len());
        self.parts.iter().map(size).sum::<usize>() + open
    }

    /// The answer; interrupted when no end came. Calls that were not complete are not in it.
    pub fn finish(mut self) -> Answer {
        self.close_thoughts();
        Answer { parts: self.parts, finish: self.finish.unwrap_or(Finish::Interrupted), usage: self.usage }
    }

    fn text(&mut self, delta: &str) {
        self.close_thoughts();
        match self.parts.last_mut() {
            Some(Part::Text(text)) => text.push_str(delta),
            _ => self.parts.push(Part::Text(delta.to_owned())),
        }
    }

    fn thoughts(&mut self) -> &mut Reasoning {
        let issuer = &self.issuer;
        self.open.get_or_insert_with(|| Reasoning { issuer: issuer.clone(), ..Reasoning::default() })
    }

    fn close_thoughts(&mut self) {
        self.parts.extend(self.open.take().map(Part::Reasoning));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Replay;

    #[test]
    fn runs_of_one_kind_become_one_part() {
        let mut collector = Collector::new("h");
        let call = ToolCall { id: "c".into(), name: "t".into(), ..ToolCall::default() };
        let signature = Some(Replay::Signature("s".into()));
        for event in [
            Event::ReasoningDelta("a".into()),
            Event::ReasoningDelta("b".into()),
            Event::ReasoningDone(signature.clone()),
            Event::ReasoningDone(Some(Replay::Redacted("r".into()))),
            Event::TextDelta("x".into()),
            Event::TextDelta("y".into()),
            Event::ToolCallStarted { slot: 0, name: "t".into() },
            Event::ToolCallDone { slot: 0, call: call.clone() },
            Event::Finished(Finish::ToolCalls),
        ] {
            collector.add(&event);
        }
        let answer = collector.finish();
        let thought = |text: &str, replay| Reasoning { text: text.into(), issuer: "h".into(), replay };
        assert_eq!(
            answer.parts,
            [
                Part::Reasoning(thought("ab", signature)),
                Part::Reasoning(thought("", Some(Replay::Redacted("r".into())))),
                Part::Text("xy".into()),
                Part::Call(call),
            ]
        );
        assert_eq!(answer.finish, Finish::ToolCalls);
    }

    #[test]
    fn without_an_end_it_is_interrupted_and_open_calls_are_left_out() {
        let mut collector = Collector::new("h");
        collector.add(&Event::TextDelta("x".into()));
        collector.add(&Event::ToolCallStarted { slot: 0, name: "t".into() });
        assert!(collector.has_text() && collector.has_calls());
        let answer = collector.finish();
        assert_eq!((answer.text().as_str(), answer.finish), ("x", Finish::Interrupted));
    }
}
