//! Typographic characters that count as their ASCII forms, and keeping those of the file.

use std::borrow::Cow;
use std::ops::Range;

use super::lines::windows;
use crate::diff;

/// What the long dash is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LongDash {
    Two,
    One,
}

/// The ASCII form of one character, if it has one.
fn ascii_form(c: char, dash: LongDash) -> Option<&'static str> {
    Some(match c {
        '\u{2018}'..='\u{201b}' | '\u{2032}' => "'",
        '\u{201c}'..='\u{201f}' | '\u{2033}' => "\"",
        '\u{2014}' | '\u{2015}' if dash == LongDash::Two => "--",
        '\u{2010}'..='\u{2015}' | '\u{2212}' => "-",
        '\u{2026}' => "...",
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => " ",
        _ => return None,
    })
}

/// A text in ASCII forms, and where each of its bytes comes from.
struct Plain {
    text: String,
    /// For each byte, the offset of its character in the text as it was; one more for the end.
    origins: Vec<usize>,
}

impl Plain {
    fn new(text: &str, dash: LongDash) -> Self {
        let mut plain = Self { text: String::with_capacity(text.len()), origins: Vec::new() };
        for (at, c) in text.char_indices() {
            match ascii_form(c, dash) {
                Some(form) => plain.text.push_str(form),
                None => plain.text.push(c),
            }
            plain.origins.resize(plain.text.len(), at);
        }
        plain.origins.push(text.len());
        plain
    }

    /// The offset in the text as it was, if a character begins there.
    fn origin(&self, at: usize) -> Option<usize> {
        let begins = at == 0 || self.origins[at] != self.origins[at - 1];
        begins.then_some(self.origins[at])
    }
}

/// A line in ASCII forms, for comparing.
pub(crate) fn ascii(text: &str) -> String {
    Plain::new(text, LongDash::One).text
}

fn has_typography(text: &str) -> bool {
    !text.is_ascii() && text.chars().any(|c| ascii_form(c, LongDash::One).is_some())
}

/// Where the searched text is if typographic characters count as their ASCII forms.
pub(super) fn places(text: &str, old: &str) -> Vec<Range<usize>> {
    if !has_typography(text) && !has_typography(old) {
        return Vec::new();
    }
    for dash in [LongDash::Two, LongDash::One] {
        let (plain, wanted) = (Plain::new(text, dash), Plain::new(old, dash).text);
        let places: Vec<_> = plain
            .text
            .match_indices(&wanted)
            .filter_map(|(at, _)| Some(plain.origin(at)?..plain.origin(at + wanted.len())?))
            .collect();
        if !places.is_empty() {
            return places;
        }
    }
    Vec::new()
}

/// The same for whole lines with blanks at both ends ignored.
pub(super) fn trimmed_windows<'a>(file: &[&'a str], pattern: &[&'a str]) -> Vec<usize> {
    if !file.iter().chain(pattern).any(|line| has_typography(line)) {
        return Vec::new();
    }
    for dash in [LongDash::Two, LongDash::One] {
        let found = windows(file, pattern, |line| {
            if has_typography(line) {
                Cow::Owned(Plain::new(line, dash).text.trim().to_owned())
            } else {
                Cow::Borrowed(line.trim())
            }
        });
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}

/// The new text with the file's own characters wherever it says the same as the old one.
pub(super) fn keeping(old: &str, new: &str, found: &str) -> String {
    let aligned = aligned(old, found);
    for dash in [LongDash::Two, LongDash::One] {
        let (plain_old, plain_file) = (Plain::new(old, dash), Plain::new(&aligned, dash));
        if plain_old.text == plain_file.text {
            return kept(old, new, &plain_old, &aligned, &plain_file);
        }
    }
    new.to_owned()
}

/// The file's lines with the blanks the old text has at their ends, so that both differ in typography only.
fn aligned(old: &str, found: &str) -> String {
    let lines = old.split('\n').zip(found.split('\n').chain(std::iter::repeat("")));
    let line = |(old, file): (&str, &str)| {
        let start = &old[..old.len() - old.trim_start().len()];
        let end = &old[old.trim_end().len().max(start.len())..];
        format!("{start}{}{end}", file.trim())
    };
    if old.matches('\n').count() == found.matches('\n').count() || old.ends_with('\n') {
        lines.map(line).collect::<Vec<_>>().join("\n")
    } else {
        found.to_owned()
    }
}

fn kept(old: &str, new: &str, plain_old: &Plain, file: &str, plain_file: &Plain) -> String {
    let (old_chars, new_chars): (Vec<char>, Vec<char>) = (old.chars().collect(), new.chars().collect());
    // Where each character of the old text begins among the plain bytes.
    let mut begins: Vec<usize> =
        (0..plain_old.text.len()).filter(|at| plain_old.origin(*at).is_some()).collect();
    begins.push(plain_old.text.len());
    let mut result = String::with_capacity(new.len());
    let mut done = 0;
    for run in diff::matching(&old_chars, &new_chars) {
        result.extend(&new_chars[done..run.new]);
        let same = begins[run.old]..begins[run.old + run.len];
        match plain_file.origin(same.start).zip(plain_file.origin(same.end)) {
            Some((start, end)) => result.push_str(&file[start..end]),
            None => result.extend(&new_chars[run.new..run.new + run.len]),
        }
        done = run.new + run.len;
    }
    result.extend(&new_chars[done..]);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unchanged_parts_keep_the_characters_of_the_file() {
        let kept = keeping("it's \"ok\" -- yes...", "it's \"fine\" -- yes...", "it’s “ok” — yes…");
        assert_eq!(kept, "it’s “fine” — yes…");
    }

    #[test]
    fn lines_keep_them_too() {
        let kept = keeping("  a = 'x'\nb - c", "  a = 'y'\nb - d", "a = ‘x’\n\tb – c ");
        assert_eq!(kept, "  a = ‘y’\nb – d");
    }

    #[test]
    fn half_an_ellipsis_is_no_place() {
        assert!(places("wait…", "wait..").is_empty());
        assert_eq!(places("wait… now", "wait..."), vec![0..7]);
    }
}
