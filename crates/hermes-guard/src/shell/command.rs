//! Lists, chains, pipelines and simple commands.

use super::ast::{
    Chain, Command, CommandKind, Item, Link, List, Mode, Pipe, Pipeline, Prefix, Simple, Stage, Word,
    WordPart,
};
use super::cursor::{Parsed, Parser, ends_word};

/// Words that cannot start a command because they end or divide one.
const CLOSING: [&str; 10] = ["then", "else", "elif", "fi", "do", "done", "esac", "}", "in", "]]"];

/// Commands whose arguments may be arrays: `declare a=(1 2)`.
const TAKES_ARRAYS: [&str; 8] = ["declare", "typeset", "local", "export", "readonly", "alias", "eval", "let"];

/// Whether a command may be preceded by `time`.
#[derive(Clone, Copy, PartialEq)]
enum Position {
    First,
    AfterPipe,
}

impl Parser<'_> {
    /// The whole text.
    pub(super) fn script(&mut self) -> Parsed<List> {
        let list = self.list()?;
        match self.peek() {
            None => self.finish_documents().map(|()| list),
            Some(_) => Err(self.unexpected("a command")),
        }
    }

    /// Commands up to something that ends a list, which is left for the caller.
    pub(super) fn list(&mut self) -> Parsed<List> {
        let mut items = Vec::new();
        loop {
            self.skip_newlines()?;
            if self.ends_list() {
                break;
            }
            let chain = self.chain()?;
            self.skip_blanks();
            let mode = if self.eat_operator("&") { Mode::Background } else { Mode::Foreground };
            items.push(Item { chain, mode });
            if mode == Mode::Background || self.eat_operator(";") {
                continue;
            }
            match self.next_operator() {
                Some("\n") => self.newline()?,
                _ if self.peek().is_none() || self.ends_with_operator() => break,
                _ if self.after_compound && self.plain_word(&CLOSING).is_some() => break,
                _ => return Err(self.unexpected("';', '&' or the end of the line")),
            }
        }
        Ok(List { items })
    }

    /// A list with at least one command.
    pub(super) fn body(&mut self) -> Parsed<List> {
        let list = self.list()?;
        if list.items.is_empty() { Err(self.unexpected("a command")) } else { Ok(list) }
    }

    fn ends_list(&mut self) -> bool {
        self.peek().is_none() || self.ends_with_operator() || self.plain_word(&CLOSING).is_some()
    }

    fn ends_with_operator(&mut self) -> bool {
        matches!(self.next_operator(), Some(")" | ";;" | ";&" | ";;&"))
    }

    fn chain(&mut self) -> Parsed<Chain> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.skip_blanks();
            let link = match self.operator() {
                Some(("&&", _)) => Link::And,
                Some(("||", _)) => Link::Or,
                _ => return Ok(Chain { first, rest }),
            };
            self.eat_operator(if link == Link::And { "&&" } else { "||" });
            self.skip_newlines()?;
            rest.push((link, self.pipeline()?));
        }
    }

    fn pipeline(&mut self) -> Parsed<Pipeline> {
        self.skip_blanks();
        let start = self.pos;
        let prefixes = self.prefixes();
        let mut stages = Vec::new();
        let alone = !prefixes.is_empty() && (self.peek().is_none() || self.at_list_end());
        if !alone {
            let mut position = Position::First;
            loop {
                let command = self.command(position)?;
                self.skip_blanks();
                let pipe = match self.next_operator() {
                    Some("|") => Some(Pipe::Output),
                    Some("|&") => Some(Pipe::OutputAndErrors),
                    _ => None,
                };
                stages.push(Stage { command, pipe });
                if pipe.is_none() {
                    break;
                }
                self.eat_operator(if pipe == Some(Pipe::Output) { "|" } else { "|&" });
                self.skip_newlines()?;
                position = Position::AfterPipe;
            }
        }
        Ok(Pipeline { span: self.span_from(start), prefixes, stages })
    }

    fn at_list_end(&mut self) -> bool {
        matches!(self.next_operator(), Some("\n" | ";"))
    }

    fn prefixes(&mut self) -> Vec<Prefix> {
        let mut prefixes = Vec::new();
        loop {
            self.skip_blanks();
            if self.eat_plain("!") {
                prefixes.push(Prefix::Not);
            } else if self.eat_plain("time") {
                self.skip_blanks();
                let option = self.eat_plain("-p");
                self.skip_blanks();
                // Bash takes `--` for `-p`.
                let posix = self.eat_plain("--") || option;
                prefixes.push(if posix { Prefix::TimePosix } else { Prefix::Time });
            } else {
                return prefixes;
            }
        }
    }

    fn command(&mut self, position: Position) -> Parsed<Command> {
        self.skip_blanks();
        let start = self.pos;
        if let Some(command) = self.nested(Self::compound)? {
            return Ok(command);
        }
        if self.plain_word(&CLOSING).is_some() || self.plain_word(&["!"]).is_some() {
            return Err(self.unexpected("a command"));
        }
        if position == Position::First && self.plain_word(&["time"]).is_some() {
            return Err(self.unexpected("a command"));
        }
        self.simple_from(start, Simple::default())
    }

    /// A simple command, or a function that is defined by `name ()`; what `simple` holds is already read.
    pub(super) fn simple_from(&mut self, start: usize, mut simple: Simple) -> Parsed<Command> {
        let mut redirects = Vec::new();
        let mut end = self.pos;
        self.after_compound = false;
        loop {
            self.skip_blanks();
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
                end = self.pos;
                continue;
            }
            let Some(byte) = self.peek() else { break };
            if byte == b'('
                && simple.words.len() == 1
                && simple.assignments.is_empty()
                && redirects.is_empty()
            {
                let name = simple.words.remove(0);
                return self.nested(|p| p.function_after_name(start, name));
            }
            if ends_word(byte) && !self.at_process_substitution() {
                break;
            }
            if simple.words.is_empty() {
                match self.assignment_or_word()? {
                    Ok(assignment) => simple.assignments.push(assignment),
                    Err(word) => simple.words.push(word),
                }
            } else {
                let arrays = takes_arrays(&simple.words[0]);
                simple.words.push(self.argument(arrays)?);
            }
            end = self.pos;
        }
        if simple.words.is_empty() && simple.assignments.is_empty() && redirects.is_empty() {
            return Err(self.unexpected("a command"));
        }
        let after = std::mem::replace(&mut self.pos, end);
        let span = self.span_from(start);
        self.pos = after;
        Ok(Command { span, kind: CommandKind::Simple(simple), redirects })
    }
}

fn takes_arrays(name: &Word) -> bool {
    matches!(&name.parts[..], [WordPart::Literal(text)] if TAKES_ARRAYS.contains(&text.as_str()))
}
