//! What simple programs print, where that can be known: `echo`, `printf` and `cat` of a text in the line.

use super::Walk;
use crate::command::call::Input;
use crate::command::word::Word;
use crate::shell::ast::{Command, CommandKind, RedirectOperator, Target};

impl Walk<'_> {
    /// What a command prints, if it is one of the simple ones and its words are known.
    pub(super) fn output_of(&self, command: &Command, input: &Input) -> Option<String> {
        let CommandKind::Simple(simple) = &command.kind else { return None };
        let words: Option<Vec<String>> =
            simple.words.iter().flat_map(|word| self.resolve(word)).map(|word| Word::text(&word)).collect();
        let words = words?;
        let name = words.first()?.rsplit('/').next()?;
        match name {
            "echo" => Some(echo(&words[1..])),
            "printf" => printf(&words[1..]),
            "cat" | "tee" if words[1..].iter().all(|word| word == "-" || name == "tee") => {
                self.document(command).or_else(|| input.text.clone())
            }
            _ => None,
        }
    }

    /// The text of a here-document or here-string.
    fn document(&self, command: &Command) -> Option<String> {
        let is_text = |operator| {
            matches!(
                operator,
                RedirectOperator::HereString
                    | RedirectOperator::HereDocument
                    | RedirectOperator::HereDocumentStripped
            )
        };
        let redirect = command.redirects.iter().rev().find(|redirect| is_text(redirect.operator))?;
        let parts = match &redirect.target {
            Target::Word(word) => &word.parts,
            Target::Document(document) => &document.body,
        };
        self.word(&self.state.variables.resolve_text(parts)).text()
    }
}

fn echo(words: &[String]) -> String {
    let is_flag = |word: &&String| {
        word.len() > 1 && word.starts_with('-') && word[1..].chars().all(|c| "neE".contains(c))
    };
    let flags = words.iter().take_while(is_flag).count();
    let escapes = words[..flags].iter().any(|flag| flag.contains('e'));
    let mut text = words[flags..].join(" ");
    if escapes {
        text = unescaped(&text);
    }
    if !words[..flags].iter().any(|flag| flag.contains('n')) {
        text.push('\n');
    }
    text
}

pub(super) fn printf(words: &[String]) -> Option<String> {
    let (format, values) = match words {
        [flag, format, values @ ..] if flag == "--" => (format, values),
        [flag, ..] if flag.starts_with("-v") => return None,
        [format, values @ ..] => (format, values),
        [] => return Some(String::new()),
    };
    let format = unescaped(format);
    if !format.contains('%') {
        return Some(format);
    }
    // The format is used again until no value is left.
    let count = format.matches("%s").count() + format.matches("%b").count() + format.matches("%d").count();
    if count == 0
        || format.replace("%s", "").replace("%b", "").replace("%d", "").replace("%%", "").contains('%')
    {
        return None;
    }
    let mut text = String::new();
    let mut values = values.iter().peekable();
    loop {
        let mut rest = format.as_str();
        while let Some(at) = rest.find('%') {
            text.push_str(&rest[..at]);
            match rest[at + 1..].chars().next()? {
                '%' => text.push('%'),
                'b' => text.push_str(&unescaped(values.next().map_or("", String::as_str))),
                _ => text.push_str(values.next().map_or("", String::as_str)),
            }
            rest = &rest[at + 2..];
        }
        text.push_str(rest);
        if values.peek().is_none() {
            return Some(text);
        }
    }
}

/// With backslash escapes done.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('x') => out.extend(number(&mut chars, 16, 2)),
            Some('u') => out.extend(number(&mut chars, 16, 4)),
            Some('0') => out.extend(number(&mut chars, 8, 3)),
            Some(digit @ '1'..='7') => {
                let rest = std::iter::from_fn(|| chars.next_if(|c| c.is_digit(8))).take(2);
                let digits: String = std::iter::once(digit).chain(rest).collect();
                out.extend(u32::from_str_radix(&digits, 8).ok().and_then(char::from_u32));
            }
            Some('\\') | None => out.push('\\'),
            Some(other) => out.extend(['\\', other]),
        }
    }
    out
}

fn number(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, radix: u32, most: usize) -> Option<char> {
    let digits: String = std::iter::from_fn(|| chars.next_if(|c| c.is_digit(radix))).take(most).collect();
    char::from_u32(u32::from_str_radix(&digits, radix).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simple_output_is_known() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(echo(&words("-e rm\\x20-rf a")), "rm -rf a\n");
        assert_eq!(echo(&words("-n a -n")), "a -n");
        assert_eq!(printf(&words("%s%s rm x")).as_deref(), Some("rmx"));
        assert_eq!(printf(&words("\\162\\155")).as_deref(), Some("rm"));
        assert_eq!(printf(&words("%q x")), None);
    }
}
