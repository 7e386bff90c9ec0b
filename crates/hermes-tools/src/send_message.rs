//! The `send_message` tool: a message to a chat. Who delivers it is behind [`Post`]; the gateway implements it.

mod target;

use std::sync::Arc;

use hermes_model::ToolSpec;
use serde_json::{Value, json};

use crate::fields;
use crate::gate::Waiting;
use crate::tool::{Arguments, Availability, Run, Running, Tool, ToolOutput};

pub use target::{Chat, Target};

/// Delivers messages.
pub trait Post: Send + Sync {
    /// Where messages can go.
    fn targets(&self) -> Waiting<'_, Result<Vec<Address>, PostError>>;

    /// Delivers a message; done when the other side has it.
    fn send<'a>(&'a self, target: &'a Target, text: &'a str) -> Waiting<'a, Result<Sent, PostError>>;
}

/// Where messages can go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// What `target` has to be, such as `telegram:12345`.
    pub target: String,
    /// What people call it.
    pub name: String,
    /// What it is, such as `dm`, `group` or `channel`.
    pub kind: String,
}

/// A message that was delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// The chat it went to.
    pub chat_id: String,
    /// Its name there, where the platform gives one.
    pub message_id: Option<String>,
}

/// Why a message was not delivered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PostError {
    /// There is no such platform, or it is not set up.
    #[error("\"{platform}\" is not connected: action=list shows what is")]
    NotConnected {
        /// The platform.
        platform: String,
    },
    /// There is no such chat.
    #[error("there is no chat \"{target}\": action=list shows them")]
    NoChat {
        /// What was asked for.
        target: String,
    },
    /// The platform has no chat that messages without one go to.
    #[error("\"{platform}\" has no home channel: name a chat, as in {platform}:ID")]
    NoHome {
        /// The platform.
        platform: String,
    },
    /// The platform said no.
    #[error("{platform} did not take the message: {reason}")]
    Refused {
        /// The platform.
        platform: String,
        /// Why.
        reason: String,
    },
}

/// See the module.
pub struct SendMessage {
    post: Option<Arc<dyn Post>>,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Order {
    List,
    Send { target: Target, text: String },
}

/// Longer messages are no messages.
const LONGEST: usize = 100_000;

impl Order {
    fn read(arguments: &Arguments) -> Result<Self, String> {
        match fields::text(arguments, "action")?.as_deref().map(str::trim) {
            Some("list") => Ok(Self::List),
            None | Some("send") => {
                let target = fields::needed(arguments, "target", "action=list shows where messages can go")?;
                let text = fields::needed(arguments, "message", "say what is to be sent")?;
                if text.chars().count() > LONGEST {
                    return Err(format!("a message may have {LONGEST} characters: send a file instead"));
                }
                Ok(Self::Send { target: target.parse()?, text })
            }
            Some(other) => Err(format!("there is no action \"{other}\": use send or list")),
        }
    }
}

impl SendMessage {
    /// The tool; without somebody who delivers it cannot work.
    pub fn new(post: Option<Arc<dyn Post>>) -> Self {
        Self { post }
    }

    async fn work(&self, run: Run<'_>) -> ToolOutput {
        let order = match Order::read(run.arguments) {
            Ok(order) => order,
            Err(problem) => return ToolOutput::error(problem),
        };
        let Some(post) = &self.post else { return ToolOutput::error(NO_GATEWAY) };
        let done = async {
            match &order {
                Order::List => post.targets().await.map(|addresses| listed(&addresses)),
                Order::Send { target, text } => {
                    post.send(target, text).await.map(|sent| delivered(target, &sent))
                }
            }
        };
        tokio::select! {
            done = done => done.map_or_else(|e| ToolOutput::error(e.to_string()), |v| ToolOutput::json(&v)),
            // It may be under way: that has to be said.
            () = run.cancel.cancelled() => ToolOutput::error("interrupted: the message may have been sent or not"),
        }
    }
}

fn listed(addresses: &[Address]) -> Value {
    let line = |a: &Address| json!({ "target": a.target, "name": a.name, "type": a.kind });
    json!({ "targets": addresses.iter().map(line).collect::<Vec<Value>>() })
}

fn delivered(target: &Target, sent: &Sent) -> Value {
    json!({
        "success": true,
        "platform": target.platform,
        "chat_id": sent.chat_id,
        "message_id": sent.message_id,
    })
}

const NO_GATEWAY: &str = "messages are delivered by the gateway, which is not part of this program yet";

impl Tool for SendMessage {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "send_message".to_owned(),
            description: DESCRIPTION.to_owned(),
            parameters: parameters(),
        }
    }

    fn toolset(&self) -> &'static str {
        "messaging"
    }

    fn brief(&self, arguments: &Arguments) -> String {
        let word = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
        match word("target") {
            "" => word("action").to_owned(),
            target => format!("{target}: {}", fields::beginning(word("message"))),
        }
    }

    fn available(&self) -> Availability {
        match self.post {
            Some(_) => Availability::Yes,
            None => Availability::No { why: NO_GATEWAY.to_owned() },
        }
    }

    fn run<'a>(&'a self, run: Run<'a>) -> Running<'a> {
        Box::pin(self.work(run))
    }
}

const DESCRIPTION: &str = "Send a message to a chat, or list where messages can go. target: a platform (its home \
channel), platform:chat_id[:thread_id], or platform:#name. A line MEDIA:/path in the message attaches a file.";

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "action": { "type": "string", "enum": ["send", "list"] },
            "target": { "type": "string" },
            "message": { "type": "string" }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: Value) -> Result<Order, String> {
        let Value::Object(arguments) = value else { panic!("an object is needed") };
        Order::read(&arguments)
    }

    #[test]
    fn orders_are_read_and_mistakes_named() {
        assert_eq!(read(json!({ "action": "list" })), Ok(Order::List));
        assert!(matches!(read(json!({ "target": "telegram", "message": "hi" })), Ok(Order::Send { .. })));
        for (arguments, word) in [
            (json!({}), "target"),
            (json!({ "target": "telegram" }), "message"),
            (json!({ "action": "shout", "target": "telegram", "message": "hi" }), "shout"),
            (json!({ "target": ":1", "message": "hi" }), "platform"),
        ] {
            let error = read(arguments.clone()).unwrap_err();
            assert!(error.contains(word), "{arguments}: {error}");
        }
    }
}
