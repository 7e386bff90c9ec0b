//! Hunks put into a text.

use super::{Hunk, HunkError, LineKind};

/// The text after the hunks, or the number of the first hunk that does not fit and why.
pub(super) fn apply(text: &str, hunks: &[Hunk]) -> Result<String, (usize, HunkError)> {
    let mut text = text.to_owned();
    for (index, hunk) in hunks.iter().enumerate() {
        let side = |other: LineKind| -> String {
            hunk.lines.iter().filter(|l| l.kind != other).map(|l| format!("{}\n", l.text)).collect()
        };
        let (old, new) = (side(LineKind::Add), side(LineKind::Remove));
        if !text.contains(&old) {
            return Err((index + 1, HunkError::NotFound { similar: Vec::new() }));
        }
        text = text.replacen(&old, &new, 1);
    }
    Ok(text)
}
