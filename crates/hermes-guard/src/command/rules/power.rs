//! Switching the machine off.

use super::{Rule, hardline};
use crate::command::Context;
use crate::command::call::Call;

pub(super) const RULES: &[Rule] =
    &[hardline("power", "it switches the machine off or starts it again", switches_off)];

fn switches_off(call: &Call, _: &Context<'_>) -> bool {
    if call.only_asks_for_help() {
        return false;
    }
    let verb = |verbs: &[&str]| {
        call.operands()
            .first()
            .and_then(|word| word.text())
            .is_some_and(|text| verbs.contains(&text.as_str()))
    };
    match call.name().as_deref() {
        // `shutdown -c` takes it back.
        Some("shutdown") => !(call.args().len() == 1 && call.has("-c")),
        Some("reboot" | "halt" | "poweroff") => true,
        Some("init" | "telinit") => verb(&["0", "6"]),
        Some("systemctl")
            if verb(&["start", "isolate"])
                && call.has_any(&[
                    "reboot.target",
                    "poweroff.target",
                    "halt.target",
                    "kexec.target",
                    "rescue.target",
                ]) =>
        {
            true
        }
        Some("systemctl" | "loginctl") => verb(&[
            "poweroff",
            "reboot",
            "halt",
            "kexec",
            "soft-reboot",
            "suspend",
            "hibernate",
            "emergency",
            "rescue",
        ]),
        Some("busctl" | "dbus-send" | "gdbus" | "qdbus") => call
            .texts()
            .iter()
            .any(|text| ["PowerOff", "Reboot", "Halt"].iter().any(|name| text.ends_with(name))),
        Some("kexec") => call.has_any(&["-e", "--exec"]),
        _ => {
            call.writes.iter().any(|word| word.text().as_deref() == Some("/proc/sysrq-trigger"))
                || call.is(&["tee"]) && call.has("/proc/sysrq-trigger")
        }
    }
}
