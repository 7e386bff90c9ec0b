//! A scripted model server: it answers as `OpenAI` chat completions, `OpenAI` responses and Anthropic messages do.
//!
//! A script is an ordered list of answers, one per request. It is built by calls ([`Script`], [`Answer`]) or
//! written as text:
//!
//! ```
//! use hermes_testkit::model::Script;
//!
//! let script = Script::parse(r#"
//!     ## The first request gets thoughts, words and two tool calls at once.
//!     think "I should look around."
//!     say "Let me see."
//!     call terminal {"command":"ls"}
//!     call read_file {"path":"notes.txt"}
//!     usage in=120 out=30 cached=100 reasoning=8
//!     ---
//!     status 429 retry-after=1
//!     ---
//!     slow 5ms
//!     split 3
//!     say "Grüße: two files."
//! "#).unwrap();
//! assert_eq!(script.len(), 3);
//! ```
//!
//! # The language
//!
//! One instruction a line; `#` starts a comment line; `---` ends an answer. Texts are JSON strings. What the
//! model says:
//!
//! | line | effect |
//! |---|---|
//! | `say "text"` | text, streamed word by word |
//! | `think "text"` | reasoning |
//! | `call NAME {json}` | a tool call; several in one answer are parallel calls. `call NAME "text"` sends arguments that may be broken JSON; `id=ID` before the arguments sets the call's id |
//! | `usage in=10 out=3 cached=4 written=2 reasoning=1` | token counts; `in` is the whole prompt, `cached` and `written` are parts of it, `reasoning` is a part of `out` |
//! | `finish length` | the reason for the end: `stop`, `tools`, `length` or `filter`; else it follows from the content |
//!
//! How the answer travels, at the place of the line among the others:
//!
//! | line | effect |
//! |---|---|
//! | `keepalive` | an SSE comment |
//! | `garbage` or `garbage "bytes"` | something that is no event of the protocol (not streaming: the body is no JSON) |
//! | `error "message"` or `error "message" type=TYPE` | an error event in the middle of the stream, which ends it |
//! | `stall` | nothing more until the client leaves |
//! | `cut` | the connection closes without an end |
//!
//! The answer as a whole:
//!
//! | line | effect |
//! |---|---|
//! | `when "text"` | only for a request whose newest user message holds the text; also `when model "name"`, `when system "text"`, `when results 2` (of tools), `when seen "text"` (in one of them) |
//! | `always` | is not used up |
//! | `late 50ms` | waits before the first byte |
//! | `slow 50ms` | waits between network writes |
//! | `split 3` | at most three bytes per network write, so characters and events are cut anywhere |
//! | `header NAME=VALUE` | a response header |
//! | `status 503 NAME=VALUE body="text"` | an error status with headers; without `body` an error object as the provider writes it |
//! | `overflow` | the provider's error for a prompt that is too long |
//!
//! A request takes the first answer that is left and whose `when` holds. When there is none, it gets a 500 that
//! says so, and [`ModelServer::problems`] tells.

mod http;
mod parse;
mod record;
mod script;
mod send;
mod server;
mod wire;

pub use parse::ScriptError;
pub use record::Request;
pub use script::{Answer, Finish, Matcher, Part, Script, Usage};
pub use server::{KeyFor, ModelServer};
pub use wire::Api;
