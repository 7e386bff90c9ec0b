//! Messages of a conversation, in no provider's form.

use serde_json::Value;

/// One message. The system prompt is not among them: it belongs to the [`Request`](crate::Request).
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// What the user said.
    User(Vec<Content>),
    /// What the model answered.
    Assistant(Vec<Part>),
    /// What a tool the model called gave back.
    Tool(ToolResult),
}

impl Message {
    /// A user message of plain text.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User(vec![Content::Text(text.into())])
    }

    /// An answer of plain text.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::Assistant(vec![Part::Text(text.into())])
    }

    /// The tool calls in it.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        let parts: &[Part] = if let Self::Assistant(parts) = self { parts } else { &[] };
        parts.iter().filter_map(|part| if let Part::Call(call) = part { Some(call) } else { None })
    }

    /// All its text, joined by line ends; reasoning is not text.
    pub fn text(&self) -> String {
        match self {
            Self::User(content) => text_of(content),
            Self::Tool(result) => text_of(&result.content),
            Self::Assistant(parts) => {
                let text = |part: &Part| if let Part::Text(text) = part { Some(text.clone()) } else { None };
                parts.iter().filter_map(text).collect::<Vec<_>>().join("\n")
            }
        }
    }
}

/// What users and tools can say.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Text.
    Text(String),
    /// A picture.
    Image(Image),
}

/// The texts of a content, joined by line ends.
pub fn text_of(content: &[Content]) -> String {
    let text = |item: &Content| if let Content::Text(text) = item { Some(text.clone()) } else { None };
    content.iter().filter_map(text).collect::<Vec<_>>().join("\n")
}

/// A picture for the model to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Image {
    /// The picture itself.
    Inline {
        /// Its type, such as `image/png`.
        media_type: String,
        /// Its bytes in base64.
        base64: String,
    },
    /// Where the provider can fetch it.
    Url(String),
}

impl Image {
    /// Reads an address; `data:` addresses hold the picture itself.
    pub fn from_url(url: &str) -> Self {
        let inline = || {
            let (media_type, base64) = url.strip_prefix("data:")?.split_once(";base64,")?;
            Some(Self::Inline { media_type: media_type.to_owned(), base64: base64.to_owned() })
        };
        inline().unwrap_or_else(|| Self::Url(url.to_owned()))
    }

    /// As an address; an inline picture becomes a `data:` address.
    pub fn to_url(&self) -> String {
        match self {
            Self::Inline { media_type, base64 } => format!("data:{media_type};base64,{base64}"),
            Self::Url(url) => url.clone(),
        }
    }

    /// How many bytes travel with the request.
    pub fn size(&self) -> usize {
        match self {
            Self::Inline { base64, .. } => base64.len(),
            Self::Url(url) => url.len(),
        }
    }
}

/// What models can say.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Text for the user.
    Text(String),
    /// Thoughts on the way to the answer.
    Reasoning(Reasoning),
    /// A tool to run.
    Call(ToolCall),
}

/// Thoughts of a model, with what its provider wants back in later requests.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reasoning {
    /// What can be shown; may be a summary or nothing.
    pub text: String,
    /// The host that made it. Nobody else gets the rest back.
    pub issuer: String,
    /// What must be sent back unchanged.
    pub replay: Option<Replay>,
}

/// What a provider wants back with the conversation so that the model can go on from its own thoughts.
#[derive(Debug, Clone, PartialEq)]
pub enum Replay {
    /// Anthropic: the signature of the text.
    Signature(String),
    /// Anthropic: thoughts that are not shown, encrypted.
    Redacted(String),
    /// `OpenAI` responses: an item with encrypted content.
    Encrypted {
        /// The item's id.
        id: String,
        /// The content.
        content: String,
    },
    /// Chat completions of some routers: a list of details, whatever they are.
    Details(Vec<Value>),
}

/// A tool call as the model wrote it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolCall {
    /// Names the call, so that its result can be matched.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments as they came: JSON if the model made no mistake.
    pub arguments: String,
    /// `OpenAI` responses: the id of the output item, kept for the session store.
    pub item_id: Option<String>,
    /// What some providers hang on a call and want back (thought signatures of Gemini).
    pub extra: Option<Value>,
}

/// What a tool gave back.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    /// The call it answers.
    pub call_id: String,
    /// The tool.
    pub name: String,
    /// What it gave.
    pub content: Vec<Content>,
    /// How it went.
    pub status: ToolStatus,
}

impl ToolResult {
    /// A text result of a call that worked.
    pub fn ok(call: &ToolCall, text: impl Into<String>) -> Self {
        Self {
            call_id: call.id.clone(),
            name: call.name.clone(),
            content: vec![Content::Text(text.into())],
            status: ToolStatus::Ok,
        }
    }
}

/// How a tool call went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolStatus {
    /// It did what it should.
    Ok,
    /// It failed; the content says why.
    Failed,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_addresses_become_inline_pictures_and_back() {
        let url = "data:image/png;base64,AAAA";
        let image = Image::from_url(url);
        assert_eq!(image, Image::Inline { media_type: "image/png".into(), base64: "AAAA".into() });
        assert_eq!(image.to_url(), url);
        assert_eq!(Image::from_url("https://x.test/a.png"), Image::Url("https://x.test/a.png".into()));
    }

    #[test]
    fn text_leaves_reasoning_and_calls_out() {
        let message = Message::Assistant(vec![
            Part::Reasoning(Reasoning { text: "hm".into(), ..Reasoning::default() }),
            Part::Text("a".into()),
            Part::Call(ToolCall { name: "t".into(), ..ToolCall::default() }),
            Part::Text("b".into()),
        ]);
        assert_eq!(message.text(), "a\nb");
        assert_eq!(message.calls().count(), 1);
    }
}
