//! What kind of line a line of markdown is.

use super::highlight::{self, Language};
use super::inline;
use crate::chat::text::{Color, Line, Style};

/// A line outside code and tables, ready to be wrapped.
#[derive(Debug)]
pub struct Block {
    pub line: Line,
    /// What wrapped lines begin with.
    pub hang: Line,
    /// Whether an empty line above helps.
    pub wants_room: bool,
}

/// Reads one line of text.
pub fn read(line: &str, base: Style) -> Block {
    let (indent, rest) = line.split_at(line.len() - line.trim_start().len());
    let indent = indent.replace('\t', "    ");
    heading(rest, base)
        .or_else(|| rule(rest))
        .or_else(|| quote(rest, base))
        .or_else(|| item(&indent, rest, base))
        .unwrap_or_else(|| paragraph(&indent, rest, base))
}

fn heading(rest: &str, base: Style) -> Option<Block> {
    let level = rest.bytes().take_while(|b| *b == b'#').count();
    let title = rest.get(level..)?.strip_prefix(' ')?;
    if !(1..=6).contains(&level) {
        return None;
    }
    let style = if level <= 2 { base.bold().colored(Color::Blue) } else { base.bold() };
    let mut line = Line::new();
    inline::render(title.trim().trim_end_matches('#').trim_end(), style, &mut line);
    Some(Block { line, hang: Line::new(), wants_room: true })
}

fn rule(rest: &str) -> Option<Block> {
    let marks: String = rest.chars().filter(|c| *c != ' ').collect();
    let first = marks.chars().next()?;
    let is_rule = marks.len() >= 3 && "-*_".contains(first) && marks.chars().all(|c| c == first);
    is_rule.then(|| Block {
        line: Line::styled("────────", Style::FAINT),
        hang: Line::new(),
        wants_room: false,
    })
}

fn quote(rest: &str, base: Style) -> Option<Block> {
    let quoted = rest.strip_prefix('>')?;
    let bar = Line::styled("│ ", Style::FAINT);
    let mut line = bar.clone();
    inline::render(quoted.trim_start_matches(['>', ' ']), base.italic(), &mut line);
    Some(Block { line, hang: bar, wants_room: false })
}

fn item(indent: &str, rest: &str, base: Style) -> Option<Block> {
    let (mark, text) = bullet(rest).or_else(|| number(rest))?;
    let mut line = Line::plain(indent);
    line.push(&mark, Style::color(Color::Cyan));
    let hang = Line::plain(&" ".repeat(line.width()));
    inline::render(text, base, &mut line);
    Some(Block { line, hang, wants_room: false })
}

fn bullet(rest: &str) -> Option<(String, &str)> {
    let text = ["- ", "* ", "+ "].iter().find_map(|mark| rest.strip_prefix(mark))?.trim_start();
    if let Some(open) = text.strip_prefix("[ ] ") {
        return Some(("☐ ".into(), open));
    }
    if let Some(done) = text.strip_prefix("[x] ").or_else(|| text.strip_prefix("[X] ")) {
        return Some(("☑ ".into(), done));
    }
    Some(("• ".into(), text))
}

fn number(rest: &str) -> Option<(String, &str)> {
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    if !(1..=9).contains(&digits) {
        return None;
    }
    let text = rest[digits..].strip_prefix(". ").or_else(|| rest[digits..].strip_prefix(") "))?;
    Some((format!("{}. ", &rest[..digits]), text.trim_start()))
}

fn paragraph(indent: &str, rest: &str, base: Style) -> Block {
    let mut line = Line::plain(indent);
    inline::render(rest, base, &mut line);
    Block { line, hang: Line::plain(indent), wants_room: false }
}

/// An open code fence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence {
    mark: char,
    length: usize,
    indent: usize,
    language: Language,
}

impl Fence {
    /// The fence a line opens, if it does.
    pub fn open(line: &str) -> Option<Self> {
        let rest = line.trim_start();
        let mark = rest.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let length = rest.chars().take_while(|c| *c == mark).count();
        let info = &rest[length..];
        if length < 3 || (mark == '`' && info.contains('`')) {
            return None;
        }
        let language = Language::named(info.split_whitespace().next().unwrap_or_default());
        Some(Self { mark, length, indent: line.len() - rest.len(), language })
    }

    /// Whether a line closes it.
    pub fn closes(&self, line: &str) -> bool {
        let line = line.trim();
        line.len() >= self.length && line.chars().all(|c| c == self.mark)
    }

    /// A line of the code in it.
    pub fn line(&self, line: &str) -> Line {
        // The blanks that indent the fence itself are not part of the code.
        let own = line.len() - line.trim_start_matches(' ').len();
        let code = &line[own.min(self.indent)..];
        let mut out = Line::plain("  ");
        highlight::render(code, self.language, &mut out);
        out
    }
}
