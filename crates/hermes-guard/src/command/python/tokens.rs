//! Python code cut into names, texts and signs. Code inside formatted texts is cut too.

/// How deep texts in formatted texts are read.
const DEEPEST: usize = 8;

/// A token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A name or keyword.
    Name(String),
    /// A text.
    Text {
        /// What it says.
        text: String,
        /// Whether parts of it are only known when it runs.
        formatted: bool,
    },
    /// A number; its value does not matter.
    Number,
    /// Any other character; `\n` ends a statement.
    Sign(char),
}

pub(super) fn tokens(code: &str) -> Vec<Token> {
    let mut found = Vec::new();
    cut(&code.chars().collect::<Vec<_>>(), 0, &mut found);
    found
}

fn cut(chars: &[char], depth: usize, found: &mut Vec<Token>) {
    let mut at = 0;
    while at < chars.len() {
        let c = chars[at];
        match c {
            '#' => at += chars[at..].iter().take_while(|c| **c != '\n').count(),
            '"' | '\'' => at = text(chars, at, "", depth, found),
            '\\' if chars.get(at + 1) == Some(&'\n') => at += 2,
            '\n' => {
                found.push(Token::Sign('\n'));
                at += 1;
            }
            _ if c.is_whitespace() => at += 1,
            _ if c.is_ascii_digit() => {
                at += chars[at..].iter().take_while(|c| c.is_alphanumeric() || **c == '_').count();
                found.push(Token::Number);
            }
            _ if c.is_alphanumeric() || c == '_' => {
                let name: String =
                    chars[at..].iter().take_while(|c| c.is_alphanumeric() || **c == '_').collect();
                at += name.chars().count();
                let lower = name.to_lowercase();
                let is_prefix = matches!(
                    lower.as_str(),
                    "r" | "b" | "u" | "f" | "t" | "rb" | "br" | "rf" | "fr" | "tr" | "rt"
                );
                if is_prefix && matches!(chars.get(at), Some('"' | '\'')) {
                    at = text(chars, at, &lower, depth, found);
                } else {
                    found.push(Token::Name(name));
                }
            }
            _ => {
                found.push(Token::Sign(c));
                at += 1;
            }
        }
    }
}

/// A text that begins with its quote here; returns where it ends.
fn text(chars: &[char], start: usize, prefix: &str, depth: usize, found: &mut Vec<Token>) -> usize {
    let quote = chars[start];
    let triple = chars.get(start + 1) == Some(&quote) && chars.get(start + 2) == Some(&quote);
    let raw = prefix.contains('r');
    let mut content = Vec::new();
    let mut at = if triple { start + 3 } else { start + 1 };
    let mut end = chars.len();
    while at < chars.len() {
        let c = chars[at];
        if c == '\\' && at + 1 < chars.len() {
            if raw {
                content.extend([c, chars[at + 1]]);
                at += 2;
            } else {
                at = escape(chars, at, &mut content);
            }
            continue;
        }
        let ends =
            c == quote && (!triple || chars.get(at + 1) == Some(&quote) && chars.get(at + 2) == Some(&quote));
        if ends {
            end = at + if triple { 3 } else { 1 };
            break;
        }
        // A text on one line ends with it, closed or not.
        if c == '\n' && !triple {
            end = at;
            break;
        }
        content.push(c);
        at += 1;
    }
    let formatted = prefix.contains(['f', 't']) && content.contains(&'{');
    found.push(Token::Text { text: content.iter().collect(), formatted });
    if formatted && depth < DEEPEST {
        for piece in fields(&content) {
            found.push(Token::Sign('\n'));
            cut(piece, depth + 1, found);
            found.push(Token::Sign('\n'));
        }
    }
    end
}

/// One escape sequence; returns where it ends.
fn escape(chars: &[char], at: usize, content: &mut Vec<char>) -> usize {
    let digits = |from: usize, most: usize, radix: u32| -> String {
        chars[from.min(chars.len())..].iter().take(most).take_while(|c| c.is_digit(radix)).collect()
    };
    let (text, skipped, radix) = match chars[at + 1] {
        'x' => (digits(at + 2, 2, 16), 2, 16),
        'u' => (digits(at + 2, 4, 16), 2, 16),
        'U' => (digits(at + 2, 8, 16), 2, 16),
        '0'..='7' => (digits(at + 1, 3, 8), 1, 8),
        other => {
            match other {
                'n' => content.push('\n'),
                't' => content.push('\t'),
                '\n' => {}
                other => content.push(other),
            }
            return at + 2;
        }
    };
    content.extend(u32::from_str_radix(&text, radix).ok().and_then(char::from_u32));
    at + skipped + text.len()
}

/// The code between single braces.
fn fields(content: &[char]) -> Vec<&[char]> {
    let (mut found, mut depth, mut start, mut at) = (Vec::new(), 0_usize, 0, 0);
    while at < content.len() {
        match content[at] {
            '{' if depth == 0 && content.get(at + 1) == Some(&'{') => at += 1,
            '{' => {
                if depth == 0 {
                    start = at + 1;
                }
                depth += 1;
            }
            '}' if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    found.push(&content[start..at]);
                }
            }
            _ => {}
        }
        at += 1;
    }
    // A quote of the same kind inside ended the text early.
    if depth > 0 {
        found.push(&content[start..]);
    }
    found
}
