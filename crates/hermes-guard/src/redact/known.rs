//! Values the caller knows to be secret, found wherever they appear.

use std::fmt::Write;

use aho_corasick::{AhoCorasick, MatchKind};

use super::scan::Span;
use super::value;
use crate::mask::Kind;

/// A shorter value turns up in ordinary text by chance.
const SHORTEST: usize = 8;
/// A longer value is a document, and every line of it would have to be kept in the automaton.
const LONGEST: usize = 16 * 1024;

/// The known values, ready to be searched for all at once.
#[derive(Debug)]
pub(super) enum Known {
    Automaton(AhoCorasick),
    /// Should the automaton not build, searching for one value after the other still finds them.
    Plain(Vec<String>),
}

impl Known {
    pub fn new(values: impl IntoIterator<Item = String>) -> Self {
        let mut spellings: Vec<String> = Vec::new();
        for value in values {
            let value = value.trim();
            if is_worth_masking(value) {
                spellings.extend([value.to_owned(), percent_encoded(value), json_escaped(value)]);
            }
        }
        spellings.sort();
        spellings.dedup();
        match AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&spellings) {
            Ok(automaton) => Self::Automaton(automaton),
            Err(_) => Self::Plain(spellings),
        }
    }

    pub fn find(&self, text: &str) -> Vec<Span> {
        let span = |range| Span { range, kind: Kind::Known };
        match self {
            Self::Automaton(automaton) if automaton.patterns_len() == 0 => Vec::new(),
            Self::Automaton(automaton) => automaton.find_iter(text).map(|hit| span(hit.range())).collect(),
            Self::Plain(values) => {
                let hits = values.iter().flat_map(|value| text.match_indices(value.as_str()));
                hits.map(|(at, hit)| span(at..at + hit.len())).collect()
            }
        }
    }
}

/// Lists of secrets are made from variables, and some of those hold `true`, a path or a model's name.
fn is_worth_masking(value: &str) -> bool {
    (SHORTEST..=LONGEST).contains(&value.len())
        && !is_ordinary_word(value)
        && !value::is_number(value)
        && !value::is_path(value)
        && !value::is_plain_url(value)
        && !value::is_masked_or_repeated(value)
}

/// `production`, `us-east-a`; several words joined up are a passphrase.
fn is_ordinary_word(value: &str) -> bool {
    let joined = value.contains(|character: char| !character.is_ascii_alphabetic());
    value::is_plain_word(value) && (!joined || value.len() < 12)
}

fn percent_encoded(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

fn json_escaped(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for character in value.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(value: &str, text: &str) -> usize {
        Known::new([value.to_owned()]).find(text).len()
    }

    #[test]
    fn a_known_value_is_found_in_each_spelling() {
        let value = "pa\"ss w/rd9\n";
        for text in ["x pa\"ss w/rd9 y", "pa%22ss%20w%2Frd9", "{\"a\":\"pa\\\"ss w/rd9\"}"] {
            assert_eq!(found(value, text), 1, "{text}");
        }
    }

    #[test]
    fn ordinary_values_are_passed_over() {
        let ordinary = [
            "true",
            "default",
            "production",
            "gpt-4",
            "12345678",
            "/home/user/.config",
            "https://example.com/v1",
            "********",
            "",
            "        ",
            "us-east",
            "Disabled",
            "aaaaaaaaaaaa",
        ];
        for value in ordinary {
            assert_eq!(found(value, &format!("a {value} b")), 0, "{value}");
        }
    }

    #[test]
    fn the_plain_search_finds_what_the_automaton_finds() {
        let text = "one fake-value-1 two fake-value-2 fake-value-1";
        let values = ["fake-value-1".to_owned(), "fake-value-2".to_owned()];
        assert_eq!(Known::Plain(values.to_vec()).find(text).len(), 3);
        assert_eq!(Known::new(values).find(text).len(), 3);
    }
}
