//! How a model is reached: messages, wire formats, providers, failures, prices and budgets.
//!
//! - [`message`], [`request`], [`event`]: what goes in and what comes out, in no provider's form.
//! - [`wire`]: the three wire formats; pure.
//! - [`client`]: one HTTP call under deadlines.
//! - [`failure`]: what can go wrong, classified once, and the table of what to do about it; pure.

pub mod adjust;
pub mod answer;
pub mod budget;
pub mod call;
pub mod client;
pub mod endpoint;
pub mod event;
pub mod failure;
pub mod json;
pub mod keys;
pub mod message;
pub mod money;
pub mod provider;
pub mod request;
pub mod retry;
pub mod sse;
pub mod think;
mod tidy;
mod url;
mod usage;
pub mod wire;

pub use answer::{Answer, Collector};
pub use call::{Answered, Ask, CallEvent, Caller, GaveUp, Route};
pub use client::{Call, CallError, Client, ClientOptions, Deadlines, EventStream, Patience};
pub use endpoint::Endpoint;
pub use event::{Event, Finish, StreamError};
pub use failure::{Class, Failure};
pub use message::{Content, Image, Message, Part, Reasoning, Replay, ToolCall, ToolResult, ToolStatus};
pub use money::{Cost, MicroDollars, Price};
pub use request::{CacheMarks, Delivery, Effort, Request, ToolSpec, ToolUse};
pub use tidy::tidy;
pub use url::{BaseUrl, UrlError};
pub use usage::Usage;
pub use wire::Wire;
