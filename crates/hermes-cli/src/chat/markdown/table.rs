//! Tables: columns side by side while they fit, one value a line when they do not.

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
    let total = widths.iter().sum::<usize>() + 2 * columns.saturating_sub(1);
    if total <= width {
        side_by_side(&table, &widths, &aligned, has_header)
    } else {
        one_by_one(&table, width, has_header)
    }
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
        let mut line = Line::new();
        for (c, width) in widths.iter().enumerate() {
            let empty = Line::new();
            let cell = row.get(c).unwrap_or(&empty);
            let pad = " ".repeat(width - cell.width());
            let last = c + 1 == widths.len();
            match aligned.get(c) {
                Some(Align::Right) => {
                    line.push(&pad, Style::PLAIN);
                    line.append(cell.clone());
                }
                _ => {
                    line.append(cell.clone());
                    if !last {
                        line.push(&pad, Style::PLAIN);
                    }
                }
            }
            if !last {
                line.push("  ", Style::PLAIN);
            }
        }
        out.push(line);
        if i == 0 && has_header {
            let bars: Vec<String> = widths.iter().map(|w| "─".repeat(*w)).collect();
            out.push(Line::styled(&bars.join("  "), Style::FAINT));
        }
    }
    out
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
    fn a_narrow_screen_gets_one_value_a_line() {
        assert_eq!(
            shown(&["| name | what |", "|---|---|", "| a | something long |", "| b | c |"], 12),
            ["name: a", "what:", "  something", "  long", "", "name: b", "what: c"]
        );
    }

    #[test]
    fn rows_may_be_uneven_and_headless() {
        assert_eq!(shown(&["| a | b | c |", "| d |"], 40), ["a  b  c", "d      "]);
        assert_eq!(shown(&["||"], 40), [""]);
    }
}
