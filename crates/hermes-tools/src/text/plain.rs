//! Bytes of a terminal become plain text: escape sequences (ECMA-48) and control characters go, bytes that are no
//! UTF-8 are replaced. Works on pieces: a sequence or character cut in two is put together again.

/// A string sequence longer than this never ends, and is not waited for.
const LONGEST_STRING: usize = 64 * 1024;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Plain {
    /// The beginning of a character whose end has not come yet.
    partial: Vec<u8>,
    state: State,
    /// A carriage return that may belong to a line end.
    held_return: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// After ESC.
    Escape,
    /// After ESC and an intermediate character.
    Charset,
    /// In a control sequence, up to its final character.
    Control,
    /// In a string (title, clipboard, picture), up to its terminator.
    String { command: bool, length: usize },
    /// In a string, after ESC.
    StringEscape { command: bool, length: usize },
}

impl Plain {
    /// Takes more bytes and appends what is text to `out`.
    pub(crate) fn push(&mut self, bytes: &[u8], out: &mut String) {
        if self.partial.is_empty() {
            return self.decode(bytes, out);
        }
        let mut joined = std::mem::take(&mut self.partial);
        joined.extend_from_slice(bytes);
        self.decode(&joined, out);
    }

    /// Nothing follows.
    pub(crate) fn finish(&mut self, out: &mut String) {
        if !std::mem::take(&mut self.partial).is_empty() {
            self.chars("\u{fffd}", out);
        }
        if std::mem::take(&mut self.held_return) {
            out.push('\r');
        }
    }

    fn decode(&mut self, bytes: &[u8], out: &mut String) {
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            self.chars(chunk.valid(), out);
            let invalid = chunk.invalid();
            if invalid.is_empty() {
                continue;
            }
            let unfinished = std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
            if chunks.peek().is_none() && unfinished {
                self.partial = invalid.to_vec();
            } else {
                self.chars("\u{fffd}", out);
            }
        }
    }

    fn chars(&mut self, text: &str, out: &mut String) {
        let mut rest = text;
        while !rest.is_empty() {
            if self.state == State::Text && !self.held_return {
                // Most of all text is text.
                let plain =
                    rest.find(|c: char| c.is_control() && c != '\n' && c != '\t').unwrap_or(rest.len());
                out.push_str(&rest[..plain]);
                rest = &rest[plain..];
            }
            let Some(c) = rest.chars().next() else { return };
            rest = &rest[c.len_utf8()..];
            self.char(c, out);
        }
    }

    #[allow(clippy::match_same_arms, reason = "in the order of the states, as the standard has them")]
    fn char(&mut self, c: char, out: &mut String) {
        if std::mem::take(&mut self.held_return) && c != '\n' {
            out.push('\r');
        }
        self.state = match (self.state, c) {
            (State::StringEscape { .. }, '\\') | (State::String { .. }, '\u{9c}') => State::Text,
            (State::StringEscape { .. }, _) => return self.again(State::Escape, c, out),
            (State::String { command: true, .. }, '\u{7}') => State::Text,
            // A title has one line: this one was never closed.
            (State::String { command: true, .. }, '\n') => return self.again(State::Text, c, out),
            (State::String { command, length }, '\u{1b}') => State::StringEscape { command, length },
            (State::String { length, .. }, _) if length > LONGEST_STRING => State::Text,
            (State::String { command, length }, _) => State::String { command, length: length + 1 },
            (_, '\u{1b}') => State::Escape,
            (State::Escape, '[') | (_, '\u{9b}') => State::Control,
            (State::Escape, ']') | (_, '\u{9d}') => State::String { command: true, length: 0 },
            (State::Escape, 'P' | 'X' | '^' | '_') | (_, '\u{90}' | '\u{98}' | '\u{9e}' | '\u{9f}') => {
                State::String { command: false, length: 0 }
            }
            (State::Escape | State::Charset, ' '..='/') => State::Charset,
            (State::Escape | State::Charset, '0'..='~') => State::Text,
            (State::Control, ' '..='?') => State::Control,
            (State::Control, '@'..='~') => State::Text,
            // Anything else ends a sequence that was none.
            (_, c) => {
                self.text(c, out);
                State::Text
            }
        };
    }

    /// Looks at a character once more, in another state.
    fn again(&mut self, state: State, c: char, out: &mut String) {
        self.state = state;
        self.char(c, out);
    }

    fn text(&mut self, c: char, out: &mut String) {
        match c {
            '\r' => self.held_return = true,
            '\n' | '\t' => out.push(c),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn whole(bytes: &[u8]) -> String {
        let (mut plain, mut out) = (Plain::default(), String::new());
        plain.push(bytes, &mut out);
        plain.finish(&mut out);
        out
    }

    #[test]
    fn sequences_go_and_text_stays() {
        let cases: [(&[u8], &str); 14] = [
            (b"plain\ttext\n", "plain\ttext\n"),
            (b"\x1b[1;31mred\x1b[0m", "red"),
            (b"\x1b]0;title\x07after", "after"),
            (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
            (b"\x1bPq#0;2\x1b\\done", "done"),
            (b"\x1b(Bascii", "ascii"),
            (b"\xc2\x9b31mc1\xc2\x9d0;t\xc2\x9cok", "c1ok"),
            (b"a\r\nb\rc", "a\nb\rc"),
            (b"bell\x07 nul\x00 back\x08", "bell nul back"),
            (b"\xff\xfe bad \xe2\x82", "\u{fffd}\u{fffd} bad \u{fffd}"),
            ("ünïcode €".as_bytes(), "ünïcode €"),
            (b"\x1b]0;never closed\nnext line", "\nnext line"),
            (b"\x1b[", ""),
            (b"end\r", "end\r"),
        ];
        for (bytes, text) in cases {
            assert_eq!(whole(bytes), text, "{bytes:?}");
        }
    }

    #[test]
    fn a_string_that_never_ends_does_not_swallow_everything() {
        let mut bytes = b"\x1bP".to_vec();
        bytes.resize(LONGEST_STRING + 12, b'x');
        bytes.extend(b"visible");
        assert!(whole(&bytes).ends_with("visible"));
    }

    proptest! {
        #[test]
        fn pieces_give_what_the_whole_gives(
            bytes in prop::collection::vec(
                prop_oneof![
                    Just(0x1bu8), Just(b'['), Just(b']'), Just(b'\\'), Just(7), Just(b'\r'), Just(b'\n'),
                    Just(0xc2), Just(0x9b), Just(0xe2), Just(0x82), Just(0xac), any::<u8>()
                ],
                0..64
            ),
            cuts in prop::collection::vec(0usize..64, 0..6),
        ) {
            let expected = whole(&bytes);
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.push(bytes.len());
            cuts.sort_unstable();
            let (mut plain, mut out, mut from) = (Plain::default(), String::new(), 0);
            for cut in cuts {
                plain.push(&bytes[from..cut], &mut out);
                from = cut;
            }
            plain.finish(&mut out);
            prop_assert_eq!(&out, &expected);
            let escapes = out.matches('\u{1b}').count();
            prop_assert_eq!(escapes, 0);
        }
    }
}
