//! Writing a difference as `diff -u` does.

use std::fmt::Write as _;
use std::ops::Range;

use super::ends::{common_prefix, common_suffix};
use super::{Run, matching};

/// Lines shown before and after a change.
const CONTEXT: usize = 3;

/// The unified difference from `old` to `new` with three lines of context; empty if they are equal.
///
/// The names go into the `---` and `+++` lines; use `/dev/null` for a file that is not there.
pub fn unified(old_name: &str, new_name: &str, old: &str, new: &str) -> String {
    if old == new {
        return String::new();
    }
    let same = Same::of(old.as_bytes(), new.as_bytes());
    let mut text = format!("--- {}\n+++ {}\n", header_name(old_name), header_name(new_name));
    write_hunks(&mut text, old, new, &same);
    text
}

fn write_hunks(text: &mut String, old: &str, new: &str, same: &Same) {
    let before = memchr::memchr_iter(b'\n', &old.as_bytes()[..same.head]).count();
    let (old, new): (Vec<&str>, Vec<&str>) = (
        old[same.head..old.len() - same.tail].split_inclusive('\n').collect(),
        new[same.head..new.len() - same.tail].split_inclusive('\n').collect(),
    );
    for group in groups(&matching(&old, &new), old.len(), new.len()) {
        write_hunk(text, &group, &old, &new, before);
    }
}

/// How many bytes of whole lines at both ends of two texts are the same and not shown. Large texts differ in few places, and
/// looking at all of their lines takes most of the time.
struct Same {
    head: usize,
    tail: usize,
}

impl Same {
    fn of(old: &[u8], new: &[u8]) -> Self {
        let differs = common_prefix(old, new);
        let first = line_start(old, differs, 0);
        // What counts as the same above is not the same below as well.
        let tail = common_suffix(&old[first..], &new[first..]);
        let kept = line_ends(&old[old.len() - tail..], CONTEXT + 1);
        Self { head: line_start(old, differs, CONTEXT), tail: tail - kept }
    }
}

/// Where the line around `at` begins, or the one that many lines above it.
fn line_start(text: &[u8], at: usize, above: usize) -> usize {
    memchr::memrchr_iter(b'\n', &text[..at]).nth(above).map_or(0, |end| end + 1)
}

/// Where that many lines have ended; the whole length if there are fewer.
fn line_ends(text: &[u8], lines: usize) -> usize {
    memchr::memchr_iter(b'\n', text).nth(lines - 1).map_or(text.len(), |end| end + 1)
}

/// A stretch of both texts without an equal line.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Edit {
    old: Range<usize>,
    new: Range<usize>,
}

/// The changes, those with little between them together.
fn groups(runs: &[Run], old_len: usize, new_len: usize) -> Vec<Vec<Edit>> {
    let mut groups: Vec<Vec<Edit>> = Vec::new();
    let (mut i, mut j) = (0, 0);
    let end = Run { old: old_len, new: new_len, len: 0 };
    for run in runs.iter().chain([&end]) {
        let edit = Edit { old: i..run.old, new: j..run.new };
        (i, j) = (run.old + run.len, run.new + run.len);
        if edit.old.is_empty() && edit.new.is_empty() {
            continue;
        }
        match groups.last_mut() {
            Some(group) if group.last().is_some_and(|last| edit.old.start - last.old.end <= 2 * CONTEXT) => {
                group.push(edit);
            }
            _ => groups.push(vec![edit]),
        }
    }
    groups
}

/// Writes changes that belong together; `before` lines are above the given ones.
fn write_hunk(text: &mut String, group: &[Edit], old: &[&str], new: &[&str], before: usize) {
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
    let lead = first.old.start.min(CONTEXT);
    let trail = (old.len() - last.old.end).min(CONTEXT);
    let old_range = first.old.start - lead..last.old.end + trail;
    let new_range = first.new.start - lead..last.new.end + trail;
    let numbers = |lines: &Range<usize>| range(&(lines.start + before..lines.end + before));
    let _ = writeln!(text, "@@ -{} +{} @@", numbers(&old_range), numbers(&new_range));
    let mut at = old_range.start;
    for edit in group {
        old[at..edit.old.start].iter().for_each(|line| write_line(text, ' ', line));
        old[edit.old.clone()].iter().for_each(|line| write_line(text, '-', line));
        new[edit.new.clone()].iter().for_each(|line| write_line(text, '+', line));
        at = edit.old.end;
    }
    old[at..old_range.end].iter().for_each(|line| write_line(text, ' ', line));
}

fn write_line(text: &mut String, prefix: char, line: &str) {
    text.push(prefix);
    text.push_str(line);
    if !line.ends_with('\n') {
        text.push_str("\n\\ No newline at end of file\n");
    }
}

/// First line and number of lines. An empty range names the line before it, and one line needs no number.
fn range(lines: &Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        len => format!("{},{len}", lines.start + 1),
    }
}

/// A name as `diff` writes it: quoted if it has control characters, with a tab after it if it has blanks.
fn header_name(name: &str) -> String {
    if name.contains(|c: char| c.is_control() || matches!(c, '"' | '\\')) {
        let mut quoted = String::from("\"");
        for c in name.chars() {
            match c {
                '"' | '\\' => quoted.extend(['\\', c]),
                '\n' => quoted.push_str("\\n"),
                '\t' => quoted.push_str("\\t"),
                c if c.is_ascii_control() => {
                    let _ = write!(quoted, "\\{:03o}", c as u32);
                }
                c => quoted.push(c),
            }
        }
        quoted.push('"');
        return quoted;
    }
    if name.contains(' ') { format!("{name}\t") } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_the_same_at_both_ends_changes_nothing(
            head in "[ab\n]{0,60}", old in "[ab\n]{0,12}", new in "[ab\n]{0,12}", tail in "[ab\n]{0,60}",
        ) {
            let (old, new) = (format!("{head}{old}{tail}"), format!("{head}{new}{tail}"));
            let (mut cut, mut whole) = (String::new(), String::new());
            write_hunks(&mut cut, &old, &new, &Same::of(old.as_bytes(), new.as_bytes()));
            write_hunks(&mut whole, &old, &new, &Same { head: 0, tail: 0 });
            prop_assert_eq!(cut, whole);
        }
    }

    #[test]
    fn equal_texts_have_no_difference() {
        assert_eq!(unified("a", "b", "x\n", "x\n"), "");
    }

    #[test]
    fn a_change_is_shown_with_three_lines_around_it() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let new = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n";
        assert_eq!(
            unified("a/n", "b/n", old, new),
            "--- a/n\n+++ b/n\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
        );
    }

    #[test]
    fn far_changes_get_hunks_of_their_own() {
        let old = (1..=20).map(|n| format!("{n}\n")).collect::<Vec<_>>().concat();
        let new = old.replacen("1\n", "one\n", 1).replace("20\n", "twenty\n");
        let text = unified("a", "b", &old, &new);
        assert_eq!(text.matches("@@ -").count(), 2, "{text}");
    }

    #[test]
    fn new_and_removed_files_and_missing_line_ends() {
        assert_eq!(
            unified("/dev/null", "b/x", "", "a\nb"),
            "--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n"
        );
        assert_eq!(unified("a/x", "/dev/null", "a\n", ""), "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n");
        assert_eq!(
            unified("a", "b", "x", "x\n"),
            "--- a\n+++ b\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+x\n"
        );
    }

    #[test]
    fn odd_names_are_written_so_that_patch_reads_them() {
        assert_eq!(header_name("a b"), "a b\t");
        assert_eq!(header_name("a\"b\n"), "\"a\\\"b\\n\"");
    }
}
