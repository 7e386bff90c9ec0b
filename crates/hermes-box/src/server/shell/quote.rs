//! The shell's quoting, both ways.

/// A word that the shell reads back as exactly these bytes.
pub(crate) fn quote(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + 2);
    out.push(b'\'');
    for byte in bytes {
        match byte {
            b'\'' => out.extend_from_slice(br"'\''"),
            byte => out.push(*byte),
        }
    }
    out.push(b'\'');
    out
}

/// A variable as `export -p` prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Declared<'a> {
    pub(crate) name: &'a [u8],
    /// `None` when it has no value, or one that is not a plain text.
    pub(crate) value: Option<Vec<u8>>,
    /// Whether it has properties besides being exported (an integer, read-only, an array).
    pub(crate) special: bool,
    /// The statement as it was printed.
    pub(crate) statement: &'a [u8],
}

/// Reads what `export -p` printed: bash's `declare -x NAME="value"`, or `export NAME='value'`. `None` when it is
/// something else.
pub(crate) fn parse_exports(mut text: &[u8]) -> Option<Vec<Declared<'_>>> {
    let mut found = Vec::new();
    while !text.is_empty() {
        let (declared, rest) = parse_statement(text)?;
        found.push(declared);
        text = rest;
    }
    Some(found)
}

fn parse_statement(text: &[u8]) -> Option<(Declared<'_>, &[u8])> {
    let mut rest = text.strip_prefix(b"declare ").or_else(|| text.strip_prefix(b"export "))?;
    let mut special = false;
    if rest.first() == Some(&b'-') {
        let end = rest.iter().position(|byte| *byte == b' ')?;
        special = &rest[..end] != b"-x";
        rest = &rest[end + 1..];
    }
    let end = rest.iter().position(|byte| matches!(byte, b'=' | b'\n')).unwrap_or(rest.len());
    let name = &rest[..end];
    if name.is_empty() || !name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') {
        return None;
    }
    rest = &rest[end..];
    let value = match rest.strip_prefix(b"=") {
        None => None,
        Some(after) => {
            let (value, after) = parse_value(after)?;
            rest = after;
            special |= value.is_none();
            value
        }
    };
    let statement = &text[..text.len() - rest.len()];
    let rest = rest.strip_prefix(b"\n").unwrap_or(rest);
    Some((Declared { name, value, special, statement }, rest))
}

/// Reads a value up to the newline that ends it; the value is `None` for an array.
#[allow(clippy::type_complexity, reason = "a value that may be missing, and what follows it")]
fn parse_value(text: &[u8]) -> Option<(Option<Vec<u8>>, &[u8])> {
    let array = text.first() == Some(&b'(');
    let mut value = Vec::new();
    let mut rest = text;
    loop {
        rest = match rest {
            [] | [b'\n', ..] => return Some(((!array).then_some(value), rest)),
            [b'\'', tail @ ..] => single_quoted(tail, &mut value)?,
            [b'"', tail @ ..] => double_quoted(tail, &mut value)?,
            [b'$', b'\'', tail @ ..] => ansi_quoted(tail, &mut value)?,
            [b'\\', byte, tail @ ..] | [byte, tail @ ..] => {
                value.push(*byte);
                tail
            }
        };
    }
}

fn single_quoted<'a>(text: &'a [u8], value: &mut Vec<u8>) -> Option<&'a [u8]> {
    let end = text.iter().position(|byte| *byte == b'\'')?;
    value.extend_from_slice(&text[..end]);
    Some(&text[end + 1..])
}

fn double_quoted<'a>(mut text: &'a [u8], value: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        text = match text {
            [b'"', tail @ ..] => return Some(tail),
            [b'\\', b'\n', tail @ ..] => tail,
            [b'\\', byte @ (b'"' | b'$' | b'`' | b'\\'), tail @ ..] | [byte, tail @ ..] => {
                value.push(*byte);
                tail
            }
            [] => return None,
        };
    }
}

/// Inside `$'…'`.
fn ansi_quoted<'a>(mut text: &'a [u8], value: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        text = match text {
            [b'\'', tail @ ..] => return Some(tail),
            [b'\\', tail @ ..] => ansi_escape(tail, value)?,
            [byte, tail @ ..] => {
                value.push(*byte);
                tail
            }
            [] => return None,
        };
    }
}

fn ansi_escape<'a>(text: &'a [u8], value: &mut Vec<u8>) -> Option<&'a [u8]> {
    let (first, tail) = text.split_first()?;
    let byte = match first {
        b'a' => 0x07,
        b'b' => 0x08,
        b'e' | b'E' => 0x1b,
        b'f' => 0x0c,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 0x0b,
        b'c' => {
            let (control, tail) = tail.split_first()?;
            value.push(control & 0x1f);
            return Some(tail);
        }
        b'0'..=b'7' => {
            let (number, tail) = digits(text, 8, 3)?;
            value.push(number as u8);
            return Some(tail);
        }
        b'x' => {
            let (number, tail) = digits(tail, 16, 2)?;
            value.push(number as u8);
            return Some(tail);
        }
        b'u' | b'U' => {
            let (number, tail) = digits(tail, 16, if *first == b'u' { 4 } else { 8 })?;
            let letter = char::from_u32(number)?;
            value.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
            return Some(tail);
        }
        other => *other,
    };
    value.push(byte);
    Some(tail)
}

fn digits(text: &[u8], radix: u32, most: usize) -> Option<(u32, &[u8])> {
    let is_digit = |byte: &&u8| char::from(**byte).is_digit(radix);
    let count = text.iter().take(most).take_while(is_digit).count();
    let number = u32::from_str_radix(std::str::from_utf8(&text[..count]).ok()?, radix).ok()?;
    Some((number, &text[count..]))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;
    use std::os::unix::ffi::OsStrExt;
    use std::process::Command;

    fn plain(text: &[u8]) -> Vec<(Vec<u8>, Option<Vec<u8>>)> {
        let declared = parse_exports(text).unwrap();
        declared.into_iter().map(|each| (each.name.to_vec(), each.value)).collect()
    }

    #[test]
    fn every_form_of_value_is_read() {
        let text =
            b"declare -x A=\"a \\\"b\\\" \\$c \\`d\\` \\\\ e\"\ndeclare -x B=$'x\\ny\\t\\E[1m\\377\\''\n\
                     declare -x C\nexport D='it'\"'\"'s\ntwo lines'\nexport E=''\n";
        let found = plain(text);
        assert_eq!(found[0], (b"A".to_vec(), Some(b"a \"b\" $c `d` \\ e".to_vec())));
        assert_eq!(found[1], (b"B".to_vec(), Some(b"x\ny\t\x1b[1m\xff'".to_vec())));
        assert_eq!(found[2], (b"C".to_vec(), None));
        assert_eq!(found[3], (b"D".to_vec(), Some(b"it's\ntwo lines".to_vec())));
        assert_eq!(found[4], (b"E".to_vec(), Some(Vec::new())));
    }

    #[test]
    fn special_variables_keep_their_statement() {
        let text = b"declare -ix N=\"5\"\ndeclare -ax L=([0]=\"a\nb\" [1]=$'c\\n')\ndeclare -x P=\"x\"\n";
        let found = parse_exports(text).unwrap();
        assert!(found[0].special && found[0].statement == b"declare -ix N=\"5\"");
        assert!(found[1].special && found[1].value.is_none());
        assert!(found[1].statement.ends_with(b"$'c\\n')"));
        assert!(!found[2].special);
    }

    #[test]
    fn other_text_is_refused() {
        for text in [b"rm -rf /\n".as_slice(), b"declare -x A=\"open\n", b"declare -x =x\n", b"declare -x"] {
            assert_eq!(parse_exports(text), None, "{}", String::from_utf8_lossy(text));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn what_a_shell_prints_is_read_back(value in proptest::collection::vec(1u8..=255, 0..60)) {
            for shell in ["bash", "dash"] {
                let output = Command::new(shell)
                    .args(["-c", "export -p"])
                    .env_clear()
                    .env("VALUE", std::ffi::OsStr::from_bytes(&value))
                    .output();
                let Ok(output) = output else { continue };
                let found = plain(&output.stdout);
                let read = found.iter().find(|(name, _)| name == b"VALUE").unwrap();
                prop_assert_eq!(read.1.as_ref(), Some(&value), "{}", shell);
            }
        }

        #[test]
        fn a_quoted_word_comes_back_from_the_shell(word in proptest::collection::vec(1u8..=255, 0..60)) {
            let script = [b"printf %s ".as_slice(), &quote(&word)].concat();
            let output = Command::new("bash")
                .args([std::ffi::OsStr::new("-c"), std::ffi::OsStr::from_bytes(&script)])
                .output()
                .unwrap();
            prop_assert_eq!(output.stdout, word);
        }

        #[test]
        fn random_text_never_panics(text in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse_exports(&text);
        }
    }
}
