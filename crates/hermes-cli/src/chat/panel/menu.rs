//! The menu under the input: what could stand at the cursor.

use std::ops::Range;

use crate::chat::completer::{Candidate, Completion};
use crate::chat::text::{Color, Line, Style, cells, cut};

/// Rows of the menu that are shown at once.
const ROWS: usize = 7;

/// Candidates and the one that is selected, if any.
#[derive(Debug)]
pub struct Menu {
    completion: Completion,
    selected: Option<usize>,
}

impl Menu {
    /// A menu with nothing selected.
    pub fn new(completion: Completion) -> Self {
        Self { completion, selected: None }
    }

    /// The stretch of the text a candidate replaces.
    pub fn range(&self) -> Range<usize> {
        self.completion.range.clone()
    }

    /// What there is to choose from.
    pub fn candidates(&self) -> &[Candidate] {
        &self.completion.candidates
    }

    /// The selected one.
    pub fn selected(&self) -> Option<&Candidate> {
        self.selected.and_then(|s| self.completion.candidates.get(s))
    }

    /// Selects the next one, or the first.
    pub fn down(&mut self) {
        let count = self.completion.candidates.len();
        self.selected = Some(self.selected.map_or(0, |s| (s + 1) % count.max(1)));
    }

    /// Selects the one before, or the last.
    pub fn up(&mut self) {
        let count = self.completion.candidates.len().max(1);
        self.selected = Some(self.selected.map_or(count - 1, |s| (s + count - 1) % count));
    }

    /// The rows.
    pub fn render(&self, width: usize) -> Vec<Line> {
        let all = &self.completion.candidates;
        let first = self.selected.unwrap_or(0).saturating_sub(ROWS / 2).min(all.len().saturating_sub(ROWS));
        let label_width = all.iter().map(|c| cells(&c.text)).max().unwrap_or(0).min(30);
        let mut lines = Vec::new();
        for (i, candidate) in all.iter().enumerate().skip(first).take(ROWS) {
            let chosen = self.selected == Some(i);
            let style = if chosen { Style::STRONG.reverse() } else { Style::color(Color::Cyan) };
            let mut line = Line::plain("  ").with(&candidate.text, style);
            if !candidate.detail.is_empty() {
                let pad = (label_width + 2).saturating_sub(cells(&candidate.text)).max(2);
                line.push(&" ".repeat(pad), Style::PLAIN);
                line.push(&candidate.detail, Style::FAINT);
            }
            lines.push(cut(&line, width));
        }
        if all.len() > ROWS {
            let hint = format!("  {} more, Tab and arrows", all.len() - ROWS);
            lines.push(cut(&Line::styled(&hint, Style::FAINT), width));
        }
        lines
    }
}
