//! The screen: colours where there are any, and text that fits and steers nothing.

use std::io::IsTerminal;

use super::Desk;
use hermes_cli::chat::text::{Line, cells, clean, fit, wrap};

/// Whether there are colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// No.
    Plain,
    /// Yes.
    Colours,
}

impl Paint {
    /// Text in a colour.
    pub fn colour(self, code: &str, text: &str) -> String {
        match self {
            Self::Colours if !text.is_empty() => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            _ => text.to_owned(),
        }
    }

    /// Text that matters less.
    pub fn faint(self, text: &str) -> String {
        self.colour("2", text)
    }

    /// Text that matters more.
    pub fn bold(self, text: &str) -> String {
        self.colour("1", text)
    }
}

/// What is on the other side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Screen {
    /// Colours.
    pub paint: Paint,
    /// How wide lines may be.
    pub width: usize,
    /// How many lines there are; none if it is no terminal.
    pub height: Option<usize>,
}

impl Desk<'_> {
    /// What stdout is.
    pub fn screen(&self) -> Screen {
        let out = std::io::stdout();
        if !out.is_terminal() {
            return Screen { paint: Paint::Plain, width: usize::MAX, height: None };
        }
        let said = |name: &str| self.app.var(name).is_some_and(|value| !value.is_empty());
        let plain = said("NO_COLOR") || self.app.var("TERM") == Some("dumb");
        let size = rustix::termios::tcgetwinsize(&out).ok().filter(|size| size.ws_col > 0);
        Screen {
            paint: if plain { Paint::Plain } else { Paint::Colours },
            width: size.map_or(100, |size| usize::from(size.ws_col).max(40)),
            height: Some(size.map_or(24, |size| usize::from(size.ws_row).max(5))),
        }
    }
}

/// Text of a stranger on one line of ours, cut to a width.
pub fn line(text: &str, width: usize) -> String {
    fit(&clean(&text.split_whitespace().collect::<Vec<_>>().join(" ")), width)
}

/// Text of a stranger on lines of its own.
pub fn lines(text: &str) -> String {
    text.trim_end().lines().map(clean).collect::<Vec<_>>().join("\n")
}

/// Text with blanks behind it, up to a width.
pub fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(cells(text))))
}

/// Text of a stranger on at most so many lines of a width.
pub fn fold(text: &str, width: usize, most: usize) -> Vec<String> {
    let text = clean(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    let all: Vec<String> = wrap(&Line::plain(&text), width, &Line::new()).iter().map(Line::text).collect();
    if all.len() <= most {
        return all;
    }
    let mut kept: Vec<String> = all.iter().take(most.saturating_sub(1)).cloned().collect();
    let rest = all.get(most.saturating_sub(1)..).unwrap_or_default().join(" ");
    kept.push(fit(&rest, width));
    kept
}

/// Rows in columns as wide as their widest cell, two blanks apart; wide characters count as wide.
pub fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let widest = |n: usize| {
        let cells_of = rows.iter().filter_map(|row| row.get(n)).map(|cell| cells(cell));
        cells_of.chain([header.get(n).map_or(0, |cell| cells(cell))]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(widest).collect();
    let mut text = String::new();
    let head: Vec<String> = header.iter().map(|cell| (*cell).to_owned()).collect();
    for row in std::iter::once(&head).chain(rows) {
        let padded: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| pad(cell, *width)).collect();
        text.push_str(padded.join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_keep_columns_straight() {
        assert_eq!(pad("日本", 6), "日本  ");
        assert_eq!(line("日本語のカード", 7), "日本語…");
        assert_eq!(line("a\n\u{1b}[31mb\u{7}\u{202e}c", 40), "a b\\u{202e}c");
        let text = table(&["A", "B"], &[vec!["日本".into(), "x".into()], vec!["abcd".into(), "y".into()]]);
        assert_eq!(text, "A     B\n日本  x\nabcd  y\n");
    }

    #[test]
    fn long_text_is_folded_and_cut() {
        assert_eq!(fold("one two three four", 9, 2), ["one two", "three fo…"]);
        assert_eq!(fold("one", 9, 2), ["one"]);
    }
}
