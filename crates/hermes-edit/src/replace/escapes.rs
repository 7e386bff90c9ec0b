//! Backslashes that a writer put where the file has the character itself.

use super::ReplaceError;

/// The text with `\n`, `\t` and `\r` for the characters; None if it has none of them.
pub(super) fn unescaped(text: &str) -> Option<String> {
    let plain = text.replace("\\r\\n", "\n").replace("\\n", "\n").replace("\\t", "\t").replace("\\r", "\r");
    (plain != text).then_some(plain)
}

/// New text with `\t` and `\r` for the characters, where the replaced region has such characters.
pub(super) fn unescaped_like(region: &str, new: &str) -> String {
    let mut new = new.to_owned();
    for (written, meant) in [("\\t", "\t"), ("\\r", "\r")] {
        if region.contains(meant) {
            new = new.replace(written, meant);
        }
    }
    new
}

/// Refuses an edit that would write escaped quotes where the file has plain ones.
pub(super) fn check_drift(old: &str, new: &str, region: &str, line: usize) -> Result<(), ReplaceError> {
    for mark in ["\\'", "\\\""] {
        if old.contains(mark) && new.contains(mark) && !region.contains(mark) {
            return Err(ReplaceError::EscapeDrift { mark, line });
        }
    }
    Ok(())
}
