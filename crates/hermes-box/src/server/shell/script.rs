//! The text a shell is started with: the session's functions and aliases, a trap that saves its state, the command.
//!
//! Variables and directory need no text, they are given to the process. The state is saved by builtins alone into a file that
//! the shim keeps open (`/proc/$PPID/fd/…`): nothing is forked, no descriptor is left open for the command, and the trap runs
//! on `exit 3` as well as at the end. Metadata never mixes with the output.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::dump::option_command;
use super::quote::quote;
use super::state::ShellState;
use crate::shim::wire::{COMMAND_FD, SCRIPT_FD, STATE_FD};

/// An argument may have 128 KiB; longer texts are passed as files.
const MAX_ARGUMENT: usize = 120 * 1024;

/// Saves the state from bash. Backslashes keep aliases out, `builtin` keeps functions out; a DEBUG trap of the command's must not
/// write into the file.
const SAVE_BASH: &str = r#"{ \builtin printf "%s\0" "$?" "${PWD-}" "$-" "${SHELLOPTS-}" "${BASHOPTS-}"; \builtin trap - DEBUG; \builtin umask; \builtin printf "\0"; \builtin export -p; \builtin printf "\0"; \builtin unset -f trap; \builtin declare -f; \builtin printf "\0"; \builtin alias -p; \builtin printf "\0END\0"; } 1<>/proc/$PPID/fd/STATE 2>/dev/null"#;
/// Saves the state from any other shell.
const SAVE_SH: &str = r#"{ printf "%s\0" "$?" "${PWD-}" "$-" "" ""; umask; printf "\0"; export -p; printf "\0\0\0END\0"; } 1<>/proc/$PPID/fd/STATE 2>/dev/null"#;

/// Notes the exit code for the command's own exit trap.
const BEFORE_USERS_TRAP: &str = "__hermes_status=$?; ";
/// Runs the command's own exit trap after the state was saved, with the exit code it expects in `$?`.
const USERS_TRAP: &str = r#"; (\builtin exit "$__hermes_status"); \builtin eval "${__hermes_exit-}""#;

/// Stands in for `trap` when a command sets a trap on exit, which would replace ours: that one action is noted and
/// run after ours, everything else goes to the builtin. Subshells have traps of their own.
const TRAP_GUARD: &str = r#"trap() {
  if [ "$BASHPID" != "$$" ] || [ "$#" -eq 0 ]; then \builtin trap "$@"; return; fi
  case "$1" in -[lp]*) \builtin trap "$@"; return;; --) \builtin shift;; esac
  \builtin local __hermes_action="$1" __hermes_signal __hermes_rest
  __hermes_rest=()
  if [ "$#" -gt 1 ]; then \builtin shift; else __hermes_action=-; fi
  for __hermes_signal in "$@"; do
    case "$__hermes_signal" in
      EXIT|exit|SIGEXIT|0) if [ "$__hermes_action" = - ]; then __hermes_exit=; else __hermes_exit="$__hermes_action"; fi;;
      *) __hermes_rest+=("$__hermes_signal");;
    esac
  done
  if [ "${#__hermes_rest[@]}" -gt 0 ]; then \builtin trap -- "$__hermes_action" "${__hermes_rest[@]}"; fi
}
"#;

/// Which shell a script is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Bash,
    Plain,
}

/// A shell with its arguments, and the files the arguments refer to by the shim's descriptor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Script {
    pub(crate) argv: Vec<OsString>,
    pub(crate) files: Vec<(i32, Vec<u8>)>,
}

/// Whether the state is saved at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Saving {
    On,
    Off,
}

/// A script that runs a command in a session.
pub(crate) fn command(
    shell: &Path,
    dialect: Dialect,
    state: &ShellState,
    saving: Saving,
    command: &[u8],
) -> Script {
    let prelude = prelude(dialect, state);
    let mut setup = Vec::new();
    if dialect == Dialect::Bash {
        // Only now, so that aliases did not change the functions above.
        setup.extend_from_slice(b"shopt -s expand_aliases\n");
    }
    if saving == Saving::On {
        let guarded = dialect == Dialect::Bash && mentions_exit_trap(command);
        if guarded {
            setup.extend_from_slice(TRAP_GUARD.as_bytes());
        }
        setup.extend_from_slice(&trap_line(dialect, guarded));
    }
    let inline = [eval(&prelude, " 2>/dev/null\n"), setup.clone(), eval(command, "")].concat();
    if inline.len() <= MAX_ARGUMENT {
        return Script { argv: shell_argv(shell, dialect, inline), files: Vec::new() };
    }
    let mut text = Vec::new();
    if !prelude.is_empty() {
        text.extend_from_slice(format!(". /proc/$PPID/fd/{SCRIPT_FD} 2>/dev/null\n").as_bytes());
    }
    text.extend_from_slice(&setup);
    text.extend_from_slice(format!(". /proc/$PPID/fd/{COMMAND_FD}").as_bytes());
    let files = vec![(SCRIPT_FD, prelude), (COMMAND_FD, command.to_vec())];
    Script { argv: shell_argv(shell, dialect, text), files }
}

/// A script that prepares a session: login files, then `files`, then the state is saved.
pub(crate) fn login(shell: &Path, dialect: Dialect, files: &[PathBuf]) -> Script {
    let mut text = trap_line(dialect, false);
    let plain = [PathBuf::from("/etc/profile")];
    let sourced: Vec<&PathBuf> = match dialect {
        Dialect::Bash => files.iter().collect(),
        Dialect::Plain => plain.iter().chain(files).collect(),
    };
    for file in sourced {
        let file = quote(file.as_os_str().as_bytes());
        text.extend_from_slice(&[b"[ -r ", file.as_slice(), b" ] && . ", &file, b"\n"].concat());
    }
    text.extend_from_slice(b"set +eu\n:");
    let mut argv: Vec<OsString> = vec![shell.into()];
    if dialect == Dialect::Bash {
        argv.push("-l".into());
    }
    argv.extend(["-c".into(), OsString::from_vec(text)]);
    Script { argv, files: Vec::new() }
}

fn shell_argv(shell: &Path, dialect: Dialect, text: Vec<u8>) -> Vec<OsString> {
    let mut argv: Vec<OsString> = vec![shell.into()];
    if dialect == Dialect::Bash {
        // Bash may take itself for a remote shell and read ~/.bashrc.
        argv.push("--norc".into());
    }
    argv.extend(["-c".into(), OsString::from_vec(text)]);
    // What the shell calls itself in its messages.
    argv.push(match dialect {
        Dialect::Bash => "bash".into(),
        Dialect::Plain => "sh".into(),
    });
    argv
}

fn trap_line(dialect: Dialect, guarded: bool) -> Vec<u8> {
    let (trap, save) = match dialect {
        Dialect::Bash => ("\\builtin trap", SAVE_BASH),
        Dialect::Plain => ("trap", SAVE_SH),
    };
    let save = save.replace("STATE", &STATE_FD.to_string());
    let (before, after) = if guarded { (BEFORE_USERS_TRAP, USERS_TRAP) } else { ("", "") };
    format!("{trap} '{before}{save}{after}' EXIT\n").into_bytes()
}

/// `eval`, so that a text that does not parse spoils only itself, and aliases are known when the command is read.
fn eval(text: &[u8], after: &str) -> Vec<u8> {
    if text.is_empty() {
        return Vec::new();
    }
    [b"eval ".as_slice(), &quote(text), after.as_bytes()].concat()
}

/// Brings back what the process cannot inherit. Options first, as functions may need them to be read; aliases last, as they must not
/// change functions.
fn prelude(dialect: Dialect, state: &ShellState) -> Vec<u8> {
    let mut text = Vec::new();
    if let Some(umask) = state.umask {
        text.extend_from_slice(format!("umask {umask:04o}\n").as_bytes());
    }
    if dialect == Dialect::Plain {
        return text;
    }
    for command in state.options.iter().filter_map(|name| option_command(name)) {
        text.extend_from_slice(command.as_bytes());
    }
    text.extend_from_slice(&state.functions);
    text.extend_from_slice(&state.special);
    text.extend_from_slice(&state.aliases);
    text
}

/// Whether a command may set a trap on exit. Too often is harmless.
fn mentions_exit_trap(command: &[u8]) -> bool {
    let mentions = |word: &[u8]| command.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word));
    mentions(b"trap") && (mentions(b"exit") || mentions(b" 0"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn text(script: &Script) -> String {
        script
            .argv
            .iter()
            .map(|argument| argument.to_string_lossy().into_owned())
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn a_short_command_is_one_argument() {
        let state = ShellState::new(Path::new("/"));
        let script = command(Path::new("/bin/bash"), Dialect::Bash, &state, Saving::On, b"echo 'hi'");
        assert!(script.files.is_empty());
        assert!(text(&script).ends_with(r"eval 'echo '\''hi'\''' bash"), "{}", text(&script));
    }

    #[test]
    fn a_long_command_is_a_file() {
        let state = ShellState { functions: vec![b'#'; 200_000], ..ShellState::new(Path::new("/")) };
        let script = command(Path::new("/bin/bash"), Dialect::Bash, &state, Saving::On, b"true");
        assert_eq!(script.files.len(), 2);
        assert!(script.argv.iter().all(|argument| argument.len() < MAX_ARGUMENT));
    }

    #[test]
    fn the_guard_is_there_only_when_needed() {
        assert!(mentions_exit_trap(b"trap 'rm x' EXIT"));
        assert!(mentions_exit_trap(b"trap cleanup 0"));
        assert!(!mentions_exit_trap(b"exit 3"));
        assert!(!mentions_exit_trap(b"echo trap"));
    }
}
