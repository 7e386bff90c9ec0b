//! What a scalar means (YAML 1.1) and how to write one so that it means the same when read back.

use std::fmt::Write as _;

use super::Style;

/// A scalar's value.
#[derive(Debug, Clone, PartialEq)]
pub enum Scalar {
    /// Nothing, `~` or `null`.
    Null,
    /// `true`, `yes`, `on` and their opposites.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number with a fraction.
    Float(f64),
    /// Everything else.
    Text(String),
}

impl Scalar {
    /// What it is, in the words of an error message.
    pub fn describe(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(_) => "a yes/no value",
            Self::Int(_) => "a whole number",
            Self::Float(_) => "a number",
            Self::Text(_) => "text",
        }
    }
}

/// Reads a scalar: only a plain one can be anything but text.
pub fn resolve(text: &str, style: Style) -> Scalar {
    if style != Style::Plain {
        return Scalar::Text(text.to_owned());
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Scalar::Null,
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => return Scalar::Bool(true),
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            return Scalar::Bool(false);
        }
        _ => {}
    }
    integer(text)
        .map(Scalar::Int)
        .or_else(|| float(text).map(Scalar::Float))
        .unwrap_or_else(|| Scalar::Text(text.to_owned()))
}

fn integer(text: &str) -> Option<i64> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' => (-1, &text[1..]),
        b'+' => (1, &text[1..]),
        _ => (1, text),
    };
    let clean = digits.replace('_', "");
    let value = if let Some(hex) = clean.strip_prefix("0x") {
        i64::from_str_radix(unsigned(hex)?, 16).ok()?
    } else if let Some(binary) = clean.strip_prefix("0b") {
        i64::from_str_radix(unsigned(binary)?, 2).ok()?
    } else if clean.len() > 1 && clean.starts_with('0') {
        i64::from_str_radix(unsigned(&clean)?, 8).ok()?
    } else if digits.contains(':') {
        base_sixty(&clean)?
    } else if digits.starts_with(|c: char| c.is_ascii_digit()) {
        unsigned(&clean)?.parse().ok()?
    } else {
        return None;
    };
    Some(sign * value)
}

/// Rust's number parser takes a sign of its own; after ours there must not be a second one.
fn unsigned(digits: &str) -> Option<&str> {
    (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_alphanumeric())).then_some(digits)
}

/// `1:30` is ninety in YAML 1.1.
fn base_sixty(text: &str) -> Option<i64> {
    let mut parts = text.split(':');
    let first = parts.next()?;
    if !first.starts_with(|c: char| ('1'..='9').contains(&c)) {
        return None;
    }
    let mut value: i64 = unsigned(first)?.parse().ok()?;
    for part in parts {
        let digit: i64 = unsigned(part).filter(|p| p.len() <= 2)?.parse().ok()?;
        value = value.checked_mul(60)?.checked_add(digit).filter(|_| digit < 60)?;
    }
    Some(value)
}

fn float(text: &str) -> Option<f64> {
    let (sign, rest) = match text.as_bytes().first()? {
        b'-' => (-1.0, &text[1..]),
        b'+' => (1.0, &text[1..]),
        _ => (1.0, text),
    };
    match rest {
        ".inf" | ".Inf" | ".INF" => return Some(sign * f64::INFINITY),
        ".nan" | ".NaN" | ".NAN" if rest.len() == text.len() => return Some(f64::NAN),
        _ => {}
    }
    let numeric =
        rest.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'_' | b'e' | b'E' | b'-' | b'+'));
    let leads = rest.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let has_digit = rest.bytes().any(|b| b.is_ascii_digit());
    if !(numeric && leads && has_digit && rest.contains('.')) {
        return None;
    }
    rest.replace('_', "").parse::<f64>().ok().map(|v| sign * v)
}

/// Writes a scalar; text keeps the quotes it had when it can.
pub fn render(value: &Scalar, before: Option<Style>) -> String {
    match value {
        Scalar::Null => "null".to_owned(),
        Scalar::Bool(b) => b.to_string(),
        Scalar::Int(i) => i.to_string(),
        Scalar::Float(f) => render_float(*f),
        Scalar::Text(text) => render_text(text, before),
    }
}

fn render_float(value: f64) -> String {
    match value {
        v if v.is_nan() => ".nan".to_owned(),
        v if v.is_infinite() => if v > 0.0 { ".inf" } else { "-.inf" }.to_owned(),
        v => format!("{v:?}").replace('e', "e+").replace("e+-", "e-"),
    }
}

fn render_text(text: &str, before: Option<Style>) -> String {
    match before {
        Some(Style::Single) if printable(text) => format!("'{}'", text.replace('\'', "''")),
        Some(Style::Double) => double_quoted(text),
        _ if plain_is_safe(text) => text.to_owned(),
        _ => double_quoted(text),
    }
}

/// Single quotes cannot escape: a line break or control character would not survive.
fn printable(text: &str) -> bool {
    !text.chars().any(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{85}'))
}

/// Deliberately narrow: whatever could be a number, a comment, an alias or flow syntax is quoted.
fn plain_is_safe(text: &str) -> bool {
    let first_ok =
        text.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '~' | '$'));
    let inner_ok = |c: char| c.is_alphanumeric() || " /._-+=@$~%^()\\;<".contains(c) || c == ':';
    first_ok
        && text.chars().all(inner_ok)
        && !text.contains(": ")
        && !text.ends_with([':', ' '])
        && resolve(text, Style::Plain) == Scalar::Text(text.to_owned())
        && !looks_like_date(text)
}

/// YAML 1.1 readers turn `2024-01-01` into a date.
fn looks_like_date(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let digits = |p: Option<&str>| p.is_some_and(|p| p.starts_with(|c: char| c.is_ascii_digit()));
    parts.next().is_some_and(|y| y.len() == 4 && y.bytes().all(|b| b.is_ascii_digit()))
        && digits(parts.next())
        && digits(parts.next())
}

fn double_quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if !printable(c.encode_utf8(&mut [0; 4])) => {
                let code = c as u32;
                let _ =
                    if code <= 0xff { write!(out, "\\x{code:02x}") } else { write!(out, "\\u{code:04x}") };
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn plain_scalars_mean_what_yaml_1_1_says() {
        let cases = [
            ("yes", Scalar::Bool(true)),
            ("Off", Scalar::Bool(false)),
            ("y", Scalar::Text("y".into())),
            ("", Scalar::Null),
            ("~", Scalar::Null),
            ("12", Scalar::Int(12)),
            ("1_000", Scalar::Int(1000)),
            ("-7", Scalar::Int(-7)),
            ("0x1F", Scalar::Int(31)),
            ("010", Scalar::Int(8)),
            ("0b11", Scalar::Int(3)),
            ("1:30", Scalar::Int(90)),
            ("0", Scalar::Int(0)),
            ("08", Scalar::Text("08".into())),
            ("--5", Scalar::Text("--5".into())),
            ("0x-1", Scalar::Text("0x-1".into())),
            ("1.5", Scalar::Float(1.5)),
            ("-.5", Scalar::Float(-0.5)),
            (".inf", Scalar::Float(f64::INFINITY)),
            ("1.2.3", Scalar::Text("1.2.3".into())),
            ("1e5", Scalar::Text("1e5".into())),
            (".", Scalar::Text(".".into())),
            ("12:99", Scalar::Text("12:99".into())),
        ];
        for (text, want) in cases {
            assert_eq!(resolve(text, Style::Plain), want, "{text}");
        }
        assert_eq!(resolve("yes", Style::Single), Scalar::Text("yes".into()));
    }

    proptest! {
        #[test]
        fn resolving_never_panics(text in ".*") {
            let _ = resolve(&text, Style::Plain);
        }

        #[test]
        fn rendered_text_reads_back(text in "\\PC{0,30}|[ -~\\n\\t]{0,30}|yes|12|1.5|~|2024-01-01|- a|a: b|#x|[0-9:_.x+-]{1,8}") {
            for before in [None, Some(Style::Plain), Some(Style::Single), Some(Style::Double)] {
                let written = format!("key: {}\n", render(&Scalar::Text(text.clone()), before));
                let doc = super::super::parse(&written).map_err(|e| TestCaseError::fail(format!("{written:?}: {e}")))?;
                let node = doc.get(&["key"]).ok_or_else(|| TestCaseError::fail("no key"))?;
                let super::super::Kind::Scalar(read, style) = &node.kind else { return Err(TestCaseError::fail("not a scalar")) };
                prop_assert_eq!(resolve(read, *style), Scalar::Text(text.clone()), "{}", written);
            }
        }

        #[test]
        fn rendered_numbers_read_back(int in any::<i64>(), float in any::<f64>()) {
            prop_assert_eq!(resolve(&render(&Scalar::Int(int), None), Style::Plain), Scalar::Int(int));
            let Scalar::Float(read) = resolve(&render(&Scalar::Float(float), None), Style::Plain) else {
                return Err(TestCaseError::fail(render(&Scalar::Float(float), None)));
            };
            prop_assert!(read.total_cmp(&float).is_eq() || (read.is_nan() && float.is_nan()));
        }
    }
}
