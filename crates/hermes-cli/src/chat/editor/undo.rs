//! Undo: the text before each change; letters typed in a row are one change.

#[derive(Debug, Clone, Default)]
pub(super) struct Undo {
    past: Vec<(String, usize)>,
    future: Vec<(String, usize)>,
    last: Option<Change>,
}

/// What kind of change comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Letter,
    Blank,
    Deletion,
    Other,
}

impl Change {
    pub(super) fn of_insert(text: &str) -> Self {
        let mut chars = text.chars();
        match (chars.next(), chars.next()) {
            (Some(c), None) if c.is_whitespace() => Self::Blank,
            (Some(_), None) => Self::Letter,
            _ => Self::Other,
        }
    }
}

const KEPT: usize = 200;

impl Undo {
    pub(super) fn remember(&mut self, change: Change, text: &str, cursor: usize) {
        let goes_on = self.last == Some(change) && change != Change::Other
            || (self.last == Some(Change::Blank) && change == Change::Letter);
        self.last = Some(change);
        self.future.clear();
        if goes_on {
            return;
        }
        if self.past.len() == KEPT {
            self.past.remove(0);
        }
        self.past.push((text.to_owned(), cursor));
    }

    /// The next change does not belong to the last one.
    pub(super) fn pause(&mut self) {
        self.last = None;
    }

    pub(super) fn back(&mut self, text: &str, cursor: usize) -> Option<(String, usize)> {
        let before = self.past.pop()?;
        self.future.push((text.to_owned(), cursor));
        self.last = None;
        Some(before)
    }

    pub(super) fn forward(&mut self, text: &str, cursor: usize) -> Option<(String, usize)> {
        let after = self.future.pop()?;
        self.past.push((text.to_owned(), cursor));
        self.last = None;
        Some(after)
    }
}
