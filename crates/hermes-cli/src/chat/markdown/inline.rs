//! Emphasis, code and links inside a line.

use crate::chat::text::{Color, Line, Style};

/// Lines longer than this are shown as they are: marks in them are rare and looking for them would cost too much.
const LONGEST: usize = 4096;
/// Deeper nesting is shown as it is.
const DEEPEST: usize = 6;

const CODE: Style = Style::color(Color::Cyan);

/// Renders the marks of one line on top of a style.
pub fn render(text: &str, base: Style, out: &mut Line) {
    if text.len() > LONGEST {
        out.push(text, base);
    } else {
        Inline { out }.render(text, base, 0);
    }
}

struct Inline<'a> {
    out: &'a mut Line,
}

impl Inline<'_> {
    fn render(&mut self, text: &str, style: Style, depth: usize) {
        let mut at = 0;
        let mut plain = 0;
        while at < text.len() {
            let before = text[..at].chars().next_back();
            match self.mark(&text[plain..at], &text[at..], before, style, depth) {
                Some(used) => {
                    at += used;
                    plain = at;
                }
                None => at += text[at..].chars().next().map_or(1, char::len_utf8),
            }
        }
        self.out.push(&text[plain..], style);
    }

    /// Renders the mark that `rest` begins with, after the plain text before it, and says how long it was.
    fn mark(
        &mut self,
        plain: &str,
        rest: &str,
        before: Option<char>,
        style: Style,
        depth: usize,
    ) -> Option<usize> {
        match rest.as_bytes()[0] {
            b'\\' => {
                let escaped = rest[1..].chars().next().filter(char::is_ascii_punctuation)?;
                self.out.push(plain, style);
                self.out.push(&escaped.to_string(), style);
                Some(2)
            }
            b'`' => {
                let (code, used) = code_span(rest)?;
                self.out.push(plain, style);
                self.out.push(code, CODE);
                Some(used)
            }
            b'[' | b'!' if depth < DEEPEST => {
                let link = link(rest)?;
                self.out.push(plain, style);
                self.render(link.label, style.underline(), depth + 1);
                if link.target != link.label && !link.target.is_empty() {
                    self.out.push(&format!(" ({})", link.target), Style::FAINT);
                }
                Some(link.used)
            }
            b'*' | b'_' | b'~' if depth < DEEPEST => {
                let (inner, used, inner_style) = emphasis(rest, before, style)?;
                self.out.push(plain, style);
                self.render(inner, inner_style, depth + 1);
                Some(used)
            }
            _ => None,
        }
    }
}

fn code_span(rest: &str) -> Option<(&str, usize)> {
    let ticks = rest.bytes().take_while(|b| *b == b'`').count();
    let mut from = ticks;
    loop {
        let start = from + rest[from..].find('`')?;
        let run = rest[start..].bytes().take_while(|b| *b == b'`').count();
        if run == ticks {
            let code = &rest[ticks..start];
            let trimmed = code.strip_prefix(' ').and_then(|c| c.strip_suffix(' '));
            return Some((trimmed.filter(|c| !c.trim().is_empty()).unwrap_or(code), start + run));
        }
        from = start + run;
    }
}

struct Link<'a> {
    label: &'a str,
    target: &'a str,
    used: usize,
}

fn link(rest: &str) -> Option<Link<'_>> {
    let open = if rest.starts_with("![") { 2 } else { rest.strip_prefix('[').map(|_| 1)? };
    let close = open + balanced(&rest[open..], '[', ']')?;
    let target_from = close + 1;
    if !rest[target_from..].starts_with('(') {
        return None;
    }
    let end = target_from + 1 + balanced(&rest[target_from + 1..], '(', ')')?;
    let target = rest[target_from + 1..end].split_whitespace().next().unwrap_or_default();
    Some(Link { label: &rest[open..close], target, used: end + 1 })
}

/// Where the bracket closes that was opened before `text`.
fn balanced(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close {
            if depth == 0 {
                return Some(at);
            }
            depth -= 1;
        }
    }
    None
}

fn emphasis(rest: &str, before: Option<char>, style: Style) -> Option<(&str, usize, Style)> {
    let mark = rest.chars().next()?;
    let run = rest.chars().take_while(|c| *c == mark).count();
    let (length, inner_style) = match (mark, run) {
        ('~', 2) => (2, style.strike()),
        ('~', _) => return None,
        (_, 1) => (1, style.italic()),
        (_, 2) => (2, style.bold()),
        (_, 3) => (3, style.bold().italic()),
        _ => return None,
    };
    let inner = &rest[length..];
    if inner.chars().next().is_none_or(char::is_whitespace) {
        return None;
    }
    // `snake_case` is a word.
    if mark == '_' && before.is_some_and(char::is_alphanumeric) {
        return None;
    }
    let end = closing(inner, mark, length)?;
    Some((&inner[..end], length + end + length, inner_style))
}

/// Where a run of exactly `length` marks closes the emphasis.
fn closing(inner: &str, mark: char, length: usize) -> Option<usize> {
    let mut at = 0;
    while at < inner.len() {
        let rest = &inner[at..];
        let c = rest.chars().next()?;
        if c == '\\' {
            at += 1 + rest[1..].chars().next().map_or(0, char::len_utf8);
        } else if c == '`' {
            at += code_span(rest).map_or(1, |(_, used)| used);
        } else if c == mark {
            let run = rest.chars().take_while(|c| *c == mark).count();
            let after = rest[run..].chars().next();
            let touches = at > 0 && !inner[..at].ends_with(char::is_whitespace);
            let ends_word = mark != '_' || after.is_none_or(|c| !c.is_alphanumeric());
            // A longer run may close an inner emphasis and this one.
            if touches && ends_word && (run == length || run == 3) {
                return Some(at + (run - length));
            }
            at += run;
        } else {
            at += c.len_utf8();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(text: &str) -> Vec<(String, Style)> {
        let mut line = Line::new();
        render(text, Style::PLAIN, &mut line);
        line.spans().iter().map(|s| (s.text.clone(), s.style)).collect()
    }

    fn text(source: &str) -> String {
        spans(source).into_iter().map(|(t, _)| t).collect()
    }

    #[test]
    fn emphasis_and_code() {
        assert_eq!(
            spans("a **b** *c* `d`"),
            [
                ("a ".into(), Style::PLAIN),
                ("b".into(), Style::STRONG),
                (" ".into(), Style::PLAIN),
                ("c".into(), Style::PLAIN.italic()),
                (" ".into(), Style::PLAIN),
                ("d".into(), CODE),
            ]
        );
        assert_eq!(spans("**a *b***"), [("a ".into(), Style::STRONG), ("b".into(), Style::STRONG.italic())]);
    }

    #[test]
    fn what_is_not_a_mark_stays() {
        for same in ["snake_case_name", "2 * 3 * 4", "a ** b", "*open", "`open", "[x] y", "~50 ~60", "a_b"] {
            assert_eq!(text(same), same);
        }
        assert_eq!(text("\\*kept\\*"), "*kept*");
        assert_eq!(text("``a`b``"), "a`b");
    }

    #[test]
    fn links_show_where_they_lead() {
        assert_eq!(text("see [the page](https://e.org/a_(b) \"t\")."), "see the page (https://e.org/a_(b)).");
        assert_eq!(text("[https://e.org](https://e.org)"), "https://e.org");
        assert_eq!(text("![a cat](cat.png)"), "a cat (cat.png)");
    }

    #[test]
    fn hostile_nesting_ends() {
        let deep = "*a ".repeat(1300);
        assert_eq!(text(&deep), deep);
        let _ = text(&"[".repeat(4000));
        let _ = text(&"**a".repeat(1300));
    }
}
