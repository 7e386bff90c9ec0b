//! The live area at the bottom of the screen: it is redrawn in place, only where it changed; finished lines are
//! printed above it and scroll away like any output.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::text::{Line, Palette};

/// What the live area shows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Frame {
    /// Lines no wider than the screen.
    pub lines: Vec<Line>,
    /// Where the cursor is, row and column; hidden when nothing is given.
    pub cursor: Option<(usize, usize)>,
}

/// The size of a screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Cells in a row.
    pub columns: usize,
    /// Rows.
    pub rows: usize,
}

/// Draws frames and remembers what is on the screen.
#[derive(Debug)]
pub struct Painter {
    palette: Palette,
    size: Size,
    shown: Vec<String>,
    /// Cells of each shown line, to know what becomes of it when the screen gets narrower.
    widths: Vec<usize>,
    /// The row of the cursor in the live area, and its column.
    row: usize,
    column: usize,
}

const BEGIN: &str = "\x1b[?2026h\x1b[?25l";
const END: &str = "\x1b[?2026l";
const SHOW_CURSOR: &str = "\x1b[?25h";
const CLEAR_LINE: &str = "\x1b[K";
const CLEAR_BELOW: &str = "\x1b[J";

impl Painter {
    /// A painter for an empty live area at the start of a line.
    pub fn new(palette: Palette, size: Size) -> Self {
        Self { palette, size, shown: Vec::new(), widths: Vec::new(), row: 0, column: 0 }
    }

    /// Prints finished lines and brings the live area up to date, in one write.
    pub fn draw(&mut self, printed: &[Line], frame: &Frame, out: &mut impl Write) -> io::Result<()> {
        let lines: Vec<String> = frame.lines.iter().map(|l| l.paint(self.palette)).collect();
        let mut bytes = String::from(BEGIN);
        if printed.is_empty() {
            self.redraw(&lines, &mut bytes);
        } else {
            self.go_to_row(0, &mut bytes);
            bytes.push_str(CLEAR_BELOW);
            for line in printed {
                bytes.push_str(&line.paint(self.palette));
                bytes.push_str("\r\n");
            }
            self.shown.clear();
            self.row = 0;
            self.redraw(&lines, &mut bytes);
        }
        self.shown = lines;
        self.widths = frame.lines.iter().map(Line::width).collect();
        if let Some((row, column)) = frame.cursor {
            self.go_to_row(row, &mut bytes);
            if column > 0 {
                let _ = write!(bytes, "\x1b[{column}C");
                self.column = column;
            }
            bytes.push_str(SHOW_CURSOR);
        }
        bytes.push_str(END);
        out.write_all(bytes.as_bytes())?;
        out.flush()
    }

    /// Rewrites the lines that differ; the cursor ends in the last row it touched.
    fn redraw(&mut self, lines: &[String], bytes: &mut String) {
        for (i, line) in lines.iter().enumerate() {
            if self.shown.get(i) == Some(line) {
                continue;
            }
            self.go_to_row(i, bytes);
            // Cleared first: behind a full line the cursor still stands on its last cell.
            bytes.push_str(CLEAR_LINE);
            bytes.push_str(line);
            bytes.push('\r');
        }
        if self.shown.len() > lines.len() {
            self.go_to_row(lines.len(), bytes);
            bytes.push_str(CLEAR_BELOW);
        }
    }

    /// Moves the cursor to the start of a row; rows that do not exist yet are made.
    fn go_to_row(&mut self, row: usize, bytes: &mut String) {
        let last = self.shown.len().max(self.row + 1) - 1;
        if row < self.row {
            let _ = write!(bytes, "\x1b[{}A", self.row - row);
        } else if row > self.row {
            let known = row.min(last);
            if known > self.row {
                let _ = write!(bytes, "\x1b[{}B", known - self.row);
            }
            for _ in known.max(self.row)..row {
                bytes.push_str("\r\n");
            }
        }
        bytes.push('\r');
        self.row = row;
        self.column = 0;
    }

    /// Removes the live area; the cursor is where it began.
    pub fn erase(&mut self, out: &mut impl Write) -> io::Result<()> {
        let mut bytes = String::new();
        self.go_to_row(0, &mut bytes);
        bytes.push_str(CLEAR_BELOW);
        bytes.push_str(SHOW_CURSOR);
        self.shown.clear();
        self.widths.clear();
        self.row = 0;
        out.write_all(bytes.as_bytes())?;
        out.flush()
    }

    /// Clears the screen; the live area begins at its top.
    pub fn clear_screen(&mut self, out: &mut impl Write) -> io::Result<()> {
        self.shown.clear();
        self.widths.clear();
        self.row = 0;
        out.write_all(b"\x1b[H\x1b[2J")?;
        out.flush()
    }

    /// The screen has another size. Terminals break lines that became too long, so the live area may be higher now;
    /// it is removed and drawn anew.
    pub fn resize(&mut self, size: Size, out: &mut impl Write) -> io::Result<()> {
        if size.columns < self.size.columns {
            let columns = size.columns.max(1);
            let rows = |width: &usize| width.div_ceil(columns).max(1);
            let above: usize = self.widths.iter().take(self.row).map(rows).sum();
            self.row = above + self.column / columns;
        }
        self.size = size;
        self.erase(out)
    }

    /// The size it draws for.
    pub fn size(&self) -> Size {
        self.size
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use proptest::prelude::*;

    use super::*;

    const SIZE: Size = Size { columns: 20, rows: 8 };

    fn frame(lines: &[String]) -> Frame {
        Frame {
            lines: lines.iter().map(|l| Line::plain(l)).collect(),
            cursor: Some((lines.len().max(1) - 1, 2)),
        }
    }

    fn rows(parser: &vt100::Parser) -> Vec<String> {
        parser.screen().rows(0, 20).collect()
    }

    #[test]
    fn only_what_changed_is_written() {
        let mut painter = Painter::new(Palette::Bare, SIZE);
        let mut out = Vec::new();
        painter.draw(&[], &frame(&["first".into(), "second".into()]), &mut out).unwrap();
        out.clear();
        painter.draw(&[], &frame(&["first".into(), "third".into()]), &mut out).unwrap();
        let bytes = String::from_utf8(out).unwrap();
        assert!(bytes.contains("third") && !bytes.contains("first"), "{bytes:?}");
    }

    #[test]
    fn printed_lines_scroll_away_above() {
        let mut painter = Painter::new(Palette::Bare, SIZE);
        let mut parser = vt100::Parser::new(8, 20, 100);
        for i in 0..20 {
            let mut out = Vec::new();
            let printed = [Line::plain(&format!("output {i}"))];
            painter.draw(&printed, &frame(&["live".into(), format!("> {i}")]), &mut out).unwrap();
            parser.process(&out);
        }
        let rows = rows(&parser);
        assert_eq!(&rows[4..], ["output 18", "output 19", "live", "> 19"]);
        assert_eq!(parser.screen().cursor_position(), (7, 2));
    }

    proptest! {
        /// Whatever frames follow each other, the screen ends with the last one, and nothing printed is lost.
        #[test]
        fn the_screen_shows_the_last_frame(
            steps in prop::collection::vec(
                (prop::collection::vec("[a-z]{0,10}", 0..3), prop::collection::vec("[A-Z]{0,19}", 1..6)), 1..12)
        ) {
            let mut painter = Painter::new(Palette::Bare, SIZE);
            let mut parser = vt100::Parser::new(8, 20, 1000);
            let mut all_printed = Vec::new();
            for (printed, live) in &steps {
                let mut out = Vec::new();
                let lines: Vec<Line> = printed.iter().map(|l| Line::plain(l)).collect();
                painter.draw(&lines, &frame(live), &mut out).unwrap();
                parser.process(&out);
                all_printed.extend(printed.iter().cloned());
            }
            let live = &steps.last().unwrap().1;
            let shown: Vec<String> = rows(&parser);
            let row = parser.screen().cursor_position().0 as usize;
            let top = row + 1 - live.len();
            prop_assert_eq!(&shown[top..=row], &live[..]);
            let above = top.min(all_printed.len());
            prop_assert_eq!(&shown[top - above..top], &all_printed[all_printed.len() - above..]);
            prop_assert!(shown[row + 1..].iter().all(String::is_empty), "nothing is left below");
        }
    }
}
