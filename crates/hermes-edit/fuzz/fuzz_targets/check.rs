//! Any text as JSON, YAML and TOML: a verdict with a place inside the text, never a panic.
#![no_main]

use hermes_edit::check;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for name in ["a.json", "tsconfig.json", "a.yaml", "a.toml"] {
        if let Some(problem) = check(name, text) {
            assert!(problem.line >= 1 && problem.column >= 1 && problem.line <= text.matches('\n').count() + 2);
        }
    }
});
