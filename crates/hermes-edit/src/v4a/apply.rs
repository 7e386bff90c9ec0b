//! Hunks put into a text, line by line: what stays keeps the file's own characters and line ends.

use std::borrow::Cow;
use std::ops::Range;

use super::seek::{Place, insertion, seek};
use super::{Ending, Hunk, HunkError, HunkLine, LineKind};
use crate::replace::Reindent;

/// The text after the hunks, or the number of the first hunk that does not fit and why.
///
/// A hunk without lines that go or come only shows the surroundings and is left out.
pub(super) fn apply(text: &str, hunks: &[Hunk]) -> Result<String, (usize, HunkError)> {
    let mut draft = Draft::new(text);
    for (index, hunk) in hunks.iter().enumerate() {
        if hunk.lines.iter().any(|line| line.kind != LineKind::Keep) {
            draft.put(hunk).map_err(|reason| (index + 1, reason))?;
        }
    }
    Ok(draft.text())
}

/// A line of the file, apart from its line end.
#[derive(Clone)]
struct Line<'a> {
    text: Cow<'a, str>,
    end: &'a str,
}

struct Draft<'a> {
    lines: Vec<Line<'a>>,
    /// What new lines end with.
    line_end: &'static str,
    /// Where the last hunk ended: the next one is below it if there is a choice.
    below: usize,
    /// By how many lines the hunks so far made the file longer.
    grown: isize,
}

impl<'a> Draft<'a> {
    fn new(text: &'a str) -> Self {
        let lines: Vec<Line<'a>> = text
            .split_inclusive('\n')
            .map(|line| {
                let body =
                    line.strip_suffix('\n').map_or(line, |body| body.strip_suffix('\r').unwrap_or(body));
                Line { text: Cow::Borrowed(body), end: &line[body.len()..] }
            })
            .collect();
        let windows = lines.iter().filter(|line| line.end == "\r\n").count();
        let plain = lines.iter().filter(|line| line.end == "\n").count();
        let line_end = if windows > plain { "\r\n" } else { "\n" };
        Self { lines, line_end, below: 0, grown: 0 }
    }

    fn text(&self) -> String {
        self.lines.iter().flat_map(|line| [&*line.text, line.end]).collect()
    }

    fn put(&mut self, hunk: &Hunk) -> Result<(), HunkError> {
        let old: Vec<&str> = side(hunk, LineKind::Add).map(|line| line.text.as_str()).collect();
        let file: Vec<&str> = self.lines.iter().map(|line| &*line.text).collect();
        let place = Place { hunk, below: self.below, grown: self.grown };
        let found = if old.is_empty() { insertion(&file, &place)? } else { seek(&file, &old, &place)? };
        let coming =
            hunk.lines.iter().filter(|line| line.kind == LineKind::Add).map(|line| line.text.as_str());
        let coming = if found.forgiving {
            let pairs = old.iter().copied().zip(file[found.first..].iter().copied()).collect();
            let known = Reindent::learn(pairs);
            coming.map(|line| known.line(line)).collect()
        } else {
            coming.map(str::to_owned).collect()
        };
        let place = found.first..found.first + old.len();
        self.splice(hunk, place, coming);
        Ok(())
    }

    /// Puts the hunk's lines where they belong; `coming` are the texts of those that come.
    fn splice(&mut self, hunk: &Hunk, place: Range<usize>, coming: Vec<String>) {
        let at_end = place.end == self.lines.len();
        let last_end = self.lines.last().map_or(self.line_end, |line| line.end);
        let mut coming = coming.into_iter();
        let mut old = self.lines[place.clone()].iter().cloned();
        let mut new = Vec::with_capacity(hunk.lines.len());
        for line in &hunk.lines {
            match line.kind {
                LineKind::Keep => new.extend(old.next()),
                LineKind::Remove => drop(old.next()),
                LineKind::Add => {
                    let line_end = self.line_end;
                    new.extend(coming.next().map(|text| Line { text: Cow::Owned(text), end: line_end }));
                }
            }
        }
        let count = new.len();
        self.grown += count as isize - place.len() as isize;
        self.below = place.start + count;
        self.lines.splice(place.clone(), new);
        if at_end && count > 0 {
            self.end_lines(place.start, end_of_last(hunk, last_end, self.line_end));
        }
    }

    /// Only the last line of a file may be without line end.
    fn end_lines(&mut self, first_new: usize, last_end: &'a str) {
        let line_end = self.line_end;
        if let Some((last, others)) = self.lines.split_last_mut() {
            last.end = last_end;
            let suspects = others.iter_mut().skip(first_new.saturating_sub(1));
            suspects.filter(|line| line.end.is_empty()).for_each(|line| line.end = line_end);
        }
    }
}

/// The lines of a hunk but those of one kind.
fn side(hunk: &Hunk, not: LineKind) -> impl DoubleEndedIterator<Item = &HunkLine> {
    hunk.lines.iter().filter(move |line| line.kind != not)
}

/// How a file ends after a hunk at its end: as the hunk says, else as before.
fn end_of_last<'a>(hunk: &Hunk, before: &'a str, line_end: &'a str) -> &'a str {
    let said = |not| side(hunk, not).next_back().map(|line| line.ending);
    if said(LineKind::Remove) == Some(Ending::None) {
        ""
    } else if said(LineKind::Add) == Some(Ending::None) {
        line_end
    } else {
        before
    }
}
