//! Any replacement in any text: done or refused, never a panic, and nothing outside of the place changes.
#![no_main]

use hermes_edit::replace::{Occurrences, replace};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, &str, &str, bool)| {
    let (text, old, new, all) = input;
    let which = if all { Occurrences::All } else { Occurrences::Only };
    match replace(text, old, new, which) {
        Ok(replaced) => assert!(replaced.count > 0 && (all || replaced.count == 1)),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
