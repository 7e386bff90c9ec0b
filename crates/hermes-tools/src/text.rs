//! What commands print, made fit for a model: text without escape sequences and secrets, within bounds.

mod kept;
mod plain;
mod written;

pub(crate) use kept::{Kept, Shortened};
pub(crate) use plain::Plain;
pub(crate) use written::{AROUND, written_head, written_length, written_tail};

use std::borrow::Cow;

use hermes_guard::{Policy, Redactor, complete_prefix};

/// A line that does not end is passed on in pieces of this size.
const LONGEST_LINE: usize = 64 * 1024;

/// Bytes in, clean text out, as it comes: whole lines, so that no secret is cut in two.
pub(crate) struct Cleaning<'r> {
    plain: Plain,
    pending: String,
    redactor: &'r Redactor,
    policy: Policy,
}

impl<'r> Cleaning<'r> {
    pub(crate) fn new(redactor: &'r Redactor, policy: Policy) -> Self {
        Self { plain: Plain::default(), pending: String::new(), redactor, policy }
    }

    /// Takes more bytes; what can be passed on.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> String {
        self.plain.push(bytes, &mut self.pending);
        let mut ready = complete_prefix(&self.pending);
        if ready == 0 && self.pending.len() > LONGEST_LINE {
            ready =
                self.pending.rfind(char::is_whitespace).filter(|at| *at > 0).unwrap_or(self.pending.len());
        }
        self.take(ready)
    }

    /// What was held back.
    pub(crate) fn finish(mut self) -> String {
        self.plain.finish(&mut self.pending);
        self.take(self.pending.len())
    }

    fn take(&mut self, length: usize) -> String {
        let rest = self.pending.split_off(length);
        let text = std::mem::replace(&mut self.pending, rest);
        match self.redactor.redact(&text, self.policy) {
            Cow::Borrowed(_) => text,
            Cow::Owned(masked) => masked,
        }
    }
}

/// A whole output at once.
pub(crate) fn clean(bytes: &[u8], redactor: &Redactor, policy: Policy) -> String {
    let mut cleaning = Cleaning::new(redactor, policy);
    let mut text = cleaning.push(bytes);
    text.push_str(&cleaning.finish());
    text
}

/// The longest beginning of a text of at most this many bytes.
pub(crate) fn head(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

/// The longest end of a text of at most this many bytes.
pub(crate) fn tail(text: &str, most: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(most))..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_in_two_pieces_is_masked() {
        let redactor = Redactor::new([]);
        let mut cleaning = Cleaning::new(&redactor, Policy::Code);
        let mut text = cleaning.push(b"key ghp_abcdefghijklmnop");
        assert_eq!(text, "");
        text += &cleaning.push(b"qrstuvwxyz0123456789\nnext");
        text += &cleaning.finish();
        assert!(!text.contains("mnopqrst") && text.ends_with("\nnext"), "{text}");
    }

    #[test]
    fn a_line_without_end_is_not_held_back_for_ever() {
        let redactor = Redactor::new([]);
        let mut cleaning = Cleaning::new(&redactor, Policy::Code);
        let printed: usize = (0..10).map(|_| cleaning.push(&vec![b'.'; 20_000]).len()).sum();
        assert!(printed > 100_000);
        assert_eq!(printed + cleaning.finish().len(), 200_000);
    }

    #[test]
    fn cuts_fall_between_characters() {
        assert_eq!((head("aé", 2), tail("éa", 2)), ("a", "a"));
        assert_eq!((head("ab", 9), tail("ab", 9)), ("ab", "ab"));
    }
}
