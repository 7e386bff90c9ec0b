//! Finished lines, with an empty line where one kind of thing follows another.

use crate::chat::text::Line;

/// What lines are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    User,
    Answer,
    Thought,
    Tool,
    Notice,
}

#[derive(Debug, Default)]
pub(super) struct Printer {
    lines: Vec<Line>,
    last: Option<Kind>,
    ends_blank: Blank,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Blank {
    #[default]
    Yes,
    No,
}

impl Printer {
    pub(super) fn print(&mut self, kind: Kind, lines: Vec<Line>) {
        let Some(last) = lines.last() else { return };
        let ends_blank = if last.is_empty() { Blank::Yes } else { Blank::No };
        if self.wants_gap(kind) {
            self.lines.push(Line::new());
        }
        self.last = Some(kind);
        self.ends_blank = ends_blank;
        self.lines.extend(lines);
    }

    /// Whether an empty line belongs before something of that kind.
    pub(super) fn wants_gap(&self, kind: Kind) -> bool {
        self.last.is_some_and(|last| last != kind || kind == Kind::User) && self.ends_blank == Blank::No
    }

    pub(super) fn take(&mut self) -> Vec<Line> {
        std::mem::take(&mut self.lines)
    }
}
