//! Exit codes that do not mean failure, or mean one thing only.

use crate::line::{program, segments};

/// What a code of this command line means, where it is known and not obvious. The last program of the line decides.
pub(super) fn meaning(command: &str, code: i32) -> Option<&'static str> {
    let last = segments(command).pop()?;
    Some(match (program(last)?, code) {
        ("grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack", 1) => "nothing matched; not a failure",
        ("diff" | "colordiff" | "cmp", 1) => "the files differ; not a failure",
        ("find", 1) => "some places could not be read; the rest was searched",
        ("test" | "[" | "[[", 1) => "the condition is false; not a failure",
        ("git", 1) if is_git_question(last) => "git answered no, or found differences; not a failure",
        ("curl", 6) => "the host name was not found",
        ("curl", 7) => "the connection was refused",
        ("curl", 22) => "the server answered with an error",
        ("curl", 28) => "the request timed out",
        _ => return None,
    })
}

/// Whether code 1 is one of this git command's answers. For the others (merge, commit, push) it is a failure.
fn is_git_question(segment: &str) -> bool {
    const QUESTIONS: [&str; 7] =
        ["diff", "grep", "diff-index", "diff-files", "check-ignore", "merge-base", "show-ref"];
    segment
        .split_whitespace()
        .skip(1)
        .find(|word| !word.starts_with('-'))
        .is_some_and(|w| QUESTIONS.contains(&w))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_program_decides() {
        assert!(meaning("cat x | grep -q y", 1).is_some());
        assert!(meaning("grep x y && make", 1).is_none());
        assert!(meaning("grep 'a | b' file", 1).is_some());
        assert!(meaning("LC_ALL=C /usr/bin/grep x y", 1).is_some());
        assert!(meaning("git diff --quiet", 1).is_some());
        assert!(meaning("git commit -m x", 1).is_none());
        assert!(meaning("grep x y", 2).is_none());
        assert!(meaning("", 1).is_none());
    }
}
