//! Bytes as text, for JSON and pictures.

/// Bytes in the usual alphabet of base64, padded.
pub fn encode(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let number =
            group.iter().fold(0u32, |sum, byte| (sum << 8) | u32::from(*byte)) << (8 * (3 - group.len()));
        for digit in 0..4 {
            let index = (number >> (18 - 6 * digit)) & 63;
            text.push(if digit <= group.len() { char::from(ALPHABET[index as usize]) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_everyone_writes_it() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(encode(bytes.as_bytes()), text);
        }
        assert_eq!(encode(&[0xff, 0xfe, 0xfb]), "//77");
    }
}
