//! The nine rules: where each finds a text.

use std::borrow::Cow;
use std::ops::Range;

use super::lines::{LineIndex, apart, pattern_lines, windows};
use super::{ReplaceError, Strategy, escapes, similar, typography};

type Places = Vec<Range<usize>>;
/// From the lines of a file and of the searched text to the first lines of places.
type LineRule = dyn for<'a> Fn(&[&'a str], &[&'a str]) -> Vec<usize>;

/// What one rule finds. Only the exact rule looks for blanks: they would fit anywhere by the others.
pub(super) fn search(
    strategy: Strategy,
    text: &str,
    lines: &LineIndex,
    old: &str,
) -> Result<Places, ReplaceError> {
    if old.is_empty() || (strategy != Strategy::Exact && old.trim().is_empty()) {
        return Ok(Vec::new());
    }
    let by_lines = |find: &LineRule| {
        let (pattern, ended) = pattern_lines(old);
        let starts = find(&lines.texts(text), &pattern);
        let starts = apart(starts, pattern.len());
        starts.into_iter().map(|first| lines.bytes(text, first, pattern.len(), ended)).collect()
    };
    Ok(match strategy {
        Strategy::Exact => exact(text, old),
        Strategy::LineTrimmed => by_lines(&trimmed),
        Strategy::WhitespaceNormalized => whitespace_normalized(text, old),
        Strategy::IndentationFlexible => {
            by_lines(&|file, pattern| windows(file, pattern, |line| Cow::Borrowed(line.trim_start())))
        }
        Strategy::EscapeNormalized => match escapes::unescaped(old) {
            Some(old) => exact(text, &old),
            None => Vec::new(),
        },
        Strategy::TrimmedBoundary => by_lines(&trimmed_boundary),
        Strategy::UnicodeNormalized => {
            let places = typography::places(text, old);
            if places.is_empty() { by_lines(&typography::trimmed_windows) } else { places }
        }
        Strategy::BlockAnchor => by_lines(&similar::block_anchor),
        Strategy::ContextAware => match similar::context_aware(&lines.texts(text), &pattern_lines(old).0)? {
            Some(first) => by_lines(&move |_, _| vec![first]),
            None => Vec::new(),
        },
    })
}

/// Places from front to back that do not overlap.
pub(super) fn exact(text: &str, old: &str) -> Places {
    memchr::memmem::find_iter(text.as_bytes(), old).map(|at| at..at + old.len()).collect()
}

fn trimmed<'a>(file: &[&'a str], pattern: &[&'a str]) -> Vec<usize> {
    windows(file, pattern, |line| Cow::Borrowed(line.trim()))
}

fn trimmed_boundary<'a>(file: &[&'a str], pattern: &[&'a str]) -> Vec<usize> {
    let inner = 1..pattern.len().saturating_sub(1).max(1);
    let fits = |first: &usize| file[first + 1..first + inner.end] == pattern[inner.clone()];
    trimmed(file, pattern).into_iter().filter(fits).collect()
}

/// Compares with every run of spaces and tabs as one space. A place ends where the searched text ends: blanks
/// that follow it in the file stay.
fn whitespace_normalized(text: &str, old: &str) -> Places {
    let (normal, starts) = one_blank(text);
    let (wanted, _) = one_blank(old);
    exact(&normal, &wanted).into_iter().map(|place| starts[place.start]..starts[place.end]).collect()
}

/// The text with one space for each run of blanks, and where each of its bytes begins in the text.
fn one_blank(text: &str) -> (String, Vec<usize>) {
    let mut normal = String::with_capacity(text.len());
    let mut starts = Vec::with_capacity(text.len() + 1);
    let mut in_run = false;
    for (at, c) in text.char_indices() {
        let blank = matches!(c, ' ' | '\t');
        if !(blank && in_run) {
            normal.push(if blank { ' ' } else { c });
            starts.resize(normal.len(), at);
        }
        in_run = blank;
    }
    starts.push(text.len());
    (normal, starts)
}
