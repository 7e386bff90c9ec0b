//! Characters nobody sees: joiners that belong to emoji and scripts stay, what reorders text is shown, the rest goes.

use std::fmt::Write as _;
use std::ops::RangeInclusive;

/// Characters beyond ASCII that are never changed, whatever stands around them; not all of them.
const ALWAYS_SEEN: [RangeInclusive<char>; 11] = [
    '\u{a1}'..='\u{ac}',
    '\u{ae}'..='\u{34e}',
    '\u{350}'..='\u{61b}',
    '\u{61d}'..='\u{115e}',
    '\u{2010}'..='\u{2027}',
    '\u{2030}'..='\u{205f}',
    '\u{2070}'..='\u{3163}',
    '\u{3165}'..='\u{fdff}',
    '\u{fe10}'..='\u{fefe}',
    '\u{ff01}'..='\u{ff9f}',
    '\u{1f000}'..='\u{1faff}',
];

/// Whether there is nothing in the text that [`show`] would change.
pub(super) fn is_plain(text: &str) -> bool {
    let odd = |byte: &u8| *byte >= 0x7f || (*byte < 0x20 && *byte != b'\n' && *byte != b'\t');
    // Without a way out in the middle of a piece many bytes are looked at together.
    let has_odd = |piece: &[u8]| piece.iter().fold(false, |found, byte| found | odd(byte));
    if !text.as_bytes().chunks(1024).any(has_odd) {
        return true;
    }
    let stays = |c: char| match c {
        '\n' | '\t' => true,
        c if c.is_ascii() => !c.is_ascii_control(),
        c => ALWAYS_SEEN.iter().any(|range| range.contains(&c)),
    };
    text.chars().all(stays)
}

/// The text without a byte order mark and with its invisible characters shown or taken out, and how many there were.
/// Line ends become `\n`.
pub fn show(text: &str) -> (String, usize) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut out = String::with_capacity(text.len());
    let mut count = 0;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match treatment(c, out.chars().next_back(), &out) {
            Treatment::Keep => out.push(c),
            Treatment::Newline if chars.peek() == Some(&'\n') => {}
            Treatment::Newline => out.push('\n'),
            Treatment::Remove => count += 1,
            Treatment::Show => {
                count += 1;
                let _ = write!(out, "[U+{:04X}]", u32::from(c));
            }
        }
    }
    (out, count)
}

enum Treatment {
    Keep,
    Newline,
    Remove,
    Show,
}

fn treatment(c: char, before: Option<char>, out: &str) -> Treatment {
    let keep_if = |kept: bool| if kept { Treatment::Keep } else { Treatment::Remove };
    match c {
        '\n' | '\t' => Treatment::Keep,
        '\r' => Treatment::Newline,
        // Joiners: inside emoji, and in scripts that need them.
        '\u{200c}' | '\u{200d}' => keep_if(before.is_some_and(is_joined)),
        // Text direction is turned around: show it, so that what is read is what is there.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{061c}' => Treatment::Show,
        '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' => {
            Treatment::Remove
        }
        // Variation selectors: one chooses how the character before it looks, a row of them carries bytes.
        '\u{fe00}'..='\u{fe0f}' => {
            keep_if(before.is_some_and(|before| !is_selector(before) && !before.is_whitespace()))
        }
        // Tags: the flags of regions are spelled with them, and nothing else is.
        '\u{e0000}'..='\u{e007f}' => keep_if(is_flag_so_far(out)),
        // More variation selectors: one behind a Chinese character chooses its form, many in a row carry messages.
        '\u{e0100}'..='\u{e01ef}' => keep_if(before.is_some_and(is_ideograph)),
        _ if c.is_control() || is_filler(c) => Treatment::Remove,
        _ => Treatment::Keep,
    }
}

/// Marks without a shape: soft hyphens, fillers, annotations, beams of music.
fn is_filler(c: char) -> bool {
    matches!(
        c,
        '\u{feff}' | '\u{00ad}' | '\u{180e}' | '\u{034f}' | '\u{3164}' | '\u{ffa0}' | '\u{115f}' | '\u{1160}'
            | '\u{17b4}' | '\u{17b5}' | '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
    )
}

fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

fn is_joined(before: char) -> bool {
    is_emoji(before) || (!before.is_ascii() && before.is_alphabetic()) || is_combining(before)
}

fn is_emoji(c: char) -> bool {
    matches!(c, '\u{fe0f}' | '\u{2190}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}' | '\u{20e3}')
}

/// Vowel signs and viramas of Indic scripts, before which or behind which a joiner chooses the form.
fn is_combining(c: char) -> bool {
    matches!(c, '\u{0900}'..='\u{0dff}' | '\u{0600}'..='\u{06ff}' | '\u{1000}'..='\u{109f}')
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// A black flag with at most six tags behind it.
fn is_flag_so_far(out: &str) -> bool {
    out.chars().rev().take(7).find(|c| !matches!(c, '\u{e0000}'..='\u{e007f}')) == Some('\u{1f3f4}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn hidden_messages_become_visible_or_go() {
        assert_eq!(show("a\u{202e}b"), ("a[U+202E]b".to_owned(), 1));
        assert_eq!(show("a\u{200b}\u{200d}b"), ("ab".to_owned(), 2));
        assert_eq!(show("x\u{e0041}\u{e0042}"), ("x".to_owned(), 2));
        assert_eq!(show("a\u{1b}[31mb\u{0}"), ("a[31mb".to_owned(), 2));
        assert_eq!(show("漢\u{e0100}\u{e0101}").1, 1);
        assert_eq!(show("👍\u{fe0f}\u{fe01}\u{fe07}"), ("👍\u{fe0f}".to_owned(), 2));
    }

    proptest! {
        #[test]
        fn what_is_plain_is_not_changed(text in "[a-c\\n\\té漢\u{200b}\u{a0}\u{ad}\u{7f}\r–👍]{0,12}|\\PC{0,12}") {
            prop_assert!(!is_plain(&text) || show(&text) == (text.clone(), 0), "{:?}", text);
        }
    }

    #[test]
    fn flags_and_line_ends_survive() {
        let wales = "🏴\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}";
        assert_eq!(show(wales), (wales.to_owned(), 0));
        assert_eq!(show("\u{feff}a\r\nb\rc\n"), ("a\nb\nc\n".to_owned(), 0));
    }
}
