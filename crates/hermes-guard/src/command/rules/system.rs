//! The system's own files and services.

use super::written::{unpacks, written};
use super::{Rule, dangerous};
use crate::command::Context;
use crate::command::call::Call;
use crate::command::options::Options;
use crate::command::path::{Kept, Last, Route, is_home, kept};
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
    dangerous(
        "remove-packages",
        "it removes programs of the machine, or copies kept for a bad day",
        removes_packages,
    )
    .words(2),
    dangerous("scheduled-jobs", "it replaces or removes scheduled jobs", crontab),
    dangerous("firewall", "it changes what the network lets through", firewall),
    dangerous("kernel", "it changes the running kernel or what is mounted", kernel),
    dangerous("preload", "it makes programs load other code than their own", preloads),
];

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

/// A new key of a project, for tests and servers; those in hidden directories are somebody's.
fn makes_key(call: &Call) -> bool {
    const MAKES: &[&str] = &["genrsa", "genpkey", "req", "ecparam", "gendsa", "dhparam", "rand", "x509"];
    let makes =
        call.is(&["openssl"]) && call.path().get(1).is_some_and(|verb| MAKES.contains(&verb.as_str()));
    makes && !written(call).iter().any(|word| word.shown().contains("/.") || word.shown().starts_with("/etc"))
}

fn writes(call: &Call, sight: &Context<'_>, what: Kept) -> bool {
    if what == Kept::ShellStart && unpacks_into_home(call, sight) || what == Kept::System && keeps_roots(call)
    {
        return true;
    }
    if what == Kept::Secret && call.is(&["ssh-import-id", "ssh-import-id-gh", "ssh-import-id-lp"]) {
        return true;
    }
    if what == Kept::Secret && (copies_example(call) || makes_key(call)) && call.writes.is_empty() {
        return false;
    }
    written(call).iter().any(|word| kept(word, call.cwd.as_deref(), sight, Last::Followed) == Some(what))
}

/// An archive, a patch or a whole directory put into the home directory itself may bring any of its files.
fn unpacks_into_home(call: &Call, sight: &Context<'_>) -> bool {
    // `cp -r x/. ~`, `rsync -a x/ ~`: what is in it, not the directory itself.
    let contents = |call: &Call| {
        let operands = call.operands();
        let sources = operands.split_last().map_or(&[][..], |(_, sources)| sources);
        call.short('T')
            || sources.iter().any(|word| {
                let text = word.shown();
                text.ends_with("/.") || call.is(&["rsync"]) && text.ends_with('/')
            })
    };
    let git = || {
        let plain = super::without_globals(call);
        plain.is_some_and(|git| {
            git.args().first().and_then(Word::text).is_some_and(|verb| {
                matches!(verb.as_str(), "checkout" | "pull" | "apply" | "am" | "restore" | "reset" | "merge")
            })
        })
    };
    let unpacks = match call.name().as_deref() {
        Some("unzip" | "7z" | "7za" | "cpio" | "unrar" | "patch") => true,
        Some("tar" | "bsdtar") => unpacks(call),
        Some("cp" | "rsync") => contents(call),
        Some("git") => git(),
        _ => false,
    };
    unpacks && written(call).iter().any(|word| is_home(word, call.cwd.as_deref(), sight))
}

/// `tar xPf`: files go where the archive says, from `/` on.
fn keeps_roots(call: &Call) -> bool {
    call.is(&["tar", "bsdtar"])
        && unpacks(call)
        && (call.short('P')
            || call.has("--absolute-names")
            || call.texts().first().is_some_and(|text| !text.starts_with('-') && text.contains('P')))
}

/// Verbs of `systemctl` that change nothing that lasts, or only start something.
const HARMLESS_VERBS: &[&str] = &[
    "",
    "status",
    "show",
    "cat",
    "help",
    "start",
    "reload",
    "daemon-reload",
    "get-default",
    "show-environment",
    "is-active",
    "is-enabled",
    "is-failed",
    "is-system-running",
    "list-units",
    "list-unit-files",
    "list-timers",
    "list-sockets",
    "list-jobs",
    "list-dependencies",
    "list-machines",
    "list-automounts",
    "list-paths",
    "whoami",
    "log-level",
    "service-log-level",
    "preset-mode",
    "reset-failed",
    "try-reload",
    "get-property",
    "verify",
];

/// Verbs that stop or change services, whatever the program.
const SERVICE_VERBS: &[&str] = &[
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
    "delete",
    "remove",
    "shutdown",
    "force-reload",
];

fn services(call: &Call, _: &Context<'_>) -> bool {
    let verbs = Options::of(call).operands;
    let text = |at: usize| verbs.get(at).and_then(Word::text).unwrap_or_default();
    let is = |at: usize, wanted: &[&str]| wanted.contains(&text(at).as_str());
    let by_script = call.words.first().is_some_and(|word| word.beginning().starts_with("/etc/init.d/"));
    match call.name().as_deref() {
        Some("systemctl") => !call.only_asks_for_help() && !is(0, HARMLESS_VERBS),
        Some("service" | "rc-service") => is(1, SERVICE_VERBS),
        Some("loginctl") => is(0, &["enable-linger", "terminate-user", "kill-user"]),
        Some("launchctl") => is(0, &["bootout", "unload", "remove", "stop", "disable", "kill", "kickstart"]),
        Some("supervisorctl" | "pm2" | "sv" | "initctl" | "monit") => is(0, SERVICE_VERBS),
        Some("update-rc.d" | "chkconfig" | "rc-update") => {
            is(1, &["remove", "disable", "off"]) || is(0, &["del", "delete"])
        }
        _ => by_script && is(0, SERVICE_VERBS),
    }
}

fn crontab(call: &Call, _: &Context<'_>) -> bool {
    let given = !call.args().is_empty()
        || call.input.unknown
        || call.input.text.is_some()
        || !call.input.files.is_empty();
    call.is(&["crontab"]) && given && !call.has("-l") && !call.only_asks_for_help() || call.is(&["atrm"])
}

fn firewall(call: &Call, _: &Context<'_>) -> bool {
    let Some(name) = call.name() else { return false };
    let base = name.trim_end_matches("-legacy").trim_end_matches("-nft");
    let shows = |flags: &[&str]| call.has_any(flags) || call.only_asks_for_help();
    match base {
        "iptables" | "ip6tables" | "nft" | "ebtables" | "arptables" => {
            !call.args().is_empty()
                && !shows(&["-L", "-S", "--list", "list", "--list-rules"])
                && !call.short('L')
                && !call.short('S')
        }
        "iptables-restore" | "ip6tables-restore" | "ipset" | "aa-teardown" | "aa-disable" => {
            !shows(&["list", "-t", "--test"])
        }
        "ufw" | "firewall-cmd" | "pfctl" => {
            !call.args().is_empty() && !shows(&["status", "--state", "--list-all", "-s"])
        }
        "setenforce" => !shows(&["1"]),
        "auditctl" => !shows(&["-l", "-s"]),
        "rfkill" => call.has("block"),
        "nmcli" => call.has_any(&["off", "down", "delete", "modify"]),
        "ifconfig" => call.has("down"),
        "ip" => {
            let what = Options::of(call).verbs();
            let changes = ["down", "flush", "del", "delete"];
            let last = what.iter().any(|word| changes.contains(&word.as_str()));
            last && what.first().is_some_and(|object| {
                "link route address rule neigh netns".split(' ').any(|name| name.starts_with(object.as_str()))
            })
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
        Some("efibootmgr") => {
            call.short('B') || call.short('b') || call.short('o') || call.short('c') || call.short('O')
        }
        _ => false,
    }
}

/// Programs that install and remove others, and the words with which they remove.
const REMOVERS: &[(&[&str], &[&str])] = &[
    (&["apt", "apt-get", "aptitude"], &["remove", "purge", "autoremove", "autopurge", "--purge"]),
    (&["dpkg"], &["-r", "--remove", "-P", "--purge"]),
    (&["dnf", "yum", "zypper", "microdnf"], &["remove", "erase", "rm", "autoremove"]),
    (&["rpm"], &["-e", "--erase"]),
    (&["apk"], &["del"]),
    (&["brew"], &["uninstall", "remove", "rm"]),
    (&["snap"], &["remove"]),
    (&["flatpak"], &["uninstall", "remove"]),
    (&["port", "pkg"], &["uninstall", "delete", "remove"]),
    (&["nix-env"], &["-e", "--uninstall"]),
    // Copies that were kept for a bad day.
    (&["restic"], &["forget", "prune"]),
    (&["borg", "borgmatic"], &["delete", "prune", "compact"]),
    (&["timeshift"], &["--delete", "--delete-all"]),
    (&["tmutil"], &["delete", "deletelocalsnapshots", "disable"]),
];

fn removes_packages(call: &Call, _: &Context<'_>) -> bool {
    let Some(name) = call.name() else { return false };
    if call.has_any(&["--dry-run", "-s", "--simulate", "-n"]) || call.only_asks_for_help() {
        return false;
    }
    let verbs = Options::of(call);
    let first = verbs.verbs().into_iter().next().unwrap_or_default();
    if name == "pacman" {
        return call.flags().any(|flag| flag.starts_with("-R") || flag == "--remove");
    }
    REMOVERS.iter().any(|(names, words)| {
        let given = |word: &&str| if word.starts_with('-') { call.has(word) } else { first == *word };
        names.contains(&name.as_str()) && words.iter().any(given)
    })
}

/// Variables with which programs load other code than their own.
const PRELOADS: &[&str] =
    &["LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "PERL5OPT", "RUBYOPT", "PYTHONSTARTUP"];
/// Variables that say where libraries lie: those of the project and of the system are the program's own.
const LIBRARY_PATHS: &[&str] = &["LD_LIBRARY_PATH", "PERL5LIB", "DYLD_LIBRARY_PATH"];

fn preloads(call: &Call, sight: &Context<'_>) -> bool {
    let names = |text: &String| {
        let Some((name, value)) = text.split_once('=').filter(|(_, value)| !value.is_empty()) else {
            return false;
        };
        match name {
            // A module by its name was installed; one by its path was not.
            "NODE_OPTIONS" => {
                let loads = ["-r", "--require", "--import", "loader", "--eval"]
                    .iter()
                    .any(|flag| value.contains(flag));
                loads
                    && value
                        .split([' ', '='])
                        .any(|word| word.starts_with(['.', '/', '~']) || word.contains("data:"))
                    || value.contains("--eval")
            }
            name if LIBRARY_PATHS.contains(&name) => value.split(':').any(|dir| is_strange(dir, call, sight)),
            name => PRELOADS.contains(&name),
        }
    };
    call.env.iter().any(names) || call.is(&["export", "declare", "typeset"]) && call.texts().iter().any(names)
}

/// Whether a directory is neither below the one at hand nor one of the system's.
fn is_strange(dir: &str, call: &Call, sight: &Context<'_>) -> bool {
    const USUAL: &[&str] = &["/usr/", "/lib", "/opt/", "/nix/"];
    if dir.is_empty() || dir == "…" || USUAL.iter().any(|start| dir.starts_with(start)) {
        return false;
    }
    let Some(place) = Route::of(&Word::known(dir), call.cwd.as_deref()).and_then(|route| route.text()) else {
        return true;
    };
    // A program of the system has no libraries in the directory at hand.
    let here = call.cwd.as_deref() == Some(place.as_str())
        && call.words.first().is_some_and(|word| !word.beginning().contains('/'));
    let own = !here && call.cwd.as_deref().is_some_and(|cwd| place.starts_with(cwd));
    here || !own && (sight.home.is_empty() || !place.starts_with(sight.home) || place.contains("/."))
}
