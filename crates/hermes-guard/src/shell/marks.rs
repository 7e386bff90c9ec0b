//! Finds in the plain text of a word what the shell expands without `$`: `~`, `*`, `{a,b}`.

use super::MAX_DEPTH;
use super::ast::WordPart;
use super::word::Parts;

/// What is looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Marks {
    /// Everything: a word of a command.
    All,
    /// Only `~`, at the start and after each `:`: the value of an assignment.
    Assigned,
    /// Only `~` at the start.
    Tilde,
}

/// Splits literals at what has a meaning. Fails when braces nest too deep.
pub(super) fn mark(parts: Vec<WordPart>, marks: Marks) -> Result<Vec<WordPart>, ()> {
    let parts = if marks == Marks::All && has(&parts, '{') { braces(parts)? } else { parts };
    let parts = if has_tilde(&parts) { tildes(parts, marks) } else { parts };
    Ok(if marks == Marks::All { globs(parts) } else { parts })
}

fn has(parts: &[WordPart], wanted: char) -> bool {
    parts.iter().any(|part| matches!(part, WordPart::Literal(text) if text.contains(wanted)))
}

fn has_tilde(parts: &[WordPart]) -> bool {
    parts.iter().any(|part| match part {
        WordPart::Literal(text) => text.contains('~'),
        WordPart::Braces(alternatives) => alternatives.iter().any(|parts| has_tilde(parts)),
        _ => false,
    })
}

/// A brace that is not closed yet.
#[derive(Default)]
struct Open {
    alternatives: Vec<Parts>,
    current: Parts,
}

fn braces(parts: Vec<WordPart>) -> Result<Vec<WordPart>, ()> {
    let mut base = Parts::default();
    let mut stack: Vec<Open> = Vec::new();
    for part in parts {
        let WordPart::Literal(text) = part else {
            stack.last_mut().map_or(&mut base, |open| &mut open.current).push(part);
            continue;
        };
        for c in text.chars() {
            if c == '{' {
                if stack.len() >= MAX_DEPTH {
                    return Err(());
                }
                stack.push(Open::default());
                continue;
            }
            match (c, stack.last_mut()) {
                (',', Some(open)) => open.alternatives.push(std::mem::take(&mut open.current)),
                ('}', Some(_)) => {
                    let closed = stack.pop().unwrap_or_default();
                    let target = stack.last_mut().map_or(&mut base, |open| &mut open.current);
                    close(closed, target);
                }
                (c, open) => open.map_or(&mut base, |open| &mut open.current).push_char(c),
            }
        }
    }
    // What was never closed is text.
    let mut unclosed = base;
    for open in stack {
        unclosed.push_char('{');
        flatten(open, &mut unclosed);
    }
    Ok(unclosed.into_vec())
}

fn close(mut closed: Open, target: &mut Parts) {
    if !closed.alternatives.is_empty() {
        closed.alternatives.push(closed.current);
        let alternatives = closed.alternatives.into_iter().map(Parts::into_vec).collect();
        return target.push(WordPart::Braces(alternatives));
    }
    let inner = closed.current.into_vec();
    match &inner[..] {
        [WordPart::Literal(text)] if is_range(text) => target.push(WordPart::Range(text.clone())),
        _ => {
            target.push_char('{');
            for part in inner {
                target.push(part);
            }
            target.push_char('}');
        }
    }
}

fn flatten(open: Open, target: &mut Parts) {
    for alternative in open.alternatives {
        alternative.into_vec().into_iter().for_each(|part| target.push(part));
        target.push_char(',');
    }
    open.current.into_vec().into_iter().for_each(|part| target.push(part));
}

/// `1..9`, `a..f`, `1..9..2`
fn is_range(text: &str) -> bool {
    let mut ends = text.split("..");
    let (Some(from), Some(to), step, None) = (ends.next(), ends.next(), ends.next(), ends.next()) else {
        return false;
    };
    let number = |text: &str| text.parse::<i64>().is_ok();
    let letter = |text: &str| matches!(text.as_bytes(), [byte] if byte.is_ascii_alphabetic());
    step.is_none_or(number) && ((number(from) && number(to)) || (letter(from) && letter(to)))
}

fn tildes(parts: Vec<WordPart>, marks: Marks) -> Vec<WordPart> {
    let last = parts.len() - 1;
    let mut marked = Parts::default();
    for (i, part) in parts.into_iter().enumerate() {
        match part {
            WordPart::Literal(text) => tildes_in(&text, i == 0, i == last, marks, &mut marked),
            WordPart::Braces(alternatives) if i == 0 => {
                let alternatives = alternatives.into_iter();
                marked.push(WordPart::Braces(
                    alternatives
                        .map(|parts| if parts.is_empty() { parts } else { tildes(parts, marks) })
                        .collect(),
                ));
            }
            other => marked.push(other),
        }
    }
    marked.into_vec()
}

/// `~name` counts only if nothing quoted or expanded touches it.
fn tildes_in(text: &str, is_first: bool, is_last: bool, marks: Marks, marked: &mut Parts) {
    let mut rest = text;
    let mut at_start = is_first;
    while !rest.is_empty() {
        let ends = |c: char| c == '/' || (c == ':' && marks == Marks::Assigned);
        let name = rest.strip_prefix('~').map(|after| &after[..after.find(ends).unwrap_or(after.len())]);
        let name = name.filter(|name| name.chars().all(|c| c.is_alphanumeric() || "._+-:".contains(c)));
        match name {
            Some(name) if at_start && (is_last || name.len() + 1 < rest.len()) => {
                marked.push(WordPart::Tilde(name.to_owned()));
                rest = &rest[name.len() + 1..];
            }
            _ => {}
        }
        if rest.is_empty() {
            return;
        }
        let end = rest.find(':').map_or(rest.len(), |colon| colon + 1);
        marked.push(WordPart::Literal(rest[..end].to_owned()));
        at_start = marks == Marks::Assigned && rest[..end].ends_with(':');
        rest = &rest[end..];
    }
}

fn globs(parts: Vec<WordPart>) -> Vec<WordPart> {
    let closes: Vec<bool> =
        parts.iter().map(|part| matches!(part, WordPart::Literal(text) if text.contains(']'))).collect();
    let mut marked = Parts::default();
    for (i, part) in parts.into_iter().enumerate() {
        match part {
            WordPart::Literal(text) if text.contains(['*', '?', '[']) => {
                globs_in(&text, closes[i + 1..].contains(&true), &mut marked);
            }
            WordPart::Braces(alternatives) => {
                marked.push(WordPart::Braces(alternatives.into_iter().map(globs).collect()));
            }
            other => marked.push(other),
        }
    }
    marked.into_vec()
}

/// Splits text at patterns. `closed_later`: a `]` follows in another part of the word.
pub(super) fn globs_in(text: &str, closed_later: bool, marked: &mut Parts) {
    let mut rest = text;
    // Without this a text of many `[` would be searched for `]` again and again.
    let last_close = text.rfind(']').map(|at| text.len() - at);
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '*' | '?' => 1,
            '[' if last_close.is_some_and(|close| close < rest.len()) => bracket(rest).unwrap_or(0),
            '[' if closed_later => 1,
            _ => 0,
        };
        if length > 0 {
            marked.push(WordPart::Glob(rest[..length].to_owned()));
            rest = &rest[length..];
        } else {
            marked.push_char(c);
            rest = &rest[c.len_utf8()..];
        }
    }
}

/// The length of `[…]` at the start of `text`.
fn bracket(text: &str) -> Option<usize> {
    let inner = &text[1..];
    let skipped = inner.len() - inner.trim_start_matches(['!', '^']).len();
    let skipped = skipped.min(1);
    let from = skipped + usize::from(inner[skipped..].starts_with(']'));
    inner[from..].find(']').map(|end| 1 + from + end + 1)
}
