//! This program itself: its gateway, its settings, what guards it.

use super::written::written;
use super::{Rule, dangerous, harmless};
use crate::command::Context;
use crate::command::call::{Call, Mark, Via};
use crate::command::path::{Kept, Last, kept};
use crate::command::word::Word;

pub(super) const RULES: &[Rule] = &[
    dangerous("own-guard", "it loosens what guards this machine from the agent", |call, _| loosens(call)),
    dangerous("own-files", "it changes settings, keys or records of this program", writes_ours),
    dangerous("own-gateway", "it stops, restarts or replaces this program's gateway", |call, _| {
        gateway(call)
    }),
    dangerous("own-program", "it updates, removes or resets this program", |call, _| replaces(call)),
    dangerous("own-agent", "it starts another agent, or changes what agents of this home do", |call, _| {
        acts_on_its_own(call)
    }),
    dangerous(
        "own-processes",
        "it ends processes of this program, or ones that were looked up by name",
        |call, _| ends(call),
    ),
];

fn is_ours(call: &Call) -> bool {
    call.is(&["hermes", "hermes-agent"])
        || call.is(&["python", "python3"])
            && call.has("-m")
            && call.texts().iter().any(|text| text.starts_with("hermes"))
}

/// The first words that are no flags, without the profile.
fn verbs(call: &Call) -> Vec<String> {
    let mut words = call.texts().into_iter().peekable();
    let mut verbs = Vec::new();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-p" | "--profile" => {
                words.next();
            }
            flag if flag.starts_with('-') => {}
            _ => verbs.push(word),
        }
    }
    verbs
}

fn loosens(call: &Call) -> bool {
    let yolo = |text: &String| {
        // A name that was given its value before.
        text == "HERMES_YOLO_MODE"
            || text.starts_with("HERMES_YOLO_MODE=")
                && !matches!(
                    text.as_str(),
                    "HERMES_YOLO_MODE=" | "HERMES_YOLO_MODE=0" | "HERMES_YOLO_MODE=false"
                )
    };
    if call.env.iter().any(yolo)
        || call.is(&["export", "declare", "typeset"]) && call.texts().iter().any(yolo)
    {
        return true;
    }
    let moves_home = |text: &String| text.starts_with("HERMES_HOME=");
    if call.is(&["export", "declare", "typeset"]) && call.texts().iter().any(moves_home)
        || copies_program(call)
        // Under whatever name a copy of it runs.
        || call.has("--yolo")
        || runs_running_program(call)
    {
        return true;
    }
    if !is_ours(call) {
        return false;
    }
    if call.has("--reveal") || call.has_any(&["--ignore-user-config"]) {
        return true;
    }
    // With another home other settings count.
    if call.env.iter().any(|text| moves_home(text) || text.starts_with("HOME=")) {
        return true;
    }
    let verbs = verbs(call);
    let words: Vec<&str> = verbs.iter().map(String::as_str).collect();
    let guards = |key: &str| {
        [
            "approvals",
            "command_allowlist",
            "security",
            "HERMES_YOLO",
            "hooks",
            "delegation.subagent_auto_approve",
            "terminal",
            "checkpoints",
            "model.base_url",
            "providers",
            "custom_providers",
            "fallback",
            "HERMES_WRITE_SAFE_ROOT",
            "auxiliary",
            "mcp_servers",
            "plugins",
            "cron",
            "quick_commands",
        ]
        .iter()
        .any(|guarded| key.to_lowercase().starts_with(&guarded.to_lowercase()))
            || ["api_key", "base_url"].iter().any(|end| key.to_lowercase().ends_with(end))
    };
    match words.as_slice() {
        ["config", "set" | "unset", key, ..] => guards(key),
        ["config", "edit", ..] => true,
        ["approvals", verb, ..] => *verb != "list",
        _ => call.has_any(&["--yolo", "--accept-hooks"]),
    }
}

/// Whether it does more than show something, set a harmless setting or look after cards.
fn acts_on_its_own(call: &Call) -> bool {
    const SHOWS: &[&str] = &[
        "status",
        "doctor",
        "logs",
        "dump",
        "insights",
        "version",
        "completion",
        "help",
        "guard",
        "prompt-size",
    ];
    const LOOKS: &[&str] = &[
        "list", "ls", "show", "get", "view", "search", "find", "explain", "check", "docs", "path", "diff",
        "inspect", "df", "logs", "info", "output", "wait", "status", "current", "export", "stats",
    ];
    /// What people and programs do to boards as a whole, and what starts workers.
    const BOARDS: &[&str] = &[
        "attend",
        "daemon",
        "dispatch",
        "resume",
        "pause",
        "drain",
        "stop",
        "gc",
        "boards",
        "import",
        "swarm",
        "decompose",
        "specify",
        "init",
        "reclaim",
    ];
    if !is_ours(call) || call.has_any(&["--help", "-h", "--version", "-V"]) {
        return false;
    }
    if call.flags().any(|flag| flag.starts_with("-z") || flag.starts_with("--oneshot")) {
        return true;
    }
    let verbs = verbs(call);
    match verbs.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        // Without a verb it is a conversation, for which there is nobody to talk.
        [] | ["chat" | "demo" | "backup" | "fallback" | "cron" | "mcp" | "plugins", ..] => true,
        [verb, ..] if SHOWS.contains(verb) => false,
        ["kanban", verb, ..] => BOARDS.contains(verb),
        // What runs in a sandbox is judged as if it stood here.
        ["sandbox", "exec" | "jobs", ..] | ["config", "set" | "unset", ..] | [_] => false,
        [_, verb, ..] => !LOOKS.contains(verb),
    }
}

/// `/proc/$PPID/exe`: the program that runs already, by another name.
fn runs_running_program(call: &Call) -> bool {
    call.words.first().is_some_and(|word| {
        let text = word.shown();
        text.starts_with("/proc/") && text.ends_with("/exe")
    })
}

/// A copy of this program under another name.
fn copies_program(call: &Call) -> bool {
    if !call.is(&["cp", "ln", "install", "mv", "rsync", "dd", "cat", "link"]) {
        return false;
    }
    let is_name = |word: &Word| word.split_slashes().last().and_then(Word::text).as_deref() == Some("hermes");
    let in_bin = |word: &Word| word.shown().contains("bin/") && is_name(word);
    let looked_up = call.origins.iter().any(|words| {
        let asked = Call { words: words.to_vec(), ..Call::default() };
        asked.is(&["which", "command", "type", "whereis", "readlink", "realpath"])
            && asked.operands().into_iter().any(is_name)
    });
    let operands = call.operands();
    let sources = operands.split_last().map_or(&[][..], |(_, sources)| sources);
    looked_up && (!call.is(&["cat"]) || !call.writes.is_empty())
        || !call.is(&["cat"]) && sources.iter().any(|word| in_bin(word))
}

fn writes_ours(call: &Call, sight: &Context<'_>) -> bool {
    hands_over(call, sight)
        || written(call)
            .iter()
            .any(|word| matches!(kept(word, call.cwd.as_deref(), sight, Last::Followed), Some(Kept::Ours(_))))
}

/// A file of ours given to a program of which nobody knows what it does with it.
fn hands_over(call: &Call, sight: &Context<'_>) -> bool {
    let Some(name) = call.name() else { return false };
    let ours =
        |word: &Word| matches!(kept(word, call.cwd.as_deref(), sight, Last::Followed), Some(Kept::Ours(_)));
    let given = |call: &Call| call.operands().into_iter().any(ours);
    if matches!(name.as_str(), "sqlite3" | "sqlite" | "duckdb" | "sqlite-utils") {
        return given(call) && !only_asks_database(call);
    }
    // A list of them.
    let lists =
        call.via == Via::Many
            && !harmless::with_secrets(&name)
            && call.input.upstream.iter().any(|words| {
                given(&Call { words: words.to_vec(), cwd: call.cwd.clone(), ..Call::default() })
            });
    lists || !harmless::with_ours(&name) && given(call)
}

/// Whether every order for a database only asks.
fn only_asks_database(call: &Call) -> bool {
    let orders: Vec<String> = call.operands().iter().skip(1).filter_map(|word| word.text()).collect();
    let asks = |order: &str| {
        let order = order.trim().to_lowercase();
        order.is_empty()
            || [".schema", ".tables", "pragma table_info", "explain"]
                .iter()
                .any(|start| order.starts_with(start))
            || order.starts_with("select") && !order.contains("file(") && !order.contains("extension(")
    };
    !orders.is_empty()
        && call.input.text.is_none()
        && !call.input.unknown
        && orders.iter().all(|text| text.split(';').all(asks))
}

fn gateway(call: &Call) -> bool {
    if !is_ours(call) {
        return false;
    }
    let detached = call.marks.contains(&Mark::Background) || call.marks.contains(&Mark::Detached);
    match verbs(call).iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["gateway", "stop" | "restart" | "uninstall" | "install" | "replace", ..] => true,
        ["gateway", "run", ..] | ["gateway"] => detached,
        _ => false,
    }
}

fn replaces(call: &Call) -> bool {
    is_ours(call)
        && matches!(
            verbs(call).iter().map(String::as_str).collect::<Vec<_>>().as_slice(),
            ["update" | "uninstall" | "import" | "setup", ..]
                | ["profile", "delete" | "remove" | "rename", ..]
                | ["sessions", "delete" | "prune" | "purge", ..]
                | ["auth", "remove" | "reset" | "logout", ..]
        )
}

fn ends(call: &Call) -> bool {
    let by_name = call.is(&["pkill", "killall", "skill"])
        && call.texts().iter().any(|text| text.to_lowercase().contains("hermes"));
    // What stands in the memory of this program are keys and what was said.
    let looks_inside =
        call.is(&["gdb", "lldb", "gcore", "strace", "ltrace", "reptyr"]) && call.part.contains("hermes");
    // Who listens on a port was not looked up by name.
    let by_port = call.input.upstream.last().is_some_and(|words| {
        let lister = Call { words: words.to_vec(), ..Call::default() };
        lister.is(&["lsof", "fuser"])
            && lister.texts().iter().any(|text| text.contains(':') || text.contains("/tcp"))
    });
    let found = call.marks.contains(&Mark::FoundProcesses) || call.via == Via::Many && !by_port;
    by_name || looks_inside || call.is(&["kill"]) && found
}
