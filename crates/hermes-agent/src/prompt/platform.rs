//! Where the answer is read, and what that means for how it is written.

use serde::Serialize;

/// Where the answer is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Platform {
    /// A terminal.
    #[default]
    Cli,
    /// The output of a command, read by a person or a program.
    OneShot,
    /// A chat that shows markdown.
    MarkdownChat,
    /// A chat with little or markup of its own.
    PlainChat,
    /// Short messages.
    Sms,
    /// Mail.
    Email,
    /// A scheduled job: nobody is there to answer.
    Cron,
    /// A program or page that shows markdown.
    Api,
    /// Another agent, which has given the task.
    Helper,
}

impl Platform {
    /// From the name of a platform; what is not known is treated as an API.
    pub fn named(name: &str) -> Self {
        match name {
            "cli" | "tui" => Self::Cli,
            "telegram" | "discord" | "slack" | "mattermost" | "matrix" | "feishu" => Self::MarkdownChat,
            "whatsapp" | "signal" | "bluebubbles" | "weixin" | "wecom" | "qqbot" | "yuanbao" => {
                Self::PlainChat
            }
            "sms" => Self::Sms,
            "email" => Self::Email,
            "cron" => Self::Cron,
            _ => Self::Api,
        }
    }

    /// What the model is told.
    pub(super) fn hint(self) -> &'static str {
        match self {
            Self::Cli => "Your answer is shown in a terminal, with simple markdown.",
            Self::OneShot => {
                "Your final answer is the output of a command: give the result and nothing around it. Nobody can answer questions."
            }
            Self::MarkdownChat => {
                "Your answer is shown in a chat, with simple markdown but no tables. Keep it short."
            }
            Self::PlainChat => "Your answer is shown in a chat without markdown. Keep it short and plain.",
            Self::Sms => "Your answer is sent as a short message: plain text, a few hundred characters.",
            Self::Email => "Your answer is sent as a mail: plain paragraphs, no markdown.",
            Self::Cron => {
                "You run as a scheduled job. Nobody can answer questions: decide sensibly, and report the result."
            }
            Self::Api => "Your answer is shown with markdown.",
            // Who a helper is says it already.
            Self::Helper => "",
        }
    }
}
