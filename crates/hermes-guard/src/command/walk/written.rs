//! Files that the line itself makes: what is in them, what they are called, and programs under other names.

use std::sync::Arc;

use super::Walk;
use super::options::{Spec, has, value_of};
use crate::command::call::Call;
use crate::command::path::Route;
use crate::command::word::Word;

/// Longest text of a file that is remembered.
const LONGEST_TEXT: usize = 64 * 1024;
/// Most files whose text is remembered.
const MOST_FILES: usize = 64;
/// Directories of the system's programs.
const PROGRAMS: &[&str] = &["/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/", "/usr/local/bin/"];

const CURL: Spec = Spec {
    short: "o:H:d:F:u:A:e:b:c:X:x:E:K:m:T:w:y:Y:z:Q:r:t:C:D:h:P:U:",
    long: "output= output-dir= header= data= data-raw= data-binary= data-urlencode= form= user= user-agent= referer= cookie= \
           cookie-jar= request= proxy= cert= config= max-time= connect-timeout= retry= retry-delay= upload-file= write-out= \
           range= dump-header= cacert= key= resolve= url= remote-name remote-name-all location fail silent show-error",
};
const WGET: Spec = Spec {
    short: "O:o:P:U:a:i:t:T:w:Q:e:A:R:D:l:B:",
    long: "output-document= output-file= directory-prefix= user-agent= header= post-data= tries= timeout= wait= limit-rate= \
           user= password= referer= accept= reject= domains= level= input-file= append-output=",
};

impl Walk<'_> {
    /// Where a path leads: one name for every spelling of it.
    fn place(&self, path: &str) -> String {
        let word = Word::known(path);
        match Route::of(&word, self.state.cwd.as_deref()).and_then(|route| route.text()) {
            Some(path) => path,
            // From a directory nobody knows: as if it were the root of its own.
            None => {
                Route::of(&word, Some("/?")).and_then(|route| route.text()).unwrap_or_else(|| path.to_owned())
            }
        }
    }

    /// What programs that are known to write leave behind.
    pub(super) fn writes_files(&mut self, call: &Call) {
        let text = call.input.text.clone();
        let operands: Vec<String> = call.operands().into_iter().filter_map(Word::text).collect();
        let of = |call: &Call, flags: &[&str]| call.value_of(flags).and_then(|word| word.text());
        let mut keep = |file: Option<String>, text: Option<&str>| {
            if let Some(file) = file {
                self.keep_written(&[Word::known(file)], text, false);
            }
        };
        match call.name().as_deref() {
            Some("dd") => {
                let named = |start: &str| {
                    call.texts().iter().find_map(|word| word.strip_prefix(start).map(str::to_owned))
                };
                let text = text.filter(|_| named("if=").is_none());
                keep(named("of="), text.as_deref());
            }
            Some("sort") => {
                let text = text.filter(|_| call.operands().len() <= 1);
                keep(of(call, &["-o", "--output"]), text.as_deref());
            }
            Some("sponge" | "uniq") => {
                let file = if call.is(&["uniq"]) { operands.get(1) } else { operands.last() };
                keep(file.cloned(), text.as_deref());
            }
            Some("mkfifo") => operands.iter().for_each(|file| keep(Some(file.clone()), None)),
            Some("openssl") => keep(of(call, &["-out"]), None),
            Some("gpg" | "gpg2") => keep(of(call, &["-o", "--output"]), None),
            Some("xxd") => keep(operands.get(1).cloned(), None),
            Some("sed" | "gsed" | "perl" | "awk" | "gawk" | "patch" | "ed" | "ex" | "vim") => {
                self.changes_files(call);
            }
            _ => {}
        }
    }

    /// Editors of files: what is in those that the line wrote is no longer known.
    fn changes_files(&mut self, call: &Call) {
        let in_place = call
            .flags()
            .any(|flag| flag.starts_with("-i") || flag.starts_with("--in-place") || flag.starts_with("-pi"));
        let texts = call.texts();
        let mut files: Vec<String> = Vec::new();
        if in_place || call.is(&["patch", "ed", "ex", "vim"]) {
            files.extend(
                texts.iter().filter(|text| self.state.written.contains_key(&self.place(text))).cloned(),
            );
        }
        if in_place && call.is(&["sed", "gsed"]) && texts.iter().any(|text| is_inserting(text)) {
            files.extend(call.operands().last().and_then(|word| word.text()));
        }
        // `sed 'w file'`, `awk '{ print > "file" }'`
        for text in &texts {
            if call.is(&["sed", "gsed"]) {
                files.extend(text.split(['\n', ';']).filter_map(|part| {
                    part.trim_start_matches(|c: char| "0123456789,$!/".contains(c))
                        .trim()
                        .strip_prefix("w ")
                        .map(str::to_owned)
                }));
            } else if call.is(&["awk", "gawk"]) {
                files.extend(
                    text.split('>').skip(1).filter_map(|part| part.split('"').nth(1).map(str::to_owned)),
                );
            }
        }
        let files: Vec<Word> = files.into_iter().map(Word::known).collect();
        self.keep_written(&files, None, false);
    }

    /// Files under another name, and system programs under one of their own.
    pub(super) fn renamed(&mut self, call: &Call) {
        if call.is(&["ln", "cp"]) {
            self.linked(call);
        }
        let spec = Spec {
            short: "t:S:m:o:g:",
            long: "target-directory= suffix= mode= owner= group= backup? rsh= exclude= include= filter=",
        };
        let (options, operands) = spec.all(call.args());
        let mut texts: Vec<String> = operands.iter().filter_map(Word::text).collect();
        let into = value_of(&options, &["-t", "--target-directory"]).and_then(|word| word.text());
        let Some(to) = into.or_else(|| if texts.len() > 1 { texts.pop() } else { None }) else { return };
        for from in texts.into_iter().take(MOST_FILES) {
            // Into a directory the name stays.
            let inside =
                from.rsplit(['/', ':']).next().map(|name| format!("{}/{name}", to.trim_end_matches('/')));
            let names: Vec<String> =
                std::iter::once(to.clone()).chain(inside).map(|name| self.place(&name)).collect();
            self.same_file(call, &from, names);
        }
    }

    fn same_file(&mut self, call: &Call, from: &str, names: Vec<String>) {
        let place = self.place(from);
        let program = self.state.programs.get(&place).cloned().or_else(|| {
            let name = PROGRAMS.iter().find_map(|dir| place.strip_prefix(dir))?;
            (!name.contains('/')).then(|| name.to_owned())
        });
        let read = Self::descriptor_of(call, &Word::known(from));
        let text =
            self.state.written.get(&place).cloned().or_else(|| read.as_ref()?.text.as_deref().map(Arc::from));
        // From another machine.
        let fetched = from.split_once(':').is_some_and(|(host, _)| !host.contains('/'))
            && call.is(&["scp", "rsync", "docker", "kubectl"]);
        if let Some(text) = text {
            self.state.written.extend(names.into_iter().map(|name| (name, Arc::clone(&text))));
        } else if let Some(program) = program {
            for name in names {
                self.state.programs.insert(name.clone(), program.clone());
                self.state.fresh.push(name);
            }
        } else if fetched || read.is_some() || self.state.fresh.contains(&place) {
            self.state.fresh.extend(names);
        }
    }

    /// A program that was given another name is run under its own.
    pub(super) fn under_its_name(&mut self, call: &Call) {
        let Some(first) = call.words.first() else { return };
        let route = first.split_slashes();
        // The program that runs: the shell itself, or nobody knows which.
        if matches!(route.as_slice(), [root, proc, _, exe] if root.is_empty() && proc.may_be("proc") && exe.may_be("exe"))
        {
            let mut words = call.words.clone();
            words[0] = Word::known("bash");
            self.mark(call, crate::command::call::Mark::UnknownCode);
            return self.start(call, words, call.via);
        }
        let Some(text) = first.text().filter(|text| self.is_looked_up(text, call)) else { return };
        let found = self.state.programs.get(&self.place(&text)).or_else(|| {
            let end = format!("/{text}");
            self.state
                .programs
                .iter()
                .find(|(path, _)| !text.contains('/') && path.ends_with(&end))
                .map(|(_, name)| name)
        });
        let Some(program) = found.cloned() else { return };
        if program != call.name().unwrap_or_default() {
            let mut words = call.words.clone();
            words[0] = Word::known(program);
            self.start(call, words, call.via);
        }
    }

    /// Whether a program may be a file of the line: it is named by a path, or programs are looked for elsewhere than usual.
    fn is_looked_up(&self, program: &str, call: &Call) -> bool {
        program.contains('/')
            || self.state.variables.is_touched("PATH")
            || call.env.iter().any(|text| text.starts_with("PATH="))
    }

    /// The file that a program named without its directory would be, if the line made one of that name anywhere.
    fn found_by_path(&self, program: &str) -> Option<String> {
        let end = format!("/{program}");
        let made = self.state.written.keys().chain(&self.state.fresh).find(|file| file.ends_with(&end));
        made.cloned()
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

    /// Files that a program fetches.
    pub(super) fn fetched(&mut self, call: &Call) {
        let spec = if call.is(&["wget"]) { &WGET } else { &CURL };
        let (options, operands) = spec.all(call.args());
        let text = |word: Option<Word>| word.and_then(|word| word.text());
        let named = text(value_of(&options, &["-o", "--output"]).filter(|_| !call.is(&["wget"])))
            .or_else(|| text(value_of(&options, &["-O", "--output-document"])));
        // `curl -O` and plain `wget` keep the last name of the address.
        let keeps = call.is(&["wget"]) || has(&options, &["-O", "--remote-name", "--remote-name-all"]);
        let by_address = operands
            .iter()
            .filter_map(Word::text)
            .filter(|text| text.contains("//") || keeps && text.contains('/'));
        let by_address: Vec<String> = by_address
            .filter_map(|text| {
                text.split(['?', '#']).next().and_then(|text| text.rsplit('/').next().map(str::to_owned))
            })
            .collect();
        let dir = text(value_of(&options, &["-P", "--directory-prefix", "--output-dir"]));
        let below = dir
            .iter()
            .flat_map(|dir| by_address.iter().map(move |file| format!("{dir}/{file}")))
            .collect::<Vec<_>>();
        let by_shell = call.writes.iter().filter_map(Word::text);
        let files: Vec<String> =
            named.into_iter().chain(by_address.clone()).chain(below).chain(by_shell).collect();
        self.keep_fresh(files.into_iter());
    }

    pub(super) fn keep_fresh(&mut self, files: impl Iterator<Item = String>) {
        for file in files.filter(|file| !file.is_empty()) {
            let file = self.place(&file);
            self.state.fresh.push(file);
        }
    }

    /// Keeps what a command writes into files, where its text is known; where not, that they are new.
    pub(super) fn keep_written(&mut self, writes: &[Word], text: Option<&str>, appends: bool) {
        for file in writes.iter().filter_map(Word::text).filter(|file| !file.starts_with("/dev/")) {
            let file = self.place(&file);
            let fits = |text: &&str| text.len() <= LONGEST_TEXT && self.state.written.len() < MOST_FILES;
            let unknown =
                appends && self.state.fresh.contains(&file) && !self.state.written.contains_key(&file);
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
        let text = word.text()?;
        if let Some(found) = self.state.written.get(&self.place(&text)) {
            return Some(found.to_string());
        }
        // A pattern may stand for it.
        let dir = text.rsplit_once('/').map_or(".", |(dir, _)| dir);
        let last = word.split_slashes().pop().filter(Word::has_glob)?;
        let dir = self.place(if dir.is_empty() { "/" } else { dir });
        let fits = |path: &String| {
            path.rsplit_once('/')
                .is_some_and(|(parent, name)| parent == dir.trim_end_matches('/') && last.may_be(name))
        };
        self.state.written.iter().find(|(path, _)| fits(path)).map(|(_, text)| text.to_string())
    }

    /// Whether a program is a file that was fetched, written or made executable earlier in the line.
    pub(super) fn is_fresh(&self, word: &Word, call: &Call) -> bool {
        let Some(text) = word.text() else { return false };
        if text.contains('/') {
            let place = self.place(&text);
            return self.state.fresh.contains(&place);
        }
        self.is_looked_up(&text, call) && self.found_by_path(&text).is_some()
    }

    /// The text of a program that the line wrote, wherever it is looked for.
    pub(super) fn program_text(&self, word: &Word) -> Option<String> {
        self.written_text(word).or_else(|| {
            let path = self.found_by_path(&word.text()?)?;
            self.state.written.get(&path).map(std::string::ToString::to_string)
        })
    }

    /// The same for a file that is given to an interpreter, where a bare name is a file too.
    pub(super) fn is_fresh_file(&self, word: &Word) -> bool {
        word.text().is_some_and(|text| self.state.fresh.contains(&self.place(&text)))
    }
}

/// Whether a program of `sed` puts lines of its own into a file.
fn is_inserting(text: &str) -> bool {
    let command = text.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '$' | '^' | ','));
    command.starts_with(['i', 'a', 'c'])
        && command.len() > 1
        && !command.chars().nth(1).is_some_and(char::is_alphanumeric)
}

/// A path without `./` before it.
fn bare(path: &str) -> &str {
    let mut path = path;
    while let Some(rest) = path.strip_prefix("./") {
        path = rest.trim_start_matches('/');
    }
    path
}
