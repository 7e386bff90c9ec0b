//! Programs that another program is told to start: by an option, a variable or a setting of git.

use super::without_globals;
use crate::command::call::Call;
use crate::command::options::Options;
use crate::command::word::Word;

/// Options that name a program to start.
const OPTIONS: &[(&[&str], &[&str])] = &[
    (
        &["tar", "bsdtar"],
        &["-F", "--to-command", "--info-script", "--new-volume-script", "--rmt-command", "--rsh-command"],
    ),
    (&["split"], &["--filter"]),
    (&["sort"], &["--compress-program"]),
    (&["install"], &["--strip-program"]),
    (&["zip"], &["--unzip-command"]),
    (&["man"], &["-P", "-H", "--pager", "--html"]),
    (&["scp", "sftp"], &["-S"]),
    (&["mysql", "mariadb"], &["--pager"]),
    (&["go"], &["--toolexec", "--vettool"]),
];

/// Beginnings of arguments that do the same.
const BEGINNINGS: &[(&[&str], &[&str])] = &[
    (&["rg"], &["--pre=", "--hostname-bin"]),
    (
        &["gcc", "g++", "cc", "c++", "clang", "clang++"],
        &["-wrapper", "-fplugin=", "-B.", "-B/", "-specs=", "-fuse-ld=/", "-fuse-ld=."],
    ),
    (&["go"], &["-toolexec", "-vettool"]),
    (&["tcpdump"], &["-z"]),
    (&["bat", "batcat"], &["--pager=", "--pager"]),
    (&["npm", "pnpm", "yarn"], &["--script-shell", "--node-options"]),
    (&["ssh"], &["-I", "-oPKCS11Provider"]),
    (&["ssh-add"], &["-s"]),
    (&["ssh-keygen"], &["-D"]),
    (&["zip"], &["-TT"]),
    (&["xterm", "rxvt", "urxvt"], &["-e"]),
    (&["rsync"], &["--rsync-path"]),
    (&["ncat"], &["--lua-exec"]),
    (
        &["php"],
        &["-dauto_prepend_file", "-dauto_append_file", "auto_prepend_file=", "auto_append_file=", "-z"],
    ),
];

/// Programs for packing that `tar` is told to use.
const PACKERS: &[&str] = &[
    "gzip", "pigz", "bzip2", "pbzip2", "lbzip2", "xz", "pixz", "zstd", "pzstd", "zstdmt", "lz4", "lzip",
    "plzip", "lzop", "brotli",
];

/// Whether an option starts a program.
pub(super) fn by_option(call: &Call) -> bool {
    let Some(name) = call.name() else { return false };
    let name = name.as_str();
    let texts: Vec<String> = call.args().iter().map(Word::shown).collect();
    let options = Options::of(call);
    let of = |table: &'static [(&[&str], &'static [&str])]| {
        table
            .iter()
            .filter(|(names, _)| names.contains(&name))
            .flat_map(|(_, list)| list.iter().copied())
            .collect::<Vec<_>>()
    };
    let beginnings = of(BEGINNINGS);
    if options.has(&of(OPTIONS))
        || texts.iter().any(|text| beginnings.iter().any(|start| text.starts_with(start)))
    {
        return true;
    }
    match name {
        "tar" | "bsdtar" => {
            let packer = |word: &Word| {
                let text = word.shown();
                !text.split_whitespace().next().is_some_and(|first| PACKERS.contains(&first))
                    || text.contains([';', '|', '&', '$', '`'])
            };
            let old = texts
                .first()
                .is_some_and(|text| !text.starts_with('-') && text.len() < 8 && text.contains(['I', 'F']));
            options.values(&["--checkpoint-action"]).any(|word| word.beginning().starts_with("exec"))
                || options.values(&["-I", "--use-compress-program"]).any(packer)
                || old
        }
        "rg" => texts.iter().any(|text| text == "--pre"),
        "rsync" => options.values(&["-e", "--rsh"]).any(|word| {
            let text = word.shown();
            !(text == "ssh" || text.starts_with("ssh ")) || text.to_lowercase().contains("command")
        }),
        "ssh" | "scp" | "sftp" => texts.iter().any(|text| {
            let text = text.to_lowercase();
            let option = text.strip_prefix("-o").unwrap_or(&text).trim_start();
            ["proxycommand", "localcommand", "knownhostscommand", "pkcs11provider", "securitykeyprovider"]
                .iter()
                .any(|name| option.starts_with(name))
        }),
        "apt" | "apt-get" | "aptitude" | "apt-cache" => texts.iter().any(|text| {
            let text = text.to_lowercase();
            text.contains("invoke")
                || text.contains("::options::")
                || text.contains("dir::bin")
                || text.contains("::methods")
        }),
        "nmap" => {
            call.value_of(&["--script"]).is_some_and(|word| word.shown().contains('/') || word.has_unknown())
        }
        // What follows `--` is the program's own.
        "cargo" if call.flags().any(|flag| flag.starts_with("--config")) => {
            call.value_of(&["--config"]).is_some_and(|word| {
                let text = word.shown().to_lowercase();
                ["wrapper", "runner", "linker", "rustc", "rustdoc", "credential", "alias", ".toml"]
                    .iter()
                    .any(|key| text.contains(key))
            })
        }
        "npm" | "pnpm" => texts.iter().any(|text| text == "script-shell" || text == "node-options"),
        "openssl" => texts.first().is_some_and(|verb| verb == "engine") || call.has("-engine"),
        "pdflatex" | "latex" | "xelatex" | "lualatex" | "tex" | "latexmk" => texts.iter().any(|text| {
            text.contains("shell-escape") && !text.contains("no-shell") || text.contains("write18")
        }),
        "zip" => texts.iter().any(|text| text.starts_with("--unzip-command")),
        _ => false,
    }
}

/// Variables that name a program, or settings in which one may be named.
const VARIABLES: &[&str] = &[
    "PAGER",
    "GIT_PAGER",
    "MANPAGER",
    "BAT_PAGER",
    "AWS_PAGER",
    "GH_PAGER",
    "SYSTEMD_PAGER",
    "PSQL_PAGER",
    "DELTA_PAGER",
    "EDITOR",
    "VISUAL",
    "FCEDIT",
    "GH_EDITOR",
    "KUBE_EDITOR",
    "SUDO_EDITOR",
    "PSQL_EDITOR",
    "GIT_SSH_COMMAND",
    "GIT_SSH",
    "GIT_EXTERNAL_DIFF",
    "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR",
    "GIT_ASKPASS",
    "GIT_PROXY_COMMAND",
    "GIT_EXEC_PATH",
    "GIT_TEMPLATE_DIR",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "SSH_ASKPASS",
    "RSYNC_RSH",
    "CVS_RSH",
    "SVN_SSH",
    "BROWSER",
    "BASH_ENV",
    "LESSOPEN",
    "LESSCLOSE",
    "MAKEFILES",
    "RIPGREP_CONFIG_PATH",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "CARGO_BUILD_RUSTC_WRAPPER",
    "DOTNET_STARTUP_HOOKS",
    "OPENSSL_CONF",
    "GCONV_PATH",
    "PERL5DB",
    "PYTHONBREAKPOINT",
    "PROMPT_COMMAND",
];

/// Programs that are usual there.
const USUAL: &[&str] = &[
    "cat",
    "less",
    "more",
    "most",
    "bat",
    "delta",
    "difft",
    "true",
    "false",
    ":",
    "vim",
    "vi",
    "nvim",
    "nano",
    "emacs",
    "emacsclient",
    "code",
    "subl",
    "hx",
    "micro",
    "ssh",
    "pspg",
    "sccache",
    "ccache",
    "firefox",
    "chromium",
    "google-chrome",
    "xdg-open",
    "open",
    "echo",
    "none",
    "0",
    "1",
    "/dev/null",
];

/// Whether a variable names a program that another one is to start, and not one of the usual ones.
pub(super) fn by_variable(text: &str) -> bool {
    let (name, value) = text.split_once('=').unwrap_or_default();
    match name {
        "TAR_OPTIONS" => ["exec", "command", "program", "script"].iter().any(|word| value.contains(word)),
        "GOFLAGS" => value.contains("toolexec") || value.contains("vettool"),
        "JAVA_TOOL_OPTIONS" | "_JAVA_OPTIONS" | "JDK_JAVA_OPTIONS" => {
            value.contains("agent") || value.contains("OnError")
        }
        "PYTHONWARNINGS" => value.contains("antigravity"),
        name if name.starts_with("GIT_TRACE") => value.contains('/'),
        name if name.starts_with("GIT_CONFIG_KEY_") => true,
        name => VARIABLES.contains(&name) && !is_usual(value),
    }
}

fn is_usual(value: &str) -> bool {
    let mut words = value.split_whitespace();
    let Some(first) = words.next() else { return true };
    let first = first.strip_prefix("/usr/bin/").unwrap_or(first);
    let harmless = |word: &str| {
        !word.starts_with(['+', '!'])
            && word != "-c"
            && !word.starts_with("--cmd")
            && !word.to_lowercase().contains("command")
            && !word.contains([';', '|', '&', '$', '`', '<', '>', '(', '{', '\n'])
    };
    USUAL.contains(&first) && words.all(harmless)
}

/// Settings of git that name a program or another file with settings: first part, last part. A star stands for any.
const KEYS: &[(&str, &str)] = &[
    ("core", "pager"),
    ("core", "editor"),
    ("core", "sshcommand"),
    ("core", "fsmonitor"),
    ("core", "hookspath"),
    ("core", "askpass"),
    ("core", "gitproxy"),
    ("core", "alternaterefscommand"),
    ("sequence", "editor"),
    ("pager", "*"),
    ("diff", "external"),
    ("diff", "command"),
    ("*", "textconv"),
    ("filter", "*"),
    ("merge", "driver"),
    ("mergetool", "cmd"),
    ("mergetool", "path"),
    ("difftool", "cmd"),
    ("difftool", "path"),
    ("guitool", "cmd"),
    ("interactive", "difffilter"),
    ("include", "path"),
    ("includeif", "path"),
    ("sendemail", "smtpserver"),
    ("sendemail", "sendmailcmd"),
    ("sendemail", "tocmd"),
    ("sendemail", "cccmd"),
    ("browser", "*"),
    ("man", "*"),
    ("trailer", "command"),
    ("trailer", "cmd"),
    ("remote", "uploadpack"),
    ("remote", "receivepack"),
    ("remote", "vcs"),
    ("uploadpack", "packobjectshook"),
    ("init", "templatedir"),
    ("gpg", "program"),
    ("credential", "helper"),
    ("protocol", "allow"),
    ("imap", "tunnel"),
];

fn is_key(key: &str) -> bool {
    let key = key.to_lowercase();
    let Some((first, rest)) = key.split_once('.') else { return false };
    let last = rest.rsplit('.').next().unwrap_or(rest);
    let fits = |wanted: &str, given: &str| wanted == "*" || wanted == given;
    KEYS.iter().any(|(section, name)| fits(section, first) && fits(name, last))
}

/// Whether git is told to start something: by a setting for this call or for good, or by an option.
pub(super) fn by_git(call: &Call) -> bool {
    if !call.is(&["git"]) {
        return false;
    }
    let args: Vec<String> = call.args().iter().map(Word::shown).collect();
    let sets = |setting: &str| {
        let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
        let usual = is_usual(value)
            || matches!(
                value,
                "cache" | "store" | "osxkeychain" | "manager" | "libsecret" | "user" | "never"
            );
        is_key(key) && !usual || key.to_lowercase().starts_with("alias.") && value.starts_with('!')
    };
    let once = args.windows(2).any(|pair| pair[0] == "-c" && sets(&pair[1]))
        || args
            .iter()
            .any(|text| text.strip_prefix("-c").is_some_and(|rest| rest.contains('=') && sets(rest)))
        || args.iter().any(|text| text.starts_with("--config-env") || text.starts_with("--exec-path="))
        || args
            .iter()
            .zip(args.iter().skip(1))
            .any(|(flag, value)| matches!(flag.as_str(), "--config" | "-c") && sets(value));
    once || configures(call, &args) || by_git_option(call, &args)
}

fn by_git_option(call: &Call, args: &[String]) -> bool {
    let Some(git) = without_globals(call) else { return false };
    let verb = git.args().first().and_then(Word::text).unwrap_or_default();
    let begins = |starts: &[&str]| args.iter().any(|text| starts.iter().any(|start| text.starts_with(start)));
    let by_verb = match verb.as_str() {
        "clone" => git.has("-u") || begins(&["--upload-pack", "--template"]),
        "init" => begins(&["--template"]),
        "fetch" | "pull" | "fetch-pack" | "ls-remote" => begins(&["--upload-pack", "--exec"]),
        "push" | "send-pack" => begins(&["--receive-pack", "--exec"]),
        "archive" => begins(&["--exec"]),
        "grep" => begins(&["-O", "--open-files-in-pager"]),
        "difftool" => begins(&["-x", "--ext"]),
        "send-email" => {
            begins(&["--smtp-server=./", "--smtp-server=/", "--sendmail-cmd", "--to-cmd", "--cc-cmd"])
        }
        _ => false,
    };
    by_verb || begins(&["ext::"])
}

/// `git config core.pager x`: git starts it from then on.
fn configures(call: &Call, args: &[String]) -> bool {
    let looks = call.has_any(&[
        "--get",
        "--get-all",
        "--get-regexp",
        "--unset",
        "--unset-all",
        "get",
        "unset",
        "-l",
        "--list",
        "list",
    ]);
    if !call.has("config") || looks {
        return false;
    }
    args.iter().enumerate().any(|(at, key)| {
        let Some(value) = args.get(at + 1) else { return false };
        is_key(key) || key.to_lowercase().starts_with("alias.") && value.starts_with('!')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_programs_are_told_from_others() {
        for text in [
            "PAGER=cat",
            "PAGER=less -S",
            "EDITOR=code -w",
            "GIT_SSH_COMMAND=ssh -i ~/.ssh/key -o StrictHostKeyChecking=no",
            "RUSTC_WRAPPER=sccache",
            "GIT_CONFIG_GLOBAL=/dev/null",
            "GIT_TRACE=1",
            "OTHER=./x",
        ] {
            assert!(!by_variable(text), "{text}");
        }
        for text in [
            "PAGER=sh -c ls",
            "EDITOR=vim -c !ls",
            "GIT_SSH_COMMAND=ssh -o ProxyCommand=x",
            "GIT_EXEC_PATH=/tmp/x",
            "GIT_TRACE=/home/ada/.bashrc",
            "TAR_OPTIONS=--checkpoint-action=exec=ls",
        ] {
            assert!(by_variable(text), "{text}");
        }
        assert!(
            is_key("diff.x.command")
                && is_key("pager.log")
                && is_key("gpg.ssh.program")
                && !is_key("user.name")
        );
    }
}
