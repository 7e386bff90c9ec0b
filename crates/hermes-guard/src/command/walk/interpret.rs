//! Texts that are code: for shells they are read like the line itself, for Python as far as they say what they do.

use std::sync::Arc;

use super::{Flow, Walk};
use crate::command::call::{Call, Input, Mark};
use crate::command::other::{self, LANGUAGES, Language};
use crate::command::path::Route;
use crate::command::rules::{FETCHERS, decodes};
use crate::command::script;
use crate::command::word::Word;

const SHELLS: &[&str] =
    &["bash", "sh", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash", "csh", "tcsh", "yash"];

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
    "npm",
    "docker-machine",
    "minikube",
    "luarocks",
    "poetry",
];

impl Walk<'_> {
    /// A shell, another interpreter, or nothing of the kind.
    pub(super) fn interpret(&mut self, call: &Call, name: &str) {
        if let Some(word) = call.words.first().filter(|word| word.beginning().contains('/')) {
            self.own_script(call, word, None);
        }
        if let Some(word) =
            call.words.first().filter(|word| word.beginning().contains('/') || self.is_fresh(word, call))
        {
            match self.program_text(word) {
                Some(text) => self.written_script(call, word, &text),
                None if self.is_fresh(word, call) => self.mark(call, Mark::JustMadeExecutable),
                None => {}
            }
        }
        let python =
            name.starts_with("python") || name.starts_with("pypy") || matches!(name, "ipython" | "py");
        match name {
            "fish" | "nu" | "xonsh" | "elvish" => self.other_shell(call),
            _ if SHELLS.contains(&name) => self.shell(call),
            "source" | "." => self.sourced(call),
            "ipython" if call.texts().iter().any(|text| text.contains(['!', '%'])) => self.unknown_code(call),
            _ if python => self.python(call),
            "expect" if call.short('c') => self.unknown_code(call),
            "pwsh" | "powershell" if call.flags().any(|flag| flag.to_lowercase().starts_with("-c")) => {
                self.unknown_code(call);
            }
            "make" | "gmake" if runs_given_rules(call) => self.unknown_code(call),
            _ => {
                if let Some(language) = LANGUAGES.iter().find(|language| language.names.contains(&name)) {
                    self.other_language(call, language);
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

    /// Python that reads its code.
    pub(super) fn python_input(&mut self, call: &Call) {
        self.input_as(call, script::python_and_names);
    }

    /// Code of another language on standard input: a text, a file, or something nobody knows.
    fn input_as(&mut self, call: &Call, read: impl Fn(&str) -> Vec<script::Act>) {
        match &call.input.text {
            Some(code) => self.acts(call, read(&code.clone())),
            None if call.input.unknown => match plain_file(call) {
                Some(word) => self.file(call, &word, |walk, call, text| walk.acts(call, read(text))),
                None => self.unknown_code(call),
            },
            None => {}
        }
    }

    /// Code of another language: every piece of it, or the file or input it stands in.
    fn other_language(&mut self, call: &Call, language: &Language) {
        let args = call.args();
        let mut found = false;
        for (place, word) in args.iter().enumerate() {
            let text = word.beginning();
            let is_cluster = !language.clustered.is_empty()
                && text.len() > 2
                && text.starts_with('-')
                && !text.starts_with("--")
                && !["-M", "-I", "-m", "-r"].iter().any(|flag| text.starts_with(flag))
                && text.ends_with(|c| language.clustered.contains(c))
                && text[1..].chars().all(|c| c.is_ascii_alphanumeric());
            let flag = language.flags.iter().find(|flag| text.starts_with(**flag));
            let code = if is_cluster || language.flags.contains(&text.as_str()) {
                args.get(place + 1).cloned()
            } else {
                flag.and_then(|flag| word.without_prefix(flag))
                    .map(|rest| rest.without_prefix("=").unwrap_or(rest))
            };
            let Some(code) = code.filter(|_| is_cluster || flag.is_some()) else { continue };
            found = true;
            match code.text() {
                Some(code) => self.acts(call, other::acts(&code, language.trust)),
                None => self.unknown_code(call),
            }
        }
        if !found {
            let trust = language.trust;
            self.code(call, &[], move |code| other::acts(code, trust));
        }
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
            Some("code" | "asyncio" | "IPython") if call.input.text.is_some() => self.python_input(call),
            Some("zipfile" | "tarfile") => {
                let extracts =
                    |word: &Word| word.text().is_some_and(|text| matches!(text.as_str(), "-e" | "--extract"));
                if given.iter().any(extracts) {
                    let to = given.get(2).cloned().unwrap_or_else(|| Word::known("."));
                    self.acts(call, vec![script::Act::Write(to)]);
                }
            }
            Some("json.tool") => {
                let files: Vec<&Word> =
                    given.iter().filter(|word| !word.beginning().starts_with('-')).collect();
                if let [_, to, ..] = files.as_slice() {
                    self.acts(call, vec![script::Act::Write((*to).clone())]);
                }
            }
            // Programs of the same names do the same.
            Some(name @ ("base64" | "sqlite3" | "quopri" | "uu" | "gzip")) => {
                let words = std::iter::once(Word::known(name)).chain(given.iter().cloned()).collect();
                self.run(&Call { words, ..call.clone() });
            }
            Some("pdb" | "code" | "IPython" | "runpy" | "trace" | "cProfile" | "profile")
                if given.iter().any(|word| word.beginning().starts_with("-c")) || call.input.unknown =>
            {
                self.unknown_code(call);
            }
            Some(name) => {
                let file = Word::known(format!("{}.py", name.replace('.', "/")));
                if let Some(text) = self.written_text(&file) {
                    self.acts(call, script::python_and_names(&text));
                }
            }
            None => self.unknown_code(call),
        }
    }

    /// A file that is run: read, if an earlier command wrote it and its text is known.
    pub(super) fn file(&mut self, call: &Call, word: &Word, read: impl FnOnce(&mut Self, &Call, &str)) {
        match self.written_text(word) {
            // Whatever reads it, a text that names its interpreter is a script like those that tools write.
            Some(text) if text.starts_with("#!") || text.lines().count() > 1 => {
                self.outright(call, word, call.name().filter(|name| is_interpreter(name)), &text);
            }
            Some(text) => read(self, call, &text),
            None if self.is_fresh_file(word) => self.mark(call, Mark::JustMadeExecutable),
            None => self.own_script(call, word, call.name()),
        }
    }

    /// A file that the agent wrote with another tool before. Only what it says outright counts: scripts are full of names that are
    /// known when they run.
    fn own_script(&mut self, call: &Call, word: &Word, program: Option<String>) {
        let path = Route::of(word, call.cwd.as_deref()).and_then(|route| route.text());
        let Some(text) = path.and_then(|path| self.sight.script?(&path)) else { return };
        self.outright(call, word, program, &text);
    }

    /// A file that the line wrote and now runs by its name.
    fn written_script(&mut self, call: &Call, word: &Word, text: &str) {
        self.outright(call, word, None, text);
    }

    /// Reads a script as far as it says outright what it does.
    fn outright(&mut self, call: &Call, word: &Word, program: Option<String>, text: &str) {
        let program = program.or_else(|| named_interpreter(text)).unwrap_or_else(|| "sh".to_owned());
        let (calls, troubles) = (self.look.calls.len(), self.look.troubles.len());
        if program.starts_with("python") || program.starts_with("pypy") {
            self.acts(call, script::python(text));
        } else if let Some(language) = LANGUAGES.iter().find(|one| one.names.contains(&program.as_str())) {
            self.acts(call, other::acts(text, language.trust));
        } else if SHELLS.contains(&program.as_str()) || matches!(program.as_str(), "source" | ".") {
            let args = call.args().iter().skip_while(|given| *given != word).skip(1).cloned();
            let arguments: Vec<Word> = std::iter::once(word.clone()).chain(args).collect();
            self.line_of_child(text, &arguments, call);
        }
        let mut added = self.look.calls.split_off(calls);
        added.retain(|call| {
            call.name().is_some() && !call.marks.contains(&Mark::UnknownCode)
                || !call.writes.is_empty()
                || self.is_worst(call)
        });
        self.look.calls.extend(added);
        let worst = |trouble: &super::Trouble| matches!(trouble, super::Trouble::TooMuch { .. });
        let mut told = self.look.troubles.split_off(troubles);
        told.retain(worst);
        self.look.troubles.extend(told);
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
            None if call.input.unknown => match plain_file(call).filter(|_| call.input.upstream.is_empty()) {
                Some(word) => self.file(call, &word, |walk, _, text| walk.line_apart(text, &Flow::default())),
                None => self.unknown_code(call),
            },
            None => {}
        }
    }

    /// Code in a flag, on standard input or in a file.
    fn code(&mut self, call: &Call, flags: &[&str], read: impl Fn(&str) -> Vec<script::Act>) {
        if let Some(code) = call.value_of(flags) {
            return match code.text() {
                Some(code) => self.acts(call, read(&code)),
                None => self.unknown_code(call),
            };
        }
        let file = first_file(call.args(), &["-m", "-W", "-X", "-I", "-M", "-r"]);
        let read_there = file.and_then(|word| Self::descriptor_of(call, word));
        let is_input = |word: &Word| word.text().as_deref() == Some("-");
        let reads_input = !call.has("-m") && (file.is_none_or(is_input) || read_there.is_some());
        if reads_input && !call.only_asks_for_help() {
            return match read_there {
                Some(input) => self.input_as(&reading(call, input), read),
                None => self.input_as(call, read),
            };
        }
        if let Some(word) = file.filter(|_| !call.has("-m")) {
            if word.is_blank() {
                return self.unknown_code(call);
            }
            // Interpreters find files by less than their whole name.
            let named = |end: &str| {
                let mut longer = word.clone();
                longer.push_text(end);
                longer
            };
            let longer = [".js", ".mjs", ".py", "/__main__.py", "/index.js"].iter().map(|end| named(end));
            let found = longer.into_iter().find(|word| self.written_text(word).is_some());
            let word = found.as_ref().unwrap_or(word);
            self.file(call, word, |walk, call, text| walk.acts(call, read(text)));
        }
    }

    /// Code nobody can read, and where it comes from as far as that is known.
    pub(super) fn unknown_code(&mut self, call: &Call) {
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

/// The same call, reading something else: where that comes from counts like what stands in its words.
pub(super) fn reading(call: &Call, mut input: Input) -> Call {
    let origins = std::mem::take(&mut input.upstream);
    let mut call = Call { input, ..call.clone() };
    call.origins = origins;
    call
}

/// Whether a program runs scripts.
fn is_interpreter(name: &str) -> bool {
    SHELLS.contains(&name)
        || matches!(name, "source" | ".")
        || name.starts_with("python")
        || name.starts_with("pypy")
        || LANGUAGES.iter().any(|language| language.names.contains(&name))
}

/// The file that stands on standard input, where it is a file like any other.
fn plain_file(call: &Call) -> Option<Word> {
    let [file] = call.input.files.as_slice() else { return None };
    let text = file.text().filter(|text| !text.starts_with("/dev/") && !text.starts_with("/proc/"))?;
    (!file.has_glob() && !text.is_empty()).then(|| file.clone())
}

/// The program that the first line of a script names.
fn named_interpreter(text: &str) -> Option<String> {
    let line = text.lines().next()?.strip_prefix("#!")?;
    let mut words = line.split_whitespace();
    let first = words.next()?.rsplit('/').next()?;
    let name = if first == "env" { words.find(|word| !word.starts_with('-'))? } else { first };
    Some(name.to_owned())
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
