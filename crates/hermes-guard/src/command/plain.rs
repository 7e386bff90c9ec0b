//! Command lines that are one program with arguments that mean what they say.

use super::glob;

/// Whether a line has no operators, redirections, quotes or expansions.
pub fn is_plain(line: &str) -> bool {
    !line.contains(['|', '&', ';', '<', '>', '(', ')', '{', '}', '$', '`', '\n', '\\', '"', '\''])
}

/// Whether a pattern lets a command pass. One with operators could hide anything behind an innocent beginning.
pub(super) fn allowed_by(patterns: &[String], text: &str) -> bool {
    let text = text.trim();
    let fits = |pattern: &String| {
        let pattern = pattern.trim();
        pattern == text || (is_plain(text) && !pattern.is_empty() && glob::matches_exactly(pattern, text))
    };
    patterns.iter().any(fits)
}
