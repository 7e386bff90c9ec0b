//! Bytes from the terminal to keys and pastes. Pure: feed it bytes in any portions.

use super::sequences;

/// A key that was pressed, or text that was pasted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A key.
    Key(Key),
    /// Text pasted in one go.
    Paste(String),
}

/// A key with what was held down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    /// The key.
    pub code: KeyCode,
    /// What was held down.
    pub mods: Mods,
}

/// A key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyCode {
    /// A character.
    Char(char),
    /// Enter.
    Enter,
    /// Tab.
    Tab,
    /// Shift and Tab.
    BackTab,
    /// Deletes to the left.
    Backspace,
    /// Deletes to the right.
    Delete,
    /// Arrow.
    Left,
    /// Arrow.
    Right,
    /// Arrow.
    Up,
    /// Arrow.
    Down,
    /// Start of the line.
    Home,
    /// End of the line.
    End,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// Escape.
    Esc,
    /// One nobody here uses.
    Other,
}

/// Keys held down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Mods(u8);

impl Mods {
    /// None.
    pub const NONE: Self = Self(0);
    /// Shift.
    pub const SHIFT: Self = Self(1);
    /// Alt, or Escape pressed before.
    pub const ALT: Self = Self(2);
    /// Control.
    pub const CTRL: Self = Self(4);

    /// From the number xterm sends, which is one more than the bits.
    pub(super) fn from_xterm(number: u32) -> Self {
        Self((number.saturating_sub(1) & 7) as u8)
    }

    /// Both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Key {
    /// A key alone.
    pub const fn plain(code: KeyCode) -> Self {
        Self { code, mods: Mods::NONE }
    }

    /// A character alone.
    pub const fn char(c: char) -> Self {
        Self::plain(KeyCode::Char(c))
    }

    /// A character with Control.
    pub const fn ctrl(c: char) -> Self {
        Self { code: KeyCode::Char(c), mods: Mods::CTRL }
    }

    /// A character with Alt.
    pub const fn alt(c: char) -> Self {
        Self { code: KeyCode::Char(c), mods: Mods::ALT }
    }
}

/// A paste longer than this is cut: it would not fit any model.
const LONGEST_PASTE: usize = 8 << 20;

/// Turns bytes into input, keeping what is incomplete.
#[derive(Debug, Default)]
pub struct Decoder {
    buffer: Vec<u8>,
    paste: Option<Vec<u8>>,
}

impl Decoder {
    /// A decoder with nothing in it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes bytes and gives the input that is complete.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Input> {
        self.buffer.extend_from_slice(bytes);
        let mut inputs = Vec::new();
        while self.step(&mut inputs) {}
        inputs
    }

    /// Whether an Escape waits to be told from the start of a longer sequence.
    pub fn is_waiting(&self) -> bool {
        self.paste.is_none() && self.buffer.first() == Some(&0x1b)
    }

    /// Nothing followed in time: what waits is what it looks like.
    pub fn flush(&mut self) -> Vec<Input> {
        if !self.is_waiting() {
            return Vec::new();
        }
        let rest = self.buffer.split_off(1);
        self.buffer.clear();
        let mut inputs = vec![Input::Key(Key::plain(KeyCode::Esc))];
        inputs.extend(self.feed(&rest));
        inputs
    }

    /// Decodes one thing; false when more bytes are needed.
    fn step(&mut self, inputs: &mut Vec<Input>) -> bool {
        if self.paste.is_some() {
            return self.step_in_paste(inputs);
        }
        let Some(token) = sequences::first(&self.buffer) else { return false };
        match token.meaning {
            sequences::Meaning::Key(key) => inputs.push(Input::Key(key)),
            sequences::Meaning::PasteStart => self.paste = Some(Vec::new()),
            sequences::Meaning::Nothing => {}
        }
        self.buffer.drain(..token.length);
        true
    }

    fn step_in_paste(&mut self, inputs: &mut Vec<Input>) -> bool {
        const END: &[u8] = b"\x1b[201~";
        let Some(paste) = self.paste.as_mut() else { return false };
        let end = self.buffer.windows(END.len()).position(|w| w == END);
        // Without an end in sight, its first bytes may still be at the end of the buffer.
        let safe = end.unwrap_or_else(|| self.buffer.len().saturating_sub(END.len() - 1));
        let room = LONGEST_PASTE.saturating_sub(paste.len());
        paste.extend_from_slice(&self.buffer[..safe.min(room)]);
        self.buffer.drain(..end.map_or(safe, |at| at + END.len()));
        if end.is_none() {
            return false;
        }
        let text = String::from_utf8_lossy(paste).replace("\r\n", "\n").replace('\r', "\n");
        self.paste = None;
        inputs.push(Input::Paste(text));
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn keys(bytes: &[u8]) -> Vec<Input> {
        Decoder::new().feed(bytes)
    }

    fn key(code: KeyCode, mods: Mods) -> Input {
        Input::Key(Key { code, mods })
    }

    #[test]
    fn characters_and_control_keys() {
        assert_eq!(
            keys("aé日\r\n\t\x7f\x01\x00".as_bytes()),
            [
                Input::Key(Key::char('a')),
                Input::Key(Key::char('é')),
                Input::Key(Key::char('日')),
                key(KeyCode::Enter, Mods::NONE),
                Input::Key(Key::ctrl('j')),
                key(KeyCode::Tab, Mods::NONE),
                key(KeyCode::Backspace, Mods::NONE),
                Input::Key(Key::ctrl('a')),
                Input::Key(Key::ctrl(' ')),
            ]
        );
    }

    #[test]
    fn sequences_of_several_terminals() {
        assert_eq!(keys(b"\x1b[A\x1bOB"), [key(KeyCode::Up, Mods::NONE), key(KeyCode::Down, Mods::NONE)]);
        assert_eq!(keys(b"\x1b[1;5D"), [key(KeyCode::Left, Mods::CTRL)]);
        assert_eq!(
            keys(b"\x1b[3~\x1b[1~\x1b[F"),
            [KeyCode::Delete, KeyCode::Home, KeyCode::End].map(|c| key(c, Mods::NONE))
        );
        assert_eq!(keys(b"\x1b\r\x1bb"), [key(KeyCode::Enter, Mods::ALT), Input::Key(Key::alt('b'))]);
        assert_eq!(
            keys(b"\x1b[13;2u\x1b[27;2;13~"),
            [key(KeyCode::Enter, Mods::SHIFT), key(KeyCode::Enter, Mods::SHIFT)]
        );
        assert_eq!(keys(b"\x1b[99;5u"), [Input::Key(Key::ctrl('c'))]);
        assert_eq!(keys(b"\x1b[Z"), [key(KeyCode::BackTab, Mods::NONE)]);
        assert_eq!(
            keys(b"\x1b[?62;c\x1b[12;5Rx"),
            [Input::Key(Key::char('x'))],
            "answers of the terminal are no keys"
        );
    }

    #[test]
    fn a_lone_escape_needs_a_pause() {
        let mut decoder = Decoder::new();
        assert!(decoder.feed(b"\x1b").is_empty());
        assert!(decoder.is_waiting());
        assert_eq!(decoder.flush(), [key(KeyCode::Esc, Mods::NONE)]);
        assert!(!decoder.is_waiting());
    }

    #[test]
    fn a_paste_is_one_input() {
        assert_eq!(
            keys(b"x\x1b[200~one\r\ntwo\x1b[A\rthree\x1b[201~y"),
            [
                Input::Key(Key::char('x')),
                Input::Paste("one\ntwo\x1b[A\nthree".into()),
                Input::Key(Key::char('y'))
            ]
        );
    }

    proptest! {
        #[test]
        fn portions_do_not_matter(
            pieces in prop::collection::vec(
                prop_oneof![
                    Just(b"\x1b[A".to_vec()), Just(b"\x1b[1;3C".to_vec()), Just("é日".as_bytes().to_vec()),
                    Just(b"\x1b[200~pa\x1b[B\x1b[201~".to_vec()), Just(b"\x1bf".to_vec()), Just(b"\r".to_vec()),
                    "[a-z]{1,3}".prop_map(String::into_bytes),
                ], 0..12),
            cut in 1usize..5
        ) {
            let bytes = pieces.concat();
            let whole = keys(&bytes);
            let mut decoder = Decoder::new();
            let parts: Vec<Input> = bytes.chunks(cut).flat_map(|c| decoder.feed(c)).collect();
            prop_assert_eq!(parts, whole);
        }

        #[test]
        fn no_bytes_hang_or_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut decoder = Decoder::new();
            let _ = decoder.feed(&bytes);
            let _ = decoder.flush();
        }
    }
}
