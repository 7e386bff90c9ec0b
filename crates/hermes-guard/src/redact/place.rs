//! Where a name ends and the value it announces begins and ends.

use std::ops::Range;

use super::names;

/// How much of a value is looked at before it is judged. What is masked is the whole of it.
pub(super) const LOOK: usize = 160;
const BLANKS: usize = 16;

/// How name and value are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// `NAME=value`, as a shell writes it.
    Variable,
    /// `name = value`.
    Equals,
    /// `name: value`.
    Colon,
    /// Any of them with the value in quotes.
    Quoted(Quote),
    /// `--name value`.
    Flag,
    /// `<name>value</name>`.
    Tag,
    /// `"name", value`, as in a call.
    Argument,
}

/// The quote a value ends with; inside JSON in JSON it has backslashes in front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quote {
    byte: u8,
    escapes: usize,
}

/// Where a value starts and how to find its end.
pub(super) struct Place {
    pub start: usize,
    pub style: Style,
}

/// The whole name the trigger is part of.
pub(super) fn name_around(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    let before = bytes[..at].iter().rev().take(names::LONGEST).take_while(|byte| is_name(**byte)).count();
    let after = bytes[at..].iter().take(names::LONGEST).take_while(|byte| is_name(**byte)).count();
    if before + after > names::LONGEST {
        return None;
    }
    let mut start = at - before;
    // In JSON text a line starts with `\n`, whose `n` is no part of the name.
    if start > 0 && bytes[start - 1] == b'\\' && b"nrt".contains(&bytes[start]) && before > 0 {
        start += 1;
    }
    let dashes = bytes[start..at].iter().take_while(|byte| b"-.".contains(byte)).count();
    Some(start + dashes..at + after)
}

/// Where the value of this name starts, if the name is followed by one.
pub(super) fn place(text: &str, name: &Range<usize>) -> Option<Place> {
    let bytes = text.as_bytes();
    if bytes.get(name.end) == Some(&b'>') && bytes[..name.start].last() == Some(&b'<') {
        let start = name.end + 1;
        let length = length_until(beginning(&text[start..], LOOK).as_bytes(), |byte| byte == b'<');
        return text[start + length..].starts_with("</").then_some(Place { start, style: Style::Tag });
    }
    let unquoted = skip_closing_quote(bytes, name.end);
    let mark = skip_blanks(bytes, unquoted);
    let spaced = mark > unquoted;
    let (after, style) = match (bytes.get(mark)?, bytes.get(mark + 1)) {
        (b'=' | b':', Some(b'=')) if bytes[mark] == b'=' => return None,
        (b':', Some(b':')) => return None,
        // `arn:aws:secretsmanager:…:secret:name`
        (b':', _) if bytes[..name.start].last() == Some(&b':') => return None,
        (b':', Some(b'/')) if bytes.get(mark + 2) == Some(&b'/') => return None,
        (b'=', Some(b'>')) | (b':', Some(b'=')) => (mark + 2, Style::Equals),
        (b'=', _) => (mark + 1, Style::Equals),
        (b':', _) => (mark + 1, Style::Colon),
        (b',', _) if unquoted > name.end => (mark + 1, Style::Argument),
        _ if spaced && bytes[..name.start].ends_with(b"--") => (mark, Style::Flag),
        _ if spaced && is_in_netrc(text, name) => (mark, Style::Flag),
        _ => return None,
    };
    let start = skip_blanks(bytes, after);
    let tight = !spaced && start == after;
    if let Some(place) = quoted(bytes, start) {
        if style == Style::Colon && unquoted == name.end && closes_string(text, name.start, bytes[start]) {
            return None;
        }
        // A call's second argument is only a header's value, whatever its quotes.
        return Some(if style == Style::Argument { Place { style, ..place } } else { place });
    }
    let variable = style == Style::Equals && tight && names::is_upper(&text[name.clone()]);
    Some(Place { start, style: if variable { Style::Variable } else { style } })
}

/// `machine … login … password value`.
fn is_in_netrc(text: &str, name: &Range<usize>) -> bool {
    let line = line_before(text, name.start);
    &text[name.clone()] == "password"
        && line.find("machine ").is_some_and(|at| line[at..].contains(" login "))
}

/// Whether the quote behind a name ends a string that the name is part of, as in `ask("Password: ")`.
fn closes_string(text: &str, name: usize, quote: u8) -> bool {
    quote == b'"' && line_before(text, name).matches('"').count() % 2 == 1
}

/// What stands before `at` in its line, as far as it is looked at.
fn line_before(text: &str, at: usize) -> &str {
    let near = &text[text.floor_char_boundary(at.saturating_sub(LOOK))..at];
    near.rfind('\n').map_or(near, |end| &near[end + 1..])
}

/// `name: Type = "value"`.
pub(super) fn annotated(bytes: &[u8], start: usize) -> Option<Place> {
    const LONGEST_TYPE: usize = 48;
    let is_type = |byte: u8| byte.is_ascii_alphanumeric() || b"_&<>[]',.|:? ".contains(&byte);
    let length = bytes[start..].iter().take(LONGEST_TYPE).take_while(|byte| is_type(**byte)).count();
    let mark = start + length;
    (bytes.get(mark) == Some(&b'=')).then(|| quoted(bytes, skip_blanks(bytes, mark + 1)))?
}

/// A value in quotes, possibly behind a string prefix or in `Some(…)`.
fn quoted(bytes: &[u8], start: usize) -> Option<Place> {
    let mut at = start;
    if bytes[at..].starts_with(b"Some(") {
        at += "Some(".len();
    }
    if matches!(bytes[at..], [b'b' | b'r' | b'u' | b'f' | b'$', b'"' | b'\'', ..]) {
        at += 1;
    }
    let (end, quote) = quote_at(bytes, at)?;
    Some(Place { start: end, style: Style::Quoted(quote) })
}

fn quote_at(bytes: &[u8], at: usize) -> Option<(usize, Quote)> {
    let escapes = bytes[at..].iter().take(4).take_while(|byte| **byte == b'\\').count();
    let byte = *bytes.get(at + escapes)?;
    b"\"'`".contains(&byte).then_some((at + escapes + 1, Quote { byte, escapes }))
}

fn skip_closing_quote(bytes: &[u8], at: usize) -> usize {
    match quote_at(bytes, at) {
        // `config["password"] = …`
        Some((end, _)) if bytes.get(end) == Some(&b']') => end + 1,
        Some((end, _)) => end,
        None => at,
    }
}

fn skip_blanks(bytes: &[u8], at: usize) -> usize {
    at + bytes[at..].iter().take(BLANKS).take_while(|byte| b" \t".contains(byte)).count()
}

/// The value, or its beginning where it is longer than `limit`.
pub(super) fn value_range(text: &str, place: &Place, whole_line: bool, limit: usize) -> Range<usize> {
    let start = place.start;
    let rest = beginning(&text[start..], limit);
    let bytes = rest.as_bytes();
    let length = match place.style {
        Style::Quoted(quote) => quoted_length(bytes, quote),
        Style::Variable | Style::Equals if whole_line => length_until(bytes, |byte| b"\r\n".contains(&byte)),
        Style::Variable => length_until(bytes, |byte| byte.is_ascii_whitespace() || b"\"'`".contains(&byte)),
        _ => length_until(bytes, |byte| byte.is_ascii_whitespace() || b"\"'`,;&)}]<>|".contains(&byte)),
    };
    let value = &rest[..length];
    let trimmed = match place.style {
        Style::Quoted(_) => value,
        _ => value.trim_end_matches([',', ';', ')', '}', ']']).trim_end(),
    };
    start..start + trimmed.len()
}

/// Up to the first byte that ends the value, or an escape that stands for one (`\n`, `\"`).
fn length_until(bytes: &[u8], ends: impl Fn(u8) -> bool) -> usize {
    let escape =
        |at: usize| bytes[at] == b'\\' && bytes.get(at + 1).is_some_and(|next| b"nrt\"'\\".contains(next));
    (0..bytes.len()).find(|at| ends(bytes[*at]) || escape(*at)).unwrap_or(bytes.len())
}

fn quoted_length(bytes: &[u8], quote: Quote) -> usize {
    let mut at = 0;
    while at < bytes.len() && bytes[at] != b'\n' {
        let escapes = bytes[at..].iter().take_while(|byte| **byte == b'\\').count();
        match bytes.get(at + escapes) {
            Some(byte) if *byte == quote.byte && escapes <= quote.escapes => return at,
            // Each level of JSON in JSON doubles the backslashes of a quote inside the value.
            Some(_) if escapes > 0 => at += escapes + usize::from(bytes[at + escapes].is_ascii()),
            Some(_) => at += 1,
            None => return bytes.len(),
        }
    }
    at
}

/// A header's value, or its beginning: to the end of the line or of the string it stands in.
pub(super) fn header_value<'t>(text: &'t str, place: &Place, limit: usize) -> &'t str {
    let rest = beginning(&text[place.start..], limit);
    let length = match place.style {
        Style::Quoted(quote) => quoted_length(rest.as_bytes(), quote),
        // The parameters of this scheme are in quotes themselves.
        _ if rest.get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case("digest ")) => {
            length_until(rest.as_bytes(), |byte| byte == b'\n')
        }
        _ => length_until(rest.as_bytes(), |byte| b"\r\n\"'`".contains(&byte)),
    };
    &rest[..length]
}

fn beginning(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}
