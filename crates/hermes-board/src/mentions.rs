//! Cards that a text speaks of.

use crate::card::CardId;

/// Shortest name of a card, without its beginning.
const DIGITS: usize = 8;

/// The names of cards in a text, each once.
pub(crate) fn cards(text: &str) -> Vec<CardId> {
    let mut found: Vec<CardId> = Vec::new();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    for word in text.split(|c| !is_word(c)) {
        let Some(digits) = word.strip_prefix("t_") else { continue };
        let fits =
            digits.len() >= DIGITS && digits.chars().all(|c| c.is_ascii_digit() || ('a'..='f').contains(&c));
        let id = CardId::new(word);
        if fits && !found.contains(&id) {
            found.push(id);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_as_whole_words() {
        let text = "made t_0123abcd, (t_deadbeef) and t_0123abcd; not t_123, at_0123abcd or t_0123abcx";
        let found: Vec<String> = cards(text).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["t_0123abcd", "t_deadbeef"]);
    }
}
