//! The same dangers in the words of Windows shells, which run here too (`pwsh`, WSL).

use super::{Rule, dangerous};
use crate::command::Context;
use crate::command::call::Call;

pub(super) const RULES: &[Rule] = &[
    dangerous(
        "powershell-encoded",
        "it runs a PowerShell command that is hidden in an encoding",
        |call, _| encoded(call),
    ),
    dangerous("windows-delete", "it deletes directories or a whole drive", deletes),
];

fn is_powershell(call: &Call) -> bool {
    call.is(&["powershell", "pwsh"])
}

fn encoded(call: &Call) -> bool {
    is_powershell(call)
        && call.flags().any(|flag| {
            let flag = flag.to_lowercase();
            flag.len() > 1 && "-encodedcommand".starts_with(&flag) || flag == "-ec"
        })
}

fn deletes(call: &Call, _: &Context<'_>) -> bool {
    let text = call.texts().join(" ").to_lowercase();
    let removes = |text: &str| {
        let names = ["remove-item", "rd ", "rmdir ", "del ", "ri ", "erase "];
        names.iter().any(|name| text.contains(name)) && (text.contains("-r") || text.contains("/s"))
            || text.contains("format-volume")
            || text.contains("clear-disk")
    };
    if is_powershell(call) || call.is(&["cmd"]) {
        return removes(&text);
    }
    match call.name().as_deref() {
        Some("remove-item" | "ri") => text.contains("-r"),
        Some("rd" | "rmdir" | "del" | "erase") => call.has("/s") || call.has("/S"),
        Some("format") => text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.contains(':'),
        Some("format-volume" | "clear-disk") => true,
        _ => false,
    }
}
