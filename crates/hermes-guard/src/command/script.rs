//! What a program in another language would do, as far as its text says. Not a parser: it looks for the few calls that
//! start programs or delete trees and reads their arguments where those are written out.

use super::word::{Piece, Word};

/// Something a script does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Act {
    /// Runs a shell command.
    Line(String),
    /// Runs a program.
    Words(Vec<Word>),
    /// Deletes a directory with everything in it.
    DeleteTree(Word),
    /// Deletes a file.
    Delete(Word),
    /// Writes a file.
    Write(Word),
    /// Starts copies of itself without end.
    Multiply,
    /// Runs something that is only known then.
    Unknown,
    /// Uses a name that reaches beyond what the tools do.
    Reach(String),
}

/// Calls whose first argument is a shell command.
const SHELL_CALLS: &[&str] = &[
    "os.system",
    "os.popen",
    "subprocess.getoutput",
    "subprocess.getstatusoutput",
    "commands.getoutput",
    ".system",
    "popen2",
];
/// Calls whose first argument is a program with arguments, or a shell command.
const RUN_CALLS: &[&str] = &[
    "subprocess.run",
    "subprocess.call",
    "subprocess.check_call",
    "subprocess.check_output",
    "subprocess.Popen",
    "Popen",
    "check_output",
    "check_call",
    "create_subprocess_shell",
    "pty.spawn",
];
const TREE_CALLS: &[&str] = &["shutil.rmtree", "rmtree"];
const FILE_CALLS: &[&str] = &["os.remove", "os.unlink"];
/// Code made at run time out of something that was hidden.
const HIDING: &[&str] =
    &["b64decode", "fromhex", "zlib.decompress", "codecs.decode", "marshal.loads", "urlopen", "requests.get"];

/// How many calls a script may hold.
const MOST_BRACKETS: usize = 5_000;

/// What Python code does: the calls that can be read, and every name that reaches out.
pub(super) fn python_and_names(code: &str) -> Vec<Act> {
    // Every bracket is followed to its end, so their number bounds the work.
    if code.len() > crate::shell::MAX_LENGTH || code.matches('(').count() > MOST_BRACKETS {
        return vec![Act::Reach("a text too long to be read".to_owned())];
    }
    let mut acts = python(code);
    acts.extend(super::python::reaches(code).into_iter().map(Act::Reach));
    acts
}

/// What Python code does.
pub(super) fn python(code: &str) -> Vec<Act> {
    let mut acts = Vec::new();
    for (name, arguments) in calls(code) {
        let is = |names: &[&str]| names.iter().any(|known| is_call(&name, known));
        if let Some(words) = replaced_by(&name, &arguments, code) {
            acts.push(Act::Words(words));
        } else if is(SHELL_CALLS) {
            acts.push(first_text(&arguments, code).map_or(Act::Unknown, Act::Line));
        } else if is(RUN_CALLS) {
            acts.push(run(&arguments, code));
        } else if is(TREE_CALLS) {
            acts.push(Act::DeleteTree(path(&arguments, code)));
        } else if is(FILE_CALLS) {
            acts.push(Act::Delete(path(&arguments, code)));
        } else if is_call(&name, "open") && opens_to_write(&arguments) {
            acts.push(Act::Write(path(&arguments, code)));
        } else if (name == "eval" || name == "exec") && HIDING.iter().any(|word| code.contains(word)) {
            acts.push(Act::Unknown);
        }
    }
    let loops = code.contains("while True") || code.contains("while 1") || code.contains("for ");
    if code.contains("os.fork()") && loops {
        acts.push(Act::Multiply);
    }
    acts
}

/// Whether the name written before a bracket is this call: `subprocess.run`, also after an `import … as`.
fn is_call(written: &str, known: &str) -> bool {
    written == known
        || written.ends_with(&format!(".{known}"))
        || (known.starts_with('.') && written.ends_with(known))
        || known.split_once('.').is_some_and(|(module, name)| {
            matches!(module, "shutil" | "subprocess") && written == name && !matches!(name, "run" | "call")
        })
}

/// Every call in the code: the name before a bracket, and the text between the brackets.
fn calls(code: &str) -> Vec<(String, String)> {
    let chars: Vec<char> = code.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        match chars[at] {
            '#' => at = skip_line(&chars, at),
            '"' | '\'' => at = string(&chars, at).1,
            '(' => {
                let name = name_before(&chars, at);
                if !name.is_empty() {
                    let end = closing(&chars, at);
                    found.push((name, chars[at + 1..end].iter().collect()));
                }
                at += 1;
            }
            _ => at += 1,
        }
    }
    found
}

fn name_before(chars: &[char], at: usize) -> String {
    let is_part = |c: &char| c.is_alphanumeric() || matches!(c, '_' | '.');
    let start = chars[..at].iter().rposition(|c| !is_part(c)).map_or(0, |place| place + 1);
    let name: String = chars[start..at].iter().collect();
    // `__import__('os').system(…)`
    if name.starts_with('.') || name.is_empty() { name } else { name.trim_matches('.').to_owned() }
}

fn skip_line(chars: &[char], at: usize) -> usize {
    chars[at..].iter().position(|c| *c == '\n').map_or(chars.len(), |length| at + length)
}

/// The text of a string that begins here, and where it ends.
fn string(chars: &[char], at: usize) -> (String, usize) {
    let quote = chars[at];
    let triple = chars.get(at + 1) == Some(&quote) && chars.get(at + 2) == Some(&quote);
    let mut text = String::new();
    let mut place = if triple { at + 3 } else { at + 1 };
    while place < chars.len() {
        let c = chars[place];
        if c == '\\' && place + 1 < chars.len() {
            text.push(match chars[place + 1] {
                'n' => '\n',
                't' => '\t',
                other => other,
            });
            place += 2;
            continue;
        }
        let ends = c == quote
            && (!triple || chars.get(place + 1) == Some(&quote) && chars.get(place + 2) == Some(&quote));
        if ends {
            return (text, place + if triple { 3 } else { 1 });
        }
        text.push(c);
        place += 1;
    }
    (text, chars.len())
}

/// The bracket that ends what begins here.
fn closing(chars: &[char], at: usize) -> usize {
    let (mut depth, mut place) = (0_usize, at);
    while place < chars.len() {
        match chars[place] {
            '"' | '\'' => {
                place = string(chars, place).1;
                continue;
            }
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return place;
                }
            }
            _ => {}
        }
        place += 1;
    }
    chars.len()
}

/// The first argument as a word: written out, a name that was given a text before, or not known.
fn value(argument: &str, code: &str) -> Word {
    let chars: Vec<char> = argument.trim().chars().collect();
    let Some(start) = chars.iter().position(|c| matches!(c, '"' | '\'')) else {
        return named(argument.trim(), code);
    };
    let prefix: String = chars[..start].iter().collect::<String>().trim().to_lowercase();
    let wraps = ["path(", "pathlib.path(", "os.path.expanduser(", "expanduser("];
    let formatted = matches!(prefix.as_str(), "f" | "rf" | "fr");
    if !(prefix.is_empty()
        || formatted
        || matches!(prefix.as_str(), "r" | "b" | "u")
        || wraps.contains(&prefix.as_str()))
    {
        return Word::unknown();
    }
    let (text, end) = string(&chars, start);
    let rest: String = chars[end..].iter().collect();
    let rest = rest.trim_start_matches([')', ' ']);
    let mut word = Word::default();
    if formatted && text.contains('{') {
        word.push_text(text.split('{').next().unwrap_or_default());
        word.0.push(Piece::Unknown);
    } else {
        word.push_text(&text);
    }
    if rest.starts_with(['+', '%', '.']) {
        word.0.push(Piece::Unknown);
    }
    word
}

/// The text a name was given: `name = "…"`, once.
fn named(name: &str, code: &str) -> Word {
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    if !is_name {
        return Word::unknown();
    }
    let given: Vec<&str> = code
        .split(['\n', ';'])
        .filter_map(|line| line.trim().strip_prefix(name)?.trim_start().strip_prefix('='))
        .filter(|value| !value.starts_with('='))
        .collect();
    match given.as_slice() {
        [value] if value.contains(['"', '\'']) => value_of_literal(value),
        _ => Word::unknown(),
    }
}

fn value_of_literal(text: &str) -> Word {
    value(text, "")
}

fn first_argument(arguments: &str) -> String {
    let chars: Vec<char> = arguments.chars().collect();
    let (mut depth, mut place) = (0_usize, 0);
    while place < chars.len() {
        match chars[place] {
            '"' | '\'' => {
                place = string(&chars, place).1;
                continue;
            }
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => break,
            _ => {}
        }
        place += 1;
    }
    chars[..place].iter().collect()
}

fn first_text(arguments: &str, code: &str) -> Option<String> {
    value(&first_argument(arguments), code).text()
}

fn path(arguments: &str, code: &str) -> Word {
    value(&first_argument(arguments), code)
}

/// A program with arguments in a list, or a shell command in a text.
fn run(arguments: &str, code: &str) -> Act {
    let first = first_argument(arguments);
    let list = first.trim().strip_prefix(['[', '(']).and_then(|list| list.strip_suffix([']', ')']));
    let Some(list) = list else {
        return match value(&first, code).text() {
            Some(line) => Act::Line(line),
            None => Act::Unknown,
        };
    };
    Act::Words(listed(list).iter().map(|item| value(item, code)).collect())
}

/// `execvp("rm", ["rm", "-rf", "/"])`, `spawnlp(mode, "rm", "rm", "-rf", "/")`: the words of the program.
fn replaced_by(name: &str, arguments: &str, code: &str) -> Option<Vec<Word>> {
    let name = name.rsplit('.').next()?;
    let kind =
        ["posix_spawnp", "posix_spawn", "exec", "spawn"].iter().find_map(|start| name.strip_prefix(start))?;
    let all = listed(arguments);
    if kind.is_empty() || kind.starts_with('v') {
        let list = all.iter().find_map(|item| {
            item.trim().strip_prefix(['[', '(']).and_then(|list| list.strip_suffix([']', ')']))
        })?;
        return Some(listed(list).iter().map(|item| value(item, code)).collect());
    }
    if !kind.starts_with('l') {
        return None;
    }
    let skipped = if name.starts_with("spawn") { 2 } else { 1 };
    Some(all.iter().skip(skipped).map(|item| value(item, code)).collect())
}

/// The arguments one by one.
fn listed(arguments: &str) -> Vec<String> {
    let (mut items, mut rest) = (Vec::new(), arguments);
    while !rest.trim().is_empty() {
        let item = first_argument(rest);
        rest = rest.get(item.len()..).unwrap_or_default();
        rest = rest.strip_prefix(',').unwrap_or(rest);
        items.push(item);
    }
    items
}

fn opens_to_write(arguments: &str) -> bool {
    let first = first_argument(arguments);
    let rest = arguments.get(first.len()..).unwrap_or_default();
    let mode = rest.trim_start_matches(',').trim().trim_start_matches("mode=");
    mode.starts_with(['"', '\'']) && mode.chars().skip(1).take(3).any(|c| matches!(c, 'w' | 'a' | 'x' | '+'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_run_things_are_read() {
        assert_eq!(python("import os\nos.system('rm -rf /')"), [Act::Line("rm -rf /".into())]);
        assert_eq!(
            python("subprocess.run([\"rm\", '-rf', p], check=True)"),
            [Act::Words(vec![Word::known("rm"), Word::known("-rf"), Word::unknown(),])]
        );
        assert_eq!(python("cmd = 'ls'\nos.system(cmd)"), [Act::Line("ls".into())]);
        assert_eq!(python("os.system(input())"), [Act::Unknown]);
        assert_eq!(python("shutil.rmtree('/etc')"), [Act::DeleteTree(Word::known("/etc"))]);
        assert_eq!(python("__import__('os').system(\"reboot\")"), [Act::Line("reboot".into())]);
    }

    #[test]
    fn words_in_texts_and_comments_are_not_calls() {
        for code in
            ["print(\"os.system('rm -rf /')\")", "# os.system('x')\nprint(1)", "run('x')", "open('a').read()"]
        {
            assert_eq!(python(code), [], "{code}");
        }
    }
}
