//! A page of a file as the model sees it: numbered, without secrets, within bounds. Pure.

use std::borrow::Cow;
use std::fmt::Write as _;

use hermes_box::proto::file::Lines;
use hermes_guard::{Policy, Redactor};

use crate::file::endings::BOM;
use crate::file::limits::FileLimits;
use crate::orders;
use crate::text::{AROUND, written_head, written_length};

/// A page holds this many characters, however little room there is.
const LEAST: usize = 500;
/// What stands at the end of a line that was cut.
const CUT: &str = "... [truncated]";

/// What a page is made from.
pub(super) enum Source<'a> {
    /// Lines from the box; the first `skip` of them lie before line `first`.
    Lines { lines: &'a Lines, skip: usize, first: u64 },
    /// A whole text.
    Text(&'a str),
}

/// A page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) content: String,
    pub(super) total: u64,
    /// First line asked for.
    pub(super) first: u64,
    /// Lines shown.
    pub(super) shown: u64,
    /// Why there is more behind the last line shown, if there is.
    pub(super) ended: Ended,
    /// Whether something was masked.
    pub(super) masked: bool,
    /// What to say about orders in it.
    pub(super) warning: Option<String>,
}

/// Why a page ends where it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// So does the file.
    AtTheEnd,
    /// As many lines as were asked for.
    Lines,
    /// As much text as one result holds.
    Bytes,
}

impl Page {
    pub(super) fn is_whole(&self) -> bool {
        self.first == 1 && self.ended == Ended::AtTheEnd
    }

    /// The line after the last one shown.
    pub(super) fn next(&self) -> u64 {
        self.first + self.shown
    }
}

/// Makes pages.
pub(super) struct Reader<'a> {
    pub(super) redactor: &'a Redactor,
    pub(super) limits: &'a FileLimits,
    /// Characters the result may take; the settings may say less.
    pub(super) most_chars: usize,
}

impl Reader<'_> {
    pub(super) fn page(&self, source: &Source<'_>, total: u64, first: u64, limit: u64) -> Page {
        let (text, skip) = match source {
            Source::Lines { lines, skip, first } => (joined(lines, *first == *skip as u64 + 1), *skip),
            Source::Text(text) => (Cow::Borrowed(*text), usize::try_from(first - 1).unwrap_or(usize::MAX)),
        };
        // Before anything is cut: half a key is not recognised as one.
        let redacted = self.redactor.redact(&text, Policy::File);
        let masked = matches!(redacted, Cow::Owned(_)) && redacted != text;
        let wanted = redacted.lines().skip(skip).take(usize::try_from(limit).unwrap_or(usize::MAX));
        let most = self.most_chars.saturating_sub(AROUND).max(LEAST);
        let mut room = self.limits.chars.saturating_sub(AROUND).min(most);
        let (mut content, mut plain, mut shown) = (String::new(), String::new(), 0);
        for bare in wanted {
            let mut line = self.numbered(first + shown, bare);
            let length = written_length(&line) + 2;
            // A page that shows nothing would never get anywhere.
            if length > room && shown > 0 {
                break;
            }
            if length > most {
                line.truncate(written_head(&line, most - CUT.len()).len());
                line.push_str(CUT);
            }
            room = room.saturating_sub(length);
            if shown > 0 {
                content.push('\n');
            }
            content.push_str(&line);
            plain.push_str(bare);
            plain.push('\n');
            shown += 1;
        }
        let ended = if (first + shown).saturating_sub(1) >= total {
            Ended::AtTheEnd
        } else if shown == limit {
            Ended::Lines
        } else {
            Ended::Bytes
        };
        let warning = orders::warning(&plain, |line| format!("line {}", first + line as u64 - 1));
        Page { content, total, first, shown, ended, masked, warning }
    }

    fn numbered(&self, number: u64, line: &str) -> String {
        let mut text = String::with_capacity(line.len() + 8);
        let _ = write!(text, "{number}|");
        match line.char_indices().nth(self.limits.line_length) {
            Some((at, _)) => {
                text.push_str(&line[..at]);
                text.push_str(CUT);
            }
            None => text.push_str(line),
        }
        text
    }
}

/// The lines as one text with plain ends, so that what goes over several lines is recognised.
fn joined(lines: &Lines, from_the_start: bool) -> Cow<'static, str> {
    let mut text = String::with_capacity(lines.lines.iter().map(|line| line.bytes.len() + 1).sum());
    for line in &lines.lines {
        let whole = line.bytes.len() as u64 == line.length;
        let bytes = if whole { line.bytes.strip_suffix(b"\r").unwrap_or(&line.bytes) } else { &line.bytes };
        text.push_str(&String::from_utf8_lossy(bytes));
        text.push('\n');
    }
    if from_the_start && text.starts_with(BOM) {
        text.drain(..BOM.len());
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn limits(chars: usize) -> FileLimits {
        FileLimits { chars: chars + AROUND, line_length: 10, ..FileLimits::default() }
    }

    fn page(text: &str, first: u64, limit: u64, chars: usize) -> Page {
        let redactor = Redactor::new([]);
        let limits = limits(chars);
        let reader = Reader { redactor: &redactor, limits: &limits, most_chars: usize::MAX };
        reader.page(&Source::Text(text), text.lines().count() as u64, first, limit)
    }

    #[test]
    fn pages_say_why_they_end() {
        let all = page("a\nb\nc", 1, 500, 1000);
        assert_eq!(
            (all.content.as_str(), all.ended, all.is_whole()),
            ("1|a\n2|b\n3|c", Ended::AtTheEnd, true)
        );
        let some = page("a\nb\nc\n", 2, 1, 1000);
        assert_eq!((some.content.as_str(), some.ended, some.next()), ("2|b", Ended::Lines, 3));
        let full = page("aaaa\nbbbb\ncccc\n", 1, 9, 17);
        assert_eq!((full.content.as_str(), full.ended, full.next()), ("1|aaaa\n2|bbbb", Ended::Bytes, 3));
        let beyond = page("a\n", 7, 5, 1000);
        assert_eq!((beyond.content.as_str(), beyond.ended), ("", Ended::AtTheEnd));
        assert_eq!(page("", 1, 5, 1000).total, 0);
    }

    #[test]
    fn long_lines_are_cut_by_characters() {
        assert_eq!(page("ééééééééééé\n", 1, 1, 1000).content, "1|éééééééééé... [truncated]");
    }

    #[test]
    fn a_page_keeps_within_the_room_of_its_result() {
        let redactor = Redactor::new([]);
        let reader = Reader { redactor: &redactor, limits: &FileLimits::default(), most_chars: 5_000 };
        let text = "a line of \"words\"\n".repeat(1_000);
        let page = reader.page(&Source::Text(&text), 1_000, 1, 500);
        assert_eq!(page.ended, Ended::Bytes);
        assert!((3_500..=4_000).contains(&written_length(&page.content)), "{}", page.content.len());
        assert!(page.content.ends_with(&format!("\n{}|a line of \"words\"", page.next() - 1)), "whole lines");
        let long = format!("{}\nnext\n", "\"".repeat(9_000));
        let reader = Reader { most_chars: 2_000, ..reader };
        let page = reader.page(&Source::Text(&long), 2, 1, 500);
        assert!(written_length(&page.content) <= 1_000 && page.content.ends_with(CUT) && page.next() == 2);
    }

    #[test]
    fn a_key_over_several_lines_keeps_their_numbers() {
        let key =
            format!("-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----", "QUJD".repeat(16));
        let redactor = Redactor::new([]);
        let reader = Reader { redactor: &redactor, limits: &FileLimits::default(), most_chars: usize::MAX };
        let text = format!("a\n{key}\nb\n");
        let page = reader.page(&Source::Text(&text), 5, 1, 500);
        assert!(page.masked && page.content.ends_with("\n3|\n4|\n5|b"), "{}", page.content);
    }

    proptest! {
        #[test]
        fn pages_put_together_are_the_file(text in "[a-c\"\n]{0,200}", limit in 1u64..8, chars in 1usize..60) {
            let mut lines = Vec::new();
            let mut next = 1;
            loop {
                let page = page(&text, next, limit, chars);
                prop_assert!(page.shown <= limit);
                lines.extend(page.content.lines().map(str::to_owned));
                if page.ended == Ended::AtTheEnd {
                    break;
                }
                prop_assert!(page.shown > 0, "no progress");
                next = page.next();
            }
            let cut = |line: &str| if line.len() > 10 { format!("{}{CUT}", &line[..10]) } else { line.to_owned() };
            let expected: Vec<String> = text.lines().enumerate().map(|(n, line)| format!("{}|{}", n + 1, cut(line))).collect();
            prop_assert_eq!(lines, expected);
        }
    }
}
