//! Any patch on any file: read and planned or refused, never a panic, never a path that leads upwards.
#![no_main]

use hermes_edit::{Change, Patch, unified};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, &str)| {
    let (text, patch) = input;
    for patch in [patch.to_owned(), format!("*** Update File: f\n{patch}")] {
        let Ok(patch) = Patch::parse(&patch) else { continue };
        assert!(patch.paths().iter().all(|path| !path.is_empty() && path.split('/').all(|part| part != "..")));
        let Ok(changes) = patch.plan(|path| Ok::<_, String>((path == "f").then(|| text.to_owned()))) else {
            continue;
        };
        assert!(!changes.is_empty());
        for change in changes {
            if let Change::Update { old, new, .. } = change {
                assert!(old != new && !unified("a", "b", &old, &new).is_empty());
            }
        }
    }
});
