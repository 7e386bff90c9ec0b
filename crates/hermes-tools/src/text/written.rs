//! How long a text is in a result: JSON writes some characters as two or more. Pure.

/// Characters of the fields around the text that a result is about.
pub(crate) const AROUND: usize = 1000;

/// Characters a text takes as JSON writes it.
pub(crate) fn written_length(text: &str) -> usize {
    text.chars().map(of_char).sum()
}

/// The longest beginning that takes at most this many characters as JSON writes it.
pub(crate) fn written_head(text: &str, most: usize) -> &str {
    let mut taken = 0;
    let beyond = text.char_indices().find(|(_, c)| {
        taken += of_char(*c);
        taken > most
    });
    &text[..beyond.map_or(text.len(), |(at, _)| at)]
}

/// The longest end that takes at most this many characters as JSON writes it.
pub(crate) fn written_tail(text: &str, most: usize) -> &str {
    let mut taken = 0;
    let before = text.char_indices().rev().find(|(_, c)| {
        taken += of_char(*c);
        taken > most
    });
    &text[before.map_or(0, |(at, c)| at + c.len_utf8())..]
}

fn of_char(c: char) -> usize {
    match c {
        '"' | '\\' | '\t' | '\r' | '\n' => 2,
        c if (c as u32) < 0x20 => 6,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ends_are_as_long_as_they_may_be(text in "[a-cé€\"\\\\\n\u{1}]{0,60}", most in 0usize..80) {
            let json = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(written_length(&text), json.chars().count() - 2);
            let (head, tail) = (written_head(&text, most), written_tail(&text, most));
            prop_assert!(written_length(head) <= most && written_length(tail) <= most);
            prop_assert!(text.starts_with(head) && text.ends_with(tail));
            let next = text[head.len()..].chars().next();
            prop_assert!(next.is_none_or(|c| written_length(head) + of_char(c) > most));
            let before = text[..text.len() - tail.len()].chars().next_back();
            prop_assert!(before.is_none_or(|c| written_length(tail) + of_char(c) > most));
        }
    }
}
