//! A command line as a person sees it: without escape sequences for screens, with characters that only look like ASCII
//! put right. And characters that have no business in a command.

use std::borrow::Cow;

/// The line without terminal sequences and NULs, with compatibility forms of ASCII characters replaced.
pub fn normal(line: &str) -> Cow<'_, str> {
    if line.is_ascii() && !line.contains(['\u{1b}', '\0', '\r']) {
        return Cow::Borrowed(line);
    }
    let mut text = String::with_capacity(line.len());
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\0' => {}
            '\u{1b}' => skip_sequence(&mut rest),
            // A terminal takes it for the end of a line.
            '\r' if rest.peek() == Some(&'\n') => {}
            '\r' => text.push('\n'),
            c => text.push(plain(c)),
        }
    }
    Cow::Owned(text)
}

/// What kind of character makes the line look other than it is, if any does.
pub(super) fn misleads(line: &str) -> Option<&'static str> {
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        let name = match c {
            '\t' | '\n' => continue,
            '\r' if matches!(rest.peek(), None | Some('\n')) => continue,
            '\r' => "a carriage return",
            '\u{1b}' => "a terminal sequence",
            c if c.is_control() => "a control character",
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}' => {
                "a character that turns the direction of writing"
            }
            '\u{200b}' | '\u{2060}' | '\u{feff}' | '\u{ad}' | '\u{180e}' | '\u{e0000}'..='\u{e007f}' => {
                "an invisible character"
            }
            _ => continue,
        };
        return Some(name);
    }
    None
}

/// Skips what follows an escape character: `[ … letter`, `] … BEL`, or one character.
fn skip_sequence(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match rest.next() {
        Some('[') => while rest.next().is_some_and(|c| !('\u{40}'..='\u{7e}').contains(&c)) {},
        Some(']') => while rest.next().is_some_and(|c| c != '\u{7}' && c != '\u{1b}') {},
        _ => {}
    }
}

/// The ASCII character this one is a wide, small or decorated form of.
fn plain(c: char) -> char {
    let at = u32::from(c);
    let ascii = match at {
        // Full-width forms.
        0xFF01..=0xFF5E => at - 0xFF01 + 0x21,
        // Spaces of other widths; the shell does not split at them, a person reads them as spaces.
        0x3000 | 0x00A0 | 0x2000..=0x200A | 0x202F | 0x205F => 0x20,
        0xFE50 | 0x201A => 0x2C,
        0xFE52 | 0x2024 => 0x2E,
        0xFE54 => 0x3B,
        0xFE55 => 0x3A,
        0xFE57 => 0x21,
        0xFE60 => 0x26,
        0xFE61 => 0x2A,
        0xFE63 => 0x2D,
        0xFE64 => 0x3C,
        0xFE65 => 0x3E,
        0xFE68 => 0x5C,
        0xFE69 => 0x24,
        // Letters and digits of the mathematical alphabets: 52 letters each, then digits.
        0x1D400..=0x1D6A3 => letter((at - 0x1D400) % 52),
        0x1D7CE..=0x1D7FF => 0x30 + (at - 0x1D7CE) % 10,
        // Circled letters.
        0x24B6..=0x24CF => at - 0x24B6 + 0x41,
        0x24D0..=0x24E9 => at - 0x24D0 + 0x61,
        _ => at,
    };
    char::from_u32(ascii).unwrap_or(c)
}

fn letter(place: u32) -> u32 {
    if place < 26 { 0x41 + place } else { 0x61 + place - 26 }
}

#[cfg(test)]
mod tests {
    use super::{misleads, normal};

    #[test]
    fn what_misleads_is_named() {
        for line in ["ls \u{202e}x", "a\rb", "\u{1b}[8mx", "a\0b", "e\u{200b}cho", "\u{8}x"] {
            assert!(misleads(line).is_some(), "{line:?}");
        }
        for line in ["a\tb\nc", "a\r\nb\r\n", "a\r", "grüße 日本 👩\u{200d}💻", "it’s – “x”"]
        {
            assert_eq!(misleads(line), None, "{line:?}");
        }
    }

    #[test]
    fn look_alikes_become_what_they_look_like() {
        assert_eq!(normal("ｒｍ －ｒｆ ／"), "rm -rf /");
        assert_eq!(normal("\u{1b}[31mrm\u{1b}[0m -rf\0 /"), "rm -rf /");
        assert_eq!(normal("𝗋𝗆\u{3000}x"), "rm x");
        assert_eq!(normal("ls\r\nrm x\rrm y"), "ls\nrm x\nrm y");
        assert_eq!(normal("echo grüße 日本"), "echo grüße 日本");
    }
}
