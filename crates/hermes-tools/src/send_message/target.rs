//! Where a message goes, as it is written: `telegram`, `telegram:12345:7`, `slack:#general`.

use std::fmt;
use std::str::FromStr;

/// Where a message goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The platform, in small letters.
    pub platform: String,
    /// The chat on it.
    pub chat: Chat,
}

/// A chat on a platform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chat {
    /// The one that messages without a chat go to.
    Home,
    /// By what follows the platform: an id, with a thread or not. How the two are divided differs from platform to
    /// platform, so it is left to it.
    Id(String),
    /// By what people call it, without `#`.
    Name(String),
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (platform, chat) = text.split_once(':').unwrap_or((text, ""));
        let platform = platform.trim().to_lowercase();
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if platform.is_empty() || !platform.chars().all(is_word) {
            return Err(format!(
                "\"{text}\" names no platform: write platform, platform:ID or platform:#name"
            ));
        }
        let chat = match chat.trim() {
            "" => Chat::Home,
            chat => match chat.strip_prefix('#') {
                Some(name) => Chat::Name(name.trim().to_owned()),
                None => Chat::Id(chat.to_owned()),
            },
        };
        Ok(Self { platform, chat })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.chat {
            Chat::Home => f.write_str(&self.platform),
            Chat::Id(id) => write!(f, "{}:{id}", self.platform),
            Chat::Name(name) => write!(f, "{}:#{name}", self.platform),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_read_and_written() {
        for (text, platform, chat) in [
            ("Telegram", "telegram", Chat::Home),
            ("telegram:-100123:7", "telegram", Chat::Id("-100123:7".into())),
            ("matrix:!room:example.org", "matrix", Chat::Id("!room:example.org".into())),
            ("slack:#general", "slack", Chat::Name("general".into())),
            ("signal: +491234", "signal", Chat::Id("+491234".into())),
        ] {
            let target: Target = text.parse().unwrap();
            assert_eq!(target, Target { platform: platform.into(), chat });
            assert_eq!(target.to_string().parse(), Ok(target));
        }
        for text in ["", ":1", "tele gram:1", "#general"] {
            assert!(text.parse::<Target>().is_err(), "{text}");
        }
    }
}
