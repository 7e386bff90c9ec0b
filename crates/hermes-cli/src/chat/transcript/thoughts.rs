//! The model's thoughts: their newest lines while it thinks, their first lines after it.

use crate::chat::markdown::Markdown;
use crate::chat::options::Reasoning;
use crate::chat::text::{Line, Style};

/// Lines that stay when thoughts are shown in brief.
const KEPT: usize = 10;
/// Lines shown while it thinks.
const TAIL: usize = 4;
/// More is not kept.
const LONGEST: usize = 256 << 10;

const STYLE: Style = Style::FAINT.italic();

#[derive(Debug, Default)]
pub(super) struct Thoughts {
    text: String,
}

impl Thoughts {
    pub(super) fn push(&mut self, delta: &str) {
        if self.text.len() < LONGEST {
            self.text.push_str(delta);
        }
    }

    pub(super) fn finished(&self, reasoning: Reasoning, width: usize) -> Vec<Line> {
        if reasoning == Reasoning::Hidden {
            return Vec::new();
        }
        let mut lines = render(self.text.trim(), width);
        if reasoning == Reasoning::Brief && lines.len() > KEPT + 1 {
            let more = lines.len() - KEPT;
            lines.truncate(KEPT);
            lines.push(Line::styled(&format!("… {more} more lines of thought"), STYLE));
        }
        lines
    }

    /// The newest lines. Only the end of the text is laid out, so that long thoughts stay cheap to show.
    pub(super) fn tail(&self, width: usize) -> Vec<Line> {
        let enough = width.max(20) * TAIL * 4;
        let mut from = self.text.len().saturating_sub(enough);
        while !self.text.is_char_boundary(from) {
            from += 1;
        }
        let mut lines = render(self.text[from..].trim(), width);
        lines.split_off(lines.len().saturating_sub(TAIL))
    }
}

fn render(text: &str, width: usize) -> Vec<Line> {
    let mut markdown = Markdown::in_style(width, STYLE);
    let mut lines = markdown.push(text);
    lines.extend(markdown.finish());
    lines
}
