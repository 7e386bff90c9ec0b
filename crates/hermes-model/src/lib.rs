//! How a model is reached: messages, wire formats, providers, failures, prices and budgets.
//!
//! - [`message`], [`request`], [`event`], [`answer`]: what goes in and what comes out, in no provider's form.
//! - [`wire`]: the three wire formats; pure.
//! - [`client`]: one HTTP call under deadlines.
//! - [`failure`], [`retry`]: what can go wrong, classified once, and what comes next; pure.
//! - [`provider`], [`keys`], [`setup`]: from settings to the models that are asked, and their keys.
//! - [`call`]: one answer through retries, keys and the fallback chain.
//! - [`catalog`], [`money`], [`budget`]: what is known about models, what answers cost, and how much may be spent.
//! - [`list`], [`probe`]: the models an endpoint offers, and whether a key is any good.
//! - [`choice`]: what choosing a model changes in the settings.
//! - [`window`]: how large windows are, and what was learned about them.

pub mod adjust;
pub mod answer;
pub mod budget;
pub mod call;
pub mod catalog;
pub mod choice;
pub mod client;
pub mod endpoint;
pub mod event;
pub mod failure;
pub mod json;
pub mod keys;
pub mod list;
pub mod message;
pub mod money;
pub mod probe;
pub mod provider;
pub mod request;
pub mod retry;
pub mod setup;
pub mod sse;
pub mod think;
mod tidy;
mod url;
mod usage;
pub mod window;
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
