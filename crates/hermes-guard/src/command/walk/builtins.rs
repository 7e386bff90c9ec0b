//! What the shell's own commands change for those that follow.

use super::Walk;
use super::output::printf;
use crate::command::call::Call;
use crate::command::rules::FETCHERS;
use crate::command::word::Word;
use crate::shell::{Field, Piece};

/// How many arguments are kept by their numbers.
const MOST_ARGUMENTS: usize = 32;

impl Walk<'_> {
    /// Keeps what a program changes for the rest of the line.
    pub(super) fn effects(&mut self, call: &Call) {
        match call.name().as_deref() {
            Some("cd" | "pushd") => self.change_directory(call),
            Some("popd") => self.back_from(),
            // A name for another variable: whichever is assigned, the other changes.
            Some("declare" | "typeset" | "local") if call.short('n') => self.refer(call),
            Some("cp" | "mv" | "ln" | "install" | "rsync") => self.renamed(call),
            Some("scp") => {
                self.renamed(call);
                self.fetched(call);
            }
            Some("docker" | "podman" | "kubectl") if call.has("cp") => self.renamed(call),
            Some("hash") => {
                let spec = super::options::Spec { short: "p:", long: "" };
                let (options, names) = spec.all(call.args());
                let program = super::options::value_of(&options, &["-p"]).and_then(|word| word.text());
                for (name, program) in names.iter().filter_map(Word::text).zip(program.iter().cycle()) {
                    self.state.aliases.insert(name, program.as_str().into());
                }
            }
            Some(name @ ("export" | "declare" | "typeset" | "local" | "readonly")) => {
                let exports = name == "export" || call.short('x');
                for word in call.operands() {
                    self.declare(word);
                    if exports {
                        let name = word.beginning();
                        self.state.exported.insert(name.split('=').next().unwrap_or_default().to_owned());
                    }
                }
            }
            Some("read") => self.read(call),
            Some("mapfile" | "readarray") => self.read_lines(call),
            Some("unset") => {
                for name in call.operands().into_iter().filter_map(Word::text) {
                    // It stands for nothing from here on, unless it may also not be unset.
                    self.state.variables.forget(&name);
                    if !self.perhaps {
                        self.state.variables.set(&name, Field::default());
                    }
                    self.state.functions.remove(&name);
                }
            }
            Some("getopts") => {
                for name in call.texts().iter().map(String::as_str).chain(["OPTARG", "OPTIND"]) {
                    self.state.variables.forget(name);
                }
            }
            Some("set") => self.set_options(call),
            Some("shift") => self.shift(call),
            Some("printf") => {
                if let Some(name) = call.value_of(&["-v"]).and_then(|word| word.text()) {
                    let words: Option<Vec<String>> = call.args().iter().skip(2).map(Word::text).collect();
                    match words.and_then(|words| printf(&words)).filter(|_| call.has("-v")) {
                        Some(text) => self.keep(&name, &text),
                        None => self.state.variables.forget(&name),
                    }
                }
            }
            Some("let") => call.texts().iter().for_each(|text| self.computed(text)),
            Some("chmod") => {
                let executable = call.operands().first().and_then(|mode| mode.text()).is_some_and(|mode| {
                    mode.contains('x')
                        || mode.chars().all(|c| c.is_ascii_digit())
                            && mode.chars().any(|c| "1357".contains(c))
                });
                if executable {
                    self.keep_fresh(call.operands().into_iter().skip(1).filter_map(Word::text));
                }
            }
            Some(name) if FETCHERS.contains(&name) => self.fetched(call),
            _ => self.writes_files(call),
        }
    }

    /// Gives a variable a text, unless it may also not get it.
    fn keep(&mut self, name: &str, text: &str) {
        self.give(name, &Field::from_text(text));
        let differs = self.state.variables.get(name).and_then(Field::text).is_some_and(|old| old != text);
        if self.perhaps && differs {
            self.state.variables.forget(name);
        } else {
            self.state.variables.set(name, Field::from_text(text));
        }
    }

    /// `declare -n name=other`: from here on one name for the other.
    fn refer(&mut self, call: &Call) {
        for text in call.operands().into_iter().filter_map(Word::text) {
            match text.split_once('=') {
                Some((name, other)) => {
                    self.expanded_again(other);
                    self.state.variables.refer(name, other);
                }
                None => self.state.variables.forget_all(),
            }
        }
    }

    /// `shift`: the arguments move up.
    fn shift(&mut self, call: &Call) {
        let by = call.texts().first().map_or(Some(1), |text| text.parse::<usize>().ok());
        let words: Option<Vec<Word>> = self
            .state
            .variables
            .elements("@")
            .map(|fields| fields.iter().map(|field| self.word(field)).collect());
        match (words, by) {
            (Some(words), Some(by)) if !self.perhaps => {
                self.set_arguments(words.get(by..).unwrap_or(&words));
            }
            _ => self.forget_arguments(),
        }
    }

    fn forget_arguments(&mut self) {
        self.state.variables.forget("@");
        for place in 1..=MOST_ARGUMENTS {
            self.state.variables.forget(&place.to_string());
        }
    }

    /// `set -- a b`: the shell's own arguments from here on. `set -a` exports what is assigned, which is not followed.
    fn set_options(&mut self, call: &Call) {
        let args = call.args();
        let is_option = |word: &&Word| word.beginning().starts_with(['-', '+']) && word.beginning() != "--";
        let options = args.iter().take_while(is_option).count();
        let strict = |word: &Word| {
            let text = word.beginning();
            text.starts_with('-') && text.contains('e') || text == "errexit"
        };
        if args.iter().take(options + 1).any(strict) {
            self.state.ways.strict = true;
        }
        let rest = match args.get(options) {
            Some(word) if word.text().as_deref() == Some("--") => &args[options + 1..],
            Some(_) if options == 0 => args,
            _ => return,
        };
        self.set_arguments(rest);
    }

    /// What `$1` and `$@` stand for from here on.
    pub(super) fn set_arguments(&mut self, words: &[Word]) {
        self.spend(words.len());
        let fields: Option<Vec<Field>> =
            words.iter().map(|word| word.text().map(|text| Field::from_text(&text))).collect();
        for place in 1..=MOST_ARGUMENTS {
            match words.get(place - 1).and_then(Word::text) {
                Some(text) => self.state.variables.set(&place.to_string(), Field::from_text(&text)),
                None => self.state.variables.forget(&place.to_string()),
            }
        }
        match fields {
            Some(fields) => self.state.variables.set_array("@", fields),
            None => self.state.variables.forget("@"),
        }
    }

    /// `read a b <<< 'x y'`, where what is read stands in the line.
    fn read(&mut self, call: &Call) {
        let spec = super::options::Spec { short: "a:d:i:n:N:p:t:u:", long: "" };
        let (options, operands) = spec.all(call.args());
        let mut names: Vec<String> = operands.iter().filter_map(Word::text).collect();
        let list = super::options::value_of(&options, &["-a"]).and_then(|word| word.text());
        // A loop reads line by line.
        let once = !self.perhaps || call.input.text.as_deref().is_some_and(|text| text.lines().count() == 1);
        let known = once
            && options
                .iter()
                .all(|option| matches!(option.name.as_str(), "-r" | "-a" | "-d" | "-p" | "-s" | "-u"));
        let from = super::options::value_of(&options, &["-u"])
            .and_then(|word| Self::descriptor_of(call, &Word::known(format!("/dev/fd/{}", word.shown()))))
            .unwrap_or_else(|| call.input.clone());
        let Some(text) = from.text.filter(|_| known) else {
            for name in names.into_iter().chain(list) {
                self.state.variables.forget(&name);
                self.state.sources.insert(name, from.upstream.clone());
            }
            return;
        };
        let line = match super::options::value_of(&options, &["-d"]).map(|word| word.text()) {
            None => text.lines().next().unwrap_or_default().to_owned(),
            Some(Some(end)) => match end.chars().next() {
                Some(end) => text.split(end).next().unwrap_or_default().to_owned(),
                None => text.clone(),
            },
            Some(None) => return,
        };
        let Some(between) = self.separators(call) else { return };
        if let Some(list) = list {
            let fields = line.split(|c| between.contains(c)).filter(|word| !word.is_empty()).take(100);
            let fields: Vec<Field> = fields.map(Field::from_text).collect();
            return self.state.variables.set_array(&list, fields);
        }
        if names.is_empty() {
            names.push("REPLY".to_owned());
        }
        let mut rest = line.trim_matches(|c: char| c.is_whitespace() && between.contains(c));
        for (place, name) in names.iter().enumerate() {
            let (word, after) = match rest.split_once(|c| between.contains(c)) {
                Some((word, after)) if place + 1 < names.len() => {
                    (word, after.trim_start_matches(|c: char| c.is_whitespace() && between.contains(c)))
                }
                _ => (rest, ""),
            };
            self.keep(name, word);
            rest = after;
        }
    }

    /// The characters between words, where they are known: `IFS`.
    fn separators(&self, call: &Call) -> Option<String> {
        if let Some(given) = call.env.iter().rev().find_map(|text| text.strip_prefix("IFS=")) {
            return (!given.contains('…')).then(|| given.to_owned());
        }
        if self.state.variables.is_touched("IFS") {
            return self.state.variables.get("IFS").and_then(Field::text);
        }
        Some(" \t\n".to_owned())
    }

    /// `mapfile -t a <<< 'x'`
    fn read_lines(&mut self, call: &Call) {
        for name in call.texts() {
            self.state.variables.forget(&name);
        }
        let known = call.flags().all(|flag| flag == "-t");
        let names: Vec<String> = call.operands().into_iter().filter_map(Word::text).collect();
        let name = match names.as_slice() {
            [] => "MAPFILE",
            [name] => name.as_str(),
            _ => return,
        };
        if let (Some(text), true) = (&call.input.text, known) {
            let lines: Vec<Field> = text.lines().take(100).map(Field::from_text).collect();
            if let Some(first) = lines.first() {
                self.give(name, first);
            }
            self.state.variables.set_array(name, lines);
        }
    }

    /// `export NAME=value`
    fn declare(&mut self, word: &Word) {
        let beginning = word.beginning();
        let Some((name, value)) = beginning.split_once('=') else { return };
        if word.has_unknown() || word.has_glob() {
            self.state.variables.forget(name);
        } else {
            let value = Field { pieces: vec![Piece::Text(value.to_owned())] };
            self.state.variables.set(name, value);
        }
    }
}
