//! The system's own files and services.

use super::{Rule, dangerous, without_globals};
use crate::command::Context;
use crate::command::call::Call;
use crate::command::path::{Kept, Last, is_home, kept};
use crate::command::word::Word;

pub(super) const RULES: &[Rule] = &[
    dangerous("write-system", "it changes a file of the system", |call, sight| {
        writes(call, sight, Kept::System)
    }),
    dangerous("write-shell-start", "it changes what every new shell runs", |call, sight| {
        writes(call, sight, Kept::ShellStart)
    }),
    dangerous("write-secret", "it changes a file that holds logins or keys", |call, sight| {
        writes(call, sight, Kept::Secret)
    }),
    dangerous("services", "it stops or changes services of the machine", services).words(2),
    dangerous("scheduled-jobs", "it replaces or removes scheduled jobs", crontab),
    dangerous("firewall", "it changes what the network lets through", firewall),
    dangerous("kernel", "it changes the running kernel or what is mounted", kernel),
    dangerous("preload", "it makes programs load other code than their own", preloads),
];

/// The files a call would write to.
pub(in crate::command) fn written(call: &Call) -> Vec<Word> {
    let mut files = call.writes.clone();
    let operands = call.operands();
    let last = || operands.last().map(|word| (*word).clone());
    let target = || call.value_of(&["-t", "--target-directory"]);
    match call.name().as_deref() {
        Some("tee" | "truncate" | "touch" | "ed" | "ex" | "sponge") => {
            files.extend(operands.iter().map(|word| (*word).clone()));
        }
        Some("cp" | "mv" | "install" | "ln" | "rsync" | "scp")
            if operands.len() > 1 || target().is_some() =>
        {
            if let Some(dir) = target().or_else(last) {
                // Into a directory: the names stay.
                for source in &operands {
                    if let Some(name) = source.split_slashes().last().filter(|name| !name.is_empty()) {
                        let mut file = dir.clone();
                        file.push_text("/");
                        file.push_word(name);
                        files.push(file);
                    }
                }
                files.push(dir);
            }
            let hard = call.is(&["ln"]) && !call.short('s') && !call.has("--symbolic")
                || call.is(&["cp"]) && (call.short('l') || call.has("--link"));
            if hard {
                files.extend(
                    operands.iter().take(operands.len().saturating_sub(1)).map(|word| (*word).clone()),
                );
            }
        }
        Some("ln") => files.extend(operands.iter().filter(|_| !call.short('s')).map(|word| (*word).clone())),
        Some("sed" | "gsed" | "perl" | "ruby") => {
            let in_place = call.flags().any(|flag| {
                flag.starts_with("--in-place")
                    || !flag.starts_with("--") && flag.contains('i') && !flag.contains('I')
            });
            files.extend(
                call.texts().iter().filter_map(|text| super::interpreters::sed_writes(text)).map(Word::known),
            );
            if in_place {
                files.extend(operands.iter().map(|word| (*word).clone()));
            }
        }
        Some("awk" | "gawk" | "mawk" | "nawk") => {
            files.extend(call.texts().iter().flat_map(|text| printed_to(text)).map(Word::known));
        }
        Some("vim" | "vi" | "nvim" | "nano" | "emacs" | "pico" | "micro" | "code" | "sudoedit") => {
            files.extend(operands.iter().map(|word| (*word).clone()));
        }
        Some("dd") => files.extend(call.value_of(&["of="])),
        Some("curl" | "wget" | "sort" | "gcc" | "cc" | "shuf" | "clang" | "go" | "rustc" | "openssl") => {
            let flags = [
                "-o",
                "-O",
                "--output",
                "--output-document",
                "--output-dir",
                "-P",
                "--directory-prefix",
                "-out",
            ];
            for flag in flags {
                files.extend(call.value_of(&[flag]));
            }
        }
        Some("find" | "gfind") => {
            for flag in ["-fprintf", "-fprint", "-fprint0", "-fls"] {
                files.extend(call.value_of(&[flag]));
            }
        }
        Some("uniq" | "xxd") => files.extend(operands.get(1).map(|word| (*word).clone())),
        Some("yq") if call.has_any(&["-i", "--inplace"]) => files.extend(last()),
        // Another name for a file is another way to change it.
        Some("link") => files.extend(operands.first().map(|word| (*word).clone())),
        // Whoever may read it is as good as its content.
        Some("chmod" | "chown" | "chattr" | "setfacl") => {
            files.extend(operands.iter().skip(1).map(|word| (*word).clone()));
        }
        Some("patch") => {
            // Without a name the text of the patch names the files.
            files.push(operands.first().map_or_else(|| Word::known("."), |word| (*word).clone()));
            files.extend(call.value_of(&["-d", "--directory"]));
        }
        Some("tar" | "bsdtar") => {
            let extracts = unpacks(call);
            let place = call.value_of(&["-C", "--directory", "--one-top-level"]);
            files.extend(place.or_else(|| extracts.then(|| Word::known("."))));
        }
        Some("unzip") => files.push(call.value_of(&["-d"]).unwrap_or_else(|| Word::known("."))),
        Some("7z" | "7za") => files.extend(call.value_of(&["-o"])),
        Some("git") => files.extend(changed_by_git(call)),
        _ => {}
    }
    files
}

/// The files an awk program prints to: `print > "x"`.
fn printed_to(program: &str) -> Vec<String> {
    let after = program.split('>').skip(1).map(|rest| rest.trim_start_matches('>').trim_start());
    after.filter_map(|rest| rest.strip_prefix('"')?.split('"').next().map(str::to_owned)).collect()
}

/// The directory whose files git would change.
fn changed_by_git(call: &Call) -> Option<Word> {
    let plain = without_globals(call)?;
    let path = plain.path();
    match path.get(1).map(String::as_str) {
        Some("apply" | "am" | "checkout" | "restore" | "pull" | "reset" | "stash") => {
            Some(call.value_of(&["-C", "--work-tree"]).unwrap_or_else(|| Word::known(".")))
        }
        Some("clone") => plain.operands().get(2).map(|word| (*word).clone()),
        _ => None,
    }
}

/// `cp .env.example .env` begins a project's settings; nothing is lost.
fn copies_example(call: &Call) -> bool {
    let operands = call.operands();
    let [from, to] = operands.as_slice() else { return false };
    let name = |word: &Word| word.split_slashes().last().and_then(Word::text).unwrap_or_default();
    let from = name(from);
    call.is(&["cp"])
        && from.starts_with(".env.")
        && !crate::is_secret_path(std::path::Path::new(&from))
        && name(to).starts_with(".env")
}

fn writes(call: &Call, sight: &Context<'_>, what: Kept) -> bool {
    if what == Kept::ShellStart && unpacks_into_home(call, sight) || what == Kept::System && keeps_roots(call)
    {
        return true;
    }
    if what == Kept::Secret && copies_example(call) && call.writes.is_empty() {
        return false;
    }
    written(call).iter().any(|word| kept(word, call.cwd.as_deref(), sight, Last::Followed) == Some(what))
}

/// An archive unpacked in the home directory itself may bring any of its files.
fn unpacks_into_home(call: &Call, sight: &Context<'_>) -> bool {
    let unpacks = match call.name().as_deref() {
        Some("unzip" | "7z" | "7za" | "cpio") => true,
        Some("tar" | "bsdtar") => unpacks(call),
        _ => false,
    };
    unpacks && written(call).iter().any(|word| is_home(word, call.cwd.as_deref(), sight))
}

fn unpacks(call: &Call) -> bool {
    call.texts().first().is_some_and(|text| !text.starts_with("--") && text.contains('x'))
        || call.has_any(&["-x", "--extract", "--get"])
        || call.short('x')
}

/// `tar xPf`: files go where the archive says, from `/` on.
fn keeps_roots(call: &Call) -> bool {
    call.is(&["tar", "bsdtar"])
        && unpacks(call)
        && (call.short('P')
            || call.has("--absolute-names")
            || call.texts().first().is_some_and(|text| !text.starts_with('-') && text.contains('P')))
}

fn services(call: &Call, _: &Context<'_>) -> bool {
    const VERBS: &[&str] = &[
        "stop",
        "restart",
        "disable",
        "mask",
        "kill",
        "isolate",
        "set-default",
        "daemon-reexec",
        "try-restart",
        "enable",
        "link",
        "edit",
    ];
    let verb = |verbs: &[&str]| {
        call.operands()
            .first()
            .and_then(|word| word.text())
            .is_some_and(|text| verbs.contains(&text.as_str()))
    };
    match call.name().as_deref() {
        Some("systemctl") => verb(VERBS),
        Some("service" | "rc-service") => call
            .operands()
            .get(1)
            .and_then(|word| word.text())
            .is_some_and(|text| VERBS.contains(&text.as_str())),
        Some("loginctl") => verb(&["enable-linger", "terminate-user", "kill-user"]),
        Some("launchctl") => verb(&["bootout", "unload", "remove", "stop", "disable", "kill", "kickstart"]),
        _ => false,
    }
}

fn crontab(call: &Call, _: &Context<'_>) -> bool {
    call.is(&["crontab"]) && !call.args().is_empty() && !call.has("-l") && !call.only_asks_for_help()
}

fn firewall(call: &Call, _: &Context<'_>) -> bool {
    match call.name().as_deref() {
        Some("iptables" | "ip6tables" | "nft" | "ebtables") => {
            !call.args().is_empty()
                && !call.has_any(&["-L", "-S", "--list", "list"])
                && !call.only_asks_for_help()
        }
        Some("ufw" | "firewall-cmd" | "pfctl") => {
            !call.args().is_empty()
                && !call.has_any(&["status", "--state", "--list-all", "-s"])
                && !call.only_asks_for_help()
        }
        _ => false,
    }
}

fn kernel(call: &Call, _: &Context<'_>) -> bool {
    match call.name().as_deref() {
        Some("rmmod" | "insmod" | "modprobe" | "swapoff" | "umount") => {
            !call.args().is_empty() && !call.only_asks_for_help()
        }
        Some("sysctl") => {
            call.has_any(&["-w", "--write", "-p", "--system"])
                || call.texts().iter().any(|text| text.contains('='))
        }
        Some("mount") => {
            call.operands().len() > 1
                || call.has("--bind")
                || call.texts().iter().any(|text| text.contains("remount"))
        }
        _ => false,
    }
}

fn preloads(call: &Call, _: &Context<'_>) -> bool {
    const NAMES: [&str; 8] = [
        "LD_PRELOAD=",
        "LD_AUDIT=",
        "LD_LIBRARY_PATH=",
        "DYLD_INSERT_LIBRARIES=",
        "PERL5OPT=",
        "PERL5LIB=",
        "RUBYOPT=",
        "PYTHONSTARTUP=",
    ];
    let names = |text: &String| {
        let node = text.starts_with("NODE_OPTIONS=")
            && ["-r", "--require", "--import", "loader", "--eval"].iter().any(|flag| text.contains(flag));
        node || NAMES.iter().any(|name| text.starts_with(name) && text.len() > name.len())
    };
    call.env.iter().any(names) || call.is(&["export", "declare", "typeset"]) && call.texts().iter().any(names)
}
