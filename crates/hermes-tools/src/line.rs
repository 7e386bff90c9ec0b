//! A rough look at command lines: which programs they name. Enough for hints and for how much is masked, not for
//! deciding what is dangerous.

use hermes_guard::Policy;

/// The parts of a command line between operators; quoted operators do not count.
pub(crate) fn segments(line: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut quote, mut escaped) = (0, None, false);
    for (at, c) in line.char_indices() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (None | Some('"'), '\\') => escaped = true,
            (Some(open), c) if open == c => quote = None,
            (None, '\'' | '"' | '`') => quote = Some(c),
            (None, '|' | '&' | ';' | '\n' | '(' | ')' | '{' | '}') => {
                parts.push(&line[start..at]);
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&line[start..]);
    parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect()
}

/// The program a part runs: its first word that is no assignment, without its directory.
pub(crate) fn program(segment: &str) -> Option<&str> {
    let word = segment.split_whitespace().find(|word| !is_assignment(word))?;
    Some(word.rsplit('/').next().unwrap_or(word))
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// How much of the output of a command is taken for a secret: everything with a telling name where variables are listed,
/// otherwise only what is recognisable by itself.
pub(crate) fn policy(command: &str) -> Policy {
    let lists = |segment: &&str| {
        let words = || segment.split_whitespace().skip_while(|word| is_assignment(word)).skip(1);
        match program(segment) {
            Some("printenv" | "declare" | "typeset") => true,
            Some("env" | "set" | "export") => words().all(|word| word.starts_with('-')),
            // Files that are nothing but variables.
            Some(_) => segment.split_whitespace().any(|word| {
                let name = word.rsplit('/').next().unwrap_or(word);
                name == ".env"
                    || name.starts_with(".env.")
                    || (word.starts_with("/proc/") && name == "environ")
            }),
            None => false,
        }
    };
    if segments(command).iter().any(lists) { Policy::EnvDump } else { Policy::Code }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_split_and_quotes_do_not() {
        assert_eq!(segments("a 'x | y' && b; (c) \\; d | e"), ["a 'x | y'", "b", "c", "\\; d", "e"]);
        assert_eq!(segments(" ;; "), Vec::<&str>::new());
        assert_eq!(segments("a \"b"), ["a \"b"]);
    }

    #[test]
    fn listings_of_variables_are_known() {
        for command in
            ["env", "A=1 printenv X", "cd x && export -p", "env | sort", "cat .env", "cat a/.env.local"]
        {
            assert_eq!(policy(command), Policy::EnvDump, "{command}");
        }
        for command in ["env A=1 make", "export A=1", "set -- a", "echo env", "cat env.rs", "grep set x"] {
            assert_eq!(policy(command), Policy::Code, "{command}");
        }
    }
}
