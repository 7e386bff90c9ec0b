//! Any text through the injection scan: it is marked, never with a panic, and no line of it is lost.
#![no_main]

use hermes_guard::injection::{disarm, show};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (plain, _) = show(text);
    let seen = disarm(text);
    assert_eq!(seen.text.matches('\n').count(), plain.matches('\n').count());
    for (line, marked) in plain.lines().zip(seen.text.lines()) {
        assert!(marked.ends_with(line));
    }
});
