//! Text typed into a running program: a shell runs it, a database obeys it, most others only read it.

use super::call::Call;
use super::rules::{Harm, Severity, loses_data};
use super::{Context, Finding, Judgement, Trouble, judge, judge_script, look};

/// What reads the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reader {
    /// A shell, here or elsewhere: every line is a command.
    Shell,
    /// Python, line by line.
    Python,
    /// A client of a database.
    Database,
    /// Something that only reads an answer.
    Other,
}

/// Decides about text for a program that runs. `command` is how that one was started.
pub fn judge_input(command: &str, text: &str, sight: &Context<'_>) -> Judgement {
    // Keys that end or interrupt a program are no commands.
    let typed: String =
        text.chars().filter(|c| !matches!(c, '\u{3}' | '\u{4}' | '\u{1a}' | '\u{1c}')).collect();
    let reader = reader(command, sight);
    if reader == Reader::Shell && typed.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) {
        return ask(
            text,
            "control-keys",
            "it edits the line with control keys, so what is run does not stand in it",
        );
    }
    let typed = typed.replace('\r', "\n");
    match reader {
        Reader::Shell => judge(&typed, sight),
        Reader::Python => judge_script(&typed, sight),
        Reader::Database if loses_data(&typed) => {
            ask(text, "database-loss", "it deletes tables, rows or a whole database")
        }
        Reader::Database => Judgement::Allowed,
        Reader::Other => match judge(&typed, sight) {
            // An answer need not be a command, and a name in it need not be a program.
            Judgement::Ask { mut findings } => {
                findings.retain(|finding| !matches!(finding.rule.as_str(), "unreadable" | "unknown-program"));
                if findings.is_empty() { Judgement::Allowed } else { Judgement::Ask { findings } }
            }
            decided => decided,
        },
    }
}

fn reader(command: &str, sight: &Context<'_>) -> Reader {
    const SHELLS: &[&str] = &[
        "bash",
        "sh",
        "dash",
        "zsh",
        "ksh",
        "fish",
        "ash",
        "ssh",
        "su",
        "sudo",
        "tmux",
        "screen",
        "script",
        "docker",
        "podman",
        "kubectl",
        "nc",
        "ncat",
        "socat",
        "chroot",
        "nsenter",
        "pwsh",
        "powershell",
        "expect",
        "mosh",
        "telnet",
        "at",
    ];
    let look = look(command, sight);
    let is = |names: &[&str]| look.calls.iter().any(|call: &Call| call.is(names));
    let python = look
        .calls
        .iter()
        .any(|call| call.name().is_some_and(|name| name.starts_with("python") || name == "ipython"));
    if is(SHELLS)
        || look.troubles.iter().any(|trouble| !matches!(trouble, Trouble::Reaches { .. }))
        || look.calls.iter().any(|call| call.name().is_none() && !call.words.is_empty())
    {
        Reader::Shell
    } else if python {
        Reader::Python
    } else if is(&["psql", "mysql", "mariadb", "sqlite3", "mongosh", "redis-cli", "duckdb"]) {
        Reader::Database
    } else {
        Reader::Other
    }
}

fn ask(text: &str, rule: &str, reason: &str) -> Judgement {
    let finding = Finding {
        rule: rule.to_owned(),
        severity: Severity::Dangerous,
        reason: reason.to_owned(),
        part: text.trim().to_owned(),
        prefix: None,
        harm: Harm::Here,
    };
    Judgement::Ask { findings: vec![finding] }
}
