//! Content that is no content: what a read showed, given back as if it were the file.

use super::super::read::UNCHANGED;

/// Why content with masks is refused.
pub(in crate::file) const MASKED: &str = "the content holds «redacted:…», which stands for a secret that was not shown to you: writing it would \
destroy the secret. Use patch to change only the lines around it";

/// Tables whose first column is a number look like numbered lines.
const TABLES: &[&str] = &[".csv", ".psv", ".tsv", ".tbl", ".dat"];

/// Refuses what cannot be meant.
pub(super) fn check(path: &str, content: &str) -> Result<(), String> {
    if content.contains(UNCHANGED) && (content.len() <= 2 * UNCHANGED.len() || is_stub(content)) {
        return Err(
            "the content is the notice that a file has not changed, not the file's content".to_owned()
        );
    }
    if is_numbered(content) && !TABLES.iter().any(|ending| path.ends_with(ending)) {
        return Err(
            "the content carries the line numbers of read_file (\"12|…\"): give it without them".to_owned()
        );
    }
    Ok(())
}

/// Whether it is the whole answer to a read that was answered before.
fn is_stub(content: &str) -> bool {
    let answer: serde_json::Value = serde_json::from_str(content.trim()).unwrap_or_default();
    answer["dedup"] == true && answer["content_returned"] == false
}

/// Whether most lines begin with a number one higher than the line before.
fn is_numbered(content: &str) -> bool {
    let number = |line: &str| line.split_once('|')?.0.trim_start().parse::<u64>().ok();
    let numbers: Vec<Option<u64>> =
        content.lines().filter(|line| !line.trim().is_empty()).map(number).collect();
    let follows =
        numbers.windows(2).filter(|pair| matches!(pair, [Some(one), Some(next)] if *next == one + 1)).count();
    numbers.len() >= 2 && (follows + 1) * 10 >= numbers.len() * 6 && follows > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbered_lines_are_told_from_text() {
        assert!(check("a.py", "1|import os\n2|\n3|x = 1\n").is_err());
        assert!(check("a.py", "  7|a\n  8|b\nplain\n").is_err());
        assert!(check("a.csv", "1|Ann\n2|Bob\n").is_ok());
        for text in ["a | b\nc | d\n", "1|x\n", "x = 1|2\ny = 2|3\n", "", "5|a\n9|b\n1|c\n"] {
            assert!(check("a.py", text).is_ok(), "{text}");
        }
    }

    #[test]
    fn the_notice_is_not_a_content() {
        assert!(check("a", UNCHANGED).is_err());
        assert!(check("a", &format!("{UNCHANGED}{}", "x".repeat(500))).is_ok());
        let stub = serde_json::json!({
            "status": "unchanged", "dedup": true, "content_returned": false, "message": UNCHANGED,
            "path": "/a/rather/long/path/".repeat(9),
        });
        assert!(check("a", &format!("{stub}\n")).is_err());
        assert!(check("a", &serde_json::json!([stub, 1]).to_string()).is_ok(), "a record of such answers");
    }
}
