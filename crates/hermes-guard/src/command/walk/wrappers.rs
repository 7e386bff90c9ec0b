//! Programs that start other programs: what they start, with what belongs to it.

use super::options::{Given, Next, Spec, has, value_of};
use super::starters::{Rest, Starter, starter};
use super::{Flow, Walk};
use crate::command::call::{Call, Mark, Via};
use crate::command::other::LANGUAGES;
use crate::command::path::Route;
use crate::command::word::Word;

/// What a starter was told: its options, and the words that are left.
struct Told {
    options: Vec<Given>,
    words: Vec<Word>,
    env: Vec<String>,
    cwd: Option<String>,
}

impl Walk<'_> {
    /// What a program starts in turn.
    pub(super) fn inner(&mut self, call: &Call) {
        let Some(name) = call.name() else { return };
        let written = call.words.first().and_then(Word::text).unwrap_or_default();
        if let Some(body) = self.state.functions.get(&written).cloned() {
            return self.call_function(call, &body);
        }
        if let Some(code) = self.state.aliases.remove(&written) {
            self.run_alias(call, &code);
            self.state.aliases.insert(written, code);
            return;
        }
        if let Some(found) = starter(&name) {
            self.started(call, &name, found);
            // Some also take code of a language of their own (`nix eval --expr`).
            if LANGUAGES.iter().any(|language| language.names.contains(&name.as_str())) {
                self.interpret(call, &name);
            }
            return;
        }
        match name.as_str() {
            "find" | "gfind" | "fd" | "fdfind" => self.found(call),
            "sg" => match call.value_of(&["-c"]) {
                Some(code) => self.code_word(call, Some(code)),
                None => self.code_word(call, joined(call.args().get(1..).unwrap_or_default())),
            },
            "gdb" | "kubectl" | "oc" => self.after_mark(call, &name),
            "start-stop-daemon" => self.daemon(call),
            "ssh" | "rsh" | "slogin" | "mosh" => self.remote(call),
            "tmux" | "byobu" => self.in_tmux(call),
            "screen" => self.in_screen(call),
            "trap" => self.code_word(
                call,
                call.operands()
                    .first()
                    .map(|word| (*word).clone())
                    .filter(|word| word.text().as_deref() != Some("-")),
            ),
            "alias" => {
                for word in call.operands() {
                    if let Some((name, code)) = word.text().as_deref().and_then(|text| text.split_once('=')) {
                        self.new_alias(name, code);
                    }
                }
            }
            "bind" => {
                let key = value_of(&Spec { short: "x:f:q:u:r:m:", long: "" }.all(call.args()).0, &["-x"]);
                let code = key.and_then(|word| word.text()).and_then(|text| {
                    text.rsplit_once(':').map(|(_, code)| code.trim_matches(['"', ' ']).to_owned())
                });
                self.code_word(call, code.map(Word::known));
            }
            "socat" => {
                for text in call.texts() {
                    let code = ["EXEC:", "SYSTEM:", "exec:", "system:"]
                        .iter()
                        .find_map(|kind| text.strip_prefix(kind));
                    self.code_word(call, code.map(Word::known));
                }
            }
            "hermes" | "hermes-agent" => self.inside_ours(call),
            "git" => self.inside_git(call),
            "cmake" if call.has("-E") => self.inside_cmake(call),
            "at" | "batch" => match call.value_of(&["-f"]) {
                Some(file) => self.file(call, &file, |walk, _, text| walk.line_apart(text, &Flow::default())),
                None => self.code_from_input(call),
            },
            _ => self.interpret(call, &name),
        }
    }

    fn call_function(&mut self, call: &Call, body: &crate::shell::ast::Command) {
        let name = call.words.first().and_then(Word::text).unwrap_or_default();
        let state = self.state.variables.clone();
        self.set_arguments(call.args());
        self.body(&name, body, &Flow { input: call.input.clone(), ..Flow::default() });
        self.state.variables = state;
    }

    /// A name that from here on stands for the beginning of a command.
    pub(super) fn new_alias(&mut self, name: &str, code: &str) {
        self.line_apart(code, &Flow::default());
        self.state.aliases.insert(name.to_owned(), code.into());
    }

    fn run_alias(&mut self, call: &Call, code: &str) {
        let Some(mut words) = self.words_of(code) else { return };
        let mut args = call.args().to_vec();
        // After a blank at the end the next word may stand for something too.
        if code.ends_with(' ')
            && let Some(more) =
                args.first().and_then(Word::text).and_then(|next| self.state.aliases.get(&next).cloned())
            && let Some(more) = self.words_of(&more)
        {
            args.splice(0..1, more).for_each(drop);
        }
        words.extend(args);
        self.start(call, words, call.via);
    }

    /// The words of a text that is one simple command.
    pub(super) fn words_of(&self, text: &str) -> Option<Vec<Word>> {
        let script = crate::shell::parse(text).ok()?;
        let command = &script.list.items.last()?.chain.first.stages.last()?.command;
        let crate::shell::ast::CommandKind::Simple(simple) = &command.kind else { return None };
        Some(simple.words.iter().flat_map(|word| self.resolve(word)).collect())
    }

    /// A program of the table.
    fn started(&mut self, call: &Call, name: &str, starter: &Starter) {
        let Some(told) = told(call, name, starter) else { return };
        // `command -v x` only asks where it is.
        if name == "command" && has(&told.options, &["-v", "-V"]) {
            return;
        }
        let Told { options, words, env, cwd } = told;
        let mut call = Call { env, cwd, ..call.clone() };
        if matches!(name, "nohup" | "setsid" | "systemd-run") {
            call.marks.push(Mark::Detached);
        }
        if name == "eval" {
            return self.evaluated(&call, joined(&words));
        }
        let before = self.look.calls.len();
        let state = (starter.via == Via::Remote).then(|| self.save());
        if state.is_some() {
            (self.state.cwd, call.cwd) = (None, None);
        }
        self.started_words(&call, name, starter, &options, words);
        if let Some(state) = state {
            self.state = state;
            self.look.calls[before..].iter_mut().for_each(|call| call.via = Via::Remote);
        }
    }

    fn started_words(
        &mut self,
        call: &Call,
        name: &str,
        starter: &Starter,
        options: &[Given],
        mut words: Vec<Word>,
    ) {
        let codes: Vec<Word> = options
            .iter()
            .filter(|option| starter.code.contains(&option.name.as_str()))
            .filter_map(|option| option.value.clone())
            .collect();
        let has_code = !codes.is_empty();
        for code in codes {
            self.code_word(call, Some(code));
        }
        if let Some(line) = value_of(options, &["-S", "--split-string"]).filter(|_| name == "env") {
            let Some(text) = line.text() else { return self.unknown_code(call) };
            let mut all = self.words_of(&text.replace("\\_", " ")).unwrap_or_default();
            all.extend(words);
            return self.start(call, all, call.via);
        }
        match name {
            "setarch" if words.first().is_some_and(is_architecture) => drop(words.remove(0)),
            "capsh" if !words.is_empty() => words.insert(0, Word::known("bash")),
            "uv" if words.first().is_some_and(is_python_file) => {
                words.insert(0, Word::known("python3"));
            }
            "su" | "ksu" | "script" if !has_code => return self.code_from_input(call),
            "sudo" if words.is_empty() && has(options, &["-s", "-i", "--shell", "--login"]) => {
                return self.code_from_input(call);
            }
            "parallel" | "xargs" | "gxargs" => return self.many(call, name, options, &words),
            _ => {}
        }
        match starter.rest {
            Rest::ProgramOrShell if words.is_empty() => self.code_from_input(call),
            Rest::Line => self.code_word(call, joined(&words)),
            Rest::Lines => words.into_iter().for_each(|word| self.code_word(call, Some(word))),
            _ if has_code => {}
            _ => self.start(call, words, call.via),
        }
    }

    /// Starts another program with what belongs to this one.
    pub(super) fn start(&mut self, call: &Call, words: Vec<Word>, via: Via) {
        if words.is_empty() {
            return;
        }
        self.run(&Call { words, via, writes: Vec::new(), ..call.clone() });
    }

    /// `start-stop-daemon --exec program -- arguments`
    fn daemon(&mut self, call: &Call) {
        let spec = Spec {
            short: "x:a:p:n:u:g:s:r:d:c:k:N:P:I:R:",
            long: "exec= startas= pidfile= name= user= group= signal= chroot= chdir= chuid= umask= nicelevel= retry= start stop",
        };
        let (options, mut words) = spec.all(call.args());
        if let Some(program) = value_of(&options, &["-a", "--startas", "-x", "--exec"]) {
            words.insert(0, program);
            self.start(call, words, call.via);
        }
    }

    /// `gdb --args program …`, `kubectl exec pod -- program …`
    fn after_mark(&mut self, call: &Call, name: &str) {
        let (mark, via) = if name == "gdb" { ("--args", call.via) } else { ("--", Via::Remote) };
        if name != "gdb" && !call.has("exec") {
            return;
        }
        let rest = call.args().iter().skip_while(|word| word.text().as_deref() != Some(mark)).skip(1);
        self.start(call, rest.cloned().collect(), via);
    }

    /// `ssh [options] host [options] command`
    fn remote(&mut self, call: &Call) {
        let spec = Spec {
            short: "b:c:D:E:e:F:I:i:J:L:l:m:O:o:p:Q:R:S:W:w:B:P:",
            long: "ssh= server= port= predict= family= bind-server= experimental-remote-ip=",
        };
        let (mut rest, mut host) = (call.args(), false);
        loop {
            rest = match spec.next(rest) {
                Next::Operand if !host => {
                    host = true;
                    rest.get(1..).unwrap_or_default()
                }
                Next::Dashes(after) if host => {
                    rest = after;
                    break;
                }
                Next::Options(_, after) | Next::Dashes(after) => after,
                Next::Operand | Next::End => break,
            }
        }
        let Some(code) = joined(rest) else {
            return self.code_from_input(call);
        };
        let before = self.look.calls.len();
        let state = self.save();
        self.state.cwd = None;
        self.code_word(&Call { cwd: None, ..call.clone() }, Some(code));
        self.state = state;
        for call in &mut self.look.calls[before..] {
            call.via = Via::Remote;
        }
    }
}

/// Reads the words of a starter. None where it starts nothing: another verb was given.
fn told(call: &Call, name: &str, starter: &Starter) -> Option<Told> {
    let assigns = matches!(name, "env" | "sudo" | "doas" | "cross-env" | "cross-env-shell");
    let enters: &[&str] = match name {
        "env" => &["-C", "--chdir"],
        "sudo" => &["-D", "--chdir"],
        _ => &[],
    };
    let mut told =
        Told { options: Vec::new(), words: Vec::new(), env: call.env.clone(), cwd: call.cwd.clone() };
    let (mut rest, mut verbs, mut left) = (call.args(), starter.verbs, starter.operands);
    loop {
        match starter.spec.next(rest) {
            Next::Options(given, after) => {
                let ended = given.iter().any(|option| starter.ends.contains(&option.name.as_str()));
                if let Some(word) = value_of(&given, enters) {
                    told.cwd = Route::of(&word, told.cwd.as_deref()).and_then(|route| route.text());
                }
                told.options.extend(given);
                rest = after;
                if ended {
                    told.words.clear();
                    break;
                }
            }
            Next::Dashes(after) => {
                rest = after.get(left..).unwrap_or_default();
                break;
            }
            Next::End => break,
            Next::Operand => {
                let (first, after) = rest.split_first()?;
                let text = first.beginning();
                if assigns && text.split_once('=').is_some_and(|(name, _)| !name.is_empty()) {
                    told.env.push(first.shown());
                } else if let [verb, more @ ..] = verbs {
                    if !verb.is_empty() && !verb.contains(&text.as_str()) {
                        return None;
                    }
                    verbs = more;
                } else if left > 0 {
                    left -= 1;
                } else if starter.rest == Rest::Lines {
                    told.words.push(first.clone());
                } else if starter.rest != Rest::Nothing {
                    break;
                }
                rest = after;
            }
        }
    }
    if !verbs.is_empty() {
        return None;
    }
    if starter.rest == Rest::BehindDashes
        && let Some(at) = rest.iter().position(|word| word.text().as_deref() == Some("--"))
    {
        rest = &rest[at + 1..];
    }
    told.words.extend_from_slice(rest);
    Some(told)
}

/// Whether a word names a file of Python, or the input.
fn is_python_file(word: &Word) -> bool {
    word.text().is_some_and(|text| {
        text == "-"
            || std::path::Path::new(&text).extension().is_some_and(|end| end.eq_ignore_ascii_case("py"))
    })
}

/// Whether a word names a kind of machine.
fn is_architecture(word: &Word) -> bool {
    let text = word.beginning();
    [
        "x86", "i386", "i486", "i586", "i686", "linux32", "linux64", "aarch64", "arm", "ppc", "s390", "mips",
        "sparc", "uname26", "riscv",
    ]
    .iter()
    .any(|kind| text.starts_with(kind))
}

/// Words as one text with spaces between them; none without words.
pub(super) fn joined(words: &[Word]) -> Option<Word> {
    let (first, rest) = words.split_first()?;
    let mut text = first.clone();
    for word in rest {
        text.push_text(" ");
        text.push_word(word);
    }
    Some(text)
}
