//! Texts that a shell expands although they stand in quotes: subscripts, prompts, arithmetic.

use super::{Flow, Walk};
use crate::command::call::{Call, Mark};
use crate::command::word::Word;
use crate::shell::ast::WordPart;
use crate::shell::{Field, compute};

/// How many names of one expression are followed.
const MOST_NAMES: usize = 32;

/// Variables whose values a shell expands by itself.
const PROMPTS: &[&str] = &["PS0", "PS1", "PS2", "PS4"];

impl Walk<'_> {
    /// A text that is expanded again: commands in it are run.
    pub(super) fn expanded_again(&mut self, text: &str) {
        if text.contains("$(") || text.contains('`') || text.contains("${") {
            let quoted = format!("echo \"{}\"", text.replace('"', ""));
            self.line_apart(&quoted, &Flow::default());
        }
    }

    /// Arithmetic: what its names stand for is arithmetic too, and commands in subscripts are run.
    pub(super) fn in_arithmetic(&mut self, parts: &[WordPart]) {
        let text = self.word(&self.state.variables.resolve_text(parts)).shown();
        self.spend(10 + text.len());
        self.arithmetic_text(&text);
        self.computed(&text);
    }

    fn arithmetic_text(&mut self, text: &str) {
        let mut seen: Vec<String> = Vec::new();
        let mut texts = vec![text.to_owned()];
        // Each name is looked up once, so this ends.
        while let Some(text) = texts.pop() {
            self.expanded_again(&text);
            let names =
                text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|name| !name.is_empty());
            for name in names {
                if seen.len() < MOST_NAMES && !seen.iter().any(|other| other == name) {
                    seen.push(name.to_owned());
                    texts.extend(self.state.variables.get(name).and_then(Field::text));
                }
            }
        }
    }

    /// Arithmetic that assigns: `((x=-1))`, `let x=-1`.
    pub(super) fn computed(&mut self, text: &str) {
        for (name, value) in compute(text, &self.state.variables).assigned {
            match value.filter(|_| !self.perhaps) {
                Some(value) => self.state.variables.set(&name, Field::from_text(&value.to_string())),
                None => self.state.variables.forget(&name),
            }
        }
    }

    /// A variable that a shell expands or runs by itself.
    pub(super) fn given_variable(&mut self, name: &str, value: &Word) {
        if self.state.numbers.contains(name) {
            self.arithmetic_text(&value.shown());
        }
        let name = self.state.variables.meant(name).to_owned();
        let name = name.as_str();
        if PROMPTS.contains(&name) {
            self.expanded_again(&value.shown());
        } else if name == "PROMPT_COMMAND" {
            self.line_apart(&value.shown().replace('…', ":"), &Flow::default());
            if value.has_unknown() {
                self.mark(&Call { words: vec![Word::known(name)], ..Call::default() }, Mark::UnknownCode);
            }
        }
    }

    /// `declare -i name`: what is assigned to it from here on is arithmetic.
    fn whole_numbers(&mut self, name: &str) {
        self.state.numbers.insert(name.to_owned());
    }

    /// Arguments of the shell's own commands that name variables, with subscripts that are arithmetic.
    pub(super) fn subscripts(&mut self, call: &Call) {
        let texts = call.texts();
        match call.name().as_deref() {
            Some("let") => texts.iter().for_each(|text| self.arithmetic_text(text)),
            Some("test" | "[") if call.has_any(&["-v", "-eq", "-ne", "-lt", "-gt", "-le", "-ge"]) => {
                for text in &texts {
                    self.expanded_again(text);
                }
            }
            Some("printf") if call.has("-v") => {
                texts.iter().take(2).for_each(|text| self.expanded_again(text));
            }
            Some("read" | "unset" | "mapfile" | "readarray" | "wait") => {
                let named = texts.iter().filter(|text| text.contains('['));
                named.for_each(|text| self.expanded_again(text));
            }
            Some("declare" | "typeset" | "local" | "export" | "readonly") => {
                let whole = call.short('i');
                for text in &texts {
                    let name = text.split('=').next().unwrap_or(text);
                    if whole {
                        self.arithmetic_text(text);
                        self.whole_numbers(name);
                    }
                    self.expanded_again(name);
                    if let Some((name, value)) = text.split_once('=') {
                        self.given_variable(name, &Word::known(value));
                    }
                }
            }
            _ => {}
        }
    }
}
