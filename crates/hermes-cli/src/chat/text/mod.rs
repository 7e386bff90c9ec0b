//! Styled text: what a line of the screen is before it becomes bytes.

mod clean;
mod layout;
mod style;

pub use clean::clean;
pub use layout::{cells, cut, fit, wrap};
pub use style::{Color, Palette, Style};

/// A piece of a line in one style.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The words, free of control characters.
    pub text: String,
    /// How they look.
    pub style: Style,
}

/// One line of styled text. Nothing in it can steer the terminal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Line {
    spans: Vec<Span>,
}

impl Line {
    /// An empty line.
    pub fn new() -> Self {
        Self::default()
    }

    /// A line in the terminal's own style.
    pub fn plain(text: &str) -> Self {
        Self::styled(text, Style::PLAIN)
    }

    /// A line in one style.
    pub fn styled(text: &str, style: Style) -> Self {
        let mut line = Self::new();
        line.push(text, style);
        line
    }

    /// Adds a piece; control characters are taken out.
    pub fn push(&mut self, text: &str, style: Style) {
        let text = clean(text);
        if text.is_empty() {
            return;
        }
        match self.spans.last_mut() {
            Some(last) if last.style == style => last.text.push_str(&text),
            _ => self.spans.push(Span { text, style }),
        }
    }

    /// The same with a piece added.
    #[must_use]
    pub fn with(mut self, text: &str, style: Style) -> Self {
        self.push(text, style);
        self
    }

    /// Adds all of another line.
    pub fn append(&mut self, other: Self) {
        for span in other.spans {
            self.push(&span.text, span.style);
        }
    }

    /// Its pieces.
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// How many cells it takes.
    pub fn width(&self) -> usize {
        self.spans.iter().map(|s| cells(&s.text)).sum()
    }

    /// The words alone.
    pub fn text(&self) -> String {
        self.spans.iter().map(|s| s.text.as_str()).collect()
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// The bytes for the terminal; ends in the terminal's own style.
    pub fn paint(&self, palette: Palette) -> String {
        let mut out = String::new();
        for span in &self.spans {
            let codes = span.style.codes(palette);
            if codes.is_empty() {
                out.push_str(&span.text);
            } else {
                out.push_str("\x1b[");
                out.push_str(&codes);
                out.push('m');
                out.push_str(&span.text);
                out.push_str("\x1b[0m");
            }
        }
        out
    }
}
