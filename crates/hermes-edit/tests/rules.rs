//! Each rule alone against a simple model of what it is said to find.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod support;

use std::ops::Range;

use hermes_edit::ratio;
use hermes_edit::replace::{Occurrences, ReplaceError, Strategy as Rule, find, replace};
use proptest::prelude::*;
use support::{joined, line, lines};

fn config() -> ProptestConfig {
    ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() }
}

/// A text, and something to search in it: a part of it that was changed a little, or anything.
fn case() -> impl Strategy<Value = (String, String)> {
    let text = (lines(25), any::<bool>());
    let part = (any::<prop::sample::Index>(), 1..6_usize, 0..8_usize, any::<bool>());
    (text, part, proptest::collection::vec(line(), 1..4)).prop_map(
        |((lines, last), (at, count, how, ended), other)| {
            let text = joined(&lines, "\n", last);
            if lines.is_empty() || how == 7 {
                return (text, other.join("\n"));
            }
            let start = at.index(lines.len());
            let part: Vec<String> = lines[start..(start + count).min(lines.len())].to_vec();
            (text, joined(&distorted(part, how), "\n", ended))
        },
    )
}

fn distorted(mut part: Vec<String>, how: usize) -> Vec<String> {
    let last = part.len() - 1;
    match how {
        0 => part,
        1 => part.iter().map(|line| format!("  {}\t", line.trim())).collect(),
        2 => part.iter().map(|line| line.replace(' ', " \t ")).collect(),
        3 => vec![part.join("\\n")],
        4 => part
            .iter()
            .map(|line| line.replace(['“', '”'], "\"").replace('…', "...").replace('—', "--"))
            .collect(),
        5 => {
            part[last].push('x');
            part
        }
        _ => {
            for line in part.iter_mut().skip(1).take(last.saturating_sub(1)) {
                *line = line.chars().rev().collect();
            }
            part
        }
    }
}

/// Lines of a text with the place of each, without line end.
fn places(text: &str) -> Vec<Range<usize>> {
    let mut at = 0;
    let lines = text.split_inclusive('\n').map(|line| {
        let start = at;
        at += line.len();
        start..start + line.trim_end_matches('\n').len()
    });
    lines.collect()
}

/// Places of whole lines that fit by a rule, the first ones where they overlap.
fn model_lines(text: &str, old: &str, fits: impl Fn(&[&str], &[&str]) -> bool) -> Vec<Range<usize>> {
    let body = old.strip_suffix('\n').unwrap_or(old);
    let pattern: Vec<&str> = body.split('\n').collect();
    let lines = places(text);
    let mut found = Vec::new();
    let mut at = 0;
    while at + pattern.len() <= lines.len() {
        let range = &lines[at..at + pattern.len()];
        let texts: Vec<&str> = range.iter().map(|line| &text[line.clone()]).collect();
        if fits(&texts, &pattern) {
            let end = range[pattern.len() - 1].end;
            let ended = old.ends_with('\n') && end < text.len();
            found.push(range[0].start..end + usize::from(ended));
            at += pattern.len();
        } else {
            at += 1;
        }
    }
    found
}

fn all(file: &[&str], pattern: &[&str], same: impl Fn(&str, &str) -> bool) -> bool {
    file.iter().zip(pattern).all(|(a, b)| same(a, b))
}

fn model_exact(text: &str, old: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at + old.len() <= text.len() {
        if text.as_bytes()[at..].starts_with(old.as_bytes()) {
            found.push(at..at + old.len());
            at += old.len();
        } else {
            at += 1;
        }
    }
    found
}

/// Where a text with runs of blanks fits, tried at every character that does not continue a run.
fn model_blanks(text: &str, old: &str) -> Vec<Range<usize>> {
    let blank = |c: char| c == ' ' || c == '\t';
    let fits_at = |start: usize| -> Option<usize> {
        let (mut rest, mut wanted) = (&text[start..], old);
        while let Some(c) = wanted.chars().next() {
            let found = rest.chars().next()?;
            if blank(c) && blank(found) {
                (rest, wanted) = (rest.trim_start_matches(blank), wanted.trim_start_matches(blank));
            } else if c == found {
                (rest, wanted) = (&rest[c.len_utf8()..], &wanted[c.len_utf8()..]);
            } else {
                return None;
            }
        }
        Some(text.len() - rest.len())
    };
    let mut found = Vec::new();
    let mut free_from = 0;
    for (at, c) in text.char_indices() {
        let continues = blank(c) && text[..at].ends_with(blank);
        if at >= free_from
            && !continues
            && let Some(end) = fits_at(at)
        {
            found.push(at..end);
            free_from = end;
        }
    }
    found
}

fn ours(rule: Rule, text: &str, old: &str) -> Vec<Range<usize>> {
    find(rule, text, old).unwrap_or_else(|error| panic!("{error}"))
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn exact((text, old) in case()) {
        prop_assume!(!old.is_empty());
        prop_assert_eq!(ours(Rule::Exact, &text, &old), model_exact(&text, &old));
    }

    #[test]
    fn rules_of_whole_lines((text, old) in case()) {
        prop_assume!(!old.trim().is_empty());
        let trimmed = |a: &str, b: &str| a.trim() == b.trim();
        prop_assert_eq!(
            ours(Rule::LineTrimmed, &text, &old),
            model_lines(&text, &old, |file, pattern| all(file, pattern, trimmed))
        );
        prop_assert_eq!(
            ours(Rule::IndentationFlexible, &text, &old),
            model_lines(&text, &old, |f, p| all(f, p, |a, b| a.trim_start() == b.trim_start()))
        );
        let boundary = |file: &[&str], pattern: &[&str]| {
            let last = file.len() - 1;
            trimmed(file[0], pattern[0])
                && trimmed(file[last], pattern[last])
                && (last < 2 || file[1..last] == pattern[1..last])
        };
        prop_assert_eq!(ours(Rule::TrimmedBoundary, &text, &old), model_lines(&text, &old, boundary));
    }

    #[test]
    fn runs_of_blanks((text, old) in case()) {
        prop_assume!(!old.trim().is_empty());
        prop_assert_eq!(ours(Rule::WhitespaceNormalized, &text, &old), model_blanks(&text, &old));
    }

    #[test]
    fn escapes((text, old) in case()) {
        let plain = old.replace("\\n", "\n").replace("\\t", "\t").replace("\\r", "\r");
        let expected = if plain == old || old.trim().is_empty() { Vec::new() } else { model_exact(&text, &plain) };
        prop_assert_eq!(ours(Rule::EscapeNormalized, &text, &old), expected);
    }

    #[test]
    fn typography((text, old) in case()) {
        let plain = |text: &str, dash: &str| {
            text.replace(['“', '”'], "\"").replace(['‘', '’'], "'").replace('–', "-").replace('—', dash).replace('…', "...")
        };
        let found = ours(Rule::UnicodeNormalized, &text, &old);
        for place in &found {
            let alike = ["--", "-"].iter().any(|dash| {
                let lines = |text: &str| plain(text, dash).trim_end().lines().map(|l| l.trim().to_owned()).collect::<Vec<_>>();
                plain(&text[place.clone()], dash) == plain(&old, dash) || lines(&text[place.clone()]) == lines(&old)
            });
            prop_assert!(alike, "{:?} is not {:?}", &text[place.clone()], old);
        }
        let special = |text: &str| text.contains(['“', '”', '‘', '’', '–', '—', '…']);
        let there = !old.trim().is_empty() && !old.contains('\n') && (special(&text) || special(&old)) && plain(&text, "--") .lines().any(|line| {
            !line.trim().is_empty() && line.trim() == plain(&old, "--").trim()
        });
        prop_assert!(!there || !found.is_empty(), "not found: {:?}", old);
    }

    #[test]
    fn blocks_with_fitting_ends((text, old) in case()) {
        prop_assume!(!old.trim().is_empty());
        let ends = |file: &[&str], pattern: &[&str]| {
            let last = file.len() - 1;
            last > 0 && !pattern[0].trim().is_empty() && !pattern[last].trim().is_empty()
                && file[0].trim() == pattern[0].trim() && file[last].trim() == pattern[last].trim()
        };
        // Overlapping candidates count, so they are counted one by one.
        let count = old.strip_suffix('\n').unwrap_or(&old).split('\n').count();
        let texts: Vec<&str> = places(&text).into_iter().map(|place| &text[place]).collect();
        let pattern: Vec<&str> = old.strip_suffix('\n').unwrap_or(&old).split('\n').collect();
        let candidates = texts.windows(count).filter(|file| ends(file, &pattern)).count();
        let floor = if candidates == 1 { 0.5 } else { 0.7 };
        let similar = |file: &[&str], pattern: &[&str]| {
            let middle = |lines: &[&str]| lines[1..lines.len() - 1].join("\n");
            ends(file, pattern) && ratio(&middle(pattern), &middle(file)) >= floor
        };
        prop_assert_eq!(ours(Rule::BlockAnchor, &text, &old), model_lines(&text, &old, similar));
    }

    #[test]
    fn half_of_the_lines((text, old) in case()) {
        prop_assume!(!old.trim().is_empty());
        let texts: Vec<&str> = places(&text).into_iter().map(|place| &text[place]).collect();
        let pattern: Vec<&str> = old.strip_suffix('\n').unwrap_or(&old).split('\n').collect();
        let mut scored: Vec<(f64, usize)> = Vec::new();
        for (at, file) in texts.windows(pattern.len()).enumerate() {
            let pairs = file.iter().zip(&pattern);
            let similar: Vec<(f64, bool)> = pairs
                .map(|(a, b)| (ratio(b.trim(), a.trim()), !b.trim().is_empty()))
                .filter(|(ratio, _)| *ratio >= 0.8)
                .collect();
            if similar.len() * 2 >= pattern.len() && similar.iter().any(|(_, filled)| *filled) {
                scored.push((similar.iter().map(|(ratio, _)| ratio).sum(), at));
            }
        }
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        let close = scored.len() > 1 && (scored[0].0 - scored[1].0) / (pattern.len() as f64) < 0.15;
        match find(Rule::ContextAware, &text, &old) {
            Ok(found) => {
                prop_assert!(!close);
                let lines = places(&text);
                let expected: Vec<usize> = scored.first().map(|(_, at)| lines[*at].start).into_iter().collect();
                prop_assert_eq!(found.iter().map(|place| place.start).collect::<Vec<_>>(), expected);
            }
            Err(ReplaceError::TooClose { .. }) => prop_assert!(close),
            Err(error) => prop_assert!(false, "{}", error),
        }
    }

    #[test]
    fn the_first_rule_that_finds_something_wins((text, old) in case(), new in line()) {
        prop_assume!(!old.is_empty() && old != new);
        let first = Rule::ALL.into_iter().map(|rule| (rule, find(rule, &text, &old)))
            .find(|(_, found)| found.as_ref().map_or(true, |places| !places.is_empty()));
        match (first, replace(&text, &old, &new, Occurrences::All)) {
            (Some((rule, Ok(places))), Ok(replaced)) => {
                prop_assert_eq!((replaced.strategy, replaced.count), (rule, places.len()));
                prop_assert!(replaced.text.starts_with(&text[..places[0].start]));
                prop_assert!(replaced.text.ends_with(&text[places[places.len() - 1].end..]));
            }
            (Some((_, Err(ReplaceError::TooClose { .. }))), Err(ReplaceError::TooClose { .. })) => {}
            (None, Err(ReplaceError::NotFound { similar })) => prop_assert!(similar.len() <= 3),
            (first, result) => prop_assert!(false, "{:?} {:?}", first, result),
        }
    }
}
