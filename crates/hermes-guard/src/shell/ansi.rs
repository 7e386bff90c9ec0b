//! Escapes of `$'…'`, `echo -e` and `printf`.

/// Which program reads the escapes; they differ a little.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// `$'…'`
    Quotes,
    /// The format of `printf`.
    Printf,
    /// `echo -e`
    Echo,
}

/// The text with its escapes decoded. Nothing if the result is not text, or ends early for a reason this does
/// not follow.
pub(super) fn decode(written: &str, dialect: Dialect) -> Option<String> {
    let mut bytes = Vec::with_capacity(written.len());
    let mut rest = written;
    while let Some(at) = rest.find('\\') {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        rest = escape(&rest[at + 1..], dialect, &mut bytes)?;
    }
    bytes.extend_from_slice(rest.as_bytes());
    // What comes after a NUL is lost in different ways.
    if bytes.contains(&0) { None } else { String::from_utf8(bytes).ok() }
}

/// Decodes the escape whose backslash was just read, and gives what follows it.
fn escape<'a>(rest: &'a str, dialect: Dialect, bytes: &mut Vec<u8>) -> Option<&'a str> {
    let Some(kind) = rest.chars().next() else {
        bytes.push(b'\\');
        return Some(rest);
    };
    let after = &rest[kind.len_utf8()..];
    let simple = match kind {
        'a' => 7,
        'b' => 8,
        'e' | 'E' => 27,
        'f' => 12,
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        'v' => 11,
        '\\' => b'\\',
        '\'' | '"' | '?' if dialect == Dialect::Quotes => kind as u8,
        '"' if dialect == Dialect::Printf => b'"',
        'c' => return None,
        '0' if dialect == Dialect::Echo => return number(after, 8, 3, bytes).or(None),
        '0'..='7' if dialect != Dialect::Echo => return number(rest, 8, 3, bytes),
        'x' => return number(after, 16, 2, bytes),
        'u' => return scalar(after, 4, bytes),
        'U' => return scalar(after, 8, bytes),
        other => {
            bytes.push(b'\\');
            bytes.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes());
            return Some(after);
        }
    };
    bytes.push(simple);
    Some(after)
}

fn number<'a>(digits: &'a str, radix: u32, most: usize, bytes: &mut Vec<u8>) -> Option<&'a str> {
    let count = digits.chars().take(most).take_while(|c| c.is_digit(radix)).count();
    let value = u32::from_str_radix(&digits[..count], radix).ok()?;
    bytes.push((value & 0xff) as u8);
    Some(&digits[count..])
}

fn scalar<'a>(digits: &'a str, most: usize, bytes: &mut Vec<u8>) -> Option<&'a str> {
    let count = digits.chars().take(most).take_while(char::is_ascii_hexdigit).count();
    let c = char::from_u32(u32::from_str_radix(&digits[..count], 16).ok()?)?;
    bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    Some(&digits[count..])
}
