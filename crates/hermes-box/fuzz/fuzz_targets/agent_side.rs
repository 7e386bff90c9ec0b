//! Any bytes from a client: the agent must answer or let go, never panic.
#![no_main]

use std::collections::BTreeMap;
use std::io::Cursor;

use hermes_box::client::Transport;
use hermes_box::proto::hello::Hello;
use hermes_box::proto::message::ToAgent;
use hermes_box::server::{Agent, AgentOptions, ShimProgram};
use libfuzzer_sys::fuzz_target;
use std::os::unix::fs::MetadataExt;

fuzz_target!(init: refuse_root(), |data: &[u8]| {
    // Half of the inputs start behind a proper hello, or the fuzzer would never get past it.
    let greet = data.first().is_some_and(|b| b % 2 == 0);
    let mut stream = if greet { ToAgent::Hello(Hello::ours(None)).encode() } else { Vec::new() };
    stream.extend_from_slice(data);
    // Commands are decoded and prepared, and never run: this program is none that becomes a shim.
    let shim = ShimProgram("/bin/false".into());
    let agent = Agent::new(AgentOptions { shim, ..AgentOptions::new(BTreeMap::new(), "/") });
    agent.serve(Transport::new(Cursor::new(stream), std::io::sink()));
});

/// The agent does what it is asked to, and random bytes may ask it to remove files.
fn refuse_root() {
    let me = std::fs::metadata("/proc/self").map(|metadata| metadata.uid());
    assert!(me.is_ok_and(|uid| uid != 0), "not as root: run it as a user who owns nothing of value");
}
