//! Code that is run but cannot be read beforehand.

use super::code::{awk, sed, vim};
use super::{Rule, dangerous, helpers};
use crate::command::Context;
use crate::command::call::{Call, Mark};
use crate::command::other::is_known;
use crate::command::word::Word;

pub(super) const RULES: &[Rule] = &[
    dangerous(
        "unknown-code",
        "it runs code that is only known when it runs, or that we cannot read",
        |call, _| call.marks.contains(&Mark::UnknownCode),
    ),
    dangerous("hidden-program", "it runs a program another program was told to start", starts_helper),
];

/// Whether a program that only looks at things is made to start others.
fn starts_helper(call: &Call, _: &Context<'_>) -> bool {
    let texts = call.texts();
    if call.env.iter().any(|text| helpers::by_variable(text))
        || call.is(&["export", "declare", "typeset"]) && texts.iter().any(|text| helpers::by_variable(text))
    {
        return true;
    }
    helpers::by_option(call) || helpers::by_git(call) || by_orders(call)
}

/// Orders in the words or the input of a program that has a language of its own.
fn by_orders(call: &Call) -> bool {
    let texts = call.texts();
    let given = || texts.iter().map(String::as_str).chain(call.input.text.as_deref());
    match call.name().as_deref() {
        Some("hash") => call.has("-p"),
        Some("enable") => call.has("-f"),
        Some("sqlite3" | "sqlite" | "duckdb") => given().any(runs_in_sqlite),
        Some("psql" | "mysql" | "mariadb" | "pgcli" | "mycli") => given().any(runs_in_sql),
        Some("ed") => given().any(vim::runs_in_ed),
        Some("less" | "more" | "most") => given().any(|text| {
            text.starts_with('!')
                || text.contains("\n!")
                || text.strip_prefix('+').is_some_and(|order| order.contains(['!', '|', 'v']))
        }),
        Some("dc") => given().any(|text| text.contains('!')),
        Some("m4") => given().any(|text| text.contains("syscmd")),
        Some("rpm" | "rpmbuild" | "rpmspec") => given().any(|text| text.contains("%(")),
        Some("gnuplot") => {
            given().any(|text| text.contains("system") || text.contains('`') || text.contains('!'))
        }
        Some("bpftrace") => given().any(|text| text.contains("system")),
        Some("vim" | "vi" | "nvim" | "view" | "vimdiff") if call.has_any(&["-S", "-s", "-u"]) => true,
        Some("ex") if call.has_any(&["-S", "-u"]) => true,
        Some("vim" | "vi" | "nvim" | "ex" | "view" | "vimdiff") => !vim::orders(call).runs.is_empty(),
        Some("emacs") => {
            texts.iter().any(|text| text.contains("shell-command") || text.contains("call-process"))
        }
        Some("gawk") if call.has_any(&["-l", "--load", "-E", "-i", "--include"]) && !call.has("inplace") => {
            true
        }
        Some("awk" | "gawk" | "mawk" | "nawk") => {
            awk::orders(call).runs.iter().any(|command| !awk::only_sorts(command))
        }
        Some("sed" | "gsed") => !sed::orders(call).runs.is_empty(),
        Some("gdb" | "lldb") => given().any(runs_in_debugger),
        Some("perl") => loads(call, &["-M", "-m"]) || opens_pipes(call),
        Some("ruby" | "jruby") => loads(call, &["-r"]),
        Some("lua" | "luajit" | "lua5.3" | "lua5.4") => loads(call, &["-l"]),
        Some("npx" | "bunx" | "pnpx") => call.has_any(&["-e", "--eval"]),
        // A shell of a framework that is fed.
        Some("rails" | "flask" | "python" | "python3" | "django-admin") => {
            let fed = call.input.text.is_some() || call.input.unknown;
            fed && call.operands().iter().take(2).any(|word| {
                matches!(
                    word.text().as_deref(),
                    Some("console" | "c" | "shell" | "shell_plus" | "dbshell" | "dbconsole")
                )
            })
        }
        _ => false,
    }
}

/// A module that is loaded by a flag: one that nobody knows, one by its path, or code behind its name.
fn loads(call: &Call, flags: &[&str]) -> bool {
    let args = call.args();
    args.iter().enumerate().any(|(place, word)| {
        let text = word.shown();
        let Some(rest) = flags.iter().find_map(|flag| text.strip_prefix(flag)) else { return false };
        let next = || args.get(place + 1).map(Word::shown).unwrap_or_default();
        let module = if rest.is_empty() { next() } else { rest.to_owned() };
        let name = module.trim_start_matches('-').split('=').next().unwrap_or_default().to_lowercase();
        module.contains([';', '(', '/', '…']) || !is_known(&name)
    })
}

/// `perl -ne 1 'ls |'`: a name of a file that is a command, or one that is written.
fn opens_pipes(call: &Call) -> bool {
    let reads = call.flags().any(|flag| !flag.starts_with("--") && flag.contains(['n', 'p']))
        || call.texts().iter().any(|text| text.contains("<>"));
    let is_command = |text: String| {
        let text = text.trim();
        text.starts_with(['|', '>']) || text.ends_with('|')
    };
    reads && call.operands().iter().filter_map(|word| word.text()).any(is_command)
}

/// Orders of sqlite's own that start programs, load code or touch files.
fn runs_in_sqlite(text: &str) -> bool {
    const FUNCTIONS: &[&str] = &["load_extension(", "writefile(", "readfile(", "edit("];
    let lower = text.to_lowercase();
    let order = |line: &str| {
        let Some(order) = line.trim().strip_prefix('.') else { return false };
        let (verb, rest) = order.split_once(char::is_whitespace).unwrap_or((order, ""));
        let whole = |name: &str, least: usize| verb.len() >= least && name.starts_with(verb);
        whole("shell", 2)
            || whole("system", 2)
            || whole("load", 2)
            || whole("read", 3)
            || rest.contains('|') && (whole("once", 2) || whole("output", 1) || whole("import", 2))
            || whole("excel", 2)
    };
    let squeezed: String = lower.chars().filter(|c| !c.is_whitespace()).collect();
    lower.lines().any(order) || FUNCTIONS.iter().any(|name| squeezed.contains(name))
}

/// Orders of database clients that start programs or touch files of the server.
fn runs_in_sql(text: &str) -> bool {
    let lower = text.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '$' | '(' | ';')).collect();
    let copies = words.windows(2).any(|pair| matches!(pair[0], "to" | "from") && pair[1] == "program");
    let by_client = lower.split([';', '\n']).any(|order| {
        let order = order.trim();
        order.starts_with("system ")
            || order.starts_with("\\!")
            || ["\\o", "\\g", "\\w"]
                .iter()
                .any(|verb| order.strip_prefix(verb).is_some_and(|rest| rest.trim().starts_with('|')))
    });
    let reads = [
        "pg_read_file",
        "pg_read_binary_file",
        "lo_import",
        "lo_export",
        "pg_ls_dir",
        "load_file",
        "into outfile",
        "into dumpfile",
    ];
    copies || by_client || lower.contains("\\!") || reads.iter().any(|name| lower.contains(name))
}

fn runs_in_debugger(text: &str) -> bool {
    const VERBS: &[&str] = &[
        "shell",
        "python",
        "python-interactive",
        "py",
        "pi",
        "pipe",
        "source",
        "script",
        "make",
        "guile",
        "command",
    ];
    text.lines().any(|line| {
        let line = line.trim();
        let verb = line.split_whitespace().next().unwrap_or_default();
        line.starts_with(['!', '|'])
            || VERBS.contains(&verb) && line.contains(' ')
            || line.contains("system(")
            || line.starts_with("platform shell")
    })
}
