//! Text of models, tools and files, made harmless: it must not steer the terminal or hide what it says.

/// Takes out escape sequences and control characters, turns tabs into blanks, and shows characters that would
/// reorder or hide text by their number. Line breaks are gone too: callers split lines before.
pub fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\x1b' => skip_escape(&mut chars),
            '\t' => out.push_str("    "),
            c if c.is_control() => {}
            c if is_deceptive(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

/// Direction overrides and isolates, line separators, and the tag characters nobody can see.
fn is_deceptive(c: char) -> bool {
    matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
}

/// Skips what follows an escape character: a control sequence, a string up to its end, or a short sequence.
fn skip_escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.peek() {
        Some('[') => {
            chars.next();
            while let Some(c) = chars.next_if(|c| !c.is_control()) {
                if ('\x40'..='\x7e').contains(&c) {
                    break;
                }
            }
        }
        Some(']' | 'P' | '_' | '^' | 'X') => {
            while let Some(c) = chars.next() {
                if c == '\x07' || (c == '\x1b' && chars.next_if_eq(&'\\').is_some()) {
                    break;
                }
            }
        }
        Some('(' | ')' | '#' | '%') => {
            chars.next();
            chars.next();
        }
        Some(c) if ('\x30'..='\x7e').contains(c) => {
            chars.next();
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn escapes_and_controls_are_gone() {
        assert_eq!(clean("\x1b[31mred\x1b[0m"), "red");
        assert_eq!(clean("\x1b]0;title\x07shown"), "shown");
        assert_eq!(clean("\x1b]8;;http://x\x1b\\link"), "link");
        assert_eq!(clean("\x1b(Bplain\x1b=\r\n\u{9b}x"), "plainx");
        assert_eq!(clean("a\tb"), "a    b");
        assert_eq!(clean("\x1b["), "");
        assert_eq!(clean("end\x1b"), "end");
    }

    #[test]
    fn text_that_would_be_reordered_is_spelled_out() {
        assert_eq!(clean("rm \u{202e}txt"), "rm \\u{202e}txt");
    }
}
