//! Whether what was written can be read by its language: data formats here and before the write, programs by their own tools
//! in the box and after it. Nothing is run and nothing is installed.

use std::path::Path;
use std::time::Duration;

use hermes_box::proto::exec::{Ending, ExecRequest};
use hermes_edit::Verdict;
use hermes_guard::Policy;
use serde::Serialize;

use super::desk::{Desk, Room};

/// Texts beyond this are not checked.
pub(super) const LARGEST: u64 = 8 * 1024 * 1024;
/// How long a check may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// Characters of a complaint that are shown.
const LONGEST_COMPLAINT: usize = 2000;
/// What a shell says when a program is not there.
const NOT_THERE: i32 = 127;

/// What a check said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Lint {
    status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Ok,
    Error,
    Skipped,
}

impl Lint {
    fn ok() -> Self {
        Self { status: Status::Ok, output: None, message: None }
    }

    fn error(output: String, message: Option<&'static str>) -> Self {
        Self { status: Status::Error, output: Some(output), message }
    }

    fn skipped(message: &'static str) -> Self {
        Self { status: Status::Skipped, output: None, message: Some(message) }
    }

    /// Whether the model has to do something about it.
    pub(super) fn is_error(&self) -> bool {
        self.status == Status::Error
    }
}

const BEFORE: &str = "it was broken before, too";

/// Refuses to write JSON, YAML or TOML that cannot be read. What could not be read before may be put right in steps.
pub(super) fn gate(
    path: &str,
    new: &str,
    old: impl FnOnce() -> Option<String>,
) -> Result<Option<Lint>, String> {
    if !hermes_edit::is_checked(path) || new.len() as u64 > LARGEST || is_loose(path, new) {
        return Ok(None);
    }
    match hermes_edit::check_change(path, None, new) {
        Verdict::Unchecked => Ok(None),
        Verdict::Fine => Ok(Some(Lint::ok())),
        Verdict::BrokenBefore(problem) => Ok(Some(Lint::error(problem.to_string(), Some(BEFORE)))),
        Verdict::Broken(problem) if old().is_some_and(|old| hermes_edit::check(path, &old).is_some()) => {
            Ok(Some(Lint::error(problem.to_string(), Some(BEFORE))))
        }
        Verdict::Broken(problem) => Err(format!(
            "nothing was written, as \"{path}\" could no longer be read afterwards: {problem}. Put it right and try again"
        )),
    }
}

/// Files whose readers take more than the format allows: comments in JSON, templates of YAML.
fn is_loose(path: &str, text: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let commented = ["tsconfig", "jsconfig", "devcontainer", ".eslintrc", "api-extractor"];
    let json = name.strip_suffix(".json").is_some()
        && (commented.iter().any(|start| name.starts_with(start)) || path.contains(".vscode/"));
    json || text.contains("{{") || text.contains("{%")
}

/// How a language is checked: a script that reads the text from its input.
struct Checker {
    endings: &'static [&'static str],
    script: &'static str,
}

const PYTHON: &str = r#"command -v python3 >/dev/null 2>&1 || exit 127
exec python3 -IS -c 'import ast, sys
try:
    ast.parse(sys.stdin.buffer.read(), sys.argv[1])
except SyntaxError as error:
    print(f"line {error.lineno}: {error.msg}"); sys.exit(1)
except ValueError as error:
    print(error); sys.exit(1)' "$1""#;
// Which of both kinds of module a .js file is, its project decides: it is broken if it is neither.
const JAVASCRIPT: &str = r#"command -v node >/dev/null 2>&1 || exit 127
text=$(cat; echo x); text=${text%x}
case $1 in *.mjs) kinds=module ;; *.cjs) kinds=commonjs ;; *) kinds='commonjs module' ;; esac
for kind in $kinds; do said=$(printf %s "$text" | node --input-type=$kind --check - 2>&1) && exit 0; done
printf '%s\n' "$said" | head -n 8; exit 1"#;
// The compiler's own library, asked for the syntax alone: what other files hold does not matter.
const TYPESCRIPT: &str = r#"compiler=$(command -v tsc) && command -v node >/dev/null 2>&1 || exit 127
library=$(dirname "$(dirname "$(readlink -f "$compiler")")")/lib/typescript.js
[ -f "$library" ] || exit 127
exec node -e 'const [library, fileName] = process.argv.slice(1);
const ts = require(library);
const text = require("fs").readFileSync(0, "utf8");
const compilerOptions = { target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext, jsx: ts.JsxEmit.Preserve };
const { diagnostics } = ts.transpileModule(text, { fileName, reportDiagnostics: true, compilerOptions });
for (const found of diagnostics.filter((one) => one.file).slice(0, 8)) {
  const { line } = found.file.getLineAndCharacterOfPosition(found.start);
  console.log(`line ${line + 1}: ${ts.flattenDiagnosticMessageText(found.messageText, " ")}`);
  process.exitCode = 1;
}' "$library" "$1""#;
const GO: &str = r"command -v gofmt >/dev/null 2>&1 || exit 127
exec gofmt -e 2>&1 >/dev/null";
const RUST: &str = r#"command -v rustfmt >/dev/null 2>&1 || exit 127
rustfmt --version >/dev/null 2>&1 || exit 127
said=$(rustfmt --edition 2024 --emit stdout 2>&1 >/dev/null) && exit 0
case $said in *'error: '*) ;; *) exit 0 ;; esac
case $said in *'file not found for module'*|*'failed to resolve mod'*) exit 0 ;; esac
printf '%s\n' "$said"; exit 1"#;
const SHELL: &str = r"command -v bash >/dev/null 2>&1 || exit 127
exec bash -n 2>&1";

const CHECKERS: &[Checker] = &[
    Checker { endings: &["py", "pyi"], script: PYTHON },
    Checker { endings: &["js", "mjs", "cjs"], script: JAVASCRIPT },
    Checker { endings: &["ts", "tsx", "mts", "cts"], script: TYPESCRIPT },
    Checker { endings: &["go"], script: GO },
    Checker { endings: &["rs"], script: RUST },
    Checker { endings: &["sh", "bash"], script: SHELL },
];

fn checker(path: &Path) -> Option<&'static Checker> {
    let ending = path.extension()?.to_str()?;
    CHECKERS.iter().find(|checker| checker.endings.contains(&ending))
}

/// Whether a file is a program that is checked after it was written.
pub(super) fn is_program(path: &str) -> bool {
    checker(Path::new(path)).is_some()
}

/// What the language itself says about a program that was written; only what the change brought about.
pub(super) fn after(desk: &Desk, room: &Room, path: &Path, old: Option<&[u8]>, new: &str) -> Option<Lint> {
    let checker = checker(path)?;
    if new.len() as u64 > LARGEST {
        return None;
    }
    let complaint = match ask(room, checker, path, new.as_bytes()) {
        Said::Fine => return Some(Lint::ok()),
        Said::Nothing(why) => return Some(Lint::skipped(why)),
        Said::Complaint(complaint) => complaint,
    };
    let before = match old.map(|old| ask(room, checker, path, old)) {
        Some(Said::Complaint(before)) => Some(before),
        _ => None,
    };
    let (shown, message) = match before {
        None => (complaint, None),
        Some(before) => new_lines(&before, complaint),
    };
    let redacted = desk.place.options().redactor.redact(&shown, Policy::File).into_owned();
    let cut = redacted.chars().take(LONGEST_COMPLAINT).collect();
    Some(Lint::error(cut, message))
}

/// The lines that were not said before; all of them, marked, when none is new.
fn new_lines(before: &str, now: String) -> (String, Option<&'static str>) {
    let known: Vec<&str> = before.lines().collect();
    let new: Vec<&str> = now.lines().filter(|line| !known.contains(line)).collect();
    if new.is_empty() { (now, Some(BEFORE)) } else { (new.join("\n"), Some(BEFORE)) }
}

enum Said {
    Fine,
    Complaint(String),
    Nothing(&'static str),
}

fn ask(room: &Room, checker: &Checker, path: &Path, text: &[u8]) -> Said {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let request = ExecRequest::argv(["sh", "-c", checker.script, "sh", &name]).timeout(PATIENCE);
    let Ok(exit) = room.client.run_with_input(request, text) else {
        return Said::Nothing("the check failed");
    };
    if exit.ending == Ending::TimedOut {
        return Said::Nothing("the check took too long");
    }
    match (exit.ending == Ending::Exited, exit.code()) {
        (true, 0) => Said::Fine,
        (true, NOT_THERE) => Said::Nothing("the language is not installed here"),
        (true, code) if code < NOT_THERE => {
            let said = exit.stdout.bytes();
            let said = String::from_utf8_lossy(&said).trim().to_owned();
            if said.is_empty() { Said::Nothing("the check gave no reason") } else { Said::Complaint(said) }
        }
        _ => Said::Nothing("the check failed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_its_reader_takes_loosely_is_not_judged() {
        assert!(is_loose("a/tsconfig.build.json", "{}"));
        assert!(is_loose("p/.vscode/settings.json", "{}"));
        assert!(is_loose("chart.yaml", "a: {{ .Values.x }}"));
        assert!(!is_loose("package.json", "{}") && !is_loose("a.yaml", "a: {b: 1}"));
    }

    #[test]
    fn only_what_is_new_is_said() {
        assert_eq!(new_lines("a\nb", "b\nc".into()), ("c".into(), Some(BEFORE)));
        assert_eq!(new_lines("a", "a".into()), ("a".into(), Some(BEFORE)));
        assert!(is_program("x/a.py") && is_program("b.sh") && !is_program("c.txt") && !is_program("py"));
    }
}
