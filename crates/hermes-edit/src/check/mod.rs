//! Whether a text still parses: JSON (also notebooks), YAML and TOML, in process.

mod json;

use saphyr_parser::Parser;

/// What is wrong with a text, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Line of the problem, from 1.
    pub line: usize,
    /// Column of the problem in characters, from 1.
    pub column: usize,
    /// What the parser did not like.
    pub message: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

impl Problem {
    fn at(text: &str, offset: usize, message: impl Into<String>) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message: message.into(),
        }
    }
}

/// What a change did to a text's syntax.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Files of this name are not checked here.
    Unchecked,
    /// The text parses.
    Fine,
    /// The change broke it, or it is broken in another way than before.
    Broken(Problem),
    /// It was broken in the same way before the change.
    BrokenBefore(Problem),
}

/// The first problem in `text` if a file called `name` is checked here and does not parse.
pub fn check(name: &str, text: &str) -> Option<Problem> {
    Language::of(name)?.problem(text)
}

/// Whether files of this name are checked.
pub fn is_checked(name: &str) -> bool {
    Language::of(name).is_some()
}

/// Judges the change of a file from `old` (None: there was no file) to `new`.
pub fn check_change(name: &str, old: Option<&str>, new: &str) -> Verdict {
    let Some(language) = Language::of(name) else { return Verdict::Unchecked };
    let Some(problem) = language.problem(new) else { return Verdict::Fine };
    let before = old.and_then(|old| Some((old, language.problem(old)?)));
    match before {
        Some((old, was)) if was.message == problem.message && same_line(old, &was, new, &problem) => {
            Verdict::BrokenBefore(problem)
        }
        _ => Verdict::Broken(problem),
    }
}

/// A problem may have moved with its line.
fn same_line(old: &str, was: &Problem, new: &str, is: &Problem) -> bool {
    old.lines().nth(was.line - 1).map(str::trim) == new.lines().nth(is.line - 1).map(str::trim)
}

/// The languages that are checked here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    Json(json::Dialect),
    Yaml,
    Toml,
}

impl Language {
    fn of(name: &str) -> Option<Self> {
        let file = name.rsplit(['/', '\\']).next().unwrap_or(name).to_ascii_lowercase();
        let (_, extension) = file.rsplit_once('.')?;
        match extension {
            "json" => Some(Self::Json(json_dialect(name, &file))),
            "ipynb" => Some(Self::Json(json::Dialect::Strict)),
            "yaml" | "yml" => Some(Self::Yaml),
            "toml" => Some(Self::Toml),
            _ => None,
        }
    }

    fn problem(self, text: &str) -> Option<Problem> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        match self {
            Self::Json(dialect) => json::problem(text, dialect),
            Self::Yaml => yaml_problem(text),
            Self::Toml => toml_problem(text),
        }
    }
}

/// Some tools read their `.json` settings with comments and commas at the end.
fn json_dialect(name: &str, file: &str) -> json::Dialect {
    let starts = ["tsconfig", "jsconfig", "devcontainer", ".eslintrc", ".babelrc", ".swcrc"];
    let folder = name.rsplit(['/', '\\']).nth(1);
    if starts.iter().any(|start| file.starts_with(start))
        || matches!(folder, Some(".vscode" | ".devcontainer"))
    {
        json::Dialect::WithComments
    } else {
        json::Dialect::Strict
    }
}

/// Several documents in one file are fine. A template is not YAML before it is filled in.
fn yaml_problem(text: &str) -> Option<Problem> {
    let error = Parser::new_from_str(text).find_map(Result::err)?;
    if text.contains("{{") || text.contains("{%") {
        return None;
    }
    // By offset, since YAML counts other line ends than editors do.
    let offset = text.char_indices().nth(error.marker().index()).map_or(text.len(), |(at, _)| at);
    Some(Problem::at(text, offset, error.info()))
}

fn toml_problem(text: &str) -> Option<Problem> {
    let error = toml::de::DeTable::parse(text).err()?;
    let offset = error.span().map_or(0, |span| span.start);
    Some(Problem::at(text, offset, error.message().trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(name: &str, text: &str) -> (usize, usize) {
        let problem = check(name, text).unwrap_or_else(|| panic!("{name} should not parse: {text}"));
        assert!(!problem.message.is_empty());
        (problem.line, problem.column)
    }

    #[test]
    fn other_files_are_not_checked() {
        assert_eq!(check("a.py", "def ("), None);
        assert_eq!(check("Makefile", "{"), None);
        assert_eq!(check_change("json", None, "{"), Verdict::Unchecked);
    }

    #[test]
    fn places_of_problems() {
        assert_eq!(broken("a.json", "{\n  \"é\": 1,\n}"), (3, 1));
        assert_eq!(broken("b.ipynb", "[1, 2"), (1, 6));
        assert_eq!(broken("c.toml", "a = 1\nb = \n"), (2, 5));
        assert_eq!(broken("c.toml", "a = 1\na = 2\n"), (2, 1));
        assert_eq!(broken("D.YAML", "a:\n  - b\n c: d\n").0, 3);
        assert_eq!(broken("d.yml", "a: [1, 2\nb: 3\n").0, 2);
        assert_eq!(broken("d.yml", ":\n\r\u{11}").0, 2);
    }

    #[test]
    fn what_parses() {
        assert_eq!(check("a.json", "\u{feff}{\"a\": [1.5e3, NaN, null]}\n"), None);
        assert_eq!(check("x/tsconfig.build.json", "{ // why\n \"a\": [1,], /* b */ }\n"), None);
        assert_eq!(check("p/.vscode/settings.json", "{ // why\n}\n"), None);
        assert_eq!(check("a.yaml", "a: 1\n---\nb: *x\n").map(|p| p.line), Some(3));
        assert_eq!(check("a.yaml", "a: 1\n---\nb: 2\n"), None);
        assert_eq!(check("chart.yaml", "{{- if .x }}\na: {{ .b }}\n{{- end }}\n"), None);
        assert_eq!(check("a.toml", "[a]\nd = 1979-05-27T07:32:00Z\n[[b]]\n[[b]]\n"), None);
        assert_eq!(check("a.yaml", ""), None);
        assert_eq!(check("a.toml", ""), None);
    }

    #[test]
    fn only_new_problems_are_the_changes_fault() {
        let old = "{\"a\": }\n";
        assert!(
            matches!(check_change("a.json", Some(old), "\n\n{\"a\": }\n"), Verdict::BrokenBefore(p) if p.line == 3)
        );
        assert!(matches!(check_change("a.json", Some(old), "{\"a\": 1,}\n"), Verdict::Broken(_)));
        assert!(matches!(check_change("a.json", Some("{}"), old), Verdict::Broken(_)));
        assert!(matches!(check_change("a.json", None, old), Verdict::Broken(_)));
        assert_eq!(check_change("a.json", Some(old), "{}"), Verdict::Fine);
    }
}
