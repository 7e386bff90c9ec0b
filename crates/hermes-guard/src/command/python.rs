//! Python code searched by its names: what it imports, which names it uses, which files it opens. Spellings of calls do
//! not matter: a dangerous name is enough, wherever it stands.

mod lists;
mod tokens;

use lists::{ANYWHERE, BARE, ENCODERS, EXCEPT, HARMLESS, HIDDEN_MODULES, PARTLY, PUBLIC, READERS, TELLING};
use tokens::Token;

/// How many names are told about.
const MOST_TOLD: usize = 8;

/// The names in the code that reach beyond what the tools do, each once.
pub(super) fn reaches(code: &str) -> Vec<String> {
    let tokens = tokens::tokens(code);
    let mut search = Search { tokens: &tokens, bound: Vec::new(), found: Vec::new() };
    search.imports();
    search.names();
    search.texts();
    search.found.truncate(MOST_TOLD);
    search.found
}

struct Search<'t> {
    tokens: &'t [Token],
    /// Names that stand for modules of which only a part is harmless: the name, the module.
    bound: Vec<(String, &'static str)>,
    found: Vec<String>,
}

impl Search<'_> {
    fn tell(&mut self, name: impl Into<String>) {
        let name = name.into();
        if !self.found.contains(&name) {
            self.found.push(name);
        }
    }

    fn name(&self, at: usize) -> Option<&str> {
        match self.tokens.get(at) {
            Some(Token::Name(name)) => Some(name),
            _ => None,
        }
    }

    fn is(&self, at: usize, sign: char) -> bool {
        self.tokens.get(at) == Some(&Token::Sign(sign))
    }

    /// A name with dots that begins here, and where it ends.
    fn dotted(&self, mut at: usize) -> (String, usize) {
        let mut text = String::new();
        while let Some(name) = self.name(at) {
            text.push_str(name);
            at += 1;
            if !self.is(at, '.') || self.name(at + 1).is_none() {
                break;
            }
            text.push('.');
            at += 1;
        }
        (text, at)
    }

    fn imports(&mut self) {
        let mut at = 0;
        while at < self.tokens.len() {
            at = match self.name(at) {
                Some("from") => self.import_from(at + 1),
                Some("import") => self.import(at + 1),
                _ => at + 1,
            };
        }
    }

    /// `import a.b as c, d`
    fn import(&mut self, mut at: usize) -> usize {
        loop {
            let (module, end) = self.dotted(at);
            if module.is_empty() {
                return at.max(end);
            }
            at = end;
            let alias = if self.name(at) == Some("as") {
                at += 2;
                self.name(at - 1).map(str::to_owned)
            } else {
                None
            };
            let first = module.split('.').next().unwrap_or_default().to_owned();
            match partly(&first) {
                // `import os.path as p` stands for the part.
                Some((_, allowed)) if alias.is_some() && module.contains('.') => {
                    let part = module[first.len() + 1..].split('.').next().unwrap_or_default();
                    if !allowed.contains(&part) {
                        self.tell(module.clone());
                    }
                }
                Some((name, allowed)) => {
                    let part = module.split('.').nth(1);
                    if part.is_some_and(|part| !allowed.contains(&part)) {
                        self.tell(module.clone());
                    }
                    self.bound.push((alias.unwrap_or(first), name));
                }
                None if !is_harmless(&module) => self.tell(module),
                None => {}
            }
            if !self.is(at, ',') {
                return at;
            }
            at += 1;
        }
    }

    /// `from a.b import c as d, e`; a `from` of another kind is passed.
    fn import_from(&mut self, start: usize) -> usize {
        let (module, mut at) = self.dotted(start);
        if self.name(at) != Some("import") && module != "import" {
            return if module.is_empty() && self.is(start, '.') {
                self.tell("a module beside the script");
                start + 1
            } else {
                at.max(start)
            };
        }
        at += 1;
        let first = module.split('.').next().unwrap_or_default();
        let Some((name, allowed)) = partly(first) else {
            if !is_harmless(&module) {
                self.tell(module);
            }
            return at;
        };
        if let Some(part) = module.split('.').nth(1) {
            if !allowed.contains(&part) {
                self.tell(module.clone());
            }
            return at;
        }
        let bracketed = self.is(at, '(');
        at += usize::from(bracketed);
        loop {
            match self.tokens.get(at) {
                Some(Token::Sign('\n')) if bracketed => at += 1,
                Some(Token::Sign(',')) => at += 1,
                Some(Token::Name(part)) => {
                    if !allows(allowed, part) {
                        self.tell(format!("{name}.{part}"));
                    }
                    at += if self.name(at + 1) == Some("as") { 3 } else { 1 };
                }
                _ => break,
            }
        }
        if self.is(at, '*') {
            self.tell(format!("{name}.*"));
        }
        at
    }

    fn names(&mut self) {
        let mut importing = false;
        for at in 0..self.tokens.len() {
            let Token::Name(name) = &self.tokens[at] else {
                importing &= !matches!(self.tokens[at], Token::Sign('\n' | ';'));
                continue;
            };
            let after_dot = at > 0 && self.is(at - 1, '.');
            importing |= matches!(name.as_str(), "import" | "from") && !after_dot;
            if !is_plain_name(name) {
                self.tell(format!("a name in letters that look like others: {name}"));
            }
            let base = if after_dot && at > 1 { self.name(at - 2) } else { None };
            let dangerous = ANYWHERE.contains(&name.as_str()) || name.starts_with("spawn");
            let carried = after_dot && !importing && HIDDEN_MODULES.contains(&name.trim_start_matches('_'));
            if dangerous && !(name == "system" && base == Some("platform"))
                || !after_dot && BARE.contains(&name.as_str())
                || carried
                || after_dot && self.is_private(at, name)
            {
                self.tell(name.clone());
            } else if name == "type" && !after_dot && (self.calls_outcome(at + 1) || self.is_renamed(at)) {
                self.tell("type(…)(…)");
            } else if name == "write"
                && after_dot
                && self.has("etree")
                && !matches!(base, Some("stdout" | "stderr"))
            {
                self.tell("ElementTree.write");
            } else if name == "name"
                && after_dot
                && self.has("TemporaryDirectory")
                && self.is_assigned(at + 1)
            {
                self.tell("TemporaryDirectory.name");
            } else if name == "ZipFile" && !importing && self.is(at + 1, '(') {
                self.opened(at, false);
            } else if name == "open" && !importing && (!self.is_bound(base) || self.opens_files(base)) {
                self.opened(at, after_dot);
            } else if name == "replace"
                && after_dot
                && self.has("pathlib")
                && self.arguments(at + 1).len() == 1
            {
                self.tell("Path.replace");
            } else if !after_dot && !importing {
                self.module_used(at, name);
            }
        }
    }

    /// A name that its module or class keeps to itself. In a class of the script's own it is the script's own.
    fn is_private(&self, at: usize, name: &str) -> bool {
        if name.starts_with("__") {
            return name.ends_with("__") && !TELLING.contains(&name);
        }
        let own = at > 1 && matches!(self.name(at - 2), Some("self" | "cls" | "other")) && self.has("class");
        name.starts_with('_') && name.len() > 1 && !PUBLIC.contains(&name) && !own
    }

    /// `(…)(`: what a call gives back is called.
    fn calls_outcome(&self, bracket: usize) -> bool {
        if !self.is(bracket, '(') {
            return false;
        }
        let mut depth = 0_usize;
        for at in bracket..self.tokens.len() {
            match self.tokens[at] {
                Token::Sign('(' | '[' | '{') => depth += 1,
                Token::Sign(')' | ']' | '}') => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return self.is(at + 1, '(');
                    }
                }
                _ => {}
            }
        }
        false
    }

    /// `x = type`
    fn is_renamed(&self, at: usize) -> bool {
        at > 0 && self.is(at - 1, '=') && !self.is(at + 1, '(') && !self.is(at + 1, '=')
    }

    fn is_assigned(&self, at: usize) -> bool {
        self.is(at, '=') && !self.is(at + 1, '=')
    }

    /// Modules whose `open` takes a mode like that of files.
    fn opens_files(&self, name: Option<&str>) -> bool {
        self.bound.iter().any(|(bound, module)| {
            Some(bound.as_str()) == name && matches!(*module, "gzip" | "bz2" | "lzma" | "tarfile")
        })
    }

    fn is_bound(&self, name: Option<&str>) -> bool {
        self.bound.iter().any(|(bound, _)| Some(bound.as_str()) == name)
    }

    /// A name that stands for a module of which only a part is harmless.
    fn module_used(&mut self, at: usize, name: &str) {
        let Some((_, module)) = self.bound.iter().find(|(bound, _)| bound == name) else { return };
        let module = *module;
        let allowed = partly(module).map_or(&[][..], |(_, allowed)| allowed);
        let part = if self.is(at + 1, '.') { self.name(at + 2) } else { None };
        let told = match part {
            // The whole environment may hold keys; one variable by name is asked for by name.
            Some("environ") if module == "os" => (!(self.is(at + 3, '[')
                || self.is(at + 3, '.') && self.name(at + 4) == Some("get")))
            .then(|| "os.environ".to_owned()),
            Some(part) if allows(allowed, part) => None,
            Some(part) => Some(format!("{module}.{part}")),
            None => Some(module.to_owned()),
        };
        if let Some(told) = told {
            self.tell(told);
        }
    }

    /// The arguments of a call whose bracket stands here: where each begins and ends.
    fn arguments(&self, bracket: usize) -> Vec<&[Token]> {
        if !self.is(bracket, '(') {
            return Vec::new();
        }
        let (mut depth, mut start, mut all) = (0_usize, bracket + 1, Vec::new());
        for at in bracket..self.tokens.len() {
            match self.tokens[at] {
                Token::Sign('(' | '[' | '{') => depth += 1,
                Token::Sign(')' | ']' | '}') => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        all.push(&self.tokens[start..at]);
                        break;
                    }
                }
                Token::Sign(',') if depth == 1 => {
                    all.push(&self.tokens[start..at]);
                    start = at + 1;
                }
                _ => {}
            }
        }
        all.retain(|argument| argument.iter().any(|token| *token != Token::Sign('\n')));
        all
    }

    /// `open(path, mode)`, `path.open(mode)`
    fn opened(&mut self, at: usize, after_dot: bool) {
        if !self.is(at + 1, '(') {
            return self.tell("open");
        }
        let mut odd = false;
        // A path that has a method `open` takes the mode first, the function takes it second.
        let is_method = after_dot
            && at > 1
            && !matches!(self.name(at - 2), Some("io" | "codecs"))
            && !self.opens_files(self.name(at - 2));
        let place_of_mode = usize::from(!is_method);
        for (place, argument) in self.arguments(at + 1).into_iter().enumerate() {
            let named = match argument {
                [Token::Name(name), Token::Sign('='), ..] => Some(name.as_str()),
                _ => None,
            };
            let value = if named.is_some() { &argument[2..] } else { argument };
            let is_mode = named == Some("mode") || named.is_none() && place == place_of_mode;
            let reads = matches!(value, [Token::Text { text, .. }] if is_reading(text));
            odd |= is_mode && !reads;
            odd |= named == Some("opener") || matches!(argument.first(), Some(Token::Sign('*')));
        }
        if odd {
            self.tell("open to write");
        }
    }

    fn has(&self, wanted: &str) -> bool {
        self.tokens.iter().any(|token| matches!(token, Token::Name(name) if name == wanted))
    }

    /// Texts that name places where logins and keys are kept.
    fn texts(&mut self) {
        let reads = READERS.iter().any(|name| self.has(name));
        for token in self.tokens {
            let Token::Text { text, .. } = token else { continue };
            let lower = text.to_lowercase();
            let of_processes = lower.contains("/proc/")
                && (lower.contains("environ") || lower.contains("/root"))
                || lower.ends_with("/environ");
            let is_path = !text.is_empty() && text.len() < 400 && !text.contains(['\n', ' ']);
            let secret = reads
                && is_path
                && crate::is_secret_path(std::path::Path::new(text))
                && lower.rsplit('.').next() != Some("pub");
            if of_processes || secret {
                self.tell(text.clone());
            }
        }
        let encodes = ENCODERS.iter().any(|name| self.has(name));
        if reads && encodes && !self.reads_only_named() {
            self.tell("a file that is read and encoded");
        }
    }

    /// Whether every file that is opened is written out.
    fn reads_only_named(&self) -> bool {
        (0..self.tokens.len()).filter(|at| self.name(*at).is_some_and(|name| READERS.contains(&name))).all(
            |at| {
                self.name(at) == Some("open")
                    && matches!(self.arguments(at + 1).first(), Some([Token::Text { formatted: false, .. }]))
            },
        )
    }
}

fn partly(module: &str) -> Option<(&'static str, &'static [&'static str])> {
    PARTLY.iter().find(|(name, _)| *name == module).map(|(name, allowed)| (*name, *allowed))
}

fn allows(allowed: &[&str], part: &str) -> bool {
    allowed.iter().any(|name| name.strip_suffix('*').map_or(*name == part, |start| part.starts_with(start)))
}

fn is_harmless(module: &str) -> bool {
    !EXCEPT.contains(&module)
        && HARMLESS.iter().any(|name| {
            module.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
}

/// Python takes look-alikes of ASCII letters for the letters themselves.
fn is_plain_name(name: &str) -> bool {
    name.chars().all(|c| {
        c.is_ascii()
            || matches!(u32::from(c), 0xC0..=0x17E | 0x370..=0x1CFF | 0x3040..=0x9FFF | 0xAC00..=0xD7A3)
    })
}

fn is_mode_text(text: &str) -> bool {
    // Archives name how they are packed behind a colon.
    let text = text.split([':', '|']).next().unwrap_or(text);
    !text.is_empty() && text.len() <= 4 && text.chars().all(|c| "rwaxbtU+".contains(c))
}

fn is_reading(mode: &str) -> bool {
    is_mode_text(mode) && !mode.contains(['w', 'a', 'x', '+'])
}

#[cfg(test)]
mod tests {
    use super::reaches;

    #[test]
    fn names_that_reach_out_are_found_in_every_spelling() {
        for (code, name) in [
            ("import os as o\no.system('x')", "system"),
            ("from os import system as s\ns('x')", "os.system"),
            ("from os import *", "os.*"),
            ("from os import (\n getcwd,\n system)", "os.system"),
            ("import os\nf = os\nf.x", "os"),
            ("import json, socket as s\ns.create_connection(1)", "socket.create_connection"),
            ("import subprocess\nsubprocess . run(['ls'])", "subprocess.run"),
            ("__import__('o'+'s')", "__import__"),
            ("print(f\"{eval('1')}\")", "eval"),
            ("getattr(x, 'y')", "getattr"),
            ("import ctypes", "ctypes"),
            ("import urllib.request", "urllib.request"),
            ("from urllib.request import urlopen", "urllib.request"),
            ("import random\nrandom._os.environ", "_os"),
            ("open('a', 'w').write('x')", "open to write"),
            ("open('a', mode=m)", "open to write"),
            ("open('a', 'r' '+')", "open to write"),
            ("open('a', **m)", "open to write"),
            ("o = open", "open"),
            ("from pathlib import Path\nPath('a').write_text('x')", "write_text"),
            ("from pathlib import Path\nPath('a').open('w')", "open to write"),
            ("from pathlib import Path\nPath('a').replace('b')", "Path.replace"),
            ("print(open('/home/ada/.ssh/id_rsa').read())", "/home/ada/.ssh/id_rsa"),
            ("open('/proc/self/environ').read()", "/proc/self/environ"),
            ("import base64\nbase64.b64encode(open(p,'rb').read())", "a file that is read and encoded"),
            ("import os\nprint(os.environ)", "os.environ"),
            ("import o\u{17f}", "a name in letters that look like others: o\u{17f}"),
            ("import pickle", "pickle"),
            ("from pathlib import Path\nPath('a').open(m)", "open to write"),
            ("import io\nio.open('a', 'w')", "open to write"),
            ("().__class__.__base__.__subclasses__()", "__subclasses__"),
            ("import tempfile\ntempfile.TemporaryDirectory._rmtree('/etc')", "_rmtree"),
            ("import uuid\nuuid._x('rm')", "_x"),
            ("type(lambda:0)(1)", "type(…)(…)"),
            ("t = type\nt(print)(1)", "type(…)(…)"),
            ("print.__self__", "__self__"),
            ("import logging.config", "logging.config"),
            ("import xml.etree.ElementTree as E\nE.ElementTree(x).write('a')", "ElementTree.write"),
            ("import gzip\ngzip.open('a','wb')", "open to write"),
            ("import zipfile\nzipfile.ZipFile('a','w')", "open to write"),
            ("import zipfile\nzipfile.ZipFile('a').extractall()", "extractall"),
            ("import tempfile\nt=tempfile.TemporaryDirectory(); t.name='/home'", "TemporaryDirectory.name"),
        ] {
            let found = reaches(code);
            assert!(found.iter().any(|one| one == name), "{code}: {found:?}");
        }
    }

    #[test]
    fn ordinary_scripts_reach_nothing() {
        for code in [
            "import json, re, sys\nprint(json.load(sys.stdin)['a'])",
            "from hermes_tools import terminal, read_file\nprint(terminal('ls'))",
            "import os\nfor d, _, f in os.walk('.'):\n    print(os.path.join(d, f[0]))",
            "import os.path as p\nprint(p.exists('x'))",
            "from os import path, getcwd",
            "import re\nx = re.compile('a').sub('b', 'c').replace('a', 'b')\nitems = [1]\nitems.remove(1)",
            "with open('data.csv') as f, open('b', 'rb') as g:\n    print(f.read())",
            "from pathlib import Path\nprint(Path('a').read_text(), Path('a').open().read())\n'x'.replace('a', 'b')",
            "print(\"os.system('rm -rf /')\")  # import os",
            "def f():\n    yield from range(3)\nraise ValueError('x') from None",
            "from datetime import datetime, timedelta\nprint(datetime.now())",
            "import platform, os\nprint(platform.system(), os.environ.get('HOME'), os.environ['USER'])",
            "gr\u{f6}\u{df}e = 1",
            "import sys\nprint(sys.path, sys.prefix)",
            "import gzip, zipfile\nprint(gzip.open('a').read(), zipfile.ZipFile('b').namelist())",
            "class A:\n    def __init__(self):\n        self._x = 1\nprint(A().__class__.__name__, type(1).__name__)",
            "from collections import namedtuple\nprint(namedtuple('P','a b')(1,2)._asdict())",
            "import threading\nthreading.Thread(target=print).start()",
        ] {
            assert_eq!(reaches(code), Vec::<String>::new(), "{code}");
        }
    }
}
