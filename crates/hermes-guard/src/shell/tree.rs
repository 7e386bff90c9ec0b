//! Draws the tree of a script for people: one line per command, what is inside it indented below.

use std::fmt::Write as _;

use super::ast::{Command, CommandKind, Item, Link, List, Mode, Pipe, Pipeline, Prefix, Script};
use super::inner::{inside_command, substitutions};
use super::print::{print_command_line, print_parts, print_redirect, print_test, print_word};

/// The tree as lines of text.
pub fn tree(script: &Script) -> String {
    let mut drawing = Drawing { out: String::new(), depth: 0 };
    drawing.list(&script.list);
    drawing.out
}

struct Drawing {
    out: String,
    depth: usize,
}

impl Drawing {
    fn line(&mut self, text: &str) {
        let text = text.replace('\n', "⏎");
        let _ = writeln!(self.out, "{:indent$}{text}", "", indent = self.depth * 2);
    }

    fn below(&mut self, draw: impl FnOnce(&mut Self)) {
        self.depth += 1;
        draw(self);
        self.depth -= 1;
    }

    fn titled(&mut self, title: &str, list: &List) {
        self.line(title);
        self.below(|to| to.list(list));
    }

    fn list(&mut self, list: &List) {
        list.items.iter().for_each(|item| self.item(item));
    }

    fn item(&mut self, item: &Item) {
        if item.mode == Mode::Background {
            self.line("in the background");
            return self.below(|to| to.chain(item));
        }
        self.chain(item);
    }

    fn chain(&mut self, item: &Item) {
        self.pipeline(&item.chain.first);
        for (link, pipeline) in &item.chain.rest {
            self.line(if *link == Link::And { "and" } else { "or" });
            self.below(|to| to.pipeline(pipeline));
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        for prefix in &pipeline.prefixes {
            self.line(match prefix {
                Prefix::Not => "not",
                Prefix::Time => "time",
                Prefix::TimePosix => "time -p",
            });
        }
        if let [stage] = &pipeline.stages[..] {
            return self.command(&stage.command, "");
        }
        if pipeline.stages.is_empty() {
            return;
        }
        self.line("pipeline");
        self.below(|to| {
            let mut before = "";
            for stage in &pipeline.stages {
                to.command(&stage.command, before);
                before = match stage.pipe {
                    Some(Pipe::OutputAndErrors) => "|& ",
                    _ => "| ",
                };
            }
        });
    }

    fn command(&mut self, command: &Command, before: &str) {
        let redirects: Vec<String> = command.redirects.iter().map(print_redirect).collect();
        let title = |text: &str| [&[format!("{before}{text}")], &redirects[..]].concat().join(" ");
        match &command.kind {
            CommandKind::Simple(_) => {
                self.line(&format!("{before}{}", print_command_line(command)));
                self.below(|to| to.insides(command));
            }
            CommandKind::Group(list) => self.titled(&title("group"), list),
            CommandKind::Subshell(list) => self.titled(&title("subshell"), list),
            CommandKind::If(clause) => {
                for (i, (condition, body)) in clause.branches.iter().enumerate() {
                    self.titled(&if i == 0 { title("if") } else { "else if".to_owned() }, condition);
                    self.titled("then", body);
                }
                if let Some(otherwise) = &clause.otherwise {
                    self.titled("else", otherwise);
                }
            }
            CommandKind::Loop(this) => {
                self.titled(
                    &title(if this.until == super::ast::LoopKind::While { "while" } else { "until" }),
                    &this.condition,
                );
                self.titled("do", &this.body);
            }
            CommandKind::For(this) | CommandKind::Select(this) => {
                let words: Vec<String> = this.words.iter().flatten().map(print_word).collect();
                let kind = if matches!(command.kind, CommandKind::For(_)) { "for" } else { "select" };
                self.line(&title(&format!("{kind} {} in {}", print_word(&this.name), words.join(" "))));
                self.below(|to| {
                    to.insides(command);
                    to.list(&this.body);
                });
            }
            CommandKind::ArithmeticFor(this) => self.titled(&title("for (( ))"), &this.body),
            CommandKind::Case(this) => {
                self.line(&title(&format!("case {}", print_word(&this.word))));
                self.below(|to| {
                    for arm in &this.arms {
                        let patterns: Vec<String> = arm.patterns.iter().map(print_word).collect();
                        to.titled(&patterns.join(" | "), &arm.body);
                    }
                });
            }
            CommandKind::Arithmetic(parts) => {
                self.line(&title(&format!("(({}))", print_parts(parts))));
                self.below(|to| to.insides(command));
            }
            CommandKind::Test(test) => {
                self.line(&title(&format!("[[ {} ]]", print_test(test))));
                self.below(|to| to.insides(command));
            }
            CommandKind::Function(function) => {
                self.line(&format!("{before}function {}", print_word(&function.name)));
                self.below(|to| to.command(&function.body, ""));
            }
            CommandKind::Coproc(coproc) => {
                self.line(&format!("{before}coproc"));
                self.below(|to| to.command(&coproc.body, ""));
            }
        }
    }

    /// The commands of substitutions in the words of a command.
    fn insides(&mut self, command: &Command) {
        let mut found = Vec::new();
        for parts in inside_command(command) {
            substitutions(parts, &mut found);
        }
        for (title, list) in found {
            self.titled(title, list);
        }
    }
}
