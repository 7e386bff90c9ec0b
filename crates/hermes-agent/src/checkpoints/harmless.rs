//! Whether a command is known to change no files. Knows only the plainest commands: everything else gets a snapshot,
//! which is cheap.

/// Programs that only look.
const LOOKS: &[&str] = &[
    ":",
    "[",
    "basename",
    "cat",
    "cd",
    "cmp",
    "cut",
    "date",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "egrep",
    "false",
    "fgrep",
    "file",
    "grep",
    "groups",
    "head",
    "hostname",
    "id",
    "jq",
    "ls",
    "lsof",
    "md5sum",
    "nl",
    "nproc",
    "pgrep",
    "printenv",
    "printf",
    "ps",
    "pwd",
    "readlink",
    "realpath",
    "rg",
    "seq",
    "sha1sum",
    "sha256sum",
    "sleep",
    "stat",
    "tail",
    "test",
    "tr",
    "true",
    "type",
    "uname",
    "uptime",
    "wc",
    "which",
    "whoami",
];
/// What git can be asked without changing anything.
const GIT_LOOKS: &[&str] =
    &["blame", "describe", "diff", "log", "ls-files", "rev-parse", "shortlog", "show", "status"];
/// Flags with which programs that look write files or run others.
const WRITING_FLAGS: &[&str] = &["--output", "--pre", "--hostname-bin", "--ext-diff", "--textconv"];

/// Whether a command line is known to change no files. Quotes are not understood: a bar inside of them makes a command
/// look like two, and the second is hardly ever known.
pub(super) fn is_harmless(line: &str) -> bool {
    // Redirections, substitutions, blocks and escapes can hide anything.
    if line.contains(['>', '<', '`', '$', '(', ')', '{', '}', '\\']) {
        return false;
    }
    let mut commands =
        line.split(['|', '&', ';', '\n']).map(str::trim).filter(|part| !part.is_empty()).peekable();
    commands.peek().is_some() && commands.all(only_looks)
}

fn only_looks(command: &str) -> bool {
    let mut words = command.split_whitespace();
    let program = words.next().unwrap_or_default();
    let writes = |word: &str| WRITING_FLAGS.iter().any(|flag| word.starts_with(flag));
    if words.clone().any(|word| writes(word.trim_matches(['"', '\'']))) {
        return false;
    }
    match program {
        "git" => words.next().is_some_and(|what| GIT_LOOKS.contains(&what)),
        _ => LOOKS.contains(&program),
    }
}

#[cfg(test)]
mod tests {
    use super::is_harmless;

    #[test]
    fn looking_is_harmless() {
        for line in [
            "ls -la",
            "git status",
            "git log --oneline | head -5",
            "cd src && cat a.rs",
            "grep -rn foo . | wc -l",
            "echo done; pwd",
            "rg pattern",
        ] {
            assert!(is_harmless(line), "{line}");
        }
    }

    #[test]
    fn everything_else_is_not_known_to_be() {
        for line in [
            "",
            "rm x",
            "sed -i s/a/b/ x",
            "echo a > b",
            "ls && rm x",
            "ls\nrm x",
            "cat $(rm x)",
            "cat `rm x`",
            "FOO=1 rm x",
            "git checkout .",
            "git -C x status",
            "git diff --output=x",
            "rg --pre 'rm' x",
            "sudo ls",
            "\"rm\" x",
            "env rm x",
            "find . -delete",
            "python3 x.py",
            "ls &rm x",
            "l\\s",
            "sort -o a b",
            "make",
            "git diff '--output=x'",
            "tee x",
        ] {
            assert!(!is_harmless(line), "{line}");
        }
    }
}
