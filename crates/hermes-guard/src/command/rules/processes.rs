//! Ending processes, and starting far too many.

use super::{Rule, dangerous, hardline};
use crate::command::Context;
use crate::command::call::{Call, Mark, Via};
use crate::command::options::Options;
use crate::command::word::Word;

pub(super) const RULES: &[Rule] = &[
    hardline("kill-everything", "it ends every process of the user", kills_all),
    hardline("fork-bomb", "it starts copies of itself without end", multiplies),
    dangerous("kill-by-name", "it ends processes by force and by name", kills_by_name),
    dangerous(
        "kill-many",
        "it ends processes that nobody picked one by one, or the one it runs in",
        kills_many,
    ),
    dangerous("kill-init", "it sends a signal to the process that all others depend on", kills_init),
];

/// The words `kill` is pointed at.
fn targets(call: &Call) -> Vec<Word> {
    let mut rest = call.args();
    let mut targets = Vec::new();
    let mut signal_seen = false;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match first.beginning().as_str() {
            "--" if !first.has_unknown() => {
                targets.extend(rest.iter().cloned());
                return targets;
            }
            "-s" | "-n" | "--signal" => {
                signal_seen = true;
                rest = rest.get(1..).unwrap_or_default();
            }
            flag if flag.starts_with('-') && !signal_seen => signal_seen = true,
            _ => targets.push(first.clone()),
        }
    }
    targets
}

/// The number a target stands for, however it is written: `-01` is -1.
fn number(word: &Word) -> Option<i64> {
    word.text()?.trim().parse().ok()
}

fn kills_all(call: &Call, _: &Context<'_>) -> bool {
    let everything = |word: &Word| number(word) == Some(-1);
    call.is(&["kill"])
        && (targets(call).iter().any(everything) || matches!(call.args(), [only] if everything(only)))
        || call.is(&["killall5"])
}

fn kills_init(call: &Call, _: &Context<'_>) -> bool {
    call.is(&["kill"])
        && targets(call).iter().any(|target| matches!(number(target), Some(0 | 1)))
        && !call.has_any(&["-0", "-l", "-L"])
}

/// How many processes are more than somebody picked.
const MANY: usize = 30;

fn kills_many(call: &Call, _: &Context<'_>) -> bool {
    // Numbers in a row, whoever has them.
    let counted = |words: &std::sync::Arc<Vec<Word>>| {
        Call { words: words.to_vec(), ..Call::default() }.is(&["seq", "ls", "jot"])
    };
    let listed =
        call.origins.iter().chain(call.input.upstream.iter().filter(|_| call.via == Via::Many)).any(counted);
    let parent = call.part.contains("PPID") || call.part.contains(".hermes/");
    match call.name().as_deref() {
        Some("kill") => {
            let targets = targets(call);
            let looks = call.has_any(&["-0", "-l", "-L"]);
            !looks && (targets.len() > MANY || listed || parent || targets.iter().any(Word::has_glob))
        }
        // One port is one program; a file system is everything that uses it.
        Some("fuser") => {
            let port =
                |word: &&Word| word.text().is_some_and(|text| text.starts_with(|c: char| c.is_ascii_digit()));
            call.short('k') && (call.short('m') || call.short('M') || !call.operands().iter().all(port))
                || call.long("kill", 1)
        }
        _ => false,
    }
}

fn multiplies(call: &Call, _: &Context<'_>) -> bool {
    call.marks.contains(&Mark::Multiplies)
}

/// Options of `pkill` that choose by something else than a name.
const CHOOSERS: &[&str] = &[
    "-u",
    "-U",
    "-g",
    "-G",
    "-P",
    "-t",
    "-v",
    "--euid",
    "--uid",
    "--pgroup",
    "--group",
    "--parent",
    "--terminal",
    "--session",
    "--inverse",
    "--ns",
    "--cgroup",
    "--env",
];

fn kills_by_name(call: &Call, _: &Context<'_>) -> bool {
    let options = Options::of(call);
    let by_force = || {
        let flags = call.has_any(&["-9", "-KILL", "-SIGKILL", "-kill"]) || options.has(&["-9"]);
        flags
            || options
                .values(&["-s", "--signal"])
                .filter_map(Word::text)
                .any(|signal| matches!(signal.to_uppercase().as_str(), "9" | "KILL" | "SIGKILL"))
    };
    match call.name().as_deref() {
        Some("pkill" | "skill") => {
            by_force()
                || options.has(CHOOSERS)
                || options.operands.iter().any(fits_anything)
                || options.operands.is_empty() && !call.args().is_empty() && !call.only_asks_for_help()
        }
        Some("killall") => by_force() || options.has(&["-s", "-r", "-u", "--signal", "--regexp", "--user"]),
        _ => false,
    }
}

/// Whether a pattern is no name: it has no letters outside of brackets and choices.
fn fits_anything(word: &Word) -> bool {
    let Some(text) = word.text() else { return false };
    let mut inside = false;
    let outside: String = text
        .chars()
        .filter(|c| {
            inside = (inside || *c == '[') && *c != ']';
            !inside
        })
        .collect();
    let shortest = outside.split('|').map(|part| part.chars().filter(|c| c.is_alphanumeric()).count()).min();
    shortest.unwrap_or(0) < 2
}
