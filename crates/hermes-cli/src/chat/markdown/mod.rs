//! Markdown as it streams in: finished lines are given out once and never change; the rest is a tail that is shown
//! until it is finished.

mod block;
mod highlight;
mod inline;
mod table;

use self::block::Fence;
use super::text::{Line, Style, wrap};

/// Prose is easier to read in lines of this many cells at the most.
const PROSE_WIDTH: usize = 100;

/// A renderer for one answer.
#[derive(Debug, Clone)]
pub struct Markdown {
    width: usize,
    base: Style,
    partial: String,
    state: State,
    blank: Blank,
}

/// Where in a document the next line falls.
#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    Text,
    Code(Fence),
    Table(Vec<String>),
}

/// What stands above the next line: it decides whether an empty line is worth showing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Blank {
    Start,
    Above,
    No,
}

impl Markdown {
    /// A renderer for a screen of that width.
    pub fn new(width: usize) -> Self {
        Self::in_style(width, Style::PLAIN)
    }

    /// The same with a style under everything.
    pub fn in_style(width: usize, base: Style) -> Self {
        Self { width, base, partial: String::new(), state: State::Text, blank: Blank::Start }
    }

    /// Renders a whole text.
    pub fn render(text: &str, width: usize) -> Vec<Line> {
        let mut markdown = Self::new(width);
        let mut lines = markdown.push(text);
        lines.extend(markdown.finish());
        lines
    }

    /// The screen has another width now.
    pub fn resize(&mut self, width: usize) {
        self.width = width;
    }

    /// Takes the next piece and gives the lines that are finished by it.
    pub fn push(&mut self, delta: &str) -> Vec<Line> {
        let mut lines = Vec::new();
        for piece in delta.split_inclusive('\n') {
            self.partial.push_str(piece);
            if piece.ends_with('\n') {
                let line = std::mem::take(&mut self.partial);
                self.line(line.trim_end_matches(['\n', '\r']), &mut lines);
            }
        }
        lines
    }

    /// What is there of the unfinished lines.
    pub fn tail(&self) -> Vec<Line> {
        if self.partial.is_empty() && !matches!(self.state, State::Table(_)) {
            return Vec::new();
        }
        self.clone().finish()
    }

    /// The answer is complete: gives the rest.
    pub fn finish(&mut self) -> Vec<Line> {
        let mut lines = Vec::new();
        let rest = std::mem::take(&mut self.partial);
        if !rest.is_empty() {
            self.line(&rest, &mut lines);
        }
        self.end_table(&mut lines);
        self.state = State::Text;
        lines
    }

    fn line(&mut self, line: &str, out: &mut Vec<Line>) {
        match &mut self.state {
            State::Code(fence) if fence.closes(line) => self.state = State::Text,
            State::Code(fence) => {
                let code = fence.line(line);
                out.extend(wrap(&code, self.width, &Line::plain("  ")));
                self.blank = Blank::No;
            }
            State::Table(rows) if table::is_row(line) => rows.push(line.to_owned()),
            State::Table(_) => {
                self.end_table(out);
                self.text_line(line, out);
            }
            State::Text => self.text_line(line, out),
        }
    }

    fn text_line(&mut self, line: &str, out: &mut Vec<Line>) {
        if line.trim().is_empty() {
            if self.blank == Blank::No {
                out.push(Line::new());
                self.blank = Blank::Above;
            }
            return;
        }
        if let Some(fence) = Fence::open(line) {
            self.state = State::Code(fence);
            return;
        }
        if table::is_row(line) {
            self.state = State::Table(vec![line.to_owned()]);
            return;
        }
        let block = block::read(line, self.base);
        if block.wants_room && self.blank == Blank::No {
            out.push(Line::new());
        }
        out.extend(wrap(&block.line, self.width.min(PROSE_WIDTH), &block.hang));
        self.blank = Blank::No;
    }

    fn end_table(&mut self, out: &mut Vec<Line>) {
        if let State::Table(rows) = std::mem::replace(&mut self.state, State::Text) {
            out.extend(table::render(&rows, self.width, self.base));
            self.blank = Blank::No;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(lines: &[Line]) -> Vec<String> {
        lines.iter().map(Line::text).collect()
    }

    const SAMPLE: &str = "\
# Title\n\nSome *soft* and **loud** words, `code` and a [link](https://example.org).\n\n\n\
- one\n- two that is long enough to be wrapped somewhere\n  1. inner\n\n\
> quoted\n\n| name | size |\n|---|--:|\n| a | 1 |\n| longer | 200 |\n\n\
```rust\nfn main() {\n    let x = \"y\"; // why\n}\n```\n---\ndone";

    #[test]
    fn a_document() {
        let lines = Markdown::render(SAMPLE, 40);
        insta::assert_snapshot!(texts(&lines).join("\n"));
    }

    #[test]
    fn finished_lines_come_once_and_the_tail_shows_the_rest() {
        let mut markdown = Markdown::new(80);
        assert_eq!(texts(&markdown.push("Hel")), Vec::<String>::new());
        assert_eq!(texts(&markdown.tail()), ["Hel"]);
        assert_eq!(texts(&markdown.push("lo\nwor")), ["Hello"]);
        assert_eq!(texts(&markdown.tail()), ["wor"]);
        assert_eq!(texts(&markdown.finish()), ["wor"]);
        assert_eq!(texts(&markdown.tail()), Vec::<String>::new());
    }

    #[test]
    fn a_table_waits_for_its_last_row() {
        let mut markdown = Markdown::new(80);
        assert!(markdown.push("| a | b |\n|---|---|\n| 1 | 2 |\n").is_empty());
        assert_eq!(markdown.tail().len(), 3);
        assert_eq!(markdown.push("after\n").len(), 4);
    }

    #[test]
    fn a_fence_that_never_closes_is_still_shown() {
        assert_eq!(texts(&Markdown::render("```\ncode *as it is*", 80)), ["  code *as it is*"]);
    }

    proptest! {
        /// However the text is cut into pieces, the screen is the same.
        #[test]
        fn pieces_do_not_matter(
            words in prop::collection::vec("(\\*\\*|`|_|\\||```|# |- |> |\n|\\[a\\]\\(b\\)|[a-zé日 ]{1,6}){1,4}", 1..20),
            width in 4usize..60
        ) {
            let whole = Markdown::render(&words.concat(), width);
            let mut markdown = Markdown::new(width);
            let mut pieces = Vec::new();
            for word in &words {
                pieces.extend(markdown.push(word));
                let _ = markdown.tail();
            }
            pieces.extend(markdown.finish());
            prop_assert_eq!(&pieces, &whole);
            for line in &whole {
                prop_assert!(line.width() <= width.max(2), "{:?}", line.text());
            }
        }
    }
}
