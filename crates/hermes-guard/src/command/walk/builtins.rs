//! What the shell's own commands change for those that follow.

use std::sync::Arc;

use super::Walk;
use super::output::printf;
use crate::command::call::Call;
use crate::command::path::Route;
use crate::command::rules::FETCHERS;
use crate::command::word::Word;
use crate::shell::{Field, Piece};

/// Longest text of a file that is remembered.
const LONGEST_TEXT: usize = 64 * 1024;
/// Most files whose text is remembered.
const MOST_FILES: usize = 64;

impl Walk<'_> {
    /// Keeps what a program changes for the rest of the line.
    pub(super) fn effects(&mut self, call: &Call) {
        match call.name().as_deref() {
            Some("cd" | "pushd") => self.change_directory(call),
            Some("popd") => self.moved_to(None),
            // A name for another variable: whichever is assigned, the other changes.
            Some("declare" | "typeset" | "local") if call.short('n') => self.state.variables.forget_all(),
            Some("cp" | "mv" | "ln" | "install") => self.renamed(call),
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
            Some("unset" | "getopts") => {
                for name in call.texts() {
                    self.state.variables.forget(&name);
                }
            }
            Some("set") => self.set_options(call),
            Some("shift") => {
                for name in ["@", "1", "2", "3", "4", "5", "6", "7", "8", "9"] {
                    self.state.variables.forget(name);
                }
            }
            Some("printf") => {
                if let Some(name) = call.value_of(&["-v"]).and_then(|word| word.text()) {
                    let words: Option<Vec<String>> = call.args().iter().skip(2).map(Word::text).collect();
                    match words.and_then(|words| printf(&words)).filter(|_| call.has("-v")) {
                        Some(text) => self.state.variables.set(&name, Field::from_text(&text)),
                        None => self.state.variables.forget(&name),
                    }
                }
            }
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
            _ => {}
        }
    }

    /// `set -- a b`: the shell's own arguments from here on. `set -a` exports what is assigned, which is not followed.
    fn set_options(&mut self, call: &Call) {
        let args = call.args();
        let is_option = |word: &&Word| word.beginning().starts_with(['-', '+']) && word.beginning() != "--";
        let options = args.iter().take_while(is_option).count();
        let rest = match args.get(options) {
            Some(word) if word.text().as_deref() == Some("--") => &args[options + 1..],
            Some(_) if options == 0 => args,
            _ => return,
        };
        self.set_arguments(rest);
    }

    /// What `$1` and `$@` stand for from here on.
    pub(super) fn set_arguments(&mut self, words: &[Word]) {
        let fields: Option<Vec<Field>> =
            words.iter().map(|word| word.text().map(|text| Field::from_text(&text))).collect();
        for place in 1..=9 {
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
        let names: Vec<String> = call.operands().into_iter().filter_map(Word::text).collect();
        for name in call.texts() {
            self.state.variables.forget(&name);
        }
        let known = call.flags().all(|flag| flag == "-r");
        let Some(text) = call.input.text.as_deref().filter(|_| known) else { return };
        let mut rest = text.lines().next().unwrap_or_default().trim();
        for (place, name) in names.iter().enumerate() {
            let (word, after) = match rest.split_once([' ', '\t']) {
                Some((word, after)) if place + 1 < names.len() => (word, after.trim_start()),
                _ => (rest, ""),
            };
            self.state.variables.set(name, Field::from_text(word));
            rest = after;
        }
    }

    /// `mapfile -t a <<< 'x'`
    fn read_lines(&mut self, call: &Call) {
        for name in call.texts() {
            self.state.variables.forget(&name);
        }
        let known = call.flags().all(|flag| flag == "-t");
        let names: Vec<String> = call.operands().into_iter().filter_map(Word::text).collect();
        if let ([name], Some(text), true) = (names.as_slice(), &call.input.text, known) {
            let lines = text.lines().take(100).map(Field::from_text).collect();
            self.state.variables.set_array(name, lines);
        }
    }

    /// Files under another name, and system programs under one of their own.
    fn renamed(&mut self, call: &Call) {
        if call.is(&["ln", "cp"]) {
            self.linked(call);
        }
        let operands = call.operands();
        let [from, to] = operands.as_slice() else { return };
        let (Some(from), Some(to)) = (from.text(), to.text()) else { return };
        let mut names = vec![to.clone()];
        // Into a directory the name stays.
        names.extend(from.rsplit('/').next().map(|name| format!("{}/{name}", to.trim_end_matches('/'))));
        let is_program =
            ["/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/"].iter().any(|dir| from.starts_with(dir));
        if let Some(text) = self.state.written.get(bare(&from)).cloned() {
            for name in names {
                self.state.written.insert(bare(&name).to_owned(), Arc::clone(&text));
            }
        } else if is_program || self.state.fresh.iter().any(|file| file == bare(&from)) {
            self.keep_fresh(names.into_iter());
        }
    }

    /// `ln -s target name`: the name leads there for the rest of the line.
    fn linked(&mut self, call: &Call) {
        let by_cp = call.short('s') || call.short('l') || call.has_any(&["--link", "--symbolic-link"]);
        let operands = call.operands();
        let texts: Option<Vec<String>> = operands.iter().map(|word| word.text()).collect();
        let Some(texts) = texts.filter(|_| call.is(&["ln"]) || by_cp) else { return };
        let (target, name) = match texts.as_slice() {
            [target] => (target, "."),
            [target, name] => (target, name.as_str()),
            _ => return,
        };
        let Some(target) =
            Route::of(&Word::known(target), call.cwd.as_deref()).and_then(|route| route.text())
        else {
            return;
        };
        // Into a directory the name stays.
        let inside = target.rsplit('/').next().map(|last| format!("{name}/{last}")).unwrap_or_default();
        for name in [name.to_owned(), inside] {
            self.state.links.insert(bare(name.trim_end_matches('/')).to_owned(), target.clone());
        }
    }

    /// The same call with the names of links that were made in this line replaced by what they lead to.
    pub(super) fn through_links(&mut self, call: &Call) -> Option<Call> {
        if self.state.links.is_empty() {
            return None;
        }
        self.spend(self.state.links.len() * call.words.len());
        let mut found = false;
        let mut replaced = |word: &Word| {
            let beginning = word.beginning();
            let led = self.state.links.iter().find_map(|(name, target)| {
                let start = if beginning.starts_with("./") { 2 } else { 0 };
                let rest = beginning.get(start..)?.strip_prefix(name.as_str())?;
                (!name.is_empty() && (rest.is_empty() || rest.starts_with('/')))
                    .then(|| (start + name.len(), target))
            });
            let Some((length, target)) = led else { return word.clone() };
            let Some(rest) = beginning.get(..length).and_then(|name| word.without_prefix(name)) else {
                return word.clone();
            };
            found = true;
            let mut through = Word::known(target.clone());
            through.push_word(&rest);
            through
        };
        let words = call.words.iter().map(&mut replaced).collect();
        let writes = call.writes.iter().map(&mut replaced).collect();
        found.then(|| Call { words, writes, ..call.clone() })
    }

    fn fetched(&mut self, call: &Call) {
        let named =
            call.value_of(&["-o", "--output", "-O", "--output-document"]).and_then(|word| word.text());
        // `curl -O` and plain `wget` keep the last name of the address.
        let by_address = call
            .operands()
            .into_iter()
            .filter_map(Word::text)
            .filter(|text| text.contains("//") || call.is(&["wget"]) && text.contains('/'))
            .filter_map(|text| {
                text.split(['?', '#']).next().and_then(|text| text.rsplit('/').next().map(str::to_owned))
            });
        let by_shell = call.writes.iter().filter_map(Word::text);
        let files: Vec<String> = named.into_iter().chain(by_address).chain(by_shell).collect();
        self.keep_fresh(files.into_iter());
    }

    fn keep_fresh(&mut self, files: impl Iterator<Item = String>) {
        self.state.fresh.extend(files.map(|file| bare(&file).to_owned()).filter(|file| !file.is_empty()));
    }

    /// Keeps what a command writes into files, where its text is known; where not, that they are new.
    pub(super) fn keep_written(&mut self, writes: &[Word], text: Option<&str>, appends: bool) {
        for file in writes.iter().filter_map(Word::text).filter(|file| !file.starts_with("/dev/")) {
            let file = bare(&file).to_owned();
            let fits = |text: &&str| text.len() <= LONGEST_TEXT && self.state.written.len() < MOST_FILES;
            let unknown = appends && self.state.fresh.contains(&file);
            let before = self.state.written.get(&file).filter(|_| appends);
            let whole = text.map(|text| format!("{}{text}", before.map_or("", |before| before)));
            if let Some(text) = whole.as_deref().filter(fits).filter(|_| !unknown) {
                let text = text.into();
                self.state.written.insert(file, text);
            } else {
                self.state.written.remove(&file);
                self.state.fresh.push(file);
            }
        }
    }

    /// The text an earlier command wrote into a file.
    pub(super) fn written_text(&self, word: &Word) -> Option<String> {
        self.state.written.get(bare(&word.text()?)).map(std::string::ToString::to_string)
    }

    /// Whether a file was fetched or made executable earlier in the line.
    pub(super) fn is_fresh(&self, word: &Word) -> bool {
        word.text()
            .is_some_and(|text| text.contains('/') && self.state.fresh.iter().any(|file| file == bare(&text)))
    }

    /// The same for a file that is given to an interpreter, where a bare name is a file too.
    pub(super) fn is_fresh_file(&self, word: &Word) -> bool {
        word.text().is_some_and(|text| self.state.fresh.iter().any(|file| file == bare(&text)))
    }

    fn change_directory(&mut self, call: &Call) {
        let operands = call.operands();
        let to = match operands.first() {
            None => (!self.sight.home.is_empty()).then(|| self.sight.home.to_owned()),
            Some(word) if word.text().as_deref() == Some("-") => None,
            Some(word) => Route::of(word, self.state.cwd.as_deref()).and_then(|route| route.text()),
        };
        self.moved_to(to);
    }

    fn moved_to(&mut self, directory: Option<String>) {
        match &directory {
            Some(path) => {
                let value = Field { pieces: vec![Piece::Text(path.clone())] };
                self.state.variables.set("PWD", value);
            }
            None => self.state.variables.forget("PWD"),
        }
        self.state.cwd = directory;
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

/// A path without `./` before it.
fn bare(path: &str) -> &str {
    let mut path = path;
    while let Some(rest) = path.strip_prefix("./") {
        path = rest.trim_start_matches('/');
    }
    path
}
