//! Private key blocks, over as many lines as they have.

use super::chars::run_end;
use super::scan::Scan;
use crate::mask::Kind;

/// How a block opens.
pub(super) const OPEN: &str = "-----BEGIN ";
const CLOSE: &str = "-----END ";
const DASHES: &str = "-----";
/// A line of a key is longer; a word of prose is not.
const KEY_LINE: usize = 24;
/// An opened block longer than this is no key, and is not waited for.
const LONGEST: usize = 64 * 1024;

/// Looks at the opening line at `at`.
pub(super) fn at(scan: &mut Scan<'_>, at: usize) {
    if at < scan.block_end {
        return;
    }
    let Some(body) = label_end(scan.text, at, OPEN) else { return };
    // The next dashes of any kind bound the body: a later key's end must not swallow what lies between.
    let rest = &scan.text[body..];
    let dashes = rest.find(DASHES).map_or(scan.text.len(), |next| body + next);
    let end = match label_end(scan.text, dashes, CLOSE) {
        Some(end) if is_key(&scan.text[body..dashes]) => Some(end),
        Some(_) => None,
        None => cut_off(&scan.text[body..dashes]).map(|length| body + length),
    };
    if let Some(end) = end {
        scan.block_end = end;
        scan.found(at..end, Kind::PrivateKey);
    }
}

/// The end of `-----BEGIN … PRIVATE KEY …-----`, if that is what stands at `at`.
fn label_end(text: &str, at: usize, start: &str) -> Option<usize> {
    let rest = text[at..].strip_prefix(start)?;
    let length = run_end(rest.as_bytes(), 0, |byte| {
        byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' '
    });
    let label = &rest[..length];
    (label.contains("PRIVATE KEY") && rest[length..].starts_with(DASHES))
        .then_some(at + start.len() + length + DASHES.len())
}

/// Whether what lies between both lines is a key, not the code that looks for one.
fn is_key(body: &str) -> bool {
    let has_line = body.as_bytes().split(|byte| !is_base64(*byte)).any(|run| run.len() >= KEY_LINE);
    let bare = body.replace("\\n", "").replace("\\r", "");
    let bare = bare.trim();
    has_line || (bare.len() >= 6 && bare.bytes().all(|byte| is_base64(byte) || b".\r\n\t ".contains(&byte)))
}

/// A block whose end is missing, as in truncated output: how much of the body is key.
fn cut_off(body: &str) -> Option<usize> {
    let mut length = 0;
    let mut walked = 0;
    for line in body.split_inclusive('\n') {
        walked += line.len();
        let content = line.trim().trim_start_matches(|c: char| c.is_ascii_digit() && line.contains('|'));
        let content = content.trim_start_matches(['|', '>', '+', ' ', '\t']);
        // An escaped key is one line with `\n` in it, and may be followed by a closing quote.
        let key = run_end(content.as_bytes(), 0, |byte| is_base64(byte) || byte == b'\\');
        let is_header = content
            .split_once(": ")
            .is_some_and(|(name, _)| name.bytes().all(|b| b.is_ascii_alphabetic() || b == b'-'));
        if key == content.len() && key >= 6 || key >= KEY_LINE {
            let before = line.len() - line.trim_start().len() + (line.trim().len() - content.len());
            length = walked - line.len() + before + key;
        } else if !(content.is_empty() || is_header) {
            break;
        }
        if key >= KEY_LINE && key < content.len() {
            break;
        }
    }
    (length > 0).then_some(length)
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=".contains(&byte)
}

/// How much of a growing text can be redacted and passed on: whole lines, and no private key block that is still open.
/// Hold the rest back until more has come, then redact from where the last piece ended.
pub fn complete_prefix(text: &str) -> usize {
    let lines = text.rfind('\n').map_or(0, |at| at + 1);
    match text.rfind(OPEN) {
        Some(at) if is_open(&text[at..], lines.saturating_sub(at)) => lines.min(at),
        _ => lines,
    }
}

/// Whether the block that starts here may still go on after its first `length` bytes.
fn is_open(block: &str, length: usize) -> bool {
    let may_be_key = label_end(block, 0, OPEN).is_some() || !block.contains('\n');
    let end = block.find(CLOSE).and_then(|at| label_end(block, at, CLOSE));
    may_be_key && block.len() <= LONGEST && end.is_none_or(|end| end > length)
}

#[cfg(test)]
mod tests {
    use super::complete_prefix;

    #[test]
    fn only_whole_lines_and_closed_blocks_are_passed_on() {
        let block = "-----BEGIN PRIVATE KEY-----\nZmFrZQ==\n-----END PRIVATE KEY-----\n";
        assert_eq!(complete_prefix("no end of line"), 0);
        assert_eq!(complete_prefix("one\ntwo"), 4);
        assert_eq!(complete_prefix(&format!("a\n{block}b\n")), 2 + block.len() + 2);
        for cut in 11..block.len() {
            assert_eq!(complete_prefix(&format!("a\n{}", &block[..cut])), 2, "cut at {cut}");
        }
    }

    #[test]
    fn an_opening_line_in_prose_does_not_hold_text_back_for_good() {
        let text = format!("-----BEGIN PRIVATE KEY-----\n{}", "line\n".repeat(20_000));
        assert_eq!(complete_prefix(&text), text.len());
        assert_eq!(complete_prefix("-----BEGIN CERTIFICATE-----\nabc\n"), 32);
    }
}
