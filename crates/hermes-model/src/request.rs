//! What a model is asked, in no provider's form.

use serde_json::Value;

use crate::message::{Content, Message, Part};

/// One request to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The model, as its provider names it.
    pub model: String,
    /// The system prompt; the same bytes for a whole session, so that the provider's cache holds.
    pub system: String,
    /// The conversation.
    pub messages: Vec<Message>,
    /// The tools on offer.
    pub tools: Vec<ToolSpec>,
    /// Whether the model may call them now.
    pub tool_use: ToolUse,
    /// How much the model should think; `None` leaves it to the provider.
    pub effort: Option<Effort>,
    /// Most tokens the answer may have; `None` leaves it to the provider where that is allowed.
    pub max_tokens: Option<u64>,
    /// Sampling temperature; `None` leaves it to the provider.
    pub temperature: Option<f64>,
    /// Whether the prompt is marked for the provider's cache, and for how long.
    pub cache: CacheMarks,
    /// The session, for caches that are kept by conversation.
    pub session: Option<String>,
    /// How the answer should come.
    pub delivery: Delivery,
}

impl Request {
    /// An empty request to a model.
    pub fn new(model: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            system: String::new(),
            messages: Vec::new(),
            tools: Vec::new(),
            tool_use: ToolUse::Allowed,
            effort: None,
            max_tokens: None,
            temperature: None,
            cache: CacheMarks::FiveMinutes,
            session: None,
            delivery: Delivery::Stream,
        }
    }

    /// How long the prompt is, guessed: four bytes a token. Good enough for deadlines and first checks of a budget;
    /// real counts come back with the answer.
    pub fn estimated_tokens(&self) -> u64 {
        let tools: usize = self.tools.iter().map(ToolSpec::size).sum();
        let messages: usize = self.messages.iter().map(message_size).sum();
        ((self.system.len() + tools + messages) / 4) as u64
    }
}

/// What a picture counts for in a guess, in bytes of text: providers charge some 1500 tokens for one.
const IMAGE_SIZE: usize = 6000;
/// What the frame of a message counts for.
const FRAME_SIZE: usize = 16;

fn message_size(message: &Message) -> usize {
    let content = |items: &[Content]| -> usize {
        let size = |item: &Content| match item {
            Content::Text(text) => text.len(),
            Content::Image(_) => IMAGE_SIZE,
        };
        items.iter().map(size).sum()
    };
    FRAME_SIZE
        + match message {
            Message::User(items) => content(items),
            Message::Tool(result) => content(&result.content),
            Message::Assistant(parts) => parts.iter().map(part_size).sum(),
        }
}

fn part_size(part: &Part) -> usize {
    match part {
        Part::Text(text) => text.len(),
        Part::Reasoning(reasoning) => reasoning.text.len(),
        Part::Call(call) => call.name.len() + call.arguments.len() + FRAME_SIZE,
    }
}

/// A tool as the model sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON schema of its arguments.
    pub parameters: Value,
}

impl ToolSpec {
    fn size(&self) -> usize {
        self.name.len() + self.description.len() + self.parameters.to_string().len() + FRAME_SIZE
    }
}

/// Whether tools on offer may be called. They stay in the request either way: removing them breaks the prompt cache, and
/// some providers refuse a conversation with calls of tools that are not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolUse {
    /// As the model sees fit.
    Allowed,
    /// Only words.
    Forbidden,
}

/// How much a model should think before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effort {
    /// Not at all.
    None,
    /// As little as possible.
    Minimal,
    /// A little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// As much as possible.
    XHigh,
}

impl Effort {
    /// Reads the word of the setting `agent.reasoning_effort`.
    pub fn parse(word: &str) -> Option<Self> {
        let efforts = [Self::None, Self::Minimal, Self::Low, Self::Medium, Self::High, Self::XHigh];
        let word = word.trim().to_lowercase();
        efforts.into_iter().find(|effort| effort.word() == word)
    }

    /// The word of the setting.
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::XHigh => "xhigh",
        }
    }
}

/// How long the provider is asked to keep the prompt in its cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheMarks {
    /// No marks.
    Off,
    /// The usual time.
    FiveMinutes,
    /// Longer, and dearer to write.
    OneHour,
}

/// How an answer comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// As events while it is made.
    Stream,
    /// In one piece when it is done.
    Whole,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn efforts_are_read_as_they_are_written() {
        assert_eq!(Effort::parse(" High "), Some(Effort::High));
        assert_eq!(Effort::parse(""), None);
        assert_eq!(Effort::parse("ultra"), None);
        assert!(Effort::Low < Effort::XHigh);
    }

    #[test]
    fn the_guess_grows_with_everything_that_is_sent() {
        let mut request = Request::new("m");
        let mut last = request.estimated_tokens();
        let mut grows = |request: &Request| {
            let now = request.estimated_tokens();
            assert!(now > last, "{now} after {last}");
            last = now;
        };
        request.system = "s".repeat(400);
        grows(&request);
        request.messages.push(Message::user("u".repeat(400)));
        grows(&request);
        request.tools.push(ToolSpec {
            name: "t".into(),
            description: "d".repeat(80),
            parameters: Value::Null,
        });
        grows(&request);
    }
}
