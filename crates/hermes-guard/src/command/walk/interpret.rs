//! Texts that are code: for shells they are read like the line itself, for Python as far as they say what they do.

use std::sync::Arc;

use super::{Flow, Walk};
use crate::command::call::{Call, Mark, Via};
use crate::command::rules::{FETCHERS, decodes};
use crate::command::script;
use crate::command::word::Word;

const SHELLS: &[&str] =
    &["bash", "sh", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash", "csh", "tcsh", "yash"];

/// Other interpreters, and the flags that take code.
const OTHERS: &[(&[&str], &[&str])] = &[
    (&["perl", "ruby", "lua", "osascript", "rscript", "r", "julia"], &["-e", "-E", "-ne", "-pe", "-pie"]),
    (&["node", "nodejs", "bun"], &["-e", "--eval", "-p", "--print"]),
    (&["php"], &["-r"]),
    (&["deno"], &["eval"]),
];

/// Programs made to print commands for a shell to run: `eval "$(ssh-agent -s)"`.
const PRINTERS: &[&str] = &[
    "ssh-agent",
    "direnv",
    "brew",
    "rbenv",
    "pyenv",
    "nodenv",
    "starship",
    "zoxide",
    "mise",
    "fnm",
    "opam",
    "dircolors",
    "kubectl",
    "helm",
    "gh",
    "conda",
    "keychain",
    "lesspipe",
    "atuin",
    "fzf",
    "register-python-argcomplete",
    "hermes",
];

impl Walk<'_> {
    /// A shell, another interpreter, or nothing of the kind.
    pub(super) fn interpret(&mut self, call: &Call, name: &str) {
        if let Some(word) = call.words.first().filter(|word| self.is_fresh(word)) {
            self.file(call, word, |walk, _, text| walk.line_apart(text, &Flow::default()));
        }
        let python = name.starts_with("python") || name.starts_with("pypy") || name == "ipython";
        match name {
            _ if SHELLS.contains(&name) => self.shell(call),
            "source" | "." => self.sourced(call),
            "ipython" if call.texts().iter().any(|text| text.contains(['!', '%'])) => self.unknown_code(call),
            _ if python => self.python(call),
            "nu" | "xonsh" | "elvish" => self.code_word(call, call.value_of(&["-c"])),
            "expect" if call.short('c') => self.unknown_code(call),
            "pwsh" | "powershell" if call.flags().any(|flag| flag.to_lowercase().starts_with("-c")) => {
                self.unknown_code(call);
            }
            "make" | "gmake" if runs_given_rules(call) => self.unknown_code(call),
            _ => {
                if let Some((_, flags)) = OTHERS.iter().find(|(names, _)| names.contains(&name)) {
                    self.code(call, flags, script::other);
                }
            }
        }
    }

    /// Python: code behind `-c`, alone or among other flags, and modules that run code they are given.
    fn python(&mut self, call: &Call) {
        let args = call.args();
        for (place, word) in args.iter().enumerate() {
            let text = word.beginning();
            if !text.starts_with('-') || text.len() < 2 {
                break;
            }
            if text == "-m" || text.starts_with("-m") {
                return self.python_module(call, place);
            }
            let Some(at) = text.find('c').filter(|_| !text.starts_with("--")) else { continue };
            let joined = word.without_prefix(&text[..=at]).filter(|rest| !rest.is_empty());
            let code = joined.or_else(|| args.get(place + 1).cloned());
            return match code.as_ref().and_then(Word::text) {
                Some(code) => self.acts(call, script::python_and_names(&code)),
                None => self.unknown_code(call),
            };
        }
        self.code(call, &["-c"], script::python_and_names);
    }

    fn python_module(&mut self, call: &Call, place: usize) {
        let args = call.args();
        let rest = args.get(place..).unwrap_or_default();
        let named = rest.first().and_then(|word| word.without_prefix("-m")).filter(|word| !word.is_empty());
        let (module, given) = match named {
            Some(module) => (Some(module), rest.get(1..)),
            None => (rest.get(1).cloned(), rest.get(2..)),
        };
        let given = given.unwrap_or_default();
        match module.as_ref().and_then(Word::text).as_deref() {
            Some("timeit") => {
                for word in given {
                    match word.text() {
                        Some(code) => {
                            let code = code.strip_prefix("-s").unwrap_or(&code).to_owned();
                            self.acts(call, script::python_and_names(&code));
                        }
                        None => self.unknown_code(call),
                    }
                }
            }
            Some("pdb" | "code" | "IPython" | "runpy" | "trace" | "cProfile" | "profile")
                if given.iter().any(|word| word.beginning().starts_with("-c")) || call.input.unknown =>
            {
                self.unknown_code(call);
            }
            Some(_) => {}
            None => self.unknown_code(call),
        }
    }

    fn shell(&mut self, call: &Call) {
        let args = call.args();
        for text in &call.env {
            let Some((name, value)) = text.split_once('=') else { continue };
            self.given_variable(name, &Word::known(value));
            if matches!(name, "BASH_ENV" | "ENV") && !value.is_empty() {
                self.mark(call, Mark::UnknownCode);
            }
        }
        if let Some(file) = call.value_of(&["--rcfile", "--init-file"]) {
            match self.written_text(&file) {
                Some(text) => self.line_apart(&text, &Flow::default()),
                None => self.mark(call, Mark::UnknownCode),
            }
        }
        let is_c = |word: &Word| {
            let text = word.beginning();
            text.starts_with('-') && !text.starts_with("--") && text.contains('c')
        };
        if let Some(at) = args.iter().position(is_c) {
            let code = args[at + 1..].iter().find(|word| !word.beginning().starts_with('-'));
            if code.is_none() && call.via == Via::Many {
                return self.unknown_code(call);
            }
            return self.code_word(call, code.cloned());
        }
        let file = first_file(args, &["-o", "-O", "--rcfile", "--init-file", "+o"]);
        match file {
            Some(word) if word.text().as_deref() == Some("-") || call.has("-s") => self.code_from_input(call),
            Some(word) if word.is_blank() => self.unknown_code(call),
            Some(word)
                if word
                    .text()
                    .is_some_and(|text| matches!(text.as_str(), "/dev/stdin" | "/proc/self/fd/0")) =>
            {
                self.code_from_input(call);
            }
            Some(word) => self.file(call, word, |walk, _, text| walk.line_apart(text, &Flow::default())),
            None => self.code_from_input(call),
        }
    }

    fn sourced(&mut self, call: &Call) {
        match call.operands().first() {
            Some(word) if word.is_blank() => self.unknown_code(call),
            Some(word) if word.text().as_deref() == Some("/dev/stdin") => self.code_from_input(call),
            Some(word) => self.file(call, word, |walk, _, text| walk.line_apart(text, &Flow::default())),
            None => {}
        }
    }

    /// A file that is run: read, if an earlier command wrote it and its text is known.
    fn file(&mut self, call: &Call, word: &Word, read: impl FnOnce(&mut Self, &Call, &str)) {
        match self.written_text(word) {
            Some(text) => read(self, call, &text),
            None if self.is_fresh_file(word) => self.mark(call, Mark::JustMadeExecutable),
            None => {}
        }
    }

    /// A word that a shell runs as a command line.
    pub(super) fn code_word(&mut self, call: &Call, code: Option<Word>) {
        let Some(code) = code else { return };
        match code.text() {
            Some(line) => self.line_apart(&line, &Flow { input: call.input.clone(), ..Flow::default() }),
            None => self.unknown_code(call),
        }
    }

    /// A shell that reads its commands.
    pub(super) fn code_from_input(&mut self, call: &Call) {
        match &call.input.text {
            Some(text) => {
                let text = text.clone();
                self.line_apart(&text, &Flow::default());
            }
            None if call.input.unknown => self.unknown_code(call),
            None => {}
        }
    }

    /// Code in a flag, on standard input or in a file.
    fn code(&mut self, call: &Call, flags: &[&str], read: fn(&str) -> Vec<script::Act>) {
        if let Some(code) = call.value_of(flags) {
            return match code.text() {
                Some(code) => self.acts(call, read(&code)),
                None => self.unknown_code(call),
            };
        }
        let file = first_file(call.args(), &["-m", "-W", "-X", "-I", "-M", "-r"]);
        let reads_input = !call.has("-m") && file.is_none_or(|word| word.text().as_deref() == Some("-"));
        if reads_input && !call.only_asks_for_help() {
            return match &call.input.text {
                Some(code) => self.acts(call, read(&code.clone())),
                None if call.input.unknown => self.unknown_code(call),
                None => {}
            };
        }
        if let Some(word) = file.filter(|_| !call.has("-m")) {
            if word.is_blank() {
                self.unknown_code(call);
            } else {
                self.file(call, word, |walk, call, text| walk.acts(call, read(text)));
            }
        }
    }

    /// Code nobody can read, and where it comes from as far as that is known.
    fn unknown_code(&mut self, call: &Call) {
        let sources = || call.input.upstream.iter().chain(&call.origins);
        let of = |words: &Arc<Vec<Word>>| Call { words: Vec::clone(words), ..Call::default() };
        let printed = call.input.upstream.is_empty() && !call.origins.is_empty();
        if printed && call.origins.iter().all(|words| of(words).is(PRINTERS)) {
            return;
        }
        let mark = if sources().any(|words| of(words).is(FETCHERS)) {
            Mark::FromDownload
        } else if sources().any(|words| decodes(&of(words))) {
            Mark::FromDecoder
        } else {
            Mark::UnknownCode
        };
        self.mark(call, mark);
    }
}

/// Whether `make` is given rules in the line.
fn runs_given_rules(call: &Call) -> bool {
    call.value_of(&["-f", "--file", "--makefile"]).is_some_and(|word| word.text().as_deref() == Some("-"))
        || call.flags().any(|flag| flag.starts_with("--eval") || flag.starts_with("-E"))
}

/// The first word that is no option and no option's value.
fn first_file<'w>(args: &'w [Word], valued: &[&str]) -> Option<&'w Word> {
    let mut rest = args;
    while let Some((first, after)) = rest.split_first() {
        let text = first.beginning();
        if text == "--" {
            return after.first();
        }
        if text == "-" || !(text.starts_with('-') || text.starts_with('+')) {
            return Some(first);
        }
        rest = if valued.contains(&text.as_str()) { after.get(1..).unwrap_or_default() } else { after };
    }
    None
}
