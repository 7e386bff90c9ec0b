//! Where a hunk belongs: its lines first, then what the `@@` lines, the end mark and the order say.

use std::borrow::Cow;

use super::{Hunk, HunkError};
use crate::replace::lines::windows;
use crate::replace::{ReplaceError, ascii, similar};

/// How far below and above its hint a hunk may be, in bytes.
const REACH_BELOW: usize = 2_000;
const REACH_ABOVE: usize = 500;

/// Where a hunk's first line is, and whether its lines differ from the file's in blanks or more.
pub(super) struct Found {
    pub(super) first: usize,
    pub(super) forgiving: bool,
}

/// What helps to choose a place.
pub(super) struct Place<'a> {
    pub(super) hunk: &'a Hunk,
    /// Where the hunk before ended.
    pub(super) below: usize,
    /// By how many lines the file has grown so far.
    pub(super) grown: isize,
}

impl Place<'_> {
    /// The line the hunk's numbers mean, from 0, in the file as it is now.
    fn numbered(&self) -> Option<usize> {
        self.hunk.at?.checked_sub(1)?.checked_add_signed(self.grown)
    }
}

/// How lines are compared, strictest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    Exact,
    EndTrimmed,
    Trimmed,
    Words,
    Typography,
    Anchors,
    Similar,
}

impl Rule {
    const ALL: [Self; 7] = [
        Self::Exact,
        Self::EndTrimmed,
        Self::Trimmed,
        Self::Words,
        Self::Typography,
        Self::Anchors,
        Self::Similar,
    ];

    fn places(self, file: &[&str], old: &[&str]) -> Result<Vec<usize>, HunkError> {
        Ok(match self {
            Self::Exact => windows(file, old, Cow::Borrowed),
            Self::EndTrimmed => windows(file, old, |line| Cow::Borrowed(line.trim_end())),
            Self::Trimmed => windows(file, old, |line| Cow::Borrowed(line.trim())),
            Self::Words => windows(file, old, |line| Cow::Owned(words(line))),
            Self::Typography => windows(file, old, |line| Cow::Owned(words(&ascii(line)))),
            Self::Anchors => similar::block_anchor(file, old),
            Self::Similar => match similar::context_aware(file, old) {
                Ok(place) => place.into_iter().collect(),
                Err(ReplaceError::TooClose { best, other }) => {
                    return Err(HunkError::Several { lines: vec![best, other] });
                }
                Err(_) => Vec::new(),
            },
        })
    }
}

fn words(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Where the lines that stay or go are. Blank lines alone must be there exactly.
pub(super) fn seek(file: &[&str], old: &[&str], place: &Place<'_>) -> Result<Found, HunkError> {
    let blank = old.iter().all(|line| line.trim().is_empty());
    for rule in Rule::ALL.into_iter().filter(|rule| !blank || *rule == Rule::Exact) {
        let places = rule.places(file, old)?;
        if !places.is_empty() {
            let first = choose(file, old.len(), &places, place)?;
            return Ok(Found { first, forgiving: !matches!(rule, Rule::Exact | Rule::EndTrimmed) });
        }
    }
    Err(HunkError::NotFound { similar: similar::did_you_mean(file, &old.join("\n")) })
}

/// One of several places, by the first thing that tells them apart.
fn choose(file: &[&str], count: usize, places: &[usize], place: &Place<'_>) -> Result<usize, HunkError> {
    if let [only] = places {
        return Ok(*only);
    }
    if place.hunk.end_of_file
        && let Some(last) = places.iter().find(|first| **first + count == file.len())
    {
        return Ok(*last);
    }
    if let Some(numbered) = place.numbered()
        && places.contains(&numbered)
    {
        return Ok(numbered);
    }
    if let Some(hinted) = by_hint(file, places, &place.hunk.hints) {
        return Ok(hinted);
    }
    let mut below = places.iter().filter(|first| place.below > 0 && **first >= place.below);
    match (below.next(), below.next()) {
        (Some(only), None) => Ok(*only),
        _ => Err(HunkError::Several { lines: places.iter().map(|first| first + 1).collect() }),
    }
}

/// The place next to the hint, if all lines with its text lead to the same one.
fn by_hint(file: &[&str], places: &[usize], hints: &[String]) -> Option<usize> {
    let mut chosen = hint_lines(file, hints).into_iter().filter_map(|line| near(file, places, line));
    let first = chosen.next()?;
    chosen.all(|other| other == first).then_some(first)
}

/// The first place below a line, else the only one above it, both within reach.
fn near(file: &[&str], places: &[usize], line: usize) -> Option<usize> {
    let distance =
        |from: usize, to: usize| -> usize { file[from..to].iter().map(|text| text.len() + 1).sum() };
    let below = places[places.partition_point(|first| *first < line)..].first().copied();
    if let Some(first) = below.filter(|first| distance(line, *first) <= REACH_BELOW) {
        return Some(first);
    }
    let mut above = places
        .iter()
        .rev()
        .skip_while(|first| **first >= line)
        .take_while(|first| distance(**first, line) <= REACH_ABOVE);
    match (above.next(), above.next()) {
        (Some(only), None) => Some(*only),
        _ => None,
    }
}

/// The lines with the text of the innermost hint, each below one with the text of the hint around it.
fn hint_lines(file: &[&str], hints: &[String]) -> Vec<usize> {
    let Some((outermost, inner)) = hints.split_first() else { return Vec::new() };
    let mut lines = lines_with(file, outermost);
    for hint in inner {
        let all = lines_with(file, hint);
        lines = lines
            .into_iter()
            .filter_map(|line| all.get(all.partition_point(|other| *other <= line)).copied())
            .collect();
        lines.dedup();
    }
    lines
}

/// The lines that are the hint's text; if there are none, those that contain it.
fn lines_with(file: &[&str], hint: &str) -> Vec<usize> {
    let hint = hint.trim();
    let those = |fits: &dyn Fn(&str) -> bool| -> Vec<usize> {
        file.iter().enumerate().filter(|(_, line)| fits(line)).map(|(at, _)| at).collect()
    };
    let whole = those(&|line| line.trim() == hint);
    if whole.is_empty() { those(&|line| line.contains(hint)) } else { whole }
}

/// Where lines come that have no line that stays beside them: below the hint, at the line named, or at the end.
pub(super) fn insertion(file: &[&str], place: &Place<'_>) -> Result<Found, HunkError> {
    let at = |first| Ok(Found { first, forgiving: false });
    if place.hunk.end_of_file {
        return at(file.len());
    }
    if let Some(line) = place.numbered() {
        return at(line.min(file.len()));
    }
    let Some(hint) = place.hunk.hints.last() else { return at(file.len()) };
    match hint_lines(file, &place.hunk.hints).as_slice() {
        [] => Err(HunkError::NoHint { hint: hint.clone() }),
        [only] => at(only + 1),
        several => Err(HunkError::SeveralHints {
            hint: hint.clone(),
            lines: several.iter().map(|line| line + 1).collect(),
        }),
    }
}
