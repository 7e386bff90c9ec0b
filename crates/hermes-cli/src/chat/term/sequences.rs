//! What the first bytes of a buffer mean: one character, one control key, or one escape sequence.

use super::keys::{Key, KeyCode, Mods};

/// A decoded stretch of the buffer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub meaning: Meaning,
    pub length: usize,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Key(Key),
    PasteStart,
    /// An answer of the terminal, or noise.
    Nothing,
}

/// A sequence longer than this is noise.
const LONGEST: usize = 64;

/// The first token of the buffer; nothing when it is incomplete.
pub(super) fn first(buffer: &[u8]) -> Option<Token> {
    match *buffer.first()? {
        0x1b => escape(buffer),
        b'\r' => Some(key(Key::plain(KeyCode::Enter), 1)),
        b'\t' => Some(key(Key::plain(KeyCode::Tab), 1)),
        0x7f | 0x08 => Some(key(Key::plain(KeyCode::Backspace), 1)),
        0 => Some(key(Key::ctrl(' '), 1)),
        byte @ 1..=0x1a => Some(key(Key::ctrl((b'a' + byte - 1) as char), 1)),
        byte @ 0x1c..=0x1f => Some(key(Key::ctrl((b'4' + byte - 0x1c) as char), 1)),
        _ => character(buffer),
    }
}

fn key(key: Key, length: usize) -> Token {
    Token { meaning: Meaning::Key(key), length }
}

fn nothing(length: usize) -> Token {
    Token { meaning: Meaning::Nothing, length }
}

fn character(buffer: &[u8]) -> Option<Token> {
    let length = match buffer[0] {
        0..=0x7f => 1,
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return Some(nothing(1)),
    };
    let got = &buffer[..length.min(buffer.len())];
    match std::str::from_utf8(got) {
        Ok(text) => text.chars().next().map(|c| key(Key::char(c), length)),
        // Cut short: more bytes will tell.
        Err(e) if e.error_len().is_none() && got.len() < length => None,
        Err(_) => Some(nothing(1)),
    }
}

fn escape(buffer: &[u8]) -> Option<Token> {
    match *buffer.get(1)? {
        b'[' => control_sequence(buffer),
        b'O' => {
            let code = letter(*buffer.get(2)?);
            Some(code.map_or_else(|| nothing(3), |code| key(Key::plain(code), 3)))
        }
        // Escape twice: the first one is a key of its own.
        0x1b => Some(key(Key::plain(KeyCode::Esc), 1)),
        // The answer to a question about colours and the like.
        b']' | b'P' | b'_' => string(buffer),
        _ => {
            let inner = first(&buffer[1..])?;
            let meaning = match inner.meaning {
                Meaning::Key(k) => Meaning::Key(Key { mods: k.mods.and(Mods::ALT), ..k }),
                other => other,
            };
            Some(Token { meaning, length: inner.length + 1 })
        }
    }
}

/// A string up to BEL or ESC `\`; one that does not end in time is given up.
fn string(buffer: &[u8]) -> Option<Token> {
    let bell = buffer.iter().position(|b| *b == 7).map(|at| at + 1);
    let end = buffer.windows(2).position(|w| w == b"\x1b\\").map(|at| at + 2);
    match bell.or(end) {
        Some(length) => Some(nothing(length)),
        None if buffer.len() > LONGEST * 4 => Some(nothing(2)),
        None => None,
    }
}

fn control_sequence(buffer: &[u8]) -> Option<Token> {
    let body = &buffer[2..];
    let Some(end) = body.iter().position(|b| !(0x20..=0x3f).contains(b)) else {
        return (body.len() > LONGEST).then(|| nothing(2));
    };
    let length = 2 + end + 1;
    let last = body[end];
    if !(0x40..=0x7e).contains(&last) {
        // Broken off by another sequence, which is read next.
        return Some(nothing(2 + end));
    }
    let numbers = numbers(&body[..end]);
    let number = |i: usize| numbers.get(i).copied();
    let mods = Mods::from_xterm(number(1).unwrap_or(1));
    let code = match last {
        b'~' if number(0) == Some(200) => return Some(Token { meaning: Meaning::PasteStart, length }),
        b'~' if number(0) == Some(27) => number(2).and_then(unicode),
        b'~' => number(0).and_then(tilde),
        b'u' => number(0).and_then(unicode),
        b'R' | b'c' | b'n' | b't' => None,
        b'Z' => return Some(key(Key::plain(KeyCode::BackTab), length)),
        other => letter(other),
    };
    Some(code.map_or_else(|| nothing(length), |code| key(Key { code, mods }, length)))
}

fn numbers(parameters: &[u8]) -> Vec<u32> {
    let text = String::from_utf8_lossy(parameters);
    // `97:65;5` says more than we need after the colon.
    text.split(';').map(|n| n.split(':').next().unwrap_or_default().parse().unwrap_or(0)).collect()
}

fn letter(last: u8) -> Option<KeyCode> {
    Some(match last {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'H' => KeyCode::Home,
        b'F' => KeyCode::End,
        b'M' => KeyCode::Enter,
        b'P'..=b'S' => KeyCode::Other,
        _ => return None,
    })
}

fn tilde(number: u32) -> Option<KeyCode> {
    Some(match number {
        1 | 7 => KeyCode::Home,
        3 => KeyCode::Delete,
        4 | 8 => KeyCode::End,
        5 => KeyCode::PageUp,
        6 => KeyCode::PageDown,
        2 | 11..=34 => KeyCode::Other,
        _ => return None,
    })
}

fn unicode(number: u32) -> Option<KeyCode> {
    Some(match number {
        9 => KeyCode::Tab,
        13 => KeyCode::Enter,
        27 => KeyCode::Esc,
        127 => KeyCode::Backspace,
        other => KeyCode::Char(char::from_u32(other).filter(|c| !c.is_control())?),
    })
}
