//! Questions about bytes that several scanners ask.

/// Letters, digits and underscore.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The URL-safe base64 alphabet, which most keys are written in.
pub(super) fn is_base64url(byte: u8) -> bool {
    is_word(byte) || byte == b'-'
}

/// The end of the run of bytes that pass, starting at `from`.
pub(super) fn run_end(bytes: &[u8], from: usize, pass: impl Fn(u8) -> bool) -> usize {
    let run = bytes[from..].iter().take_while(|byte| pass(**byte)).count();
    from + run
}

/// Whether a key may start at `at`: after something that is not part of a word, or after an escape whose last letter
/// only looks like one.
pub(super) fn starts_word(bytes: &[u8], at: usize) -> bool {
    match bytes[..at].last() {
        Some(byte) if is_base64url(*byte) => after_escape(&bytes[..at]),
        _ => true,
    }
}

/// `\n`, `\u003d`, `%3D`, or a terminal colour: what JSON, URLs and terminals put in front of a key.
fn after_escape(before: &[u8]) -> bool {
    match before {
        [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., b'\\', b'u', a, b, c, d] if [a, b, c, d].iter().all(|byte| byte.is_ascii_hexdigit()) => true,
        [.., b'%', a, b] => a.is_ascii_hexdigit() && b.is_ascii_hexdigit(),
        [head @ .., b'm' | b'K'] => after_colour(head),
        _ => false,
    }
}

/// Longest colour parameters worth looking back over, as in `38;2;255;255;255`.
const COLOUR: usize = 20;

fn after_colour(before: &[u8]) -> bool {
    let parameters = before.iter().rev().take(COLOUR);
    let length = parameters.take_while(|byte| byte.is_ascii_digit() || **byte == b';').count();
    before[..before.len() - length].ends_with(b"\x1b[")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_starts_after_anything_that_is_not_a_word() {
        for before in
            ["", " ", "=", "\"", "/", "é", "\\n", "%3D", "\\u003d", "\x1b[32m", "\x1b[0;1;31m", "\x1b[K"]
        {
            assert!(starts_word(before.as_bytes(), before.len()), "{before:?}");
        }
        for before in ["a", "ta", "_", "-", "9", "n", "3D", "32m", "[32m", "um"] {
            assert!(!starts_word(before.as_bytes(), before.len()), "{before:?}");
        }
    }
}
