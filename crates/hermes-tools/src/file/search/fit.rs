//! How many results of a page there is room for. Pure.

use std::ops::Range;

use hermes_box::proto::search::LineRole;

use super::show::Hit;
use crate::text::{AROUND, written_length};

/// Characters around a line: its number, blanks, the end of the line.
const AROUND_LINE: usize = 16;
/// Characters around a line that stands alone: names of fields, braces.
const AROUND_HIT: usize = 48;

/// Which of the lines fit. There is always a match among them: a page without one would lead nowhere, so context that leaves
/// no room for it goes.
pub(super) fn hits(hits: &[Hit], most_chars: usize) -> Range<usize> {
    let cost = |at: usize| {
        let hit = &hits[at];
        let known = at > 0 && hits[at - 1].path == hit.path;
        let path = if known { 0 } else { written_length(&hit.path) };
        // A few lines are not grouped: each names its file.
        let alone =
            if hits.len() < super::show::GROUPED { AROUND_HIT + written_length(&hit.path) } else { 0 };
        AROUND_LINE + alone + path + written_length(&hit.content)
    };
    let is_match = |hit: &Hit| hit.role == LineRole::Match;
    let first = hits.iter().position(is_match).unwrap_or(0);
    let from_the_start = counted((0..hits.len()).map(cost), most_chars);
    if from_the_start > first || hits.is_empty() {
        return 0..from_the_start;
    }
    let more = counted((first..hits.len()).map(cost), most_chars);
    first..first + more.max(1)
}

/// How many names fit, at least one.
pub(super) fn names<'n>(names: impl Iterator<Item = &'n str>, most_chars: usize) -> usize {
    counted(names.map(|name| written_length(name) + AROUND_LINE), most_chars).max(1)
}

fn counted(costs: impl Iterator<Item = usize>, most_chars: usize) -> usize {
    let mut room = most_chars.saturating_sub(AROUND);
    costs
        .take_while(|cost| {
            let fits = *cost <= room;
            room = room.saturating_sub(*cost);
            fits
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(line: u64, role: LineRole) -> Hit {
        Hit { path: "a".into(), line, content: "x".repeat(84), role, end: line }
    }

    #[test]
    fn a_page_always_has_a_match() {
        use LineRole::{Context, Match};
        let matches: Vec<Hit> = (1..=50).map(|line| hit(line, Match)).collect();
        assert_eq!(hits(&matches, 100_000), 0..50);
        assert_eq!(hits(&matches, AROUND + 1_001), 0..10);
        assert_eq!(hits(&matches, 0), 0..1);
        let mut deep: Vec<Hit> = (1..=20).map(|line| hit(line, Context)).collect();
        deep.extend([hit(21, Match), hit(22, Context), hit(23, Match)]);
        assert_eq!(hits(&deep, AROUND + 500), 20..23);
        assert_eq!(hits(&deep, 0), 20..21);
        assert_eq!(hits(&[], 0), 0..0);
        assert_eq!(names(["abc"; 9].into_iter(), AROUND + 40), 2);
    }
}
