//! Text in base64 inside a text: an order does not become harmless by being spelled for machines.

/// Shorter runs hold no order, longer ones are data.
const SHORTEST: usize = 24;
const LONGEST: usize = 8 * 1024;

/// The readable texts in base64 that a text holds, and where each begins.
pub(super) fn texts(text: &str) -> impl Iterator<Item = (usize, String)> {
    runs(text.as_bytes()).filter(|(_, run)| run.len() <= LONGEST).filter_map(|(at, run)| {
        let inner = String::from_utf8(decode(run)).ok()?;
        let readable = inner.contains(' ') && !inner.contains(|c: char| c.is_control() && !c.is_whitespace());
        readable.then_some((at, inner))
    })
}

/// The long runs of letters of base64, and where each begins. Where one could begin, the byte that would end the shortest
/// is looked at first, so most bytes of a text are not looked at.
fn runs(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut start = 0;
    std::iter::from_fn(move || {
        while let Some(shortest) = text.get(start..start + SHORTEST) {
            if let Some(other) = shortest.iter().rposition(|byte| !is_base64(*byte)) {
                start += other + 1;
                continue;
            }
            let more = text[start + SHORTEST..].iter().take_while(|byte| is_base64(**byte)).count();
            let (at, end) = (start, start + SHORTEST + more);
            start = end;
            return Some((at, &text[at..end]));
        }
        None
    })
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

/// The bytes of a run of base64 of either alphabet. A last letter that makes no byte is passed over.
fn decode(run: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(run.len() / 4 * 3 + 2);
    let (mut bits, mut count) = (0u32, 0u32);
    for value in run.iter().map(|byte| value_of(*byte)) {
        bits = (bits << 6 | u32::from(value)) & 0xffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
        }
    }
    bytes
}

fn value_of(byte: u8) -> u8 {
    match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        _ => 63,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn readable_text_is_found_and_data_is_not() {
        let found: Vec<(usize, String)> = texts("x aGVsbG8gd29ybGQsIGhvdyBhcmUgeW91 y").collect();
        assert_eq!(found, [(2, "hello world, how are you".to_owned())]);
        assert_eq!(texts("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b").count(), 0);
        assert_eq!(texts("internationalization_of_everything").count(), 0);
    }

    proptest! {
        #[test]
        fn every_long_run_is_found(text in "([a-z]{1,30}| |\n|=){0,12}") {
            let expected: Vec<&[u8]> =
                text.as_bytes().split(|byte| !is_base64(*byte)).filter(|run| run.len() >= SHORTEST).collect();
            let found: Vec<&[u8]> = runs(text.as_bytes()).map(|(_, run)| run).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
