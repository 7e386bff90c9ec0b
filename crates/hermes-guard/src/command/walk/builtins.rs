//! What the shell's own commands change for those that follow.

use std::sync::Arc;

use super::Walk;
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
            Some("export" | "declare" | "typeset" | "local" | "readonly") => {
                for word in call.operands() {
                    self.declare(word);
                }
            }
            Some("unset" | "read" | "mapfile" | "readarray" | "getopts") => {
                for name in call.texts() {
                    self.state.variables.forget(&name);
                }
            }
            Some("printf") => {
                if let Some(name) = call.value_of(&["-v"]).and_then(|word| word.text()) {
                    self.state.variables.forget(&name);
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

    /// Files under another name, and system programs under one of their own.
    fn renamed(&mut self, call: &Call) {
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
            // A text in pieces is not put together.
            let pieces =
                appends && (self.state.written.contains_key(&file) || self.state.fresh.contains(&file));
            if let Some(text) = text.filter(fits).filter(|_| !pieces) {
                self.state.written.insert(file, text.into());
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
