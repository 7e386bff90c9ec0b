//! Code that is run but cannot be read beforehand.

use super::{Rule, dangerous};
use crate::command::Context;
use crate::command::call::{Call, Mark};

pub(super) const RULES: &[Rule] = &[
    dangerous(
        "unknown-code",
        "it runs code that is only known when it runs, or that we cannot read",
        |call, _| call.marks.contains(&Mark::UnknownCode),
    ),
    dangerous("hidden-program", "it runs a program another program was told to start", starts_helper),
];

/// Flags that make programs which only look at things start others.
fn starts_helper(call: &Call, _: &Context<'_>) -> bool {
    let texts = call.texts();
    let begins =
        |starts: &[&str]| texts.iter().any(|text| starts.iter().any(|start| text.starts_with(start)));
    match call.name().as_deref() {
        Some("tar" | "bsdtar") => {
            begins(&[
                "--checkpoint-action=exec",
                "--to-command",
                "--use-compress-program",
                "--rmt-command",
                "--rsh-command",
            ]) || call.has("-I")
        }
        Some("rg") => {
            begins(&["--pre=", "--pre", "--hostname-bin"])
                && !texts.iter().all(|text| text.starts_with("--pretty") || !text.starts_with("--pre"))
        }
        Some("sort") => begins(&["--compress-program", "--compress-prog"]),
        Some("zip") => call.has_any(&["-TT", "--unzip-command"]),
        Some("man") => call.has_any(&["-P", "--pager", "-H"]) || begins(&["--pager=", "--html="]),
        Some("rsync") => {
            call.has_any(&["-e", "--rsh"])
                && texts.iter().any(|text| text.starts_with("sh ") || text.starts_with("bash "))
        }
        Some("vim" | "vi" | "nvim" | "ex" | "view" | "emacs") => texts.iter().any(|text| {
            text.contains(":!")
                || text.starts_with('!')
                || text.starts_with("+!")
                || text.contains("system(")
                || text.contains("shell-command")
        }),
        Some("git") => {
            texts.iter().any(|text| {
                [
                    "core.pager=",
                    "core.editor=",
                    "core.sshcommand=",
                    "core.fsmonitor=",
                    "core.hookspath=",
                    "diff.external=",
                    "sequence.editor=",
                ]
                .iter()
                .any(|key| text.to_lowercase().starts_with(key))
            }) || begins(&["--upload-pack=", "--receive-pack=", "--open-files-in-pager=", "ext::"])
        }
        Some("ssh") => begins(&["-oProxyCommand", "ProxyCommand", "-oLocalCommand", "LocalCommand"]),
        Some("awk" | "gawk" | "mawk" | "nawk") => texts.iter().any(|text| {
            text.contains("system(")
                || text.contains("| getline")
                || text.contains("|getline")
                || (text.contains("print") && text.contains("| \""))
        }),
        Some("sed" | "gsed") => {
            call.operands().first().and_then(|word| word.text()).is_some_and(|script| is_running_sed(&script))
        }
        Some("gdb" | "lldb") => texts
            .iter()
            .any(|text| text.contains("shell ") || text.contains("system(") || text.starts_with('!')),
        _ => call.env.iter().any(|text| {
            let (name, value) = text.split_once('=').unwrap_or_default();
            matches!(
                name,
                "PAGER"
                    | "GIT_PAGER"
                    | "EDITOR"
                    | "VISUAL"
                    | "GIT_SSH_COMMAND"
                    | "GIT_EDITOR"
                    | "BASH_ENV"
                    | "ENV"
                    | "PROMPT_COMMAND"
                    | "LESSOPEN"
            ) && value.contains([' ', ';', '|', '&', '$'])
        }),
    }
}

/// Whether a script of `sed` runs commands: `s/a/b/e`, `1e cmd`.
fn is_running_sed(script: &str) -> bool {
    let substitutes = script.starts_with("s/")
        && script
            .rsplit('/')
            .next()
            .is_some_and(|flags| flags.contains('e') && flags.chars().all(|c| c.is_ascii_alphanumeric()));
    let runs =
        script.trim_start_matches(|c: char| c.is_ascii_digit() || c == '$' || c == ',').starts_with("e ");
    substitutes && script.matches('/').count() == 3 || runs
}
