//! Shells: where their code stands, behind which options, and in which names of files.

use super::interpret::reading;
use super::options::{Next, Spec};
use super::{Flow, Walk};
use crate::command::call::{Call, Input, Mark, Via};
use crate::command::word::Word;

/// What shells are told before their script.
const SHELL: Spec = Spec { short: "", long: "rcfile= init-file=" };
/// The same for shells with options of their own.
const OTHER_SHELL: Spec = Spec {
    short: "c:C:o:d:p:f:D:",
    long: "command= commands= init-command= features= debug= profile= config= env-config= login interactive no-config",
};

impl Walk<'_> {
    pub(super) fn shell(&mut self, call: &Call) {
        let args = call.args();
        for text in &call.env {
            let Some((name, value)) = text.split_once('=') else { continue };
            self.given_variable(name, &Word::known(value));
            // A function that comes with the environment.
            if let Some(function) = name.strip_prefix("BASH_FUNC_").and_then(|name| name.strip_suffix("%%")) {
                self.line_apart(&format!("{function} {value}"), &Flow::default());
            }
            if matches!(name, "BASH_ENV" | "ENV") && !value.is_empty() {
                self.expanded_again(value);
                if let Some(text) = self.written_text(&Word::known(value)) {
                    self.line_apart(&text, &Flow::default());
                }
                self.mark(call, Mark::UnknownCode);
            }
        }
        if let Some(file) = call.value_of(&["--rcfile", "--init-file"]) {
            match self.written_text(&file) {
                Some(text) => self.line_apart(&text, &Flow::default()),
                None => self.mark(call, Mark::UnknownCode),
            }
        }
        let told = shell_words(args);
        if told.code {
            let Some((code, arguments)) = told.rest.split_first() else {
                if call.via == Via::Many {
                    self.unknown_code(call);
                }
                return;
            };
            return match code.text() {
                Some(line) => self.line_of_child(&line, arguments, call),
                None => self.unknown_code(call),
            };
        }
        match told.rest.first() {
            None => self.code_from_input(call),
            Some(_) if told.reads => self.code_from_input(call),
            Some(word) => self.script_word(call, word),
        }
    }

    /// The script of a shell: a descriptor, or a file.
    fn script_word(&mut self, call: &Call, word: &Word) {
        if word.is_blank() {
            return self.unknown_code(call);
        }
        if let Some(input) = Self::descriptor_of(call, word) {
            return self.code_from_input(&reading(call, input));
        }
        self.file(call, word, |walk, _, text| walk.line_apart(text, &Flow::default()));
    }

    /// Shells that are no Bourne shells: only what is asked of them alike.
    pub(super) fn other_shell(&mut self, call: &Call) {
        let (options, operands) = OTHER_SHELL.all(call.args());
        let codes: Vec<Word> = options
            .into_iter()
            .filter(|option| {
                matches!(option.name.as_str(), "-c" | "-C" | "--command" | "--commands" | "--init-command")
            })
            .filter_map(|option| option.value)
            .collect();
        let has_code = !codes.is_empty();
        for code in codes {
            self.code_word(call, Some(code));
        }
        match operands.first() {
            _ if has_code => {}
            Some(word) => self.script_word(call, word),
            None => self.code_from_input(call),
        }
    }

    pub(super) fn sourced(&mut self, call: &Call) {
        let operands = call.operands();
        let Some(word) = operands.first() else { return };
        if word.is_blank() {
            return self.unknown_code(call);
        }
        let read = match Self::descriptor_of(call, word) {
            Some(Input { text: Some(text), .. }) => Some(text),
            Some(input) => return self.code_from_input(&reading(call, input)),
            None => self.written_text(word),
        };
        match read {
            // What it changes stays.
            Some(text) => self.line(&text, &Flow { perhaps: self.perhaps, ..Flow::default() }),
            None => self.file(call, word, |walk, _, text| walk.line_apart(text, &Flow::default())),
        }
    }

    /// `eval`: what it changes stays.
    pub(super) fn evaluated(&mut self, call: &Call, code: Option<Word>) {
        let Some(code) = code else { return };
        match code.text() {
            Some(line) => self
                .line(&line, &Flow { input: call.input.clone(), perhaps: self.perhaps, ..Flow::default() }),
            None => self.unknown_code(call),
        }
    }
}

/// What a shell was told: whether the first word that is left is code, and whether it reads its commands.
struct Shell<'w> {
    code: bool,
    reads: bool,
    rest: &'w [Word],
}

/// Reads the options of a Bourne shell: `-eo pipefail`, `-c +x -O extglob`.
fn shell_words(args: &[Word]) -> Shell<'_> {
    let mut shell = Shell { code: false, reads: false, rest: args };
    while let Some((first, after)) = shell.rest.split_first() {
        let text = first.beginning();
        if text == "--" || text == "-" {
            shell.reads |= text == "-" && after.is_empty() && !shell.code;
            shell.rest = after;
            break;
        }
        if text.starts_with("--") {
            if let Next::Options(_, after) = SHELL.next(shell.rest) {
                shell.rest = after;
            }
            continue;
        }
        let Some(letters) = text.strip_prefix(['-', '+']) else { break };
        shell.code |= text.starts_with('-') && letters.contains('c');
        shell.reads |= text.starts_with('-') && letters.contains('s');
        // Each of these takes a word of its own.
        let values = letters.matches(['o', 'O']).count().min(after.len());
        shell.rest = &after[values..];
    }
    shell
}
