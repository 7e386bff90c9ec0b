//! Globs as people write them.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};

use crate::proto::fault::Fault;

/// A glob: against the name when it has no slash, against the path from the root otherwise.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    matcher: GlobMatcher,
    against: Against,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Against {
    Name,
    Path,
}

impl Pattern {
    pub(super) fn new(text: &str) -> Result<Self, Fault> {
        let text = text.strip_prefix("./").unwrap_or(text);
        let against = if text.contains('/') { Against::Path } else { Against::Name };
        let glob = GlobBuilder::new(text.trim_start_matches('/'))
            .literal_separator(true)
            .backslash_escape(true)
            .build()
            .map_err(|error| Fault::Invalid(format!("'{text}' is not a glob: {}", error.kind())))?;
        Ok(Self { matcher: glob.compile_matcher(), against })
    }

    /// Whether the file at `path`, which is somewhere below `root`, fits.
    pub(super) fn fits(&self, path: &Path, root: &Path) -> bool {
        match self.against {
            Against::Name => path.file_name().is_some_and(|name| self.matcher.is_match(name)),
            Against::Path => self.matcher.is_match(path.strip_prefix(root).unwrap_or(path)),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn names_match_anywhere_and_paths_from_the_root() {
        let fits =
            |pattern: &str, path: &str| Pattern::new(pattern).unwrap().fits(Path::new(path), Path::new("/r"));
        assert!(fits("*.rs", "/r/src/deep/a.rs"));
        assert!(!fits("*.rs", "/r/a.rsx"));
        assert!(fits("src/*.rs", "/r/src/a.rs"));
        assert!(!fits("src/*.rs", "/r/src/deep/a.rs"));
        assert!(fits("src/**/*.rs", "/r/src/deep/a.rs"));
        assert!(fits("**/a.rs", "/r/a.rs"));
        assert!(fits("./src/a.rs", "/r/src/a.rs"));
        assert!(fits("{a,b}.[ch]", "/r/x/b.h"));
        assert!(Pattern::new("a[").is_err());
    }
}
