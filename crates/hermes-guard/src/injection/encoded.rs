//! Text in base64 inside a text: an order does not become harmless by being spelled for machines.

/// Shorter runs hold no order, longer ones are data.
const SHORTEST: usize = 24;
const LONGEST: usize = 8 * 1024;

/// The readable texts in base64 that a line holds.
pub(super) fn texts(line: &str) -> impl Iterator<Item = String> {
    let is_base64 = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '-' | '_');
    line.split(move |c| !is_base64(c))
        .filter(|run| (SHORTEST..=LONGEST).contains(&run.len()))
        .filter_map(|run| String::from_utf8(decode(run)).ok())
        .filter(|text| text.contains(' ') && !text.contains(|c: char| c.is_control() && !c.is_whitespace()))
}

/// The bytes of a run of base64 of either alphabet. A last letter that makes no byte is passed over.
fn decode(run: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(run.len() / 4 * 3 + 2);
    let (mut bits, mut count) = (0u32, 0u32);
    for value in run.bytes().map(value_of) {
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

    #[test]
    fn readable_text_is_found_and_data_is_not() {
        let found: Vec<String> = texts("x aGVsbG8gd29ybGQsIGhvdyBhcmUgeW91 y").collect();
        assert_eq!(found, ["hello world, how are you"]);
        assert_eq!(texts("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b").count(), 0);
        assert_eq!(texts("internationalization_of_everything").count(), 0);
    }
}
