//! Passwords that stand on a command line without a name: `curl -u user:password`, `sshpass -p password`.

use std::ops::Range;

use super::chars::run_end;
use super::scan::Scan;
use super::value::{is_empty_talk, is_number, is_reference};
use crate::mask::Kind;

/// How much of a command line is looked at.
const LONGEST_LINE: usize = 512;

/// Looks at the arguments of `curl` behind `from`.
pub(super) fn curl(scan: &mut Scan<'_>, from: usize) {
    if from < scan.command_end {
        return;
    }
    let words = words(scan.text, from);
    scan.command_end = words.last().map_or(from, |word| word.end);
    for (place, word) in words.iter().enumerate() {
        let text = &scan.text[word.clone()];
        let user = match text {
            "-u" | "--user" | "-U" | "--proxy-user" => words.get(place + 1).cloned(),
            _ if text.starts_with("--user=") => Some(word.start + "--user=".len()..word.end),
            // Longer words that start alike are other options in one, as in `-useful`.
            _ if text.starts_with("-u") && !text.starts_with("-use") => Some(word.start + 2..word.end),
            _ => None,
        };
        let Some(user) = user.map(|user| unquoted(scan.text, user)) else { continue };
        let Some(colon) = scan.text[user.clone()].find(':') else { continue };
        password(scan, user.start + colon + 1..user.end);
    }
}

/// Looks at the word behind `sshpass -p`.
pub(super) fn sshpass(scan: &mut Scan<'_>, from: usize) {
    if let Some(word) = words(scan.text, from).into_iter().next() {
        let word = unquoted(scan.text, word);
        password(scan, word);
    }
}

fn password(scan: &mut Scan<'_>, range: Range<usize>) {
    let value = &scan.text[range.clone()];
    // Two numbers are a user and a group.
    if !is_empty_talk(value) && !is_reference(value) && !is_number(value) {
        scan.found(range, Kind::Password);
    }
}

/// The words of the rest of a command, quotes included. Not a shell's idea of words, but enough to find one.
fn words(text: &str, from: usize) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let limit = text.floor_char_boundary((from + LONGEST_LINE).min(bytes.len()));
    let bytes = &bytes[..limit];
    let mut words = Vec::new();
    let mut at = from;
    loop {
        at = run_end(bytes, at, |byte| b" \t".contains(&byte));
        let end = match bytes.get(at) {
            None | Some(b'\n' | b'\r' | b'|' | b';' | b'&') => return words,
            Some(quote @ (b'"' | b'\'')) => {
                let close = run_end(bytes, at + 1, |byte| byte != *quote && byte != b'\n');
                (close + 1).min(limit)
            }
            Some(_) => run_end(bytes, at, |byte| !byte.is_ascii_whitespace() && !b"\"'`".contains(&byte)),
        };
        // A lone backquote ends nothing and starts nothing.
        let end = end.max(at + 1);
        if !text.is_char_boundary(end) {
            return words;
        }
        words.push(at..end);
        at = end;
    }
}

fn unquoted(text: &str, word: Range<usize>) -> Range<usize> {
    let inner = text[word.clone()].trim_matches(['"', '\'']);
    let start = word.start + (text[word.clone()].len() - text[word].trim_start_matches(['"', '\'']).len());
    start..start + inner.len()
}
