//! `.env`: names and values a line each, read as existing files were written and edited a line at a time.

use std::fmt::Write as _;

/// A parsed `.env` file that remembers its lines.
#[derive(Debug, Clone, Default)]
pub struct DotEnv {
    entries: Vec<Entry>,
    problems: Vec<Problem>,
}

/// One `NAME=value`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The variable.
    pub name: String,
    /// Its value, without quotes.
    pub value: String,
    /// Its line, counted from 1.
    pub line: usize,
    /// The line its value ends on; quoted values may span several.
    last_line: usize,
}

/// A line that could not be used. It never shows the line's text: it may hold a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Its line, counted from 1.
    pub line: usize,
    /// What is wrong.
    pub what: &'static str,
}

/// Why a variable may not be written to `.env`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Not a variable name.
    #[error("\"{0}\" is not a variable name: use letters, digits and '_', not starting with a digit")]
    Malformed(String),
    /// It would change how programs are found or loaded.
    #[error("{0} changes how programs are run, so it is not kept in .env: set it in your shell instead")]
    Dangerous(String),
    /// A line above swallows what is written below it.
    #[error("line {line} of .env {what}: mend it first, or what follows it cannot be read")]
    Swallowed {
        /// The line.
        line: usize,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A value that cannot be a line.
    #[error("the value of {0} holds a NUL character")]
    Value(String),
}

/// Decodes the file: UTF-8, else Latin-1 as old editors wrote it; stray NULs and a byte order mark are dropped.
pub fn decode(bytes: &[u8]) -> String {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|b| char::from(*b)).collect(),
    };
    text.trim_start_matches('\u{feff}').replace('\0', "")
}

impl DotEnv {
    /// Parses the text of a file. Lines that make no sense are noted and skipped.
    pub fn parse(text: &str) -> Self {
        let mut parsed = Self::default();
        let lines: Vec<&str> = text.split('\n').map(|l| l.strip_suffix('\r').unwrap_or(l)).collect();
        let mut at = 0;
        while at < lines.len() {
            at = parsed.line(&lines, at);
        }
        parsed
    }

    /// The effective value of a variable: the last line wins.
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().rev().find(|e| e.name == name)
    }

    /// All entries, in order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Lines that could not be used.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Takes in the entry that starts on line `at`; returns the next line to look at.
    fn line(&mut self, lines: &[&str], at: usize) -> usize {
        let line = lines[at].trim();
        let number = at + 1;
        if line.is_empty() || line.starts_with('#') {
            return number;
        }
        let line = line.strip_prefix("export ").map_or(line, str::trim_start);
        let Some((name, rest)) = line.split_once('=') else {
            self.problems.push(Problem { line: number, what: "has no '='" });
            return number;
        };
        let name = name.trim_end();
        if !is_name(name) {
            self.problems.push(Problem { line: number, what: "does not start with a variable name" });
            return number;
        }
        let rest = rest.trim_start();
        let (value, used) = match rest.chars().next() {
            Some(quote @ ('"' | '\'')) => {
                let Some(found) = quoted(&rest[1..], quote, &lines[number..]) else {
                    self.problems.push(Problem { line: number, what: "has a quote that is never closed" });
                    return number;
                };
                found
            }
            _ => (bare(rest), 0),
        };
        let (name, last_line) = (name.to_owned(), number + used);
        self.entries.push(Entry { name, value, line: number, last_line });
        last_line
    }
}

/// An unquoted value ends at a comment that follows a blank.
fn bare(rest: &str) -> String {
    let end = rest.match_indices('#').map(|(i, _)| i).find(|i| *i == 0 || rest[..*i].ends_with([' ', '\t']));
    rest[..end.unwrap_or(rest.len())].trim().to_owned()
}

/// A quoted value, possibly over several lines; returns it and how many further lines it used.
fn quoted(first: &str, quote: char, following: &[&str]) -> Option<(String, usize)> {
    let mut value = String::new();
    let mut lines = std::iter::once(first).chain(following.iter().copied()).enumerate();
    let (mut used, mut line) = lines.next()?;
    loop {
        let mut chars = line.chars();
        while let Some(c) = chars.next() {
            match c {
                c if c == quote => return Some((value, used)),
                '\\' => unescape(&mut value, quote, chars.next()),
                c => value.push(c),
            }
        }
        value.push('\n');
        (used, line) = lines.next()?;
    }
}

fn unescape(value: &mut String, quote: char, next: Option<char>) {
    match (quote, next) {
        ('"', Some('n')) => value.push('\n'),
        ('"', Some('t')) => value.push('\t'),
        ('"', Some('r')) => value.push('\r'),
        (_, Some(c)) if c == quote || c == '\\' => value.push(c),
        (_, Some(c)) => value.extend(['\\', c]),
        (_, None) => value.push('\\'),
    }
}

fn is_name(name: &str) -> bool {
    let first = |c: char| c.is_ascii_alphabetic() || c == '_';
    name.chars().next().is_some_and(first) && name.chars().all(|c| first(c) || c.is_ascii_digit() || c == '.')
}

/// Refuses names that would turn a line in `.env` into a way to run something.
pub fn check_name(name: &str) -> Result<(), NameError> {
    const PREFIXES: &[&str] = &["LD_", "DYLD_", "PYTHON", "NODE_", "BASH_FUNC_", "PERL5", "RUBY"];
    const NAMES: &[&str] = &[
        "PATH",
        "SHELL",
        "EDITOR",
        "VISUAL",
        "PAGER",
        "BROWSER",
        "GIT_SSH_COMMAND",
        "GIT_SSH",
        "HERMES_HOME",
        "HOME",
        "IFS",
        "BASH_ENV",
        "ENV",
        "PS4",
        "PROMPT_COMMAND",
        "USER",
        "LOGNAME",
    ];
    if !is_name(name) {
        return Err(NameError::Malformed(name.to_owned()));
    }
    let dangerous = NAMES.contains(&name) || PREFIXES.iter().any(|p| name.starts_with(p));
    if dangerous { Err(NameError::Dangerous(name.to_owned())) } else { Ok(()) }
}

/// Returns `text` with the variable set: its (last) line replaced, or a new line at the end.
pub fn set(text: &str, name: &str, value: &str) -> Result<String, NameError> {
    check_name(name)?;
    if value.contains('\0') {
        return Err(NameError::Value(name.to_owned()));
    }
    let line = format!("{name}={}", render(value));
    let parsed = DotEnv::parse(text);
    let edited = match parsed.get(name) {
        Some(entry) => replace_lines(text, entry, Some(&line)),
        None if text.is_empty() || text.ends_with('\n') => format!("{text}{line}\n"),
        None => format!("{text}\n{line}\n"),
    };
    // An open quote further up would take the new line in.
    let reread = DotEnv::parse(&edited);
    let as_meant =
        reread.get(name).is_some_and(|e| e.value == value) && reread.problems.len() <= parsed.problems.len();
    match parsed.problems.first() {
        Some(p) if !as_meant || reread.problems.len() < parsed.problems.len() => {
            Err(NameError::Swallowed { line: p.line, what: p.what })
        }
        _ => Ok(edited),
    }
}

/// Returns `text` without any line that sets the variable; `None` when there is none.
pub fn unset(text: &str, name: &str) -> Option<String> {
    let mut text = text.to_owned();
    let mut found = false;
    while let Some(entry) = DotEnv::parse(&text).get(name).cloned() {
        text = replace_lines(&text, &entry, None);
        found = true;
    }
    found.then_some(text)
}

fn replace_lines(text: &str, entry: &Entry, new: Option<&str>) -> String {
    let mut out = String::with_capacity(text.len());
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let number = index + 1;
        if number == entry.line
            && let Some(new) = new
        {
            let end = if line.ends_with("\r\n") { "\r\n" } else { "\n" };
            let _ = write!(out, "{new}{end}");
        }
        if !(entry.line..=entry.last_line).contains(&number) {
            out.push_str(line);
        }
    }
    out
}

/// Bare where that is safe for every reader, in double quotes otherwise.
fn render(value: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:@%+=,~^*!?&".contains(c);
    if !value.is_empty() && value.chars().all(plain) {
        return value.to_owned();
    }
    let mut out = String::from("\"");
    for c in value.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_are_read_as_people_write_them() {
        let text = "# c\nA=1\nexport B = two words # note\nC='it # is'\nD=\"a\\nb \\\"q\\\"\"\nE=\nF=x#y\n\
                    G=\"over\ntwo\"\nA=last\nbad line\n9X=1\nH=\"open\n";
        let env = DotEnv::parse(text);
        let get = |n: &str| env.get(n).map(|e| e.value.as_str());
        assert_eq!(get("A"), Some("last"));
        assert_eq!(get("B"), Some("two words"));
        assert_eq!(get("C"), Some("it # is"));
        assert_eq!(get("D"), Some("a\nb \"q\""));
        assert_eq!(get("E"), Some(""));
        assert_eq!(get("F"), Some("x#y"));
        assert_eq!(get("G"), Some("over\ntwo"));
        assert_eq!(env.get("A").unwrap().line, 10);
        assert_eq!(env.problems().iter().map(|p| p.line).collect::<Vec<_>>(), [11, 12, 13]);
    }

    #[test]
    fn an_edit_touches_one_line() {
        let text = "# keys\nA=1\n\nB='old'  # mine\nC=3";
        assert_eq!(set(text, "B", "new").unwrap(), "# keys\nA=1\n\nB=new\nC=3");
        assert_eq!(set(text, "D", "x y").unwrap(), "# keys\nA=1\n\nB='old'  # mine\nC=3\nD=\"x y\"\n");
        assert_eq!(unset(text, "A").unwrap(), "# keys\n\nB='old'  # mine\nC=3");
        assert_eq!(unset(text, "Z"), None);
        assert_eq!(unset("A=\"x\ny\"\nB=1\nA=2\n", "A").unwrap(), "B=1\n");
    }

    #[test]
    fn names_that_run_something_are_refused() {
        for name in ["LD_PRELOAD", "PATH", "PYTHONPATH", "BASH_ENV", "HERMES_HOME"] {
            assert_eq!(set("", name, "x"), Err(NameError::Dangerous(name.into())));
        }
        assert!(matches!(set("", "A B", "x"), Err(NameError::Malformed(_))));
    }

    #[test]
    fn latin_1_nul_and_bom_are_survived() {
        assert_eq!(decode(b"\xef\xbb\xbfA=1\0\n"), "A=1\n");
        assert_eq!(decode(b"A=\xe4\n"), "A=ä\n");
    }

    proptest! {
        #[test]
        fn what_is_set_is_read_back(before in "[ -~\\n]{0,60}", value in "\\PC{0,20}|[ -~\\n\\t\\r]{0,20}") {
            let text = match set(&before, "NAME", &value) {
                Ok(text) => text,
                Err(NameError::Swallowed { line, .. }) if DotEnv::parse(&before).problems.iter().any(|p| p.line == line) => return Ok(()),
                Err(e) => return Err(TestCaseError::fail(e.to_string())),
            };
            prop_assert_eq!(DotEnv::parse(&text).get("NAME").map(|e| e.value.clone()), Some(value), "{}", text);
        }

        #[test]
        fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = DotEnv::parse(&decode(&bytes));
        }
    }
}
