//! The protocol under random input: what is encoded is decoded the same, and whatever else comes is refused without a
//! panic, a hang or memory without bounds, on both ends.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use hermes_box::client::{Client, ConnectOptions, Transport};
use hermes_box::proto::call::{self, Call, Request};
use hermes_box::proto::exec::{
    Capture, Control, ExecRequest, Keep, Program, Spill, Stdin, Streams, Target, WinSize,
};
use hermes_box::proto::fault::Fault;
use hermes_box::proto::frame::{Frame, MAX_BODY, read_frame};
use hermes_box::proto::hello::{Hello, Welcome};
use hermes_box::proto::message::{ToAgent, ToClient};
use hermes_box::server::{Agent, AgentOptions};
use proptest::prelude::*;

fn bytes(max: usize) -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 1..max)
}

fn exec_request() -> impl Strategy<Value = ExecRequest> {
    let limits = (any::<Option<u32>>(), any::<Option<(u16, u16)>>(), any::<(u64, u64)>());
    (any::<Option<String>>(), bytes(200), any::<Vec<(String, Option<String>)>>(), limits, any::<bool>())
        .prop_map(|(session, command, env, (timeout, size, (head, tail)), flag)| {
            let mut request = ExecRequest::argv(["unused"]);
            request.session = session;
            request.program = if flag {
                Program::Shell(command)
            } else {
                Program::Argv(vec![String::from_utf8_lossy(&command).into_owned().into()])
            };
            request.env = env.into_iter().map(|(k, v)| (k.into(), v.map(Into::into))).collect();
            request.timeout = timeout.map(|ms| Duration::from_millis(ms.into()));
            request.pty = size.map(|(rows, cols)| WinSize { rows, cols });
            request.stdin = if flag { Stdin::Stream } else { Stdin::Null };
            request.streams = if flag { Streams::Apart } else { Streams::Merged };
            request.capture = if flag { Capture::Stream } else { Capture::Collect(Keep { head, tail }) };
            request.spill = if flag { Spill::Off } else { Spill::UpTo(tail) };
            request
        })
}

fn any_call() -> impl Strategy<Value = Call> {
    prop_oneof![
        exec_request().prop_map(Request::into_call),
        Just(call::info().into_call()),
        any::<String>().prop_map(|id| call::session(&id).into_call()),
        any::<u64>().prop_map(|id| call::end_left_running(id).into_call()),
        Just(call::job_list().into_call()),
    ]
}

fn to_agent() -> impl Strategy<Value = ToAgent> {
    let control = prop_oneof![
        Just(Control::Cancel),
        any::<i32>().prop_map(|number| Control::Signal { number, target: Target::Tree }),
        any::<(u16, u16)>().prop_map(|(rows, cols)| Control::Resize(WinSize { rows, cols })),
    ];
    prop_oneof![
        proptest::option::of(bytes(64)).prop_map(|token| ToAgent::Hello(Hello::ours(token))),
        (any::<u32>(), any::<u32>(), any_call()).prop_map(|(id, window, call)| ToAgent::Call {
            id,
            window,
            call: Box::new(call)
        }),
        (any::<u32>(), bytes(2000)).prop_map(|(id, bytes)| ToAgent::Data { id, bytes }),
        any::<u32>().prop_map(ToAgent::End),
        any::<(u32, u32)>().prop_map(|(id, bytes)| ToAgent::Credit { id, bytes }),
        (any::<u32>(), control).prop_map(|(id, control)| ToAgent::Control { id, control }),
    ]
}

/// A frame with any kind and body, also ones that make no sense.
fn any_frame() -> impl Strategy<Value = Vec<u8>> {
    let kinds = prop_oneof![0x01..=0x03u8, 0x10..=0x18u8, any::<u8>()];
    (kinds, any::<u32>(), proptest::collection::vec(any::<u8>(), 0..300)).prop_map(|(kind, id, body)| {
        let mut out = (body.len() as u32).to_le_bytes().to_vec();
        out.push(kind);
        out.extend(id.to_le_bytes());
        out.extend(body);
        out
    })
}

/// Bytes as a broken or hostile peer may send them: frames, halves of frames, noise.
fn any_stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![any_frame(), to_agent().prop_map(|m| m.encode()), bytes(200)];
    proptest::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

fn frames_of(mut stream: &[u8]) -> Vec<Frame> {
    let mut frames = Vec::new();
    while let Ok(Some(frame)) = read_frame(&mut stream, MAX_BODY) {
        frames.push(frame);
    }
    frames
}

proptest! {
    #[test]
    fn what_a_client_says_is_understood(message in to_agent()) {
        let frames = frames_of(&message.encode());
        prop_assert_eq!(frames.len(), 1);
        prop_assert_eq!(ToAgent::decode(frames[0].clone()).unwrap(), message);
    }

    #[test]
    fn what_an_agent_says_is_understood(id in any::<u32>(), pid in any::<u32>(), answer in bytes(500), text in any::<String>()) {
        let welcome = Welcome { magic: hermes_box::proto::hello::MAGIC, protocol: 1, version: text.clone(), build: text.clone(), pid, instance: 7 };
        for message in [
            ToClient::Welcome(welcome),
            ToClient::Started { id, pid },
            ToClient::Done { id, answer: answer.clone() },
            ToClient::Credit { id, bytes: pid },
            ToClient::Failed { id, fault: Fault::Invalid(text.clone()) },
            ToClient::Fatal(text.clone()),
        ] {
            let frames = frames_of(&message.encode());
            prop_assert_eq!(ToClient::decode(frames[0].clone()).unwrap(), message);
        }
    }

    #[test]
    fn decoders_take_any_bytes(stream in any_stream()) {
        for frame in frames_of(&stream) {
            if let Ok(message) = ToAgent::decode(frame.clone()) {
                let again = frames_of(&message.encode());
                prop_assert_eq!(ToAgent::decode(again[0].clone()).unwrap(), message);
            }
            let _ = ToClient::decode(frame);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The agent lets go of a client that talks nonsense, before and after its hello.
    #[test]
    fn an_agent_survives_any_client(greet in any::<bool>(), stream in any_stream()) {
        let agent = Agent::new(AgentOptions::new(BTreeMap::new(), "/"));
        let (ours, theirs) = UnixStream::pair().unwrap();
        let serving = std::thread::spawn({
            let agent = agent.clone();
            move || agent.serve(Transport::socket(theirs).unwrap())
        });
        let mut ours = ours;
        ours.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        if greet {
            let _ = ours.write_all(&ToAgent::Hello(Hello::ours(None)).encode());
        }
        let _ = ours.write_all(&stream);
        ours.shutdown(std::net::Shutdown::Write).ok();
        let mut answer = Vec::new();
        let ended = ours.take(1 << 20).read_to_end(&mut answer);
        prop_assert!(ended.is_ok(), "the agent did not let go: {:?}", ended);
        serving.join().unwrap();
    }

    /// A client gets an error from an agent that talks nonsense, before and after the welcome.
    #[test]
    fn a_client_survives_any_agent(greet in any::<bool>(), stream in any_stream()) {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let agent = std::thread::spawn(move || {
            let mut hello = [0; 64];
            let _ = theirs.read(&mut hello);
            if greet {
                let welcome = Welcome { magic: hermes_box::proto::hello::MAGIC, protocol: 1, version: "x".into(), build: "x".into(), pid: 1, instance: 1 };
                let _ = theirs.write_all(&ToClient::Welcome(welcome).encode());
            }
            let _ = theirs.write_all(&stream);
        });
        let options = ConnectOptions { hello_timeout: Duration::from_secs(5), answer_timeout: Duration::from_secs(5), token: None };
        if let Ok(client) = Client::connect(Transport::socket(ours).unwrap(), &options) {
            prop_assert!(client.run(ExecRequest::shell("s", "true")).is_err());
            prop_assert!(client.info().is_err());
        }
        agent.join().unwrap();
    }
}
