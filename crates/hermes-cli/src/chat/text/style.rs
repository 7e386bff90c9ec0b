//! How text looks: the terminal's own sixteen colours, so that every theme stays readable.

/// What of a style the terminal gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Palette {
    /// Colours, bold and the rest.
    Colors,
    /// Bold and the rest without colours (`NO_COLOR`).
    Marks,
    /// Words alone.
    Bare,
}

/// A colour of the terminal's theme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Color {
    /// Failures.
    Red,
    /// Success.
    Green,
    /// Warnings and questions.
    Yellow,
    /// Headings.
    Blue,
    /// Keywords.
    Magenta,
    /// Names and code.
    Cyan,
    /// Less important.
    Grey,
}

impl Color {
    const fn code(self) -> &'static str {
        match self {
            Self::Red => "31",
            Self::Green => "32",
            Self::Yellow => "33",
            Self::Blue => "34",
            Self::Magenta => "35",
            Self::Cyan => "36",
            Self::Grey => "90",
        }
    }
}

const BOLD: u8 = 1;
const DIM: u8 = 2;
const ITALIC: u8 = 4;
const UNDERLINE: u8 = 8;
const STRIKE: u8 = 16;
const REVERSE: u8 = 32;

/// How a piece of text looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Style {
    color: Option<Color>,
    marks: u8,
}

impl Style {
    /// The terminal's own.
    pub const PLAIN: Self = Self { color: None, marks: 0 };
    /// Less important text.
    pub const FAINT: Self = Self { color: Some(Color::Grey), marks: 0 };
    /// Important text.
    pub const STRONG: Self = Self { color: None, marks: BOLD };

    /// A colour.
    pub const fn color(color: Color) -> Self {
        Self { color: Some(color), marks: 0 }
    }

    /// The same in another colour.
    #[must_use]
    pub const fn colored(self, color: Color) -> Self {
        Self { color: Some(color), ..self }
    }

    /// The same, bold.
    #[must_use]
    pub const fn bold(self) -> Self {
        Self { marks: self.marks | BOLD, ..self }
    }

    /// The same, weaker.
    #[must_use]
    pub const fn dim(self) -> Self {
        Self { marks: self.marks | DIM, ..self }
    }

    /// The same, slanted.
    #[must_use]
    pub const fn italic(self) -> Self {
        Self { marks: self.marks | ITALIC, ..self }
    }

    /// The same, underlined.
    #[must_use]
    pub const fn underline(self) -> Self {
        Self { marks: self.marks | UNDERLINE, ..self }
    }

    /// The same, struck through.
    #[must_use]
    pub const fn strike(self) -> Self {
        Self { marks: self.marks | STRIKE, ..self }
    }

    /// The same, as a selection.
    #[must_use]
    pub const fn reverse(self) -> Self {
        Self { marks: self.marks | REVERSE, ..self }
    }

    /// The parameters of the escape sequence that switches it on; empty for the terminal's own style.
    pub(super) fn codes(self, palette: Palette) -> String {
        if palette == Palette::Bare {
            return String::new();
        }
        let named = [(BOLD, "1"), (DIM, "2"), (ITALIC, "3"), (UNDERLINE, "4"), (REVERSE, "7"), (STRIKE, "9")];
        let mut codes: Vec<&str> =
            named.iter().filter(|(mark, _)| self.marks & mark != 0).map(|(_, code)| *code).collect();
        match (palette, self.color) {
            (Palette::Colors, Some(color)) => codes.push(color.code()),
            // Without colours, less important text is weaker.
            (Palette::Marks, Some(Color::Grey)) => codes.push("2"),
            _ => {}
        }
        codes.join(";")
    }
}
