//! The protocol between a client and a box agent.
//!
//! It runs over any pair of byte streams: a unix socket, the standard input and output of
//! `docker exec -i` or `ssh`, a socket pair inside one process. Neither side trusts the other.
//!
//! # Frames
//!
//! ```text
//! +--------------+---------+-----------+------------------+
//! | length (u32) | kind u8 | call u32  | body (length)    |
//! +--------------+---------+-----------+------------------+
//! ```
//!
//! Integers are little-endian. `length` counts the body alone and is at most [`frame::MAX_BODY`] (4 KiB before
//! both sides have said hello); a longer frame, an unknown kind, a body that does not decode to the last byte
//! and a frame that must not come from this side all end the connection with a [`frame::Kind::Fatal`] that says why.
//! Lists and texts carry their length as `u32`, variants and options a byte; see [`wire`].
//!
//! # A conversation
//!
//! ```text
//! client                               agent
//!   Hello(magic, versions, token)  ->
//!                                  <-  Welcome(protocol, version, instance) | Refused(why)
//!   Call 7 (window, Exec …)        ->
//!                                  <-  Started 7 (pid)
//!                                  <-  Data 7 (stdout, bytes)
//!   Credit 7 (bytes)               ->
//!   Data 7 (stdin) … End 7         ->
//!                                  <-  Credit 7 (bytes)
//!   Control 7 (cancel)             ->
//!                                  <-  Done 7 (answer) | Failed 7 (fault)
//! ```
//!
//! * The client numbers its calls; any number of them (up to [`MAX_CALLS`]) run at once, and each ends with exactly
//!   one `Done` or `Failed`. Frames for a call that is over are ignored, since they may have crossed its end.
//! * **Back-pressure** is per call. The agent sends no more data than the window of the call plus the credit
//!   granted since; the client no more than [`INPUT_WINDOW`] plus the credit it got. Each byte of a data frame's
//!   content counts; other frames are small and their number is bounded by the calls. A side that sends more than
//!   granted is cut off. So a reader that stalls makes its own call wait, and nothing else.
//! * An answer longer than [`INLINE_ANSWER`] is sent in data frames of the answer channel, under credit as well, before
//!   its last part in `Done`; altogether at most [`MAX_ANSWER`] bytes.
//! * When the connection ends, the agent ends the commands of its calls; jobs go on.
//!
//! # Versions
//!
//! `Hello` and `Refused` keep their layout for ever. Both sides name the range they speak; the newest common version
//! is used. Within a version nothing changes its layout.

pub mod call;
pub mod change;
pub mod exec;
pub mod fault;
pub mod file;
pub mod frame;
pub mod hello;
pub mod info;
pub mod job;
pub mod message;
pub mod search;
pub mod wire;

/// Calls of one connection that may run at once.
pub const MAX_CALLS: usize = 128;
/// What a client may send for a call before it was granted more.
pub const INPUT_WINDOW: u32 = 256 * 1024;
/// What a client lets the agent send for a call before it grants more, unless it chooses otherwise.
pub const OUTPUT_WINDOW: u32 = 1024 * 1024;
/// The largest window or unused credit of a call.
pub const MAX_WINDOW: u32 = 16 * 1024 * 1024;
/// The longest answer that travels in its `Done` frame alone.
pub const INLINE_ANSWER: usize = 64 * 1024;
/// The longest answer.
pub const MAX_ANSWER: usize = 32 * 1024 * 1024;
