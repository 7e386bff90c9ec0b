//! Error answers of any bytes: no panic, and a failure that can be shown.

#![no_main]

use hermes_model::failure::{CallSize, Observed, failure_of, read_error_body};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u16, u64, &[u8])| {
    let (status, tokens, body) = input;
    let observed = Observed { status: Some(status), ..read_error_body(body) };
    let size = CallSize { tokens, messages: 3, window: Some(200_000) };
    let failure = failure_of(observed, &size);
    assert!(failure.to_string().len() < 4000);
});
