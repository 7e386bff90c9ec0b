//! What a content search has found: the part that was asked for, in the order of paths.

use std::path::Path;

use crate::proto::search::{
    Completeness, FileMatches, FoundLine, LineRole, SearchMode, SearchRequest, SearchResult,
};

/// Matches (or files) in one answer.
const MAX_GIVEN: u64 = 10_000;

/// What came of one file.
pub(super) enum Looked {
    Text(FileMatches),
    Binary,
    Unreadable,
}

/// How many matches (or files) are given back.
pub(super) fn given(request: &SearchRequest) -> u64 {
    u64::from(request.limit).min(MAX_GIVEN)
}

/// What has been found so far.
pub(super) struct Harvest<'a> {
    request: &'a SearchRequest,
    files: Vec<FileMatches>,
    /// What pages are made of, matches or files, as far as seen.
    seen: u64,
    /// Matches, or files where only files are asked for.
    total: u64,
    searched: u64,
    binary: u64,
    pub(super) unreadable: u64,
}

impl<'a> Harvest<'a> {
    pub(super) fn new(request: &'a SearchRequest) -> Self {
        Self { request, files: Vec::new(), seen: 0, total: 0, searched: 0, binary: 0, unreadable: 0 }
    }

    /// Where the part that is given back ends.
    fn end(&self) -> u64 {
        u64::from(self.request.offset) + given(self.request)
    }

    /// One more than is given back has been seen.
    pub(super) fn is_full(&self) -> bool {
        self.seen > self.end()
    }

    pub(super) fn add(&mut self, looked: Looked) {
        match looked {
            Looked::Unreadable => self.unreadable += 1,
            Looked::Binary => self.binary += 1,
            Looked::Text(matches) => {
                self.searched += 1;
                if matches.count > 0 {
                    self.add_matches(matches);
                }
            }
        }
    }

    fn add_matches(&mut self, mut matches: FileMatches) {
        let before = self.seen;
        self.total += if self.request.mode == SearchMode::Files { 1 } else { matches.count };
        if self.request.mode != SearchMode::Lines {
            self.seen += 1;
            if (u64::from(self.request.offset)..self.end()).contains(&before) {
                self.files.push(matches);
            }
            return;
        }
        self.seen += matches.count;
        let from = u64::from(self.request.offset).saturating_sub(before);
        let to = self.end().saturating_sub(before);
        matches.lines = part(matches.lines, from, to, self.request);
        if !matches.lines.is_empty() {
            self.files.push(matches);
        }
    }

    pub(super) fn finish(self, root: &Path, completeness: Completeness) -> SearchResult {
        SearchResult {
            root: root.into(),
            more: self.seen > self.end(),
            files: self.files,
            total: self.total,
            searched: self.searched,
            binary: self.binary,
            unreadable: self.unreadable,
            completeness,
        }
    }
}

/// The matches from number `from` up to `to`, with the context that belongs to them.
fn part(lines: Vec<FoundLine>, from: u64, to: u64, request: &SearchRequest) -> Vec<FoundLine> {
    let numbers: Vec<u64> =
        lines.iter().filter(|line| line.role == LineRole::Match).map(|line| line.number).collect();
    let wanted = &numbers[(from as usize).min(numbers.len())..(to as usize).min(numbers.len())];
    let (Some(first), Some(last)) = (wanted.first(), wanted.last()) else { return Vec::new() };
    if wanted.len() == numbers.len() {
        return lines;
    }
    let near = |number: u64| {
        wanted.iter().any(|wanted| {
            number + u64::from(request.before) >= *wanted && number <= *wanted + u64::from(request.after)
        })
    };
    let belongs = |line: &FoundLine| match line.role {
        LineRole::Match => (*first..=*last).contains(&line.number),
        LineRole::Context => near(line.number),
    };
    lines.into_iter().filter(belongs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(number: u64, role: LineRole) -> FoundLine {
        FoundLine { number, role, bytes: Vec::new(), length: 0 }
    }

    #[test]
    fn a_part_brings_its_own_context_only() {
        use LineRole::{Context, Match};
        let lines: Vec<FoundLine> =
            [(1, Context), (2, Match), (3, Context), (8, Context), (9, Match), (10, Match), (11, Context)]
                .map(|(number, role)| line(number, role))
                .into();
        let request = SearchRequest { before: 1, after: 1, ..SearchRequest::new("/", "x") };
        let numbers = |from, to| -> Vec<u64> {
            part(lines.clone(), from, to, &request).iter().map(|line| line.number).collect()
        };
        assert_eq!(numbers(0, 9), [1, 2, 3, 8, 9, 10, 11]);
        assert_eq!(numbers(0, 1), [1, 2, 3]);
        assert_eq!(numbers(1, 2), [8, 9]);
        assert_eq!(numbers(2, 3), [10, 11]);
        assert!(numbers(3, 9).is_empty());
    }
}
