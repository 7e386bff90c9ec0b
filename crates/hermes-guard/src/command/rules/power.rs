//! Switching the machine off.

use super::written::written;
use super::{Rule, dangerous, hardline};
use crate::command::Context;
use crate::command::call::Call;
use crate::command::options::Options;
use crate::command::path::Route;
use crate::command::word::Word;

pub(super) const RULES: &[Rule] = &[
    hardline("power", "it switches the machine off or starts it again", switches_off),
    dangerous("run-level", "it ends what runs on the machine, for one user or for all", ends_sessions),
];

/// Verbs of `systemctl` that end or halt everything.
const VERBS: &[&str] = &[
    "poweroff",
    "reboot",
    "halt",
    "kexec",
    "soft-reboot",
    "suspend",
    "hibernate",
    "hybrid-sleep",
    "suspend-then-hibernate",
    "sleep",
    "emergency",
    "rescue",
    "exit",
    "switch-root",
];

/// Units that do the same when they are started, without their endings.
const UNITS: &[&str] = &[
    "reboot",
    "poweroff",
    "halt",
    "kexec",
    "rescue",
    "emergency",
    "shutdown",
    "ctrl-alt-del",
    "runlevel0",
    "runlevel1",
    "runlevel6",
    "exit",
    "soft-reboot",
    "suspend",
    "hibernate",
    "hybrid-sleep",
    "sleep",
    "final",
    "systemd-reboot",
    "systemd-poweroff",
    "systemd-halt",
    "systemd-kexec",
    "systemd-suspend",
    "systemd-hibernate",
    "systemd-exit",
];

fn is_unit(word: &Word) -> bool {
    UNITS.iter().any(|unit| {
        word.may_be(unit) || word.may_be(&format!("{unit}.target")) || word.may_be(&format!("{unit}.service"))
    })
}

fn switches_off(call: &Call, _: &Context<'_>) -> bool {
    if call.only_asks_for_help() {
        return false;
    }
    let options = Options::of(call);
    let verb = |verbs: &[&str]| {
        options.operands.first().and_then(Word::text).is_some_and(|text| verbs.contains(&text.as_str()))
    };
    let ends = |names: &[&str]| {
        call.texts().iter().any(|text| {
            let last = text.rsplit(['.', '/']).next().unwrap_or(text).trim_end_matches("WithFlags");
            names.contains(&last)
        })
    };
    match call.name().as_deref() {
        // `shutdown -c` takes it back.
        Some("shutdown") => !(call.args().len() == 1 && call.has("-c")),
        Some("reboot" | "halt" | "poweroff" | "systemd-shutdown" | "openrc-shutdown") => true,
        Some("init" | "telinit") => verb(&["0", "6"]),
        Some("systemctl") if verb(&["start", "isolate", "restart", "reload-or-restart"]) => {
            options.operands.iter().skip(1).any(is_unit)
        }
        Some("systemctl" | "loginctl") => verb(VERBS),
        Some("busctl" | "dbus-send" | "gdbus" | "qdbus") => {
            let starts = ends(&["StartUnit", "RestartUnit"])
                && call.texts().iter().any(|text| is_unit(&Word::known(text.trim_start_matches("string:"))));
            let systemd = call.texts().iter().any(|text| text.contains("systemd1"));
            ends(&["PowerOff", "Reboot", "Halt", "Suspend", "Hibernate", "KExec"])
                || starts
                || systemd && ends(&["Exit"])
        }
        Some("kexec") => call.short('e') || call.long("exec", 1),
        Some("rtcwake") => !call.has_any(&["no", "show", "on", "disable", "-n", "--dry-run"]),
        Some("gnome-session-quit") => call.has_any(&["--power-off", "--reboot"]),
        Some("xfce4-session-logout") => call.has_any(&["--halt", "--reboot", "-h", "-r"]),
        _ => written(call).iter().any(|word| {
            // One letter in this file and the machine is off.
            Route::of(word, call.cwd.as_deref()).is_some_and(|route| route.may_be(&["proc", "sysrq-trigger"]))
        }),
    }
}

fn ends_sessions(call: &Call, _: &Context<'_>) -> bool {
    let verb = Options::of(call).operands.first().and_then(Word::text).unwrap_or_default();
    match call.name().as_deref() {
        Some("init" | "telinit") => !verb.is_empty() && !matches!(verb.as_str(), "q" | "Q" | "u" | "U"),
        Some("loginctl") => verb.starts_with("terminate-") || verb.starts_with("kill-"),
        Some("gnome-session-quit") => true,
        _ => false,
    }
}
