//! The box agent: commands, jobs and files behind one framed byte stream.
//!
//! # The parts
//!
//! * [`proto`] is the protocol: frames, calls, answers. Start there to know what can be asked.
//! * [`client`] talks to an agent over any byte stream: [`client::Client::run`] for a command, [`client::Client::jobs`],
//!   [`client::Client::files`].
//! * [`server`] is the agent itself. [`local::serve_in_process`] runs it inside of this process, [`daemon`] as a process of its own: the
//!   first one of a container, or a daemon that outlives whoever started it.
//! * [`shim`] is the small process between the agent and every command.
//!
//! # Who is whose child
//!
//! ```text
//! agent ── the process shims come from ── shim ── bash ── whatever the command starts
//!                                      └─ shim ── bash ── …
//! ```
//!
//! A shim reaps everything below it, so ending a command means ending everything below its shim, however it was started. When the shell ends by
//! itself, what it left in the background goes on and its shim stays until the last of it is gone
//! ([`proto::info::Info::left_running`]). When the agent goes away, running commands and jobs are ended, and what was left in the background
//! is left alone.
//!
//! Commands run as the agent's own user, so they can turn against the processes that watch over them. One that stops a shim or the
//! process shims come from finds it continued by its parent at once. One that kills them is ended: its shell dies with the shim, and the rest is
//! found below it, in its session, and by a mark that every process of a command carries, whoever its parent is by now.
//!
//! # What is carried between commands
//!
//! Each command of a session is a new shell. Directory and variables are given to its process; functions, aliases, options and umask are
//! a few lines before the command. At its end an exit trap writes all of that into a file in memory that the shim holds. A shell that is killed
//! or replaces itself leaves the state of before. Of two commands at once in a session, the one that ends last decides.

pub mod client;
pub mod daemon;
mod link;
pub mod local;
pub mod proto;
pub mod server;
pub mod shim;
mod sys;
