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
    if call.env.iter().any(|text| names_helper(text))
        || call.is(&["export", "declare"]) && texts.iter().any(|text| names_helper(text))
    {
        return true;
    }
    let given = || texts.iter().map(String::as_str).chain(call.input.text.as_deref());
    match call.name().as_deref() {
        Some("hash") => call.has("-p"),
        Some("enable") => call.has("-f"),
        Some("sqlite3") => given().any(|text| text.contains(".system") || text.contains(".shell")),
        Some("psql" | "mysql" | "mariadb") => {
            given().any(|text| text.contains("\\!") || text.to_lowercase().contains(" program '"))
        }
        Some("ed" | "less" | "more") => {
            given().any(|text| text.starts_with('!') || text.contains("\n!") || text.starts_with("+!"))
        }
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
        Some("rsync") => call.value_of(&["-e", "--rsh"]).is_some_and(|word| {
            let text = word.shown();
            !(text == "ssh" || text.starts_with("ssh ")) || text.to_lowercase().contains("command")
        }),
        Some("dc") => given().any(|text| text.contains('!')),
        Some("m4") => given().any(|text| text.contains("syscmd") || text.contains("esyscmd")),
        Some("rpm" | "rpmbuild" | "rpmspec") => given().any(|text| text.contains("%(")),
        Some("gnuplot") => {
            given().any(|text| text.contains("system") || text.contains('`') || text.contains('!'))
        }
        Some("vim" | "vi" | "nvim" | "ex" | "view") if call.has_any(&["-S", "-s", "-u"]) => true,
        Some("vim" | "vi" | "nvim" | "ex" | "view" | "emacs") => texts.iter().any(|text| {
            text.contains(":!")
                || ["w ", "w! ", ":w ", ":w! ", "write ", "saveas ", "sav "]
                    .iter()
                    .any(|verb| text.starts_with(verb))
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
            }) || configures_helper(call)
                || call.has("difftool") && (call.has("-x") || begins(&["-x", "--extcmd"]))
                || begins(&["--upload-pack=", "--receive-pack=", "--open-files-in-pager=", "ext::"])
        }
        Some("ssh" | "scp" | "sftp") => texts.iter().any(|text| {
            let text = text.to_lowercase();
            let option = text.strip_prefix("-o").unwrap_or(&text).trim_start();
            ["proxycommand", "localcommand", "knownhostscommand"].iter().any(|name| option.starts_with(name))
        }),
        Some("gawk") if call.has_any(&["-l", "--load", "-E"]) => true,
        Some("awk" | "gawk" | "mawk" | "nawk") => texts.iter().any(|text| {
            text.contains("system(")
                || text.contains("@load")
                || text.contains("| getline")
                || text.contains("|getline")
                || (text.contains("print") && text.contains("| \""))
        }),
        Some("sed" | "gsed") => {
            texts.iter().any(|text| is_running_sed(text.strip_prefix("--expression=").unwrap_or(text)))
        }
        Some("gdb" | "lldb") => texts
            .iter()
            .any(|text| text.contains("shell ") || text.contains("system(") || text.starts_with('!')),
        _ => false,
    }
}

/// Whether a variable names a program that another one is to start, and not one of the usual ones.
fn names_helper(text: &str) -> bool {
    const NAMES: &[&str] = &[
        "PAGER",
        "GIT_PAGER",
        "MANPAGER",
        "EDITOR",
        "VISUAL",
        "GIT_SSH_COMMAND",
        "GIT_SSH",
        "GIT_EXTERNAL_DIFF",
        "GIT_EDITOR",
        "GIT_SEQUENCE_EDITOR",
        "GIT_ASKPASS",
        "SSH_ASKPASS",
        "BASH_ENV",
        "LESSOPEN",
        "LESSCLOSE",
    ];
    const USUAL: &[&str] = &[
        "",
        "cat",
        "less",
        "more",
        "most",
        "bat",
        "delta",
        "true",
        ":",
        "vim",
        "vi",
        "nvim",
        "nano",
        "emacs",
        "code",
        "ssh",
        "less -R",
        "less -FRX",
        "code --wait",
    ];
    let (name, value) = text.split_once('=').unwrap_or_default();
    NAMES.contains(&name) && !USUAL.contains(&value)
}

/// `git config core.pager x`: git starts it from then on.
fn configures_helper(call: &Call) -> bool {
    const KEYS: &[&str] = &[
        "core.pager",
        "core.editor",
        "core.sshcommand",
        "core.fsmonitor",
        "core.hookspath",
        "core.askpass",
        "diff.external",
        "sequence.editor",
        "gpg.program",
        "credential.helper",
    ];
    let texts = call.texts();
    let at = texts.iter().position(|text| {
        let key = text.to_lowercase();
        KEYS.contains(&key.as_str())
            || matches!(key.rsplit('.').next(), Some("textconv" | "smudge" | "clean")) && key.contains('.')
    });
    texts.iter().any(|text| text == "config")
        && at.is_some_and(|at| call.args().len() > at + 1)
        && !call.has_any(&["--get", "--unset", "get", "unset"])
}

/// The commands of a script of `sed`, without the lines they are for.
fn sed_commands(script: &str) -> impl Iterator<Item = &str> {
    script.split([';', '\n', '{', '}']).map(|part| {
        part.trim().trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '$' | ',' | ' ' | '!'))
    })
}

/// What follows the second part of `s/a/b/flags`.
fn sed_flags(command: &str) -> Option<&str> {
    let rest = command.strip_prefix('s')?;
    let mark = rest.chars().next().filter(|c| !c.is_alphanumeric() && !c.is_whitespace())?;
    rest[mark.len_utf8()..].splitn(3, mark).nth(2)
}

/// The file a script of `sed` writes: `w x`, `s/a/b/w x`.
pub(super) fn sed_writes(script: &str) -> Option<String> {
    sed_commands(script).find_map(|command| {
        let flags = sed_flags(command).unwrap_or(command);
        let flags = flags.trim_start_matches(|c: char| c == 'g' || c == 'p' || c.is_ascii_digit());
        flags.strip_prefix("w ").map(|file| file.trim().to_owned())
    })
}

/// Whether a script of `sed` runs commands: `s/a/b/e`, `1e cmd`.
fn is_running_sed(script: &str) -> bool {
    sed_commands(script).any(|command| {
        let by_flag = sed_flags(command)
            .is_some_and(|flags| flags.contains('e') && flags.chars().all(|c| c.is_ascii_alphanumeric()));
        by_flag || command == "e" || command.starts_with("e ")
    })
}
