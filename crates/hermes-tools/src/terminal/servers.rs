//! Commands that never end by themselves: waiting for them only ends with the time limit.

use crate::line::{program, segments};

/// Advice for a command line that would hold up the conversation, if it is one.
pub(super) fn never_ends(line: &str) -> Option<String> {
    // One that is put into the background, or given a time limit, by the shell itself does not hold anything up.
    if line.contains('&') && !line.contains("&&") || line.contains("timeout ") {
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
            assert!(never_ends(line).is_some(), "{line}");
        }
        for line in [
            "npm test",
            "npm run build",
            "docker compose up -d",
            "vite build",
            "uvicorn --help",
            "echo 'npm run dev'",
            "timeout 5 npm run dev",
            "npm run dev &",
            "grep -r uvicorn .",
        ] {
            assert!(never_ends(line).is_none(), "{line}");
        }
    }
}
