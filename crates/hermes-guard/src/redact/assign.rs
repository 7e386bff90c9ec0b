//! Names that announce a value: `NAME=value`, JSON and YAML fields, command line flags, XML tags, headers.

use std::ops::Range;

use super::names::{self, NameKind};
use super::place::{LOOK, Place, Style, annotated, header_value, name_around, place, value_range};
use super::scan::Scan;
use super::value::{
    has_mixed_run, is_empty_talk, is_expression, is_number, is_path, is_plain_word, is_reference,
    is_scrambled, is_url, is_very_scrambled, is_wordy,
};
use super::{Names, Policy, header};
use crate::mask::Kind;

/// Looks at the name around the trigger at `at`.
pub(super) fn at(scan: &mut Scan<'_>, at: usize) {
    if at < scan.name_end {
        return;
    }
    let Some(name) = name_around(scan.bytes(), at) else { return };
    scan.name_end = name.end;
    let Some(place) = place(scan.text, &name) else { return };
    let Some(kind) = names::kind(&scan.text[name.clone()]) else { return };
    if let Some((range, kind)) = judge(scan, &name, kind, place) {
        scan.name_end = range.end;
        scan.found(range, kind);
    }
}

fn judge(scan: &Scan<'_>, name: &Range<usize>, kind: NameKind, place: Place) -> Option<(Range<usize>, Kind)> {
    if is_in_web_address(scan, name) {
        return None;
    }
    match (kind, place.style) {
        (NameKind::Authorization, _) => return header_credential(scan, &place, header::credential),
        (NameKind::Header, Style::Colon | Style::Quoted(_) | Style::Argument) => {
            return header_credential(scan, &place, header::key);
        }
        (_, Style::Argument) => return None,
        _ => {}
    }
    if scan.names() == Names::Ignored {
        return None;
    }
    let place = match place.style {
        Style::Colon => annotated(scan.bytes(), place.start).unwrap_or(place),
        _ => place,
    };
    let whole_line = scan.names() == Names::Always && starts_line(scan.text, name.start);
    let value = &scan.text[value_range(scan.text, &place, whole_line, LOOK)];
    let masked_as = if kind == NameKind::Password { Kind::Password } else { Kind::Named };
    is_secret(kind, place.style, value, scan.policy)
        .then(|| (value_range(scan.text, &place, whole_line, usize::MAX), masked_as))
}

/// Finds the credential in a header's value: in its beginning, and only if it goes on beyond that in the whole of it.
fn header_credential(
    scan: &Scan<'_>,
    place: &Place,
    find: impl Fn(&str, Policy) -> Option<Range<usize>>,
) -> Option<(Range<usize>, Kind)> {
    let beginning = header_value(scan.text, place, LOOK);
    let mut range = find(beginning, scan.policy)?;
    if range.end == beginning.len() {
        range = find(header_value(scan.text, place, usize::MAX), scan.policy)?;
    }
    let range = place.start + range.start..place.start + range.end;
    // Lists of header names look like calls that set one.
    let named = place.style == Style::Argument && !is_scrambled(&scan.text[range.clone()]);
    (!named).then_some((range, Kind::Header))
}

/// Whether the value beside such a name is a secret.
fn is_secret(kind: NameKind, style: Style, value: &str, policy: Policy) -> bool {
    if is_empty_talk(value) || is_reference(value) || is_url(value) {
        return false;
    }
    let length = value.chars().count();
    if policy.names() == Names::Always {
        return match kind {
            NameKind::Password => true,
            NameKind::Perhaps => {
                !(is_plain_word(value) || is_number(value) || is_path(value) || value.contains(' '))
            }
            _ => !is_number(value) && !is_path(value),
        };
    }
    let sentence = value.contains(' ');
    let computed = is_expression(value) || is_path(value) || is_number(value);
    match (kind, style) {
        (NameKind::Perhaps, _) => {
            let generated = if style == Style::Variable {
                is_scrambled(value)
            } else {
                is_very_scrambled(value) && !is_hash(value)
            };
            length >= 12 && generated && !computed && !sentence
        }
        (NameKind::Password, Style::Variable) => true,
        (NameKind::Password, Style::Quoted(_) | Style::Tag) => {
            length >= 3 && !sentence && !is_about_passwords(value)
        }
        (NameKind::Password, Style::Flag) => {
            length >= 4 && has_digit_and_letter(value) && !is_expression(value)
        }
        (NameKind::Password, _) => {
            length >= 4 && !is_wordy(value) && !is_identifier(value) && !is_expression(value)
        }
        (_, Style::Variable) => length >= 6 && !computed,
        (NameKind::Secret, Style::Quoted(_) | Style::Tag) => {
            length >= 6 && !sentence && !computed && !is_wordy(value)
        }
        (_, Style::Quoted(_) | Style::Tag) => {
            let long = length >= 16 && has_digit_and_letter(value);
            length >= 8 && !sentence && !computed && !is_wordy(value) && (long || is_scrambled(value))
        }
        _ => {
            length >= 8
                && !computed
                && (is_scrambled(value) || has_mixed_run(value.as_bytes(), 12) || is_base64(value))
        }
    }
}

/// Labels and message keys: `auth.password.label`, `PasswordField`.
fn is_about_passwords(value: &str) -> bool {
    is_wordy(value) && (value.to_ascii_lowercase().contains("passw") || value.contains(['.', '_']))
}

/// A name with at most a number at its end, as variables have.
fn is_identifier(value: &str) -> bool {
    let stem = value.trim_end_matches(|c: char| c.is_ascii_digit());
    is_wordy(stem) && value.to_ascii_lowercase().contains("pass")
}

/// Base64 by its marks and its mix, for keys whose digits happen to stand together.
fn is_base64(value: &str) -> bool {
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    value.len() >= 32
        && value.bytes().all(is_base64)
        && value.contains(['+', '/', '='])
        && has_digit_and_letter(value)
        && value.bytes().any(|byte| byte.is_ascii_uppercase())
}

/// What caches and tables have for keys.
fn is_hash(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

fn has_digit_and_letter(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit()) && value.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Whether the name is part of a web address, most likely a parameter of its query.
fn is_in_web_address(scan: &Scan<'_>, name: &Range<usize>) -> bool {
    if name.start < scan.url_end {
        return name.start < scan.web_end;
    }
    let before = &scan.bytes()[..name.start];
    match before.last() {
        Some(b'?') => true,
        Some(b'&') => {
            let ends = |byte: u8| byte.is_ascii_whitespace() || b"\"'`".contains(&byte);
            before.iter().rev().take(LOOK).take_while(|byte| !ends(**byte)).any(|byte| *byte == b'?')
        }
        _ => false,
    }
}

/// Words that may stand before a variable where variables are listed or set.
const LEADS: &[&str] =
    &["", "export ", "declare -x ", "declare -rx ", "declare -- ", "typeset -x ", "readonly ", "set "];

fn starts_line(text: &str, start: usize) -> bool {
    const LONGEST_LEAD: usize = 24;
    let near = text.floor_char_boundary(start.saturating_sub(LONGEST_LEAD));
    let line = text[near..start].rfind(['\n', '\r']).map(|at| near + at + 1);
    let line = line.or((near == 0).then_some(0));
    line.is_some_and(|line| LEADS.contains(&text[line..start].trim_start()))
}
