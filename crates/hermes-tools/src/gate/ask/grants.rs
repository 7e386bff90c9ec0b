//! What a person agreed to for the rest of a conversation.

use std::collections::HashSet;

use crate::line;

/// One agreement.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Grant {
    /// This very command line.
    Line(String),
    /// Every plain command of this program.
    Program(String),
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Grants(HashSet<Grant>);

impl Grants {
    pub(super) fn add(&mut self, grant: Grant) {
        self.0.insert(grant);
    }

    pub(super) fn covers(&self, command: &str) -> bool {
        let by_program = || {
            let program = program_to_grant(command)?;
            Some(self.0.contains(&Grant::Program(program.to_owned())))
        };
        self.0.contains(&Grant::Line(command.to_owned())) || by_program().unwrap_or(false)
    }
}

/// Programs that run what they are given: agreeing to one of them would be agreeing to everything.
const RUN_ANYTHING: [&str; 34] = [
    "bash", "sh", "dash", "zsh", "fish", "ksh", "sudo", "doas", "su", "env", "exec", "eval", "source", ".",
    "nohup", "setsid", "timeout", "time", "nice", "xargs", "find", "parallel", "watch", "ssh", "docker",
    "podman", "python", "python3", "perl", "ruby", "node", "php", "awk", "command",
];

/// The program a plain command line runs, if agreeing to it as such means something.
pub(super) fn program_to_grant(command: &str) -> Option<&str> {
    let first = command.split_whitespace().next()?;
    let is_name = first.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+'));
    (line::is_plain(command) && is_name && !RUN_ANYTHING.contains(&first)).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::program_to_grant;

    #[test]
    fn only_plain_programs_can_be_granted() {
        assert_eq!(program_to_grant("cargo test -p x"), Some("cargo"));
        for line in
            ["", "A=1 make", "./run", "sudo ls", "bash -c x", "make; ls", "echo $X", "git log | cat", "~/x"]
        {
            assert_eq!(program_to_grant(line), None, "{line}");
        }
    }
}
