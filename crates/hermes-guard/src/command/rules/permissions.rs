//! Who may do what: modes, owners, users.

use super::{Rule, dangerous, hardline};
use crate::command::call::Call;
use crate::command::options::Options;
use crate::command::path::{Kept, Last, is_precious_tree, kept};
use crate::command::word::Word;
use crate::command::{Context, Sudo};

pub(super) const RULES: &[Rule] = &[
    hardline("sudo-password", "it gives sudo a password that nobody set for it", |call, sight| {
        sight.sudo == Sudo::NoPassword
            && sudo_flags(call)
                .iter()
                .any(|flag| flag == "--stdin" || !flag.starts_with("--") && flag.contains('S'))
    }),
    dangerous("world-writable", "it lets everybody on the machine write", opens_to_all),
    dangerous("set-user-id", "it makes a program run with somebody else's rights", sets_id),
    dangerous(
        "change-owner",
        "it gives whole directories to the administrator, or takes the system's from it",
        changes_owner,
    ),
    dangerous("change-users", "it changes users, groups or passwords", changes_users),
    dangerous(
        "sudo-options",
        "it uses sudo in a way that takes a password from elsewhere or opens a shell",
        sudo_options,
    ),
];

/// The mode a call gives to files.
fn mode(call: &Call) -> Option<String> {
    if call.is(&["install"]) {
        return Options::of(call).values(&["-m", "--mode"]).next().and_then(Word::text);
    }
    if !call.is(&["chmod"]) {
        return None;
    }
    // `-w` is a mode, not a flag.
    let is_flag = |text: &String| {
        text.starts_with("--")
            || text.len() > 1 && text.starts_with('-') && text[1..].chars().all(|c| "RvfcHLP".contains(c))
    };
    call.texts().into_iter().find(|text| !is_flag(text))
}

/// A mode in digits.
fn octal(mode: &str) -> Option<u32> {
    let digits = mode.trim_start_matches(['=', '+']);
    (digits.len() >= 3).then(|| u32::from_str_radix(digits, 8).ok()).flatten()
}

fn opens_to_all(call: &Call, sight: &Context<'_>) -> bool {
    if call.is(&["setfacl"]) {
        let opens = |word: &Word| {
            word.shown().split(',').any(|entry| {
                let rights = entry.rsplit(':').next().unwrap_or_default();
                (entry.contains("o::") || entry.contains("other::") || entry.starts_with("o:"))
                    && rights.contains('w')
            })
        };
        return Options::of(call).values(&["-m", "--modify", "--set"]).any(opens)
            || call.args().iter().any(opens);
    }
    let Some(mode) = mode(call) else { return false };
    let by_number = octal(&mode).is_some_and(|bits| bits & 0o2 != 0);
    let by_letters = mode.split(',').any(|part| {
        let Some(at) = part.find(['+', '=']) else { return false };
        let (who, what) = part.split_at(at);
        // What the owner may, everybody may: `o=u`.
        what.contains('w') && who.contains(['o', 'a']) || who.contains('o') && what.contains('u')
    });
    let whole_system = (call.short('R') || call.long("recursive", 3))
        && call.operands().iter().any(|word| is_precious_tree(word, call.cwd.as_deref(), sight));
    by_number || by_letters || whole_system
}

fn sets_id(call: &Call, _: &Context<'_>) -> bool {
    let by_mode = mode(call).is_some_and(|mode| {
        let numeric = octal(&mode).is_some_and(|bits| bits & 0o6000 != 0);
        numeric
            || mode.split(',').any(|part| {
                part.contains(['+', '='])
                    && part.split(['+', '=']).nth(1).is_some_and(|what| what.contains('s'))
            })
    });
    by_mode || call.is(&["setcap"])
}

fn changes_owner(call: &Call, sight: &Context<'_>) -> bool {
    if !call.is(&["chown", "chgrp"]) || !(call.short('R') || call.long("recursive", 3)) {
        return false;
    }
    let operands = call.operands();
    let to_root = operands.first().and_then(|word| word.text()).is_some_and(|owner| {
        let owner = owner.to_lowercase();
        owner.split([':', '.']).any(|part| matches!(part, "root" | "0"))
    });
    let of_system =
        |word: &&&Word| kept(word, call.cwd.as_deref(), sight, Last::Followed) == Some(Kept::System);
    to_root
        || operands.iter().skip(1).any(|word| of_system(&word))
        || operands.iter().skip(1).any(|word| is_precious_tree(word, call.cwd.as_deref(), sight))
}

fn changes_users(call: &Call, _: &Context<'_>) -> bool {
    call.is(&[
        "useradd", "userdel", "usermod", "adduser", "deluser", "groupadd", "groupdel", "groupmod", "passwd",
        "chpasswd", "visudo", "vipw", "gpasswd", "chsh",
    ]) && !call.only_asks_for_help()
}

fn sudo_options(call: &Call, _: &Context<'_>) -> bool {
    sudo_flags(call).iter().any(|flag| {
        matches!(flag.as_str(), "--stdin" | "--askpass" | "--shell")
            || !flag.starts_with("--") && flag.contains(['S', 'A', 's', 'a', 'i', 'e'])
    }) || opens_root_shell(call)
}

/// A shell, or a program from which one is a key away, with somebody else's rights.
fn opens_root_shell(call: &Call) -> bool {
    const VALUED: &[&str] = &["-u", "-g", "-h", "-p", "-C", "-D", "-R", "-T", "-U"];
    const OPEN: &[&str] = &[
        "su", "vim", "vi", "nvim", "nano", "emacs", "ed", "ex", "less", "more", "most", "man", "irb", "ghci",
        "gdb", "ftp", "screen", "tmux", "mc", "ranger", "top", "htop",
    ];
    const NEED_ARGUMENTS: &[&str] = &[
        "bash", "sh", "dash", "zsh", "fish", "ksh", "python", "python3", "node", "perl", "ruby", "lua", "php",
    ];
    if call.is(&["su"]) {
        return call.value_of(&["-c", "--command"]).is_none() && !call.only_asks_for_help();
    }
    if !call.is(&["sudo", "doas", "pkexec"]) {
        return false;
    }
    let mut rest = call.args();
    while let [first, after @ ..] = rest {
        let text = first.text().unwrap_or_default();
        if !text.starts_with('-') && !text.contains('=') {
            break;
        }
        rest = if VALUED.contains(&text.as_str()) { after.get(1..).unwrap_or_default() } else { after };
    }
    let inner = Call { words: rest.to_vec(), ..Call::default() };
    inner.is(OPEN) && !inner.only_asks_for_help() || inner.is(NEED_ARGUMENTS) && inner.args().is_empty()
}

/// The flags of sudo itself: those before the command it runs.
fn sudo_flags(call: &Call) -> Vec<String> {
    let mut flags = Vec::new();
    if !call.is(&["sudo", "doas"]) {
        return flags;
    }
    let mut args = call.texts().into_iter();
    while let Some(arg) = args.next() {
        if !arg.starts_with('-') || arg == "--" {
            break;
        }
        if matches!(arg.as_str(), "-u" | "-g" | "-h" | "-p" | "-C" | "-D" | "-R" | "-T" | "-U") {
            args.next();
            continue;
        }
        flags.push(arg);
    }
    flags
}
