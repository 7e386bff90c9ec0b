//! What was killed and can be yanked back.

/// Kills in a row become one; older ones stay reachable.
#[derive(Debug, Clone, Default)]
pub(super) struct KillRing {
    ring: Vec<String>,
    joins: bool,
    /// The newest yank: where it is in the text and which kill it is.
    pub(super) yanked: Option<Yanked>,
}

#[derive(Debug, Clone)]
pub(super) struct Yanked {
    pub start: usize,
    pub end: usize,
    index: usize,
}

/// Which end of the newest kill a new one is joined to.
#[derive(Debug, Clone, Copy)]
pub(super) enum End {
    Front,
    Back,
}

const KEPT: usize = 30;

impl KillRing {
    pub(super) fn push(&mut self, text: String, end: End) {
        if text.is_empty() {
            return;
        }
        match (self.joins, self.ring.last_mut(), end) {
            (true, Some(last), End::Back) => last.push_str(&text),
            (true, Some(last), End::Front) => last.insert_str(0, &text),
            _ => self.ring.push(text),
        }
        if self.ring.len() > KEPT {
            self.ring.remove(0);
        }
        self.joins = true;
    }

    /// Something else happened: the next kill is one of its own.
    pub(super) fn part(&mut self) {
        self.joins = false;
        self.yanked = None;
    }

    pub(super) fn newest(&self) -> Option<String> {
        self.ring.last().cloned()
    }

    pub(super) fn note_yank(&mut self, start: usize, end: usize) {
        self.joins = false;
        self.yanked = Some(Yanked { start, end, index: self.ring.len().saturating_sub(1) });
    }

    /// The kill before the one that was yanked, in its place.
    pub(super) fn rotate(&mut self) -> Option<(std::ops::Range<usize>, String)> {
        let yanked = self.yanked.as_mut()?;
        yanked.index = yanked.index.checked_sub(1).unwrap_or(self.ring.len() - 1);
        let text = self.ring.get(yanked.index)?.clone();
        let range = yanked.start..yanked.end;
        yanked.end = yanked.start + text.len();
        Some((range, text))
    }
}
