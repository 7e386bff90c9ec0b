//! The input as rows of the screen.

use unicode_segmentation::UnicodeSegmentation;

use super::Editor;
use crate::chat::text::{cells, clean};

/// Rows no wider than the screen, and where the cursor is in them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// The rows.
    pub rows: Vec<String>,
    /// The row of the cursor.
    pub row: usize,
    /// Its column, in cells.
    pub column: usize,
}

impl Editor {
    /// Breaks the text into rows of at most `width` cells.
    pub fn view(&self, width: usize) -> View {
        let width = width.max(2);
        let mut view = View { rows: vec![String::new()], row: 0, column: 0 };
        let mut used = 0;
        let mut at = 0;
        for grapheme in self.text.graphemes(true) {
            if at == self.cursor {
                (view.row, view.column) = (view.rows.len() - 1, used);
            }
            at += grapheme.len();
            if matches!(grapheme, "\n" | "\r\n") {
                view.rows.push(String::new());
                used = 0;
                continue;
            }
            let shown = clean(grapheme);
            let size = cells(&shown);
            if used + size > width {
                view.rows.push(String::new());
                used = 0;
            }
            if let Some(row) = view.rows.last_mut() {
                row.push_str(&shown);
            }
            used += size;
        }
        if at == self.cursor {
            (view.row, view.column) = (view.rows.len() - 1, used);
        }
        // The cursor needs a cell of its own behind a full row.
        if view.column >= width {
            if view.row + 1 == view.rows.len() {
                view.rows.push(String::new());
            }
            (view.row, view.column) = (view.row + 1, 0);
        }
        view
    }
}
