//! New lines in the file's own indentation.

use std::collections::BTreeMap;

use crate::diff::{Run, matching};

/// What each indentation of the searched text is in the file.
pub(crate) struct Reindent<'a> {
    /// Lines of the searched text and of the file, side by side.
    pairs: Vec<(&'a str, &'a str)>,
    /// None: the file has it in different ways.
    swaps: BTreeMap<&'a str, Option<&'a str>>,
}

impl<'a> Reindent<'a> {
    /// Learns from lines of the searched text and the lines of the file they were found at.
    ///
    /// Lines whose text agrees are to be trusted; if there are none, the first pair is all there is. The
    /// first pair is the base: it holds whatever the others say.
    pub(crate) fn learn(pairs: Vec<(&'a str, &'a str)>) -> Self {
        let filled = pairs.iter().filter(|(old, file)| !old.trim().is_empty() && !file.trim().is_empty());
        let base = filled.clone().find(|pair| agree(pair)).or_else(|| filled.clone().next());
        let mut swaps: BTreeMap<&str, Option<&str>> = BTreeMap::new();
        for (old, file) in filled.filter(|pair| agree(pair)) {
            let seen = swaps.entry(indent(old)).or_insert(Some(indent(file)));
            if *seen != Some(indent(file)) {
                *seen = None;
            }
        }
        if let Some((old, file)) = base {
            swaps.insert(indent(old), Some(indent(file)));
        }
        Self { pairs, swaps }
    }

    /// A line with the longest known part of its indentation swapped.
    pub(crate) fn line(&self, line: &str) -> String {
        if line.trim().is_empty() {
            return line.to_owned();
        }
        let known = self.swaps.iter().filter_map(|(old, file)| Some((*old, (*file)?)));
        let longest = known.filter(|(old, _)| indent(line).starts_with(old)).max_by_key(|(old, _)| old.len());
        match longest {
            Some((old, file)) => format!("{file}{}", &line[old.len()..]),
            None => line.to_owned(),
        }
    }

    /// All lines of a text that replaces the searched one. A line that stands for one of the old lines takes
    /// the indentation that line has in the file.
    pub(crate) fn text(&self, new: &str) -> String {
        let old: Vec<&str> = self.pairs.iter().map(|(old, _)| *old).collect();
        let new: Vec<&str> = new.split('\n').collect();
        let stands_for = counterparts(&old, &new);
        let lines = new.iter().zip(stands_for).map(|(line, counterpart)| {
            let pair = counterpart.map(|at| self.pairs[at]).filter(agree);
            match pair.filter(|(old, _)| indent(old) == indent(line) && !line.trim().is_empty()) {
                Some((_, file)) => format!("{}{}", indent(file), &line[indent(line).len()..]),
                None => self.line(line),
            }
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// For each new line the old one it is, or is in the place of where as many lines go as come.
fn counterparts(old: &[&str], new: &[&str]) -> Vec<Option<usize>> {
    let mut found = vec![None; new.len()];
    let (mut i, mut j) = (0, 0);
    let end = Run { old: old.len(), new: new.len(), len: 0 };
    for run in matching(old, new).iter().chain([&end]) {
        if run.old - i == run.new - j {
            (j..run.new).zip(i..run.old).for_each(|(at, counterpart)| found[at] = Some(counterpart));
        }
        for offset in 0..run.len {
            found[run.new + offset] = Some(run.old + offset);
        }
        (i, j) = (run.old + run.len, run.new + run.len);
    }
    found
}

/// Whether a line says the same in the file, blanks and typography apart.
fn agree((old, file): &(&str, &str)) -> bool {
    words(old).eq(words(file))
}

pub(super) fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

fn words(line: &str) -> impl Iterator<Item = String> {
    line.split_whitespace().map(super::typography::ascii)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_is_swapped() {
        let pairs = [("def f():", "    def f():"), ("    x", "        x")];
        let learned = Reindent::learn(pairs.to_vec());
        assert_eq!(learned.text("def g():\n    y\n\n        z"), "    def g():\n        y\n\n            z");
    }

    #[test]
    fn inner_levels_are_learned_too() {
        let pairs = [("if a:", "\tif a:"), ("    b", "\t\tb")];
        let learned = Reindent::learn(pairs.to_vec());
        assert_eq!(learned.text("if a:\n    c\n        d"), "\tif a:\n\t\tc\n\t\t    d");
    }

    #[test]
    fn what_the_file_has_in_different_ways_is_left_to_the_base() {
        let pairs = [("a", "  a"), (" b", "    b"), (" c", "     c")];
        let learned = Reindent::learn(pairs.to_vec());
        assert_eq!(learned.line(" d"), "   d");
    }
}
