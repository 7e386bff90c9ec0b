//! Commands that belong into the background: those that never end by themselves, and those that are sent there by the
//! shell, where nobody could follow or end them any more.

use hermes_guard::shell::ast::Word;
use hermes_guard::shell::{Place, Site, parse, sites};

use crate::line::{program, segments};

/// Programs that let another one go on by itself.
const DETACHING: &[&str] = &["nohup", "disown", "setsid"];

/// Advice for a command line that does not belong into the foreground, if it is one.
pub(super) fn not_in_the_foreground(line: &str) -> Option<String> {
    if asks_for_help(line) {
        return None;
    }
    detached(line).or_else(|| never_ends(line))
}

/// What is left behind by the shell is nobody's: its output is lost and nothing tells when it ends.
fn detached(line: &str) -> Option<String> {
    // What cannot be read is for the gate to say.
    let script = parse(line).ok()?;
    let sites = sites(&script);
    let name = |site: &Site<'_>| site.simple().words.first().and_then(Word::fixed);
    let is_one_of = |site: &Site<'_>, names: &[&str]| {
        name(site).is_some_and(|word| names.contains(&word.rsplit('/').next().unwrap_or(&word)))
    };
    if let Some(site) = sites.iter().find(|site| is_one_of(site, DETACHING)) {
        return Some(format!("`{}` {ADVICE}", name(site).unwrap_or_default()));
    }
    let background = sites.iter().any(|site| site.places.contains(&Place::Background));
    // `a & b & wait` ends with both.
    let waits = || sites.iter().any(|site| is_one_of(site, &["wait"]));
    (background && !waits()).then(|| format!("`&` {ADVICE}"))
}

const ADVICE: &str = "sends a command into the background where it cannot be followed: start it by itself with \
background=true, then go on with other commands (process looks after it)";

/// Whether a line only asks a program what it can do.
fn asks_for_help(line: &str) -> bool {
    let [only] = segments(line)[..] else { return false };
    only.split_whitespace().skip(1).any(|word| matches!(word, "--help" | "-h" | "--version" | "-V" | "help"))
}

/// Advice for a command line that would hold up the conversation, if it is one.
fn never_ends(line: &str) -> Option<String> {
    // One that the shell gives a time limit does not hold anything up.
    if line.contains("timeout ") {
        return None;
    }
    let name = segments(line).into_iter().find_map(server)?;
    Some(format!(
        "`{name}` runs until it is stopped: start it with background=true (watch_patterns tells you when it is \
         ready), then go on with other commands"
    ))
}

fn server(segment: &str) -> Option<String> {
    let words: Vec<&str> = segment.split_whitespace().collect();
    if words.iter().any(|word| matches!(*word, "--help" | "-h" | "--version" | "-V" | "help")) {
        return None;
    }
    let program = program(segment)?;
    let at = words.iter().position(|word| word.rsplit('/').next() == Some(program))?;
    let rest = &words[at + 1..];
    let runs = match (program, rest) {
        ("npm" | "pnpm" | "yarn" | "bun", ["run", script, ..] | [script, ..]) => {
            matches!(*script, "dev" | "start" | "serve" | "watch")
        }
        ("docker", ["compose", "up", flags @ ..]) | ("docker-compose", ["up", flags @ ..]) => {
            !flags.iter().any(|flag| matches!(*flag, "-d" | "--detach" | "--wait" | "--no-start"))
        }
        ("vite", rest) => !matches!(rest, ["build" | "optimize", ..]),
        ("nodemon" | "uvicorn" | "gunicorn", _)
        | ("next", ["dev", ..])
        | ("python" | "python3", ["-m", "http.server", ..]) => true,
        _ => false,
    };
    runs.then(|| std::iter::once(program).chain(rest.iter().take(2).copied()).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_known() {
        for line in [
            "npm run dev",
            "cd app && npm start",
            "yarn dev --port 3",
            "docker compose up",
            "PORT=1 python3 -m http.server 8000",
            "node_modules/.bin/vite",
            "uvicorn app:app",
        ] {
            assert!(not_in_the_foreground(line).is_some(), "{line}");
        }
        for line in [
            "npm test",
            "npm run build",
            "docker compose up -d",
            "vite build",
            "uvicorn --help",
            "echo 'npm run dev'",
            "timeout 5 npm run dev",
            "grep -r uvicorn .",
        ] {
            assert!(not_in_the_foreground(line).is_none(), "{line}");
        }
    }

    #[test]
    fn what_the_shell_would_leave_behind_is_known() {
        for line in [
            "sleep 100 &",
            "npm run dev &",
            "python3 server.py & sleep 1; curl localhost",
            "nohup make > log 2>&1",
            "cd x && setsid ./serve",
            "sleep 1; disown",
            "(sleep 100 &)",
            "/usr/bin/nohup x",
        ] {
            let advice = not_in_the_foreground(line).unwrap_or_else(|| panic!("{line}"));
            assert!(advice.contains("background=true"), "{advice}");
        }
        for line in [
            "make 2>&1 && ls",
            "make &> log",
            "echo 'a & b'",
            "grep nohup log",
            "nohup --help",
            "setsid --version",
            "a & b & wait",
            "curl 'http://x/?a=1&b=2'",
            "cat <<'END'\nx & y\nEND",
        ] {
            assert_eq!(not_in_the_foreground(line), None, "{line}");
        }
    }
}
