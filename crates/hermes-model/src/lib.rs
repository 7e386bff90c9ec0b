//! How a model is reached: messages, wire formats, providers, failures, prices and budgets.
//!
//! - [`message`], [`request`], [`event`]: what goes in and what comes out, in no provider's form.
//! - [`wire`]: the three wire formats; pure.

pub mod adjust;
pub mod answer;
pub mod endpoint;
pub mod event;
pub mod json;
pub mod message;
pub mod money;
pub mod request;
pub mod sse;
pub mod think;
mod tidy;
mod url;
mod usage;
pub mod wire;

pub use answer::{Answer, Collector};
pub use endpoint::Endpoint;
pub use event::{Event, Finish, StreamError};
pub use message::{Content, Image, Message, Part, Reasoning, Replay, ToolCall, ToolResult, ToolStatus};
pub use money::{Cost, MicroDollars, Price};
pub use request::{CacheMarks, Delivery, Effort, Request, ToolSpec, ToolUse};
pub use tidy::tidy;
pub use url::{BaseUrl, UrlError};
pub use usage::Usage;
pub use wire::Wire;
