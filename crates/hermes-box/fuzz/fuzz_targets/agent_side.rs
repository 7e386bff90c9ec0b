//! Any bytes from a client: the agent must answer or let go, never panic.
#![no_main]

use std::collections::BTreeMap;
use std::io::Cursor;

use hermes_box::client::Transport;
use hermes_box::proto::hello::Hello;
use hermes_box::proto::message::ToAgent;
use hermes_box::server::{Agent, AgentOptions};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    // Half of the inputs start behind a proper hello, or the fuzzer would never get past it.
    let greet = data.first().is_some_and(|b| b % 2 == 0);
    let mut stream = if greet { ToAgent::Hello(Hello::ours(None)).encode() } else { Vec::new() };
    stream.extend_from_slice(data);
    let agent = Agent::new(AgentOptions::new(BTreeMap::new(), "/"));
    agent.serve(Transport::new(Cursor::new(stream), std::io::sink()));
});
