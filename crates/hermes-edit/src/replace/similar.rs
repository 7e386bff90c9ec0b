//! The two rules that go by similarity, and the places to suggest when nothing fits. All of it is bounded.

use std::collections::HashMap;

use super::lines::pattern_lines;
use super::{ReplaceError, Snippet};
use crate::ratio::{Budget, UsedUp, bounded_ratio};

/// Steps of comparing that one rule may take: well under a second.
const RULE_STEPS: u64 = 30_000_000;
/// The same for suggestions, which are only a help.
const SUGGESTION_STEPS: u64 = 5_000_000;
/// How similar the middle of a block must be if its first and last line fit in one place only.
const LONELY_MIDDLE: f64 = 0.50;
/// The same if they fit in several places.
const CROWDED_MIDDLE: f64 = 0.70;
/// How similar a line must be to count as the same line.
const SAME_LINE: f64 = 0.80;
/// A runner-up this near (in mean similarity of lines) makes the best place a guess.
const CLOSE: f64 = 0.15;
/// How similar the first line of a suggestion must be.
const SUGGESTION: f64 = 0.30;
/// How many suggestions, with how many lines around, of how many characters.
const SUGGESTIONS: usize = 3;
const AROUND: usize = 2;
const SUGGESTED_WIDTH: usize = 200;

/// A text ready for comparing: its characters and how many there are of each kind.
struct Sample {
    chars: Vec<char>,
    /// Characters counted in a few buckets: enough for an upper bound.
    counts: [u32; Self::BUCKETS],
}

impl Sample {
    const BUCKETS: usize = 32;

    fn new(text: &str) -> Self {
        let mut counts = [0; Self::BUCKETS];
        let chars: Vec<char> = text.chars().collect();
        for c in &chars {
            counts[*c as usize % Self::BUCKETS] += 1;
        }
        Self { chars, counts }
    }

    /// The ratio if it is at least `floor`. Bounds by length and by characters come first: they are cheap.
    fn ratio_from(&self, other: &Self, floor: f64, budget: &mut Budget) -> Result<Option<f64>, UsedUp> {
        if self.chars == other.chars {
            return Ok(Some(1.0));
        }
        budget.spend(1)?;
        let shorter = self.chars.len().min(other.chars.len());
        if self.possible(other, shorter) < floor {
            return Ok(None);
        }
        budget.spend(Self::BUCKETS)?;
        if self.upper_bound(other) < floor {
            return Ok(None);
        }
        budget.spend(self.chars.len() + other.chars.len())?;
        let ratio = bounded_ratio(&self.chars, &other.chars, budget)?;
        Ok((ratio >= floor).then_some(ratio))
    }

    /// More than this the ratio cannot be: all characters that both have would have to match.
    fn upper_bound(&self, other: &Self) -> f64 {
        let shared: u32 = self.counts.iter().zip(&other.counts).map(|(a, b)| a.min(b)).sum();
        self.possible(other, shared as usize)
    }

    fn possible(&self, other: &Self, matched: usize) -> f64 {
        2.0 * matched as f64 / (self.chars.len() + other.chars.len()) as f64
    }
}

/// Places where the first and the last line fit and what is between them is similar.
pub(crate) fn block_anchor(file: &[&str], pattern: &[&str]) -> Vec<usize> {
    let count = pattern.len();
    let (Some(first), Some(last)) = (pattern.first(), pattern.last()) else { return Vec::new() };
    if count < 2 || count > file.len() || first.trim().is_empty() || last.trim().is_empty() {
        return Vec::new();
    }
    let anchored: Vec<usize> = (0..=file.len() - count)
        .filter(|at| file[*at].trim() == first.trim() && file[at + count - 1].trim() == last.trim())
        .collect();
    let floor = if anchored.len() == 1 { LONELY_MIDDLE } else { CROWDED_MIDDLE };
    let wanted = Sample::new(&pattern[1..count - 1].join("\n"));
    let mut budget = Budget::new(RULE_STEPS);
    let mut found = Vec::new();
    for at in anchored {
        let middle = &file[at + 1..at + count - 1];
        // A block that cannot be compared in time could be the second one: then nothing is certain.
        let size: usize = middle.iter().map(|line| line.len() + 1).sum();
        if budget.spend(size).is_err() {
            return Vec::new();
        }
        match wanted.ratio_from(&Sample::new(&middle.join("\n")), floor, &mut budget) {
            Ok(Some(_)) => found.push(at),
            Ok(None) => {}
            Err(UsedUp) => return Vec::new(),
        }
    }
    found
}

/// The place where half of the lines or more are very similar, if no other is nearly as good.
pub(crate) fn context_aware(file: &[&str], pattern: &[&str]) -> Result<Option<usize>, ReplaceError> {
    let Some(scores) = scores(file, pattern) else { return Ok(None) };
    let mut fitting: Vec<(usize, f64)> = scores
        .iter()
        .enumerate()
        .filter(|(_, score)| score.filled > 0 && score.lines * 2 >= pattern.len())
        .map(|(at, score)| (at, score.similarity))
        .collect();
    fitting.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    match fitting.as_slice() {
        [] => Ok(None),
        [(best, score), (other, next), ..] if (score - next) / (pattern.len() as f64) < CLOSE => {
            Err(ReplaceError::TooClose { best: best + 1, other: other + 1 })
        }
        [(best, _), ..] => Ok(Some(*best)),
    }
}

/// How well the pattern fits at one line.
#[derive(Clone, Default)]
struct Score {
    /// Lines that are similar enough.
    lines: usize,
    /// Those of them that are not empty.
    filled: usize,
    /// Sum of their similarities.
    similarity: f64,
}

/// The score at every line; None if it takes too long or the pattern is longer than the file.
fn scores(file: &[&str], pattern: &[&str]) -> Option<Vec<Score>> {
    let places = file.len().checked_sub(pattern.len())? + 1;
    let mut scores = vec![Score::default(); places];
    let mut budget = Budget::new(RULE_STEPS);
    let lines = DistinctLines::new(file);
    let mut known: HashMap<&str, Vec<(usize, f64)>> = HashMap::new();
    for (index, line) in pattern.iter().enumerate() {
        let line = line.trim();
        if !known.contains_key(line) {
            known.insert(line, lines.similar(line, &mut budget).ok()?);
        }
        for (distinct, similarity) in &known[line] {
            let at = &lines.lines[*distinct].at;
            budget.spend(at.len()).ok()?;
            for start in at.iter().filter_map(|at| at.checked_sub(index)).filter(|start| *start < places) {
                let score = &mut scores[start];
                score.lines += 1;
                score.filled += usize::from(!line.is_empty());
                score.similarity += similarity;
            }
        }
    }
    Some(scores)
}

/// A line's text and every place where it stands.
struct Distinct {
    sample: Sample,
    at: Vec<usize>,
}

/// The different lines of a file, shortest first.
struct DistinctLines {
    lines: Vec<Distinct>,
}

impl DistinctLines {
    fn new(file: &[&str]) -> Self {
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, line) in file.iter().enumerate() {
            places.entry(line.trim()).or_default().push(at);
        }
        let mut lines: Vec<_> =
            places.into_iter().map(|(line, at)| Distinct { sample: Sample::new(line), at }).collect();
        lines.sort_by_key(|line| (line.sample.chars.len(), line.at[0]));
        Self { lines }
    }

    /// Lines that are as good as the same. The length alone rules most of them out.
    fn similar(&self, line: &str, budget: &mut Budget) -> Result<Vec<(usize, f64)>, UsedUp> {
        let wanted = Sample::new(line);
        let len = wanted.chars.len() as f64;
        let reach = SAME_LINE / (2.0 - SAME_LINE);
        let from = self.lines.partition_point(|line| (line.sample.chars.len() as f64) < len * reach - 1.0);
        let to = self.lines.partition_point(|line| line.sample.chars.len() as f64 <= len / reach + 1.0);
        let mut similar = Vec::new();
        for index in from..to {
            if let Some(ratio) = wanted.ratio_from(&self.lines[index].sample, SAME_LINE, budget)? {
                similar.push((index, ratio));
            }
        }
        Ok(similar)
    }
}

/// Up to three places whose first line resembles that of the searched text, the most similar first.
pub(crate) fn did_you_mean(file: &[&str], old: &str) -> Vec<Snippet> {
    let (pattern, _) = pattern_lines(old);
    let Some(first) = pattern.iter().map(|line| line.trim()).find(|line| !line.is_empty()) else {
        return Vec::new();
    };
    let clip = |line: &str| Sample::new(&line.trim().chars().take(SUGGESTED_WIDTH).collect::<String>());
    let wanted = clip(first);
    let filled = file.iter().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let mut candidates: Vec<(usize, f64)> =
        filled.map(|(at, line)| (at, clip(line).upper_bound(&wanted))).collect();
    candidates.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let mut budget = Budget::new(SUGGESTION_STEPS);
    let mut ranked: Vec<(usize, f64)> = Vec::new();
    for (at, bound) in candidates {
        let floor = if ranked.len() < SUGGESTIONS { SUGGESTION } else { ranked[SUGGESTIONS - 1].1 };
        if bound < floor {
            break;
        }
        match clip(file[at]).ratio_from(&wanted, floor, &mut budget) {
            Err(UsedUp) => break,
            Ok(Some(ratio)) if ratio > SUGGESTION => insert_apart(&mut ranked, at, ratio),
            Ok(_) => {}
        }
    }
    ranked.into_iter().map(|(at, _)| snippet(file, at)).collect()
}

/// Keeps the best places, and of places whose lines overlap the better one.
fn insert_apart(ranked: &mut Vec<(usize, f64)>, at: usize, ratio: f64) {
    let overlaps = |other: usize| at.abs_diff(other) <= 2 * AROUND;
    if ranked.iter().any(|(other, best)| overlaps(*other) && *best >= ratio) {
        return;
    }
    ranked.retain(|(other, _)| !overlaps(*other));
    let place = ranked.partition_point(|(_, best)| *best >= ratio);
    ranked.insert(place, (at, ratio));
    ranked.truncate(SUGGESTIONS);
}

fn snippet(file: &[&str], at: usize) -> Snippet {
    let first = at.saturating_sub(AROUND);
    let last = (at + AROUND).min(file.len() - 1);
    let lines: Vec<String> = file[first..=last]
        .iter()
        .map(|line| line.trim_end().chars().take(SUGGESTED_WIDTH).collect())
        .collect();
    Snippet { line: first + 1, text: lines.join("\n") }
}
