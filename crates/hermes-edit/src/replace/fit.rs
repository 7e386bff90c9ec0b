//! New text made to fit the place where the old one was found.

use std::ops::Range;

use super::lines::pattern_lines;
use super::{Reindent, ReplaceError, Strategy, escapes, typography};

/// What is searched and what comes in its place, with plain line ends.
pub(super) struct Edit {
    pub(super) old: String,
    pub(super) new: String,
}

impl Edit {
    /// What to write at one place. `region` is the place with its own line ends.
    pub(super) fn fitted(
        &self,
        strategy: Strategy,
        text: &str,
        place: &Range<usize>,
        region: &str,
    ) -> Result<String, ReplaceError> {
        if strategy == Strategy::Exact {
            return Ok(self.new.clone());
        }
        let line = text[..place.start].matches('\n').count() + 1;
        escapes::check_drift(&self.old, &self.new, region, line)?;
        let found = &text[place.clone()];
        if strategy == Strategy::EscapeNormalized {
            return Ok(self.unescaped(region));
        }
        let new = if strategy == Strategy::UnicodeNormalized {
            typography::keeping(&self.old, &self.new, found)
        } else {
            self.new.clone()
        };
        let new = super::fold(&escapes::unescaped_like(region, &new)).into_owned();
        Ok(self.indented(text, place, &ended_like(found, &self.old, new)))
    }

    /// A text written on one line with `\n` in it is meant to have lines; others are only put right where the
    /// file says so.
    fn unescaped(&self, region: &str) -> String {
        let on_one_line = self.old.contains("\\n") && !self.new.contains('\n');
        let new = if on_one_line { escapes::unescaped(&self.new) } else { None };
        let new = new.unwrap_or_else(|| escapes::unescaped_like(region, &self.new));
        super::fold(&new).into_owned()
    }

    /// New lines in the indentation of the file. A place that begins after its line's indentation keeps it.
    fn indented(&self, text: &str, place: &Range<usize>, new: &str) -> String {
        let line_start = text[..place.start].rfind('\n').map_or(0, |at| at + 1);
        let before = &text[line_start..place.start];
        let before = if before.trim().is_empty() { before } else { "" };
        let found = format!("{before}{}", &text[place.clone()]);
        let (old, _) = pattern_lines(&self.old);
        let (file, _) = pattern_lines(&found);
        if old.len() != file.len() {
            return new.to_owned();
        }
        let new = Reindent::learn(old.into_iter().zip(file).collect()).text(new);
        new.strip_prefix(before).unwrap_or(&new).to_owned()
    }
}

/// A last line without line end stays without.
fn ended_like(found: &str, old: &str, mut new: String) -> String {
    if old.ends_with('\n') && !found.ends_with('\n') && new.ends_with('\n') {
        new.pop();
    }
    new
}
