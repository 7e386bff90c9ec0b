//! Tables: columns side by side, long cells wrapped; one value a line when the screen is too narrow for that.

use super::inline;
use crate::chat::text::{Line, Style, wrap};

/// Whether a line is a row of a table.
pub fn is_row(line: &str) -> bool {
    let line = line.trim();
    line.len() > 1 && line.starts_with('|')
}

/// Lays out the rows, the first of which is the header when a separator follows it.
pub fn render(rows: &[String], width: usize, base: Style) -> Vec<Line> {
    let has_header = rows.get(1).is_some_and(|row| is_separator(row));
    let aligned: Vec<Align> = rows
        .get(1)
        .filter(|_| has_header)
        .map(|row| cells(row).iter().map(|c| Align::of(c)).collect())
        .unwrap_or_default();
    let body = rows.iter().enumerate().filter(|(i, _)| !(has_header && *i == 1));
    let table: Vec<Vec<Line>> = body
        .map(|(i, row)| {
            let style = if i == 0 && has_header { base.bold() } else { base };
            cells(row).iter().map(|cell| cell_line(cell, style)).collect()
        })
        .collect();
    let columns = table.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|c| table.iter().filter_map(|row| row.get(c)).map(Line::width).max().unwrap_or(0))
        .collect();
    match shrunk(widths, width) {
        Some(widths) => side_by_side(&table, &widths, &aligned, has_header),
        None => one_by_one(&table, width, has_header),
    }
}

/// A column is not made narrower than this.
const NARROWEST: usize = 14;

/// Widths that fit the screen, taken from the widest columns; nothing when that would leave too little.
fn shrunk(mut widths: Vec<usize>, width: usize) -> Option<Vec<usize>> {
    let gaps = 2 * widths.len().saturating_sub(1);
    let mut over = (widths.iter().sum::<usize>() + gaps).saturating_sub(width);
    while over > 0 {
        let widest = widths.iter_mut().max().filter(|w| **w > NARROWEST)?;
        *widest -= 1;
        over -= 1;
    }
    Some(widths)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Align {
    Left,
    Right,
}

impl Align {
    fn of(cell: &str) -> Self {
        if cell.ends_with(':') && !cell.starts_with(':') { Self::Right } else { Self::Left }
    }
}

fn is_separator(row: &str) -> bool {
    let cells = cells(row);
    !cells.is_empty() && cells.iter().all(|c| c.contains('-') && c.chars().all(|c| matches!(c, '-' | ':')))
}

/// The cells of a row; `\|` and bars in code do not part cells.
fn cells(row: &str) -> Vec<String> {
    let row = row.trim();
    let row = row.strip_prefix('|').unwrap_or(row);
    let mut cells = vec![String::new()];
    let mut in_code = false;
    let mut chars = row.chars().peekable();
    while let Some(c) = chars.next() {
        let cell = cells.last_mut();
        match (c, cell) {
            ('\\', Some(cell)) if chars.peek() == Some(&'|') => {
                chars.next();
                cell.push('|');
            }
            ('|', _) if !in_code => cells.push(String::new()),
            (c, Some(cell)) => {
                in_code ^= c == '`';
                cell.push(c);
            }
            (_, None) => {}
        }
    }
    if cells.len() > 1 && cells.last().is_some_and(|c| c.trim().is_empty()) {
        cells.pop();
    }
    cells.into_iter().map(|c| c.trim().to_owned()).collect()
}

fn cell_line(cell: &str, style: Style) -> Line {
    let mut line = Line::new();
    inline::render(&cell.replace("<br>", " "), style, &mut line);
    line
}

fn side_by_side(table: &[Vec<Line>], widths: &[usize], aligned: &[Align], has_header: bool) -> Vec<Line> {
    let mut out = Vec::new();
    for (i, row) in table.iter().enumerate() {
        let cells: Vec<Vec<Line>> =
            row.iter().zip(widths).map(|(cell, width)| wrap(cell, *width, &Line::new())).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(1);
        out.extend((0..height).map(|k| row_line(&cells, k, widths, aligned)));
        if i == 0 && has_header {
            let bars: Vec<String> = widths.iter().map(|w| "─".repeat(*w)).collect();
            out.push(Line::styled(&bars.join("  "), Style::FAINT));
        }
    }
    out
}

/// One screen line of a row.
fn row_line(cells: &[Vec<Line>], k: usize, widths: &[usize], aligned: &[Align]) -> Line {
    let mut line = Line::new();
    // Blanks are added when something follows them, so that none end the line.
    let mut owed = 0;
    for (c, width) in widths.iter().enumerate() {
        let cell = cells.get(c).and_then(|lines| lines.get(k)).cloned().unwrap_or_default();
        let rest = width.saturating_sub(cell.width());
        let (before, after) = match aligned.get(c) {
            Some(Align::Right) => (rest, 0),
            _ => (0, rest),
        };
        owed += before;
        if !cell.is_empty() {
            line.push(&" ".repeat(owed), Style::PLAIN);
            owed = 0;
        }
        line.append(cell);
        owed += after + 2;
    }
    line
}

/// `name: value` lines, an empty line between rows: readable on any screen.
fn one_by_one(table: &[Vec<Line>], width: usize, has_header: bool) -> Vec<Line> {
    let (names, rows) = if has_header { table.split_at(1.min(table.len())) } else { (&[][..], table) };
    let mut out = Vec::new();
    for (i, row) in rows.iter().enumerate() {
        if i > 0 {
            out.push(Line::new());
        }
        for (c, cell) in row.iter().enumerate() {
            let mut line = names.first().and_then(|n| n.get(c)).cloned().unwrap_or_default();
            if !line.is_empty() {
                line.push(": ", Style::FAINT);
            }
            line.append(cell.clone());
            out.extend(wrap(&line, width, &Line::plain("  ")));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(rows: &[&str], width: usize) -> Vec<String> {
        let rows: Vec<String> = rows.iter().map(|r| (*r).to_owned()).collect();
        render(&rows, width, Style::PLAIN).iter().map(Line::text).collect()
    }

    #[test]
    fn columns_line_up_with_wide_characters() {
        assert_eq!(
            shown(&["| name | n |", "|---|--:|", "| 日本 | 5 |", "| `a|b` | 12 |"], 40),
            ["name   n", "────  ──", "日本   5", "a|b   12"]
        );
    }

    #[test]
    fn long_cells_are_wrapped_in_their_column() {
        assert_eq!(
            shown(&["| /save | writes the conversation to a file | x |"], 30),
            ["/save  writes the            x", "       conversation to a", "       file"]
        );
    }

    #[test]
    fn a_narrow_screen_gets_one_value_a_line() {
        assert_eq!(
            shown(&["| name | what |", "|---|---|", "| a | something long |", "| b | c |"], 12),
            ["name: a", "what:", "  something", "  long", "", "name: b", "what: c"]
        );
    }

    #[test]
    fn rows_may_be_uneven_and_headless() {
        assert_eq!(shown(&["| a | b | c |", "| d |"], 40), ["a  b  c", "d"]);
        assert_eq!(shown(&["||"], 40), [""]);
    }
}
