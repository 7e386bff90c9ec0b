//! Files that may have been meant when there is none of the name.

use std::path::{Path, PathBuf};

use hermes_box::client::Files;
use hermes_box::proto::file::Resolved;

/// Names that are offered.
const MOST: usize = 5;
/// Entries of the directory that are looked at.
const LOOKED_AT: u32 = 5000;
/// Less alike than this is another name.
const ALIKE: f64 = 0.6;

/// Files beside the missing one with names like its own, best first.
pub(super) fn files(files: &Files, missing: &Resolved) -> Vec<PathBuf> {
    let (Some(directory), Some(name)) = (missing.path.parent(), missing.path.file_name()) else {
        return Vec::new();
    };
    let Ok(listing) = files.list(directory, LOOKED_AT) else { return Vec::new() };
    let names = listing.entries.iter().map(|entry| entry.name.to_string_lossy().into_owned());
    best(&name.to_string_lossy(), names).into_iter().map(|name| directory.join(name)).collect()
}

fn best(wanted: &str, names: impl Iterator<Item = String>) -> Vec<String> {
    let mut scored: Vec<(f64, String)> =
        names.map(|name| (likeness(wanted, &name), name)).filter(|(score, _)| *score >= ALIKE).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    scored.into_iter().take(MOST).map(|(_, name)| name).collect()
}

/// From 0 to 1; another case or ending is almost the same name.
fn likeness(wanted: &str, name: &str) -> f64 {
    let (wanted, name) = (wanted.to_lowercase(), name.to_lowercase());
    let stem = |name: &str| Path::new(name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    if wanted == name {
        1.0
    } else if stem(&wanted) == stem(&name) {
        0.9
    } else if name.starts_with(&wanted) || wanted.starts_with(&name) {
        0.8
    } else if wanted.len() > 2 && name.contains(&wanted) {
        0.7
    } else {
        // Never above the telling signs.
        hermes_edit::ratio(&wanted, &name).min(0.79)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_endings_and_cases_come_first() {
        let names = ["readme.md", "Main.rs", "main.py", "main_test.rs", "zebra.rs", "domain.rs"];
        let found = best("main.rs", names.iter().map(|name| (*name).to_owned()));
        assert_eq!(found[..2], ["Main.rs", "main.py"]);
        assert!(found.contains(&"domain.rs".to_owned()) && found.contains(&"main_test.rs".to_owned()));
        assert!(!found.contains(&"readme.md".to_owned()));
    }
}
