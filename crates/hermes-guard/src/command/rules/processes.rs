//! Ending processes, and starting far too many.

use super::{Rule, dangerous, hardline};
use crate::command::Context;
use crate::command::call::{Call, Mark};
use crate::command::word::Word;

pub(super) const RULES: &[Rule] = &[
    hardline("kill-everything", "it ends every process of the user", kills_all),
    hardline("fork-bomb", "it starts copies of itself without end", multiplies),
    dangerous("kill-by-name", "it ends processes by force and by name", kills_by_name),
    dangerous("kill-init", "it sends a signal to the process that all others depend on", kills_init),
];

/// The processes `kill` is pointed at.
fn targets(call: &Call) -> Vec<String> {
    let args = call.texts();
    let mut rest = args.as_slice();
    let mut targets = Vec::new();
    let mut signal_seen = false;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match first.as_str() {
            "--" => {
                targets.extend(rest.iter().cloned());
                return targets;
            }
            "-s" | "-n" | "--signal" => {
                signal_seen = true;
                rest = rest.get(1..).unwrap_or_default();
            }
            flag if flag.starts_with('-') && !signal_seen => signal_seen = true,
            other => targets.push(other.to_owned()),
        }
    }
    targets
}

fn kills_all(call: &Call, _: &Context<'_>) -> bool {
    call.is(&["kill"]) && (targets(call).iter().any(|target| target == "-1") || call.texts() == ["-1"])
        || call.is(&["killall5"])
}

fn kills_init(call: &Call, _: &Context<'_>) -> bool {
    call.is(&["kill"])
        && targets(call).iter().any(|target| matches!(target.as_str(), "1" | "0"))
        && !call.has_any(&["-0", "-l", "-L"])
}

fn multiplies(call: &Call, _: &Context<'_>) -> bool {
    call.marks.contains(&Mark::Multiplies)
}

fn kills_by_name(call: &Call, _: &Context<'_>) -> bool {
    let by_force = || {
        call.has_any(&["-9", "-KILL", "-SIGKILL", "-kill"])
            || call
                .value_of(&["-s", "--signal"])
                .and_then(|word| word.text())
                .is_some_and(|signal| matches!(signal.to_uppercase().as_str(), "9" | "KILL" | "SIGKILL"))
    };
    match call.name().as_deref() {
        Some("pkill" | "skill") => {
            let any =
                |word: &&Word| word.text().is_some_and(|text| !text.contains(|c: char| c.is_alphanumeric()));
            by_force()
                || call.operands().iter().any(any)
                || call.short('u')
                || call.short('U')
                || call.operands().is_empty() && !call.args().is_empty() && !call.only_asks_for_help()
        }
        Some("killall") => by_force() || call.has_any(&["-s", "-r", "--regexp", "-u", "--user"]),
        _ => false,
    }
}
