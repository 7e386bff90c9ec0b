//! A light highlighter for code: comments, strings, numbers and the words most languages share. It looks at one line
//! at a time and rather leaves something plain than colours it wrongly.

use crate::chat::text::{Color, Line, Style};

/// What the highlighter has to know of a language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Not coloured.
    Plain,
    /// `//` comments.
    Slashes,
    /// `#` comments.
    Hashes,
    /// `--` comments.
    Dashes,
    /// Added and removed lines.
    Diff,
}

impl Language {
    /// The language a fence names.
    pub fn named(name: &str) -> Self {
        match name.to_ascii_lowercase().as_str() {
            "rust" | "rs" | "c" | "h" | "cpp" | "c++" | "cc" | "java" | "js" | "javascript" | "jsx"
            | "ts" | "typescript" | "tsx" | "go" | "kotlin" | "swift" | "cs" | "csharp" | "scala" | "php"
            | "json" | "jsonc" | "zig" | "dart" => Self::Slashes,
            "python" | "py" | "sh" | "bash" | "zsh" | "shell" | "fish" | "ruby" | "rb" | "perl" | "yaml"
            | "yml" | "toml" | "ini" | "make" | "makefile" | "dockerfile" | "r" | "elixir" | "nix"
            | "env" => Self::Hashes,
            "sql" | "lua" | "haskell" | "hs" | "ada" => Self::Dashes,
            "diff" | "patch" => Self::Diff,
            _ => Self::Plain,
        }
    }

    fn comment(self) -> Option<&'static str> {
        match self {
            Self::Slashes => Some("//"),
            Self::Hashes => Some("#"),
            Self::Dashes => Some("--"),
            Self::Plain | Self::Diff => None,
        }
    }
}

const KEYWORDS: &[&str] = &[
    "and",
    "as",
    "async",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "def",
    "do",
    "done",
    "elif",
    "else",
    "end",
    "enum",
    "esac",
    "except",
    "export",
    "extends",
    "false",
    "fi",
    "finally",
    "fn",
    "for",
    "from",
    "func",
    "function",
    "if",
    "impl",
    "import",
    "in",
    "interface",
    "is",
    "lambda",
    "let",
    "loop",
    "match",
    "mod",
    "move",
    "mut",
    "new",
    "nil",
    "none",
    "None",
    "not",
    "null",
    "or",
    "package",
    "pass",
    "pub",
    "raise",
    "return",
    "self",
    "Self",
    "static",
    "struct",
    "super",
    "switch",
    "then",
    "this",
    "throw",
    "trait",
    "true",
    "True",
    "False",
    "try",
    "type",
    "undefined",
    "unless",
    "unsafe",
    "use",
    "var",
    "void",
    "where",
    "while",
    "with",
    "yield",
    "SELECT",
    "FROM",
    "WHERE",
    "INSERT",
    "INTO",
    "UPDATE",
    "DELETE",
    "JOIN",
    "ON",
    "ORDER",
    "BY",
    "GROUP",
    "CREATE",
    "TABLE",
    "VALUES",
    "SET",
    "AND",
    "OR",
    "NOT",
    "NULL",
    "LIMIT",
];

/// Adds one line of code.
pub fn render(code: &str, language: Language, out: &mut Line) {
    match language {
        Language::Plain => out.push(code, Style::PLAIN),
        Language::Diff => out.push(code, diff_style(code)),
        _ => tokens(code, language, out),
    }
}

fn diff_style(line: &str) -> Style {
    match line.as_bytes().first() {
        Some(b'+') => Style::color(Color::Green),
        Some(b'-') => Style::color(Color::Red),
        Some(b'@') => Style::color(Color::Cyan),
        _ => Style::PLAIN,
    }
}

fn tokens(code: &str, language: Language, out: &mut Line) {
    let mut at = 0;
    while at < code.len() {
        let rest = &code[at..];
        let (length, style) = token(rest, &code[..at], language);
        out.push(&rest[..length], style);
        at += length;
    }
}

/// How long the first token of `rest` is, and how it looks.
fn token(rest: &str, before: &str, language: Language) -> (usize, Style) {
    let starts_word = before.chars().next_back().is_none_or(|c| c.is_whitespace() || "({[;,".contains(c));
    // `$#` and `http://` are no comments.
    if starts_word && language.comment().is_some_and(|mark| rest.starts_with(mark)) {
        return (rest.len(), Style::FAINT);
    }
    let Some(first) = rest.chars().next() else { return (0, Style::PLAIN) };
    if matches!(first, '"' | '\'' | '`') {
        return match quoted(rest, first) {
            Some(length) => (length, Style::color(Color::Green)),
            // A lifetime, an apostrophe, or a string that goes on: no colour.
            None => (first.len_utf8(), Style::PLAIN),
        };
    }
    if first.is_alphabetic() || first == '_' {
        let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let keyword = KEYWORDS.contains(&&rest[..length]);
        return (length, if keyword { Style::color(Color::Magenta) } else { Style::PLAIN });
    }
    if first.is_ascii_digit() {
        let length =
            rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.').unwrap_or(rest.len());
        return (length, Style::color(Color::Yellow));
    }
    (first.len_utf8(), Style::PLAIN)
}

/// How long a string is that closes on the same line.
fn quoted(rest: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return Some(at + c.len_utf8()),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn styled(code: &str, name: &str) -> Vec<(String, Style)> {
        let mut line = Line::new();
        render(code, Language::named(name), &mut line);
        line.spans().iter().map(|s| (s.text.clone(), s.style)).collect()
    }

    #[test]
    fn strings_comments_and_keywords() {
        let spans = styled("let x = \"a // b\"; // why", "rust");
        assert!(spans.contains(&("let".into(), Style::color(Color::Magenta))));
        assert!(spans.contains(&("\"a // b\"".into(), Style::color(Color::Green))));
        assert!(spans.contains(&("// why".into(), Style::FAINT)));
    }

    #[test]
    fn code_is_never_changed() {
        for code in ["fn f<'a>(x: &'a str)", "echo $# \"open", "url = http://x # note", "日本 = 'é'"] {
            for language in ["rust", "sh", "sql", "diff", ""] {
                let text: String = styled(code, language).into_iter().map(|(t, _)| t).collect();
                assert_eq!(text, code);
            }
        }
    }
}
