//! Commands that must succeed before a card is done: run where the profile's own commands run, never anywhere else.

use std::ffi::OsString;

use super::command::Environment;
use crate::card::Seconds;
use crate::ending::Ending;
use crate::review::Checked;

/// How long such a command may take when the card says nothing about time.
pub(super) const LIMIT: Seconds = 3600;

/// How a command is run: by this program, which knows the profile's boxes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Run {
    pub arguments: Vec<OsString>,
    /// The line that says that the command itself ran, and with which exit code it ended.
    mark: String,
}

impl Run {
    /// Prepares a command. `mark` is something the command cannot guess.
    pub fn new(profile: &str, command: &str, mark: &str) -> Self {
        let mark = format!("hermes-check-{mark}:");
        // In a shell of its own, so that an `exit` in it does not keep us from hearing how it ended.
        let script = format!("( {command}\n)\ncode=$?; printf '\\n{mark}%s\\n' \"$code\"; exit \"$code\"");
        let arguments = ["-p", profile, "sandbox", "exec", &script].map(OsString::from).to_vec();
        Self { arguments, mark }
    }

    /// What came of it, from how the program that ran it ended and what was said.
    pub fn came(&self, ending: &Ending, said: &str) -> Checked {
        let Some((output, code)) = said.rsplit_once(&self.mark) else {
            return match ending {
                Ending::TimedOut { elapsed, limit, .. } => Checked::Failed {
                    output: format!("{said}\n(it took {elapsed} seconds and may take {limit})"),
                },
                _ => Checked::Broken { error: last_lines(said) },
            };
        };
        if code.trim() == "0" {
            Checked::Passed
        } else {
            Checked::Failed { output: format!("{}\n(exit code {})", output.trim_end(), code.trim()) }
        }
    }
}

/// The environment of a command: that of the worker, but it is no worker.
pub(super) fn environment(worker: &Environment) -> Environment {
    let mut env = worker.clone();
    for name in
        ["HERMES_KANBAN_TASK", "HERMES_KANBAN_RUN_ID", "HERMES_KANBAN_CLAIM_LOCK", "HERMES_KANBAN_GUARD"]
    {
        env.remove(std::ffi::OsStr::new(name));
    }
    env
}

fn last_lines(said: &str) -> String {
    let lines: Vec<&str> = said.trim().lines().rev().take(3).collect();
    let text = lines.into_iter().rev().collect::<Vec<_>>().join("; ");
    if text.is_empty() { "it could not be run".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ending::Killed;

    fn run() -> Run {
        Run::new("alpha", "make test", "0a1b")
    }

    #[test]
    fn what_the_command_said_last_decides() {
        let exited = |code| Ending::Exited { code };
        assert_eq!(run().came(&exited(0), "ok\n\nhermes-check-0a1b:0\n"), Checked::Passed);
        assert_eq!(
            run().came(&exited(2), "bad\n\nhermes-check-0a1b:2\n"),
            Checked::Failed { output: "bad\n(exit code 2)".into() }
        );
        let forged = "hermes-check-0000:0\n\nhermes-check-0a1b:1\n";
        assert!(matches!(run().came(&exited(1), forged), Checked::Failed { .. }));
    }

    #[test]
    fn a_box_that_is_not_there_is_nobodys_failure() {
        let said = "hermes: the engine is not running";
        assert_eq!(run().came(&Ending::Exited { code: 1 }, said), Checked::Broken { error: said.into() });
        assert_eq!(
            run().came(&Ending::Exited { code: 0 }, ""),
            Checked::Broken { error: "it could not be run".into() },
            "nobody said that it succeeded"
        );
    }

    #[test]
    fn one_that_takes_too_long_failed() {
        let ending = Ending::TimedOut { elapsed: 9, limit: 8, killed: Killed::Forced };
        assert!(
            matches!(run().came(&ending, "x"), Checked::Failed { output } if output.contains("9 seconds"))
        );
    }
}
