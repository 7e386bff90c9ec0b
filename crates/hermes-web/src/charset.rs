//! Bytes to text: by the mark at their beginning, by what the answer says, by what the page says, by what they look like.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// How far into a page its own word about it is looked for.
const PROLOGUE: usize = 2048;

/// Decodes a body. `said` is the charset of the answer's header. What cannot be decoded is replaced.
pub(crate) fn decode(bytes: &[u8], said: Option<&str>) -> String {
    let named = |label: &str| Encoding::for_label(label.trim().as_bytes());
    let marked = Encoding::for_bom(bytes).map(|(encoding, _)| encoding);
    let encoding =
        marked.or_else(|| said.and_then(named)).or_else(|| own_word(bytes)).unwrap_or_else(|| guess(bytes));
    // Takes the mark at the beginning away.
    encoding.decode(bytes).0.into_owned()
}

/// `<meta charset=…>`, `<meta … content="text/html; charset=…">`, `<?xml … encoding="…"?>`.
fn own_word(bytes: &[u8]) -> Option<&'static Encoding> {
    let prologue: String =
        bytes.iter().take(PROLOGUE).map(|byte| char::from(*byte).to_ascii_lowercase()).collect();
    let from = if prologue.trim_start().starts_with("<?xml") { "encoding" } else { "charset" };
    let value = prologue.match_indices(from).find_map(|(at, word)| {
        let before = prologue[..at].rfind('<')?;
        let is_tag = prologue[before..].starts_with("<meta") || prologue[before..].starts_with("<?xml");
        prologue[at + word.len()..].trim_start().strip_prefix('=').filter(|_| is_tag)
    })?;
    let value = value.trim_start().trim_start_matches(['"', '\'']);
    let end = value.find(|c: char| !c.is_ascii_alphanumeric() && !"-_.:".contains(c)).unwrap_or(value.len());
    let found = Encoding::for_label(&value.as_bytes()[..end])?;
    // A page that could be read this far is not in two-byte letters, whatever it says.
    Some(if found == UTF_16LE || found == UTF_16BE { UTF_8 } else { found })
}

/// UTF-8 if it is, apart from a letter that the end cuts in two; otherwise what most old pages are.
fn guess(bytes: &[u8]) -> &'static Encoding {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_some() => WINDOWS_1252,
        _ => UTF_8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_say_it_is_heard() {
        assert_eq!(decode("é€".as_bytes(), None), "é€");
        assert_eq!(decode("é".as_bytes(), Some("utf-8")), "é");
        assert_eq!(decode(b"\xe9\x80 ", None), "é€ ");
        assert_eq!(decode(b"\xe9", Some("ISO-8859-1")), "é");
        assert_eq!(decode(b"\xff\xfea\0b\0", Some("utf-8")), "ab");
        assert_eq!(decode(b"\xef\xbb\xbfab", Some("latin1")), "ab");
        assert_eq!(decode(b"a\0b\0", Some("utf-16le")), "ab");
        assert_eq!(decode(b"<meta charset=\"shift_jis\">\x83\x6e", None), "<meta charset=\"shift_jis\">ハ");
        assert!(
            decode(b"<META http-equiv=x content='text/html; charset=windows-1251'>\xcf", None).ends_with('П')
        );
        assert!(decode(b"<?xml version='1.0' encoding='iso-8859-2'?>\xb1", None).ends_with('ą'));
        assert_eq!(decode("<meta charset=utf-16>é".as_bytes(), None), "<meta charset=utf-16>é");
        assert_eq!(decode("charset=latin1 é".as_bytes(), None), "charset=latin1 é");
        assert_eq!(decode(&"é".as_bytes()[..1], None), "\u{fffd}");
        assert_eq!(decode(b"\xe9.", Some("no-such-thing")), "é.");
    }
}
