//! Where a model is reached and how its provider likes to be asked.

use serde_json::{Map, Value};

use crate::adjust::Adjustments;
use crate::url::BaseUrl;
use crate::wire::Wire;

/// An endpoint, without its key.
#[derive(Debug, Clone, PartialEq)]
pub struct Endpoint {
    /// The provider's name, for messages and prices.
    pub provider: String,
    /// Its address.
    pub base_url: BaseUrl,
    /// What it speaks.
    pub wire: Wire,
    /// How the key travels.
    pub auth: Auth,
    /// What it wants differently from others.
    pub quirks: Quirks,
    /// Headers it wants.
    pub headers: Vec<(String, String)>,
    /// Fields added to every request body.
    pub extra_body: Map<String, Value>,
    /// What earlier answers taught about it.
    pub learned: Adjustments,
}

impl Endpoint {
    /// An endpoint with the usual ways of its host.
    pub fn new(provider: impl Into<String>, base_url: BaseUrl, wire: Wire) -> Self {
        let quirks = Quirks::of(&base_url, wire);
        let auth = Auth::of(&base_url, wire);
        Self {
            provider: provider.into(),
            base_url,
            wire,
            auth,
            quirks,
            headers: Vec::new(),
            extra_body: Map::new(),
            learned: Adjustments::default(),
        }
    }

    /// Who makes the thoughts that come back from here.
    pub fn issuer(&self) -> &str {
        self.base_url.host()
    }
}

/// How a key travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Auth {
    /// `Authorization: Bearer KEY`
    Bearer,
    /// `x-api-key: KEY`
    XApiKey,
    /// `api-key: KEY`
    ApiKey,
}

impl Auth {
    fn of(base_url: &BaseUrl, wire: Wire) -> Self {
        const BEARER_FOR_MESSAGES: [&str; 4] =
            ["minimax.io", "minimaxi.com", "azure.com", "palantirfoundry.com"];
        match wire {
            Wire::Messages if !BEARER_FOR_MESSAGES.iter().any(|domain| base_url.is_in(domain)) => {
                Self::XApiKey
            }
            Wire::Chat | Wire::Responses if base_url.is_in("azure.com") => Self::ApiKey,
            _ => Self::Bearer,
        }
    }
}

/// What an endpoint wants differently from others. Data, so that a table can hold it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quirks {
    /// How it is told how much to think.
    pub effort: EffortStyle,
    /// What of earlier thoughts it wants back.
    pub thoughts: ThoughtsBack,
    /// The name of the limit for the output.
    pub limit: LimitField,
    /// Whether it takes marks for its prompt cache in the chat format.
    pub chat_marks: ChatMarks,
}

impl Quirks {
    /// The usual ways of the host.
    pub fn of(base_url: &BaseUrl, wire: Wire) -> Self {
        let is = |domains: &[&str]| domains.iter().any(|domain| base_url.is_in(domain));
        let effort = if is(&["openrouter.ai"]) {
            EffortStyle::Object
        } else if is(&["deepseek.com"]) {
            EffortStyle::SwitchAndWord
        } else if is(&["moonshot.ai", "moonshot.cn", "kimi.com"]) {
            EffortStyle::SwitchOrWord
        } else if is(&["z.ai", "bigmodel.cn", "xiaomimimo.com"]) {
            EffortStyle::Switch
        } else {
            EffortStyle::Word
        };
        let thoughts = if wire != Wire::Chat {
            ThoughtsBack::OwnOnly
        } else if is(&["deepseek.com", "moonshot.ai", "moonshot.cn", "kimi.com", "xiaomimimo.com"]) {
            ThoughtsBack::Always
        } else if is(&["openrouter.ai"]) {
            ThoughtsBack::Details
        } else if is(&["openai.com", "azure.com", "mistral.ai", "googleapis.com", "groq.com"]) {
            ThoughtsBack::Never
        } else {
            ThoughtsBack::OwnOnly
        };
        let limit =
            if is(&["api.openai.com", "azure.com"]) { LimitField::Completion } else { LimitField::Plain };
        let chat_marks = if is(&["openrouter.ai"]) {
            ChatMarks::Claude
        } else if is(&["aliyuncs.com", "opencode.ai"]) {
            ChatMarks::Qwen
        } else {
            ChatMarks::Never
        };
        Self { effort, thoughts, limit, chat_marks }
    }
}

/// How an endpoint of the chat format is told how much to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EffortStyle {
    /// `reasoning_effort: "low"`
    Word,
    /// `reasoning: {effort: "low"}` or `{enabled: false}`
    Object,
    /// `thinking: {type: "enabled"}`
    Switch,
    /// The switch, and the word besides.
    SwitchAndWord,
    /// The word, or the switch when there is no word for it; never both.
    SwitchOrWord,
}

/// What of earlier thoughts an endpoint wants back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThoughtsBack {
    /// Nothing: it refuses or ignores them.
    Never,
    /// Its own.
    OwnOnly,
    /// Its own, and a blank on every message with calls that has none: it refuses such messages otherwise.
    Always,
    /// Its own list of details, untouched.
    Details,
}

/// The name of the limit for the output in the chat format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitField {
    /// `max_tokens`
    Plain,
    /// `max_completion_tokens`
    Completion,
}

/// For which models an endpoint of the chat format takes cache marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChatMarks {
    /// None.
    Never,
    /// Those named like Claude.
    Claude,
    /// Those named like Qwen.
    Qwen,
}

impl ChatMarks {
    /// Whether this model is one of them.
    pub fn apply_to(self, model: &str) -> bool {
        let model = model.to_lowercase();
        match self {
            Self::Never => false,
            Self::Claude => model.contains("claude"),
            Self::Qwen => model.contains("qwen"),
        }
    }
}
