//! Any bytes from an agent: the client's decoders must refuse or understand them, never panic.
#![no_main]

use hermes_box::proto::frame::{MAX_BODY, read_frame};
use hermes_box::proto::message::{ToAgent, ToClient};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut stream = data;
    while let Ok(Some(frame)) = read_frame(&mut stream, MAX_BODY) {
        if let Ok(message) = ToClient::decode(frame.clone()) {
            let again = message.encode();
            let reread = read_frame(&mut again.as_slice(), MAX_BODY).ok().flatten();
            assert_eq!(reread.and_then(|f| ToClient::decode(f).ok()), Some(message));
        }
        let _ = ToAgent::decode(frame);
    }
});
