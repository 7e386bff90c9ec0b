//! Lines of a text, and finding a series of lines in it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

/// Where each line is, without its line end.
pub(crate) struct LineIndex(Vec<Range<usize>>);

impl LineIndex {
    pub(crate) fn new(text: &str) -> Self {
        let mut at = 0;
        Self(
            text.split_inclusive('\n')
                .map(|line| {
                    let start = at;
                    at += line.len();
                    start..start + line.strip_suffix('\n').unwrap_or(line).len()
                })
                .collect(),
        )
    }

    pub(crate) fn texts<'a>(&self, text: &'a str) -> Vec<&'a str> {
        self.0.iter().map(|line| &text[line.clone()]).collect()
    }

    /// The bytes of `count` lines from line `first`, with the last one's line end if `ended`.
    pub(crate) fn bytes(&self, text: &str, first: usize, count: usize, ended: Ended) -> Range<usize> {
        let end = self.0[first + count - 1].end;
        let with_end = ended == Ended::WithLineEnd && end < text.len();
        self.0[first].start..end + usize::from(with_end)
    }
}

/// Whether a series of lines includes the last line end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    WithLineEnd,
    Without,
}

/// The lines of a searched text, and whether it goes on to the end of its last line.
pub(crate) fn pattern_lines(old: &str) -> (Vec<&str>, Ended) {
    match old.strip_suffix('\n') {
        Some(body) => (body.split('\n').collect(), Ended::WithLineEnd),
        None => (old.split('\n').collect(), Ended::Without),
    }
}

/// The first lines of every place where the keys of the file's lines are those of the pattern, in linear
/// time. Places may overlap.
pub(crate) fn windows<'a>(
    file: &[&'a str],
    pattern: &[&'a str],
    key: impl Fn(&'a str) -> Cow<'a, str>,
) -> Vec<usize> {
    if pattern.is_empty() || pattern.len() > file.len() {
        return Vec::new();
    }
    let mut numbers: HashMap<Cow<'a, str>, usize> = HashMap::new();
    let needle: Vec<usize> = pattern
        .iter()
        .map(|line| {
            let next = numbers.len();
            *numbers.entry(key(line)).or_insert(next)
        })
        .collect();
    let haystack = file.iter().map(|line| numbers.get(&key(line)).copied());
    occurrences(haystack, &needle)
}

/// Knuth, Morris and Pratt: where the needle begins in the haystack.
fn occurrences(haystack: impl Iterator<Item = Option<usize>>, needle: &[usize]) -> Vec<usize> {
    let mut back = vec![0; needle.len()];
    let mut matched = 0;
    for at in 1..needle.len() {
        while matched > 0 && needle[at] != needle[matched] {
            matched = back[matched - 1];
        }
        matched += usize::from(needle[at] == needle[matched]);
        back[at] = matched;
    }
    let mut found = Vec::new();
    matched = 0;
    for (at, element) in haystack.enumerate() {
        let fits = |matched: usize| element == Some(needle[matched]);
        while matched > 0 && !fits(matched) {
            matched = back[matched - 1];
        }
        matched += usize::from(fits(matched));
        if matched == needle.len() {
            found.push(at + 1 - needle.len());
            matched = back[matched - 1];
        }
    }
    found
}

/// The places that do not overlap an earlier one.
pub(crate) fn apart(starts: Vec<usize>, count: usize) -> Vec<usize> {
    let mut free_from = 0;
    starts
        .into_iter()
        .filter(|start| {
            let free = *start >= free_from;
            if free {
                free_from = start + count;
            }
            free
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_places_are_found_and_sorted_out() {
        let file: Vec<&str> = "a b a b a b a x".split(' ').collect();
        let found = windows(&file, &["a", "b", "a"], Cow::Borrowed);
        assert_eq!(found, [0, 2, 4]);
        assert_eq!(apart(found, 3), [0, 4]);
    }

    #[test]
    fn bytes_of_lines() {
        let text = "one\ntwo\nthree";
        let index = LineIndex::new(text);
        assert_eq!(&text[index.bytes(text, 0, 2, Ended::Without)], "one\ntwo");
        assert_eq!(&text[index.bytes(text, 0, 2, Ended::WithLineEnd)], "one\ntwo\n");
        assert_eq!(&text[index.bytes(text, 2, 1, Ended::WithLineEnd)], "three");
    }
}
