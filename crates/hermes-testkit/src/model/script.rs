//! Scripts as data: answers, what they say and how they travel.

use std::time::Duration;

use serde_json::Value;

/// An ordered list of answers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Script {
    pub(super) answers: Vec<Answer>,
}

impl Script {
    /// An empty script.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the answer to the next request.
    #[must_use]
    pub fn answer(mut self, answer: Answer) -> Self {
        self.answers.push(answer);
        self
    }

    /// Reads a script written as text.
    pub fn parse(text: &str) -> Result<Self, super::ScriptError> {
        super::parse::script(text)
    }

    /// How many answers there are.
    pub fn len(&self) -> usize {
        self.answers.len()
    }

    /// True without any answer.
    pub fn is_empty(&self) -> bool {
        self.answers.is_empty()
    }
}

impl From<Answer> for Script {
    fn from(answer: Answer) -> Self {
        Self::new().answer(answer)
    }
}

/// A piece of an answer, in the order it is sent.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Text for the user.
    Say(String),
    /// Reasoning.
    Think(String),
    /// A tool call.
    Call {
        /// The id, when the script sets one.
        id: Option<String>,
        /// The tool.
        name: String,
        /// The arguments as the model wrote them, usually JSON.
        arguments: String,
    },
    /// An SSE comment.
    Keepalive,
    /// Bytes that are no event of the protocol.
    Garbage(String),
    /// An error in the middle of the stream; the stream ends with it.
    Error {
        /// What it says.
        message: String,
        /// The provider's word for it, when the script sets one.
        kind: Option<String>,
    },
    /// Nothing more until the client leaves.
    Stall,
    /// The connection closes.
    Cut,
}

/// Token counts of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// The whole prompt.
    pub input: u64,
    /// All that was generated, reasoning included.
    pub output: u64,
    /// The part of the prompt that was read from the cache.
    pub cached: u64,
    /// The part of the prompt that was written to the cache.
    pub written: u64,
    /// The part of the output that is reasoning.
    pub reasoning: u64,
}

impl Default for Usage {
    /// Small counts that are not zero, as every provider reports.
    fn default() -> Self {
        Self { input: 1, output: 1, cached: 0, written: 0, reasoning: 0 }
    }
}

/// Why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    /// The model was done.
    Stop,
    /// The model waits for tools.
    Tools,
    /// The output limit was reached.
    Length,
    /// A filter of the provider stepped in.
    Filter,
}

/// Which requests an answer is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Matcher {
    /// Those whose newest user message holds this text.
    User(String),
    /// Those for this model.
    Model(String),
    /// Those whose system prompt holds this text.
    System(String),
    /// Those with so many results of tools in the conversation.
    Results(usize),
    /// Those with a result of a tool that holds this text.
    Seen(String),
}

/// What an answer is: words of a model, or an error status.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Model,
    Status { code: u16, body: Option<String> },
    Overflow,
}

/// Whether an answer is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Uses {
    Once,
    Always,
}

/// One answer of the model.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub(super) kind: Kind,
    pub(super) when: Vec<Matcher>,
    pub(super) uses: Uses,
    pub(super) parts: Vec<Part>,
    pub(super) usage: Usage,
    pub(super) finish: Option<Finish>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) late: Duration,
    pub(super) slow: Duration,
    pub(super) split: Option<usize>,
}

impl Default for Answer {
    fn default() -> Self {
        Self {
            kind: Kind::Model,
            when: Vec::new(),
            uses: Uses::Once,
            parts: Vec::new(),
            usage: Usage::default(),
            finish: None,
            headers: Vec::new(),
            late: Duration::ZERO,
            slow: Duration::ZERO,
            split: None,
        }
    }
}

impl Answer {
    /// An answer without content so far.
    pub fn new() -> Self {
        Self::default()
    }

    /// An error status with the provider's error object as its body.
    pub fn status(code: u16) -> Self {
        Self { kind: Kind::Status { code, body: None }, ..Self::default() }
    }

    /// An error status with this body.
    pub fn status_with_body(code: u16, body: impl Into<String>) -> Self {
        Self { kind: Kind::Status { code, body: Some(body.into()) }, ..Self::default() }
    }

    /// The provider's error for a prompt that is too long.
    pub fn overflow() -> Self {
        Self { kind: Kind::Overflow, ..Self::default() }
    }

    /// Adds text.
    #[must_use]
    pub fn say(self, text: impl Into<String>) -> Self {
        self.part(Part::Say(text.into()))
    }

    /// Adds reasoning.
    #[must_use]
    pub fn think(self, text: impl Into<String>) -> Self {
        self.part(Part::Think(text.into()))
    }

    /// Adds a tool call.
    #[must_use]
    #[allow(
        clippy::needless_pass_by_value,
        reason = "`json!` at the call site reads better without a borrow"
    )]
    pub fn call(self, name: impl Into<String>, arguments: Value) -> Self {
        self.part(Part::Call { id: None, name: name.into(), arguments: arguments.to_string() })
    }

    /// Adds any part.
    #[must_use]
    pub fn part(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    /// Sets the token counts.
    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    /// Sets the reason for the end.
    #[must_use]
    pub fn finish(mut self, finish: Finish) -> Self {
        self.finish = Some(finish);
        self
    }

    /// Adds a response header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Answers only requests that match.
    #[must_use]
    pub fn when(mut self, matcher: Matcher) -> Self {
        self.when.push(matcher);
        self
    }

    /// Is not used up: answers every request that matches.
    #[must_use]
    pub fn always(mut self) -> Self {
        self.uses = Uses::Always;
        self
    }

    /// Waits before the first byte.
    #[must_use]
    pub fn late(mut self, pause: Duration) -> Self {
        self.late = pause;
        self
    }

    /// Waits between network writes.
    #[must_use]
    pub fn slow(mut self, pause: Duration) -> Self {
        self.slow = pause;
        self
    }

    /// Sends at most this many bytes per network write.
    #[must_use]
    pub fn split(mut self, bytes: usize) -> Self {
        self.split = Some(bytes.max(1));
        self
    }

    /// The reason for the end: the one that was set, else what the content says.
    pub(super) fn finish_reason(&self) -> Finish {
        let calls = self.parts.iter().any(|part| matches!(part, Part::Call { .. }));
        self.finish.unwrap_or(if calls { Finish::Tools } else { Finish::Stop })
    }
}
