//! How a chat looks and behaves: settings and the terminal's abilities, decided once.

use std::path::PathBuf;

use super::slash::Commands;
use super::text::Palette;

/// Everything a chat is told at its start.
#[derive(Debug, Clone)]
pub struct ChatOptions {
    /// What Enter does while the agent works (`display.busy_input_mode`).
    pub busy_input: BusyInput,
    /// Whether the model's thoughts are shown (`display.show_reasoning`).
    pub reasoning: Reasoning,
    /// How much of what tools print is shown (`display.tool_progress`).
    pub tool_detail: ToolDetail,
    /// Whether a bell rings when a turn ends (`display.bell_on_complete`).
    pub bell: Bell,
    /// Whether the status line shows money (`display.show_cost`).
    pub cost: ShowCost,
    /// Slash commands and shortcuts.
    pub commands: Commands,
    /// Where the input history is kept; nowhere when nothing is given.
    pub history_file: Option<PathBuf>,
    /// The directory that paths are relative to.
    pub cwd: PathBuf,
    /// The user's home, for `~`.
    pub user_home: PathBuf,
    /// The user's editor (`$VISUAL`, `$EDITOR`), for Ctrl-G.
    pub editor: Option<String>,
    /// Where programs are looked for (`$PATH`), for the clipboard.
    pub program_path: String,
    /// This program and the flags it was started with, for commands that are its own; nothing where there are none.
    pub own_program: Vec<std::ffi::OsString>,
    /// Lines to greet with, as markdown.
    pub greeting: String,
    /// The first message, sent at once.
    pub first: Option<super::UserInput>,
}

impl ChatOptions {
    /// What the settings' defaults say, without history, editor or clipboard.
    pub fn plain(cwd: impl Into<PathBuf>) -> Self {
        Self {
            busy_input: BusyInput::Interrupt,
            reasoning: Reasoning::Brief,
            tool_detail: ToolDetail::Compact,
            bell: Bell::Silent,
            cost: ShowCost::WhenKnown,
            commands: Commands::default(),
            history_file: None,
            cwd: cwd.into(),
            user_home: PathBuf::new(),
            editor: None,
            program_path: String::new(),
            own_program: Vec::new(),
            greeting: String::new(),
            first: None,
        }
    }
}

/// What Enter does while the agent works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BusyInput {
    /// Interrupts it; the message is the next turn.
    Interrupt,
    /// Waits for its end.
    Queue,
    /// Reaches the model with the next result of a tool.
    Steer,
}

impl BusyInput {
    /// The mode with that name.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "interrupt" => Self::Interrupt,
            "queue" => Self::Queue,
            "steer" => Self::Steer,
            _ => return None,
        })
    }

    /// What it does, in a sentence.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Interrupt => "Enter interrupts the agent and sends your message.",
            Self::Queue => "Enter keeps your message until the turn is over.",
            Self::Steer => "Enter hands your message to the running turn.",
        }
    }
}

/// How the model's thoughts are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reasoning {
    /// Not at all.
    Hidden,
    /// Their first lines.
    Brief,
    /// All of them.
    Full,
}

/// How much of what tools print is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolDetail {
    /// A line for each call; errors in short.
    Compact,
    /// The last lines of what they printed too.
    Output,
}

/// Whether a bell rings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bell {
    /// Never.
    Silent,
    /// When a turn ends.
    Rings,
}

/// Whether money is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShowCost {
    /// As far as prices are known.
    WhenKnown,
    /// Never.
    Never,
}

/// What a terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abilities {
    /// Colours.
    pub palette: Palette,
    /// Symbols.
    pub glyphs: Glyphs,
    /// Whether the cursor can be moved.
    pub kind: TerminalKind,
}

/// Whether the cursor can be moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TerminalKind {
    /// It can: there is a live area with an editor.
    Screen,
    /// It cannot: lines in, lines out.
    Lines,
}

/// Whether something is a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// A terminal.
    Terminal,
    /// A pipe or a file.
    Other,
}

impl Abilities {
    /// Decides from the environment and what the output is.
    pub fn decide<'a>(var: impl Fn(&str) -> Option<&'a str>, output: Output) -> Self {
        let term = var("TERM").unwrap_or("dumb");
        let no_color = var("NO_COLOR").is_some_and(|v| !v.is_empty());
        let screen = output == Output::Terminal && !matches!(term, "dumb" | "");
        let palette = match (screen, no_color) {
            (false, _) => Palette::Bare,
            (true, true) => Palette::Marks,
            (true, false) => Palette::Colors,
        };
        // The console of the kernel knows few symbols.
        let glyphs = if screen && term != "linux" { Glyphs::Rich } else { Glyphs::Ascii };
        Self { palette, glyphs, kind: if screen { TerminalKind::Screen } else { TerminalKind::Lines } }
    }
}

/// Which symbols are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Glyphs {
    /// Those of Unicode.
    Rich,
    /// Those every terminal has.
    Ascii,
}

const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const PLAIN_SPINNER: [&str; 4] = ["-", "\\", "|", "/"];

impl Glyphs {
    fn pick(self, rich: &'static str, ascii: &'static str) -> &'static str {
        match self {
            Self::Rich => rich,
            Self::Ascii => ascii,
        }
    }

    /// Before what the user writes.
    pub fn prompt(self) -> &'static str {
        self.pick("❯", ">")
    }

    /// Before what went well.
    pub fn ok(self) -> &'static str {
        self.pick("✓", "+")
    }

    /// Before what failed.
    pub fn failed(self) -> &'static str {
        self.pick("✗", "x")
    }

    /// Before what was cancelled.
    pub fn cancelled(self) -> &'static str {
        self.pick("⊘", "o")
    }

    /// Beside output of a tool.
    pub fn bar(self) -> &'static str {
        self.pick("│", "|")
    }

    /// Between facts.
    pub fn dot(self) -> &'static str {
        self.pick("·", "-")
    }

    /// Before something that waits its turn.
    pub fn queued(self) -> &'static str {
        self.pick("↳", ">")
    }

    /// A filled and an empty cell of a bar.
    pub fn cells(self) -> (&'static str, &'static str) {
        match self {
            Self::Rich => ("█", "░"),
            Self::Ascii => ("#", "."),
        }
    }

    /// Background prompts and processes.
    pub fn background(self) -> (&'static str, &'static str) {
        match self {
            Self::Rich => ("▶", "⚙"),
            Self::Ascii => ("bg ", "jobs "),
        }
    }

    /// The picture of a spinner after so many milliseconds.
    pub fn spinner(self, milliseconds: u128) -> &'static str {
        let pictures: &[&str] = match self {
            Self::Rich => &SPINNER,
            Self::Ascii => &PLAIN_SPINNER,
        };
        pictures[(milliseconds / 100) as usize % pictures.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decide(vars: &[(&str, &'static str)], output: Output) -> Abilities {
        Abilities::decide(|name| vars.iter().find(|(n, _)| *n == name).map(|(_, v)| *v), output)
    }

    #[test]
    fn the_terminal_decides() {
        let xterm = decide(&[("TERM", "xterm-256color")], Output::Terminal);
        assert_eq!(
            (xterm.palette, xterm.glyphs, xterm.kind),
            (Palette::Colors, Glyphs::Rich, TerminalKind::Screen)
        );
        assert_eq!(decide(&[("TERM", "xterm"), ("NO_COLOR", "1")], Output::Terminal).palette, Palette::Marks);
        assert_eq!(decide(&[("TERM", "xterm"), ("NO_COLOR", "")], Output::Terminal).palette, Palette::Colors);
        assert_eq!(decide(&[("TERM", "linux")], Output::Terminal).glyphs, Glyphs::Ascii);
        for lines in
            [decide(&[("TERM", "dumb")], Output::Terminal), decide(&[("TERM", "xterm")], Output::Other)]
        {
            assert_eq!((lines.kind, lines.palette), (TerminalKind::Lines, Palette::Bare));
        }
    }
}
