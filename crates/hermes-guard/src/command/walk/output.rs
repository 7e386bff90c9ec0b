//! What simple programs print, where that can be known: `echo`, `printf` and `cat` of a text in the line.

use super::Walk;
use crate::command::call::Input;
use crate::command::word::Word;
use crate::shell::ast::{Command, CommandKind, Link, List, RedirectOperator, Simple, Target};

/// How deep lists within lists are followed.
const DEEPEST_LIST: usize = 8;

/// How many commands are followed for one output.
const MOST_PRINTED: usize = 300;

/// Programs that pass their words on to the next: what that one prints is printed.
const PASSING: &[&str] = &["command", "builtin", "env", "nice", "nohup", "time"];

impl Walk<'_> {
    /// What a command prints, if it is one of the simple ones and its words are known.
    pub(super) fn output_of(&self, command: &Command, input: &Input) -> Option<String> {
        self.printed.set(0);
        self.output_within(command, input, 0)
    }

    /// What commands one after another print.
    pub(super) fn output_of_list(&self, list: &List, input: &Input) -> Option<String> {
        self.printed.set(0);
        self.list_output(list, input, 0)
    }

    fn list_output(&self, list: &List, input: &Input, depth: usize) -> Option<String> {
        let mut text = String::new();
        for item in &list.items {
            // Which of them runs is not known.
            if item.chain.rest.iter().any(|(link, _)| *link == Link::Or) {
                return None;
            }
            for pipeline in item.chain.pipelines() {
                let mut input = input.clone();
                for stage in &pipeline.stages {
                    let text = self.output_within(&stage.command, &input, depth + 1)?;
                    input = Input { text: Some(text), ..Input::default() };
                }
                text.push_str(&input.text.unwrap_or_default());
            }
        }
        (text.len() <= crate::shell::MAX_LENGTH).then_some(text)
    }

    fn output_within(&self, command: &Command, input: &Input, depth: usize) -> Option<String> {
        self.printed.set(self.printed.get() + 1);
        if depth > DEEPEST_LIST || self.printed.get() > MOST_PRINTED {
            return None;
        }
        match &command.kind {
            CommandKind::Simple(simple) => self.simple_output(command, simple, input, depth),
            CommandKind::Group(list) | CommandKind::Subshell(list) => self.list_output(list, input, depth),
            // Once stands for every time where nothing in it changes.
            CommandKind::For(each) if each.words.is_some() => self.list_output(&each.body, input, depth),
            _ => None,
        }
    }

    fn simple_output(
        &self,
        command: &Command,
        simple: &Simple,
        input: &Input,
        depth: usize,
    ) -> Option<String> {
        let words: Vec<Word> = simple.words.iter().flat_map(|word| self.resolve(word)).collect();
        // Whatever else it writes to, it passes on what it reads.
        if words.first().is_some_and(|name| name.text().as_deref() == Some("tee")) {
            return self.text_read(command, input);
        }
        let words: Option<Vec<String>> = words.iter().map(Word::text).collect();
        let words = words?;
        let passed = words.iter().take_while(|word| PASSING.contains(&word.as_str())).count();
        let words = &words[passed..];
        let Some(first) = words.first() else {
            // `$(<file)` prints it; assignments and the like print nothing.
            return match command.redirects.as_slice() {
                [] => Some(String::new()),
                [redirect] if redirect.operator == RedirectOperator::Read => self.text_read(command, input),
                _ => None,
            };
        };
        if let Some(body) = self.state.functions.get(first) {
            return self.output_within(body, input, depth + 1);
        }
        let read = || self.text_read(command, input);
        let name = first.rsplit('/').next()?;
        match name {
            "echo" => Some(echo(&words[1..])),
            "printf" => printf(&words[1..]),
            "cat" => {
                let files: Vec<&String> =
                    words[1..].iter().filter(|word| !word.starts_with('-') || *word == "-").collect();
                if files.is_empty() {
                    return read();
                }
                let part = |file: &&String| match file.as_str() {
                    "-" | "/dev/stdin" => read(),
                    file => self.written_text(&Word::known(file)),
                };
                files.iter().map(part).collect()
            }
            _ if chooses(name, &words[1..]) => read(),
            "yes" => Some(words[1..].join(" ") + "\n"),
            ":" | "true" | "false" | "sleep" | "cd" | "set" | "export" => Some(String::new()),
            "pwd" if words.len() == 1 => Some(self.state.cwd.clone()? + "\n"),
            _ => None,
        }
    }

    /// The file that a command prints as it is: `cat file`.
    pub(super) fn file_shown(&self, command: &Command) -> Vec<Word> {
        let CommandKind::Simple(simple) = &command.kind else { return Vec::new() };
        let words: Vec<Word> = simple.words.iter().flat_map(|word| self.resolve(word)).collect();
        match words.as_slice() {
            [cat, file]
                if cat.text().as_deref() == Some("cat") && !file.has_unknown() && !file.has_glob() =>
            {
                vec![file.clone()]
            }
            _ => Vec::new(),
        }
    }

    /// The same for a list that is one such command.
    pub(super) fn file_shown_by(&self, list: &List) -> Vec<Word> {
        match list.items.as_slice() {
            [item] if item.chain.rest.is_empty() => match item.chain.first.stages.as_slice() {
                [stage] => self.file_shown(&stage.command),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    /// What a command reads, where that is a text in the line.
    fn text_read(&self, command: &Command, input: &Input) -> Option<String> {
        let Some(redirect) = command.redirects.iter().rev().find(|redirect| redirect.is_input()) else {
            return input.text.clone();
        };
        match (&redirect.target, redirect.operator) {
            (Target::Document(document), _) => {
                self.word(&self.state.variables.resolve_text(&document.body)).text()
            }
            (Target::Word(word), RedirectOperator::HereString) => {
                self.word(&self.state.variables.resolve_text(&word.parts)).text()
            }
            (Target::Word(word), RedirectOperator::Read) => match self.resolve(word).as_slice() {
                [file] => self.written_text(file),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Whether a program prints some of the lines it reads as they are, perhaps in another order.
fn chooses(name: &str, words: &[String]) -> bool {
    let plain =
        |word: &String| word.trim_start_matches(['-', 'n', 'r', 'u']).chars().all(|c| c.is_ascii_digit());
    match name {
        "head" | "tail" | "tac" | "sort" | "uniq" => words.iter().all(plain),
        "grep" => matches!(words, [pattern] if !pattern.starts_with('-')),
        "sed" => words == ["p", "-n"] || words == ["-n", "p"],
        _ => false,
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
