//! A command's output by lines.

use std::collections::VecDeque;

use hermes_box::client::{CallError, Client};
use hermes_box::proto::job::JobInfo;
use hermes_guard::Redactor;

use crate::line::policy;
use crate::text::{Cleaning, Kept, Shortened};

/// How much is asked for at a time.
const PIECE: u32 = 256 * 1024;

/// Lines of an output.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Lines {
    pub(super) text: String,
    /// Lines shown.
    pub(super) shown: usize,
    /// Lines there are.
    pub(super) total: usize,
    /// Bytes that are no longer kept.
    pub(super) missing: u64,
}

/// Which lines to take: the last, or those after the first `skip`.
struct Window {
    skip: usize,
    most: usize,
    lines: VecDeque<String>,
    total: usize,
    unfinished: String,
}

impl Window {
    fn push(&mut self, text: &str) {
        let mut rest = text;
        while let Some(end) = rest.find('\n') {
            self.unfinished.push_str(&rest[..end]);
            let line = std::mem::take(&mut self.unfinished);
            self.line(line);
            rest = &rest[end + 1..];
        }
        self.unfinished.push_str(rest);
    }

    fn line(&mut self, line: String) {
        self.total += 1;
        let last_ones = self.skip == 0;
        if last_ones || (self.total > self.skip && self.lines.len() < self.most) {
            self.lines.push_back(line);
        }
        if last_ones && self.lines.len() > self.most {
            self.lines.pop_front();
        }
    }

    fn finish(mut self, bound: usize, missing: u64) -> Lines {
        if !self.unfinished.is_empty() {
            let line = std::mem::take(&mut self.unfinished);
            self.line(line);
        }
        let mut kept = Kept::new(bound);
        for (number, line) in self.lines.iter().enumerate() {
            if number > 0 {
                kept.push("\n");
            }
            kept.push(line);
        }
        let text = match kept.finish() {
            Shortened::Whole(text) => text,
            Shortened::Cut { beginning, end, omitted, .. } => {
                format!("{beginning}\n[{omitted} bytes left out: ask for fewer lines]\n{end}")
            }
        };
        Lines { text, shown: self.lines.len(), total: self.total, missing }
    }
}

/// Reads lines of a command's output; `skip` 0 means the last ones.
pub(super) fn read(
    client: &Client,
    info: &JobInfo,
    (skip, most): (usize, usize),
    bound: usize,
    redactor: &Redactor,
) -> Result<Lines, CallError> {
    let command = String::from_utf8_lossy(&info.command);
    let mut cleaning = Cleaning::new(redactor, policy(&command));
    let mut window = Window { skip, most, lines: VecDeque::new(), total: 0, unfinished: String::new() };
    let (mut offset, mut missing) = (0, 0);
    loop {
        let piece = client.jobs().read(&info.id, offset, PIECE)?;
        missing += piece.offset.saturating_sub(offset);
        window.push(&cleaning.push(&piece.bytes));
        if piece.bytes.is_empty() || piece.next >= piece.end {
            break;
        }
        offset = piece.next;
    }
    window.push(&cleaning.finish());
    Ok(window.finish(bound, missing))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, skip: usize, most: usize) -> Lines {
        let mut window = Window { skip, most, lines: VecDeque::new(), total: 0, unfinished: String::new() };
        for piece in text.as_bytes().chunks(3) {
            window.push(std::str::from_utf8(piece).unwrap());
        }
        window.finish(1000, 0)
    }

    #[test]
    fn the_last_lines_or_those_after_some() {
        let text = "one\ntwo\n\nfour\nfive";
        let last = lines(text, 0, 2);
        assert_eq!((last.text.as_str(), last.shown, last.total), ("four\nfive", 2, 5));
        assert_eq!(lines(text, 1, 2).text, "two\n");
        assert_eq!(lines(text, 9, 2), Lines { text: String::new(), shown: 0, total: 5, missing: 0 });
        assert_eq!(lines("", 0, 5).total, 0);
    }
}
