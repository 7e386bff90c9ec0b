//! `${x#…}`, `${x/…/…}`, `${x^^}`, `${x:1:2}` on a known text.

use super::ansi::{Dialect, decode};
use super::arithmetic::compute;
use super::ast::{Operation, WordPart};
use super::value::Variables;

/// What the operation makes of `text`, if the patterns in it are plain text.
pub(super) fn transform(text: &str, operation: &Operation, variables: &Variables) -> Option<String> {
    match operation {
        Operation::Remove(operator, pattern) => {
            let Some(pattern) = plain(pattern, variables) else {
                // A quoted star is no pattern, and the text alone does not tell.
                let bare = |part: &WordPart| matches!(part, WordPart::Literal(_) | WordPart::Glob(_));
                let pattern = pattern.iter().all(bare).then(|| variables.resolve_text(pattern))?;
                return remove_pattern(text, operator, &pattern.text()?);
            };
            let removed = match operator.as_bytes()[0] {
                b'#' => text.strip_prefix(pattern.as_str()),
                _ => text.strip_suffix(pattern.as_str()),
            };
            Some(removed.unwrap_or(text).to_owned())
        }
        Operation::Replace(operator, pattern, with) => {
            let pattern = plain(pattern, variables)?;
            let with = with.as_ref().map_or(Some(String::new()), |with| plain(with, variables))?;
            replace(text, operator, &pattern, &with)
        }
        Operation::Case(operator, pattern) if pattern.is_empty() && text.is_ascii() => {
            let (first, rest) = text.split_at(text.len().min(1));
            match operator.as_str() {
                "^^" => Some(text.to_ascii_uppercase()),
                ",," => Some(text.to_ascii_lowercase()),
                "^" => Some(first.to_ascii_uppercase() + rest),
                "," => Some(first.to_ascii_lowercase() + rest),
                _ => None,
            }
        }
        Operation::Slice(offset, length) if text.is_ascii() => {
            let number =
                |parts: &[WordPart]| compute(&variables.resolve_text(parts).text()?, variables).result;
            let all = i64::try_from(text.len()).ok()?;
            // Left out it is nothing: `${x::1}`.
            let start = if offset.is_empty() { 0 } else { number(offset)? };
            let start = if start < 0 { all.checked_add(start)? } else { start };
            let count = match length {
                Some(parts) if parts.is_empty() => 0,
                Some(parts) => number(parts)?,
                None => all,
            };
            let count = if count < 0 { all.checked_sub(start)?.checked_add(count)? } else { count };
            Some(text.chars().skip(usize::try_from(start).ok()?).take(usize::try_from(count).ok()?).collect())
        }
        Operation::Transform('Q')
            if !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_/.".contains(c)) =>
        {
            Some(text.to_owned())
        }
        Operation::Transform('E') => decode(text, Dialect::Quotes),
        Operation::Transform('L') if text.is_ascii() => Some(text.to_ascii_lowercase()),
        Operation::Transform('U') if text.is_ascii() => Some(text.to_ascii_uppercase()),
        _ => None,
    }
}

/// The longest text that patterns are tried on.
const LONGEST: usize = 256;

/// `${x%/*}`: takes away what fits the pattern, the shortest or, with a doubled sign, the longest.
fn remove_pattern(text: &str, operator: &str, pattern: &str) -> Option<String> {
    if text.len() > LONGEST || !text.is_ascii() || pattern.contains(['[', '(', '\\', '~', '|']) {
        return None;
    }
    let fits = |part: &str| crate::command::glob::matches_exactly(pattern, part);
    let places = 0..=text.len();
    let left = match operator {
        "#" => places.clone().find(|at| fits(&text[..*at])).map(|at| &text[at..]),
        "##" => places.clone().rev().find(|at| fits(&text[..*at])).map(|at| &text[at..]),
        "%" => places.clone().rev().find(|at| fits(&text[*at..])).map(|at| &text[..at]),
        "%%" => places.clone().find(|at| fits(&text[*at..])).map(|at| &text[..at]),
        _ => return None,
    };
    Some(left.unwrap_or(text).to_owned())
}

fn replace(text: &str, operator: &str, pattern: &str, with: &str) -> Option<String> {
    // `&` in the replacement may stand for what was matched.
    if pattern.is_empty() || with.contains(['&', '\\']) {
        return None;
    }
    Some(match operator {
        "//" => text.replace(pattern, with),
        "/#" => text.strip_prefix(pattern).map_or(text.to_owned(), |rest| format!("{with}{rest}")),
        "/%" => text.strip_suffix(pattern).map_or(text.to_owned(), |rest| format!("{rest}{with}")),
        _ => text.replacen(pattern, with, 1),
    })
}

/// The text of a pattern that matches only itself.
fn plain(parts: &[WordPart], variables: &Variables) -> Option<String> {
    let text = variables.resolve_text(parts).text()?;
    let special = |c: char| matches!(c, '*' | '?' | '[' | '(' | '\\' | '~');
    (!text.contains(special)).then_some(text)
}
