//! Programs that start other programs: who they are and where the other one begins.

use super::{Flow, Walk};
use crate::command::call::{Call, Mark, Via};
use crate::command::path::Route;
use crate::command::rules::without_globals;
use crate::command::word::Word;

/// A program that runs what follows its own options.
struct Wrapper {
    names: &'static [&'static str],
    /// Options that take the next word as their value.
    valued: &'static [&'static str],
    /// How many words come before the program.
    operands: usize,
    via: Via,
}

const fn wrapper(
    names: &'static [&'static str],
    valued: &'static [&'static str],
    operands: usize,
) -> Wrapper {
    Wrapper { names, valued, operands, via: Via::Line }
}

const WRAPPERS: &[Wrapper] = &[
    wrapper(
        &["sudo"],
        &[
            "-u", "-g", "-h", "-p", "-C", "-D", "-R", "-T", "-U", "-r", "-t", "--user", "--group",
            "--prompt", "--chdir",
        ],
        0,
    ),
    wrapper(&["doas"], &["-u", "-C"], 0),
    wrapper(&["pkexec", "gosu", "su-exec"], &["--user"], 0),
    wrapper(&["env"], &["-u", "--unset", "-C", "--chdir"], 0),
    wrapper(&["nice"], &["-n", "--adjustment"], 0),
    wrapper(&["ionice"], &["-c", "-n", "--class", "--classdata"], 0),
    wrapper(
        &[
            "nohup",
            "setsid",
            "builtin",
            "busybox",
            "toybox",
            "unbuffer",
            "fakeroot",
            "caffeinate",
            "rlwrap",
            "winpty",
            "catchsegv",
            "setarch",
            "linux64",
            "dbus-run-session",
            "chronic",
            "ts",
            "tini",
            "dumb-init",
        ],
        &[],
        0,
    ),
    wrapper(&["timeout", "gtimeout"], &["-s", "-k", "--signal", "--kill-after"], 1),
    wrapper(&["time", "gtime"], &["-o", "-f", "--output", "--format"], 0),
    wrapper(&["stdbuf"], &["-i", "-o", "-e"], 0),
    wrapper(&["chrt", "taskset"], &[], 1),
    wrapper(&["command"], &[], 0),
    wrapper(&["exec"], &["-a"], 0),
    wrapper(&["strace", "ltrace"], &["-o", "-e", "-p", "-s", "-E", "-u"], 0),
    wrapper(&["xvfb-run"], &["-n", "-s", "-e", "-f"], 0),
    wrapper(&["systemd-run"], &["-p", "-u", "--unit", "--property", "-t", "-M"], 0),
    wrapper(&["unshare", "nsenter"], &["-t", "--target", "-S", "-G"], 0),
    wrapper(&["chroot"], &["--userspec", "--groups"], 1),
    wrapper(&["flock"], &["-w", "-E", "--wait", "--timeout"], 1),
    wrapper(&["entr"], &[], 0),
    wrapper(&["runuser"], &["-u", "-g", "-G", "-s", "--user", "--group", "--shell"], 0),
    wrapper(&["setpriv"], &["--reuid", "--regid", "--groups", "--inh-caps", "--bounding-set"], 0),
    wrapper(&["dtach", "abduco"], &["-n", "-c", "-A", "-N", "-r", "-e"], 0),
    wrapper(
        &["ld.so", "ld-linux.so.2", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "ld-musl-x86_64.so.1"],
        &["--library-path", "--argv0", "--preload", "--audit"],
        0,
    ),
    wrapper(&["proot", "firejail", "bwrap"], &["-r", "-b", "-w", "--bind", "--ro-bind"], 0),
    Wrapper {
        names: &["xargs", "gxargs"],
        valued: &[
            "-I",
            "-n",
            "-P",
            "-d",
            "-a",
            "-L",
            "-s",
            "-E",
            "-i",
            "--max-args",
            "--max-procs",
            "--delimiter",
            "--arg-file",
            "--replace",
            "--max-lines",
            "--max-chars",
        ],
        operands: 0,
        via: Via::Many,
    },
    Wrapper {
        names: &["parallel"],
        valued: &[
            "-j",
            "--jobs",
            "-a",
            "--arg-file",
            "--delay",
            "--timeout",
            "-N",
            "-n",
            "-S",
            "--sshlogin",
            "-I",
        ],
        operands: 0,
        via: Via::Many,
    },
];

/// Programs whose words after these are a program of their own: `uv run x`.
const RUNNERS: &[(&str, &str)] = &[
    ("uv", "run"),
    ("poetry", "run"),
    ("pipenv", "run"),
    ("pdm", "run"),
    ("hatch", "run"),
    ("bundle", "exec"),
    ("npm", "exec"),
    ("pnpm", "exec"),
    ("yarn", "exec"),
    ("rbenv", "exec"),
    ("pyenv", "exec"),
    ("conda", "run"),
    ("mise", "exec"),
    ("direnv", "exec"),
    ("op", "run"),
    ("dotenv", "run"),
    ("aws-vault", "exec"),
    ("perf", "record"),
    ("perf", "stat"),
];

impl Walk<'_> {
    /// What a program starts in turn.
    pub(super) fn inner(&mut self, call: &Call) {
        let Some(name) = call.name() else { return };
        if let Some(body) =
            call.words.first().and_then(Word::text).and_then(|name| self.state.functions.get(&name).cloned())
        {
            return self.call_function(call, &body);
        }
        if let Some(words) =
            call.words.first().and_then(Word::text).and_then(|name| self.state.aliases.remove(&name))
        {
            let all: Vec<Word> = words.iter().chain(call.args()).cloned().collect();
            self.start(call, all, call.via);
            self.state.aliases.insert(call.words[0].shown(), words);
            return;
        }
        if let Some(wrapper) = WRAPPERS.iter().find(|wrapper| wrapper.names.contains(&name.as_str())) {
            return self.wrapped(call, wrapper);
        }
        if let Some((_, verb)) = RUNNERS.iter().find(|(program, verb)| {
            *program == name && call.args().first().and_then(Word::text).as_deref() == Some(*verb)
        }) {
            let rest = call.args().iter().skip_while(|word| word.text().as_deref() != Some(*verb)).skip(1);
            let rest: Vec<Word> =
                rest.skip_while(|word| word.beginning().starts_with('-')).cloned().collect();
            if name == "uv" && rest.is_empty() && call.has("-") {
                return self.python_input(call);
            }
            return self.start(call, rest, call.via);
        }
        match name.as_str() {
            "find" | "gfind" | "fd" | "fdfind" => self.found(call),
            "sg" => match call.value_of(&["-c"]) {
                Some(code) => self.code_word(call, Some(code)),
                None => self.code_word(call, joined(call.args().get(1..).unwrap_or_default())),
            },
            "gdb" | "kubectl" | "oc" => self.after_mark(call, &name),
            "su" | "script" | "ksu" => self.code_word(call, call.value_of(&["-c", "--command"])),
            "nix-shell" => self.code_word(call, call.value_of(&["--run", "--command"])),
            "ssh" | "mosh" | "rsh" | "slogin" => self.remote(call),
            "watch" => self.rest_is_code(call, &["-n", "--interval", "-d"]),
            "tmux" | "screen" | "byobu" => self.in_window(call, &name),
            "eval" => self.rest_is_code(call, &[]),
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
                        self.line_apart(code, &Flow::default());
                        let words = code.split_whitespace().map(Word::known).collect();
                        self.state.aliases.insert(name.to_owned(), words);
                    }
                }
            }
            "hermes" | "hermes-agent" => self.inside_ours(call),
            "git" => self.inside_git(call),
            "cmake" if call.has("-E") => self.inside_cmake(call),
            "at" | "batch" => self.code_from_input(call),
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

    fn wrapped(&mut self, call: &Call, wrapper: &Wrapper) {
        let name = call.name().unwrap_or_default();
        // `command -v x` only asks where it is.
        if name == "command" && call.has_any(&["-v", "-V"]) {
            return;
        }
        if name == "runuser" && call.value_of(&["-c", "--command"]).is_some() {
            return self.code_word(call, call.value_of(&["-c", "--command"]));
        }
        if matches!(name.as_str(), "env" | "flock") {
            let flag: &[&str] = if name == "env" { &["-S", "--split-string"] } else { &["-c", "--command"] };
            if let Some(code) = call.value_of(flag) {
                return self.code_word(call, Some(code));
            }
        }
        let mut rest = call.args();
        let mut env = call.env.clone();
        let mut cwd = call.cwd.clone();
        let mut left = wrapper.operands;
        while let Some((first, after)) = rest.split_first() {
            let text = first.text().unwrap_or_default();
            let is_assignment = matches!(name.as_str(), "env" | "sudo" | "doas")
                && text.split_once('=').is_some_and(|(name, _)| {
                    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                });
            if is_assignment {
                env.push(text);
                rest = after;
            } else if text == "--" {
                rest = after;
                break;
            } else if text.len() > 1 && text.starts_with('-') {
                let valued = wrapper.valued.contains(&text.as_str());
                let enters: &[&str] = match name.as_str() {
                    "env" => &["-C", "--chdir"],
                    "sudo" => &["-D", "--chdir"],
                    _ => &[],
                };
                let given = enters.iter().find_map(|flag| first.without_prefix(&format!("{flag}=")));
                let named = if enters.contains(&text.as_str()) { after.first().cloned() } else { None };
                if let Some(word) = given.or(named) {
                    cwd = Route::of(&word, cwd.as_deref()).and_then(|route| route.text());
                }
                rest = if valued { after.get(1..).unwrap_or_default() } else { after };
            } else if left > 0 {
                left -= 1;
                rest = after;
            } else {
                break;
            }
        }
        let mut rest = rest.get(left..).unwrap_or_default().to_vec();
        if wrapper.via == Via::Many {
            let place = call.value_of(&["-I", "--replace"]).and_then(|word| word.text());
            self.each_known(call, &rest, place.as_deref());
            rest = rest.iter().map(|word| filled(word, place.as_deref().unwrap_or("{}"))).collect();
        }
        let mut call = Call { env, cwd, ..call.clone() };
        if matches!(name.as_str(), "nohup" | "setsid" | "systemd-run") {
            call.marks.push(Mark::Detached);
        }
        if name == "parallel" {
            return self.parallel(&call, &rest);
        }
        let via = if wrapper.via == Via::Many { Via::Many } else { call.via };
        self.start(&call, rest, via);
    }

    /// What `xargs` and `parallel` run for texts that stand in the line.
    fn each_known(&mut self, call: &Call, words: &[Word], place: Option<&str>) {
        let lists: Vec<Word> =
            words.iter().skip_while(|word| !word.beginning().starts_with(":::")).skip(1).cloned().collect();
        let program: Vec<Word> =
            words.iter().take_while(|word| !word.beginning().starts_with(":::")).cloned().collect();
        let read = call.input.text.as_deref().unwrap_or_default();
        let given: Vec<Word> =
            lists.into_iter().chain(read.split_whitespace().take(100).map(Word::known)).collect();
        if given.is_empty() || program.is_empty() {
            return;
        }
        match place {
            None => self.start(call, program.into_iter().chain(given).collect(), Via::Many),
            Some(place) => {
                for text in given.iter().filter_map(Word::text).take(16) {
                    let filled = |word: &Word| match word.text() {
                        Some(written) if !place.is_empty() => Word::known(written.replace(place, &text)),
                        _ => word.clone(),
                    };
                    self.start(call, program.iter().map(filled).collect(), Via::Many);
                }
            }
        }
    }

    /// `parallel` takes one text as a command line, or a program with arguments, before `:::`.
    fn parallel(&mut self, call: &Call, rest: &[Word]) {
        let words: Vec<Word> =
            rest.iter().take_while(|word| !word.beginning().starts_with(":::")).cloned().collect();
        match words.as_slice() {
            [one] if one.text().is_some_and(|text| text.contains(' ')) => {
                self.code_word(call, Some(one.clone()));
            }
            [] => {
                let given: Vec<Word> =
                    rest.iter().filter(|word| !word.beginning().starts_with(":::")).cloned().collect();
                if given.is_empty() {
                    self.code_from_input(call);
                }
                for word in given {
                    self.code_word(call, Some(word));
                }
            }
            _ => self.start(call, words, Via::Many),
        }
    }

    /// Starts another program with what belongs to this one.
    fn start(&mut self, call: &Call, words: Vec<Word>, via: Via) {
        if words.is_empty() {
            return;
        }
        self.run(&Call { words, via, writes: Vec::new(), ..call.clone() });
    }

    /// `find … -exec program … ;`
    fn found(&mut self, call: &Call) {
        const EXECS: &[&str] = &["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"];
        let args = call.args();
        for (place, word) in args.iter().enumerate() {
            if word.text().is_some_and(|text| EXECS.contains(&text.as_str())) {
                let is_end = |word: &&Word| !matches!(word.text().as_deref(), Some(";" | "+"));
                let words: Vec<Word> =
                    args[place + 1..].iter().take_while(is_end).map(|word| filled(word, "{}")).collect();
                self.start(call, words, Via::Many);
            }
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

    /// The words after the options, joined, are a command line.
    fn rest_is_code(&mut self, call: &Call, valued: &[&str]) {
        let mut rest = call.args();
        while let Some((first, after)) = rest.split_first() {
            let text = first.text().unwrap_or_default();
            if text == "--" {
                rest = after;
                break;
            }
            if !text.starts_with('-') || text.len() < 2 {
                break;
            }
            rest = if valued.contains(&text.as_str()) { after.get(1..).unwrap_or_default() } else { after };
        }
        self.code_word(call, joined(rest));
    }

    /// `ssh [options] host command`
    fn remote(&mut self, call: &Call) {
        const VALUED: &[&str] = &[
            "-b", "-c", "-D", "-E", "-e", "-F", "-I", "-i", "-J", "-L", "-l", "-m", "-O", "-o", "-p", "-Q",
            "-R", "-S", "-W", "-w",
        ];
        let mut rest = call.args();
        while let Some((first, after)) = rest.split_first() {
            let text = first.text().unwrap_or_default();
            if !text.starts_with('-') {
                break;
            }
            rest = if VALUED.contains(&text.as_str()) { after.get(1..).unwrap_or_default() } else { after };
        }
        let Some(code) = joined(rest.get(1..).unwrap_or_default()) else {
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

    /// `tmux new-session 'code'`, `tmux send-keys 'code' Enter`, `screen -dm program`
    fn in_window(&mut self, call: &Call, name: &str) {
        if name == "screen" {
            let rest: Vec<Word> = call.operands().into_iter().cloned().collect();
            if call.args().iter().any(|word| word.beginning().starts_with("-d")) {
                self.start(call, rest, call.via);
            }
            return;
        }
        let verb = call.args().first().and_then(Word::text).unwrap_or_default();
        let runs = [
            "new",
            "new-session",
            "new-window",
            "neww",
            "split-window",
            "splitw",
            "send-keys",
            "send",
            "run-shell",
            "run",
            "respawn-pane",
        ];
        if !runs.contains(&verb.as_str()) {
            return;
        }
        let keys = |word: &&&Word| !matches!(word.text().as_deref(), Some("Enter" | "C-m" | "C-c"));
        let operands = call.operands();
        let last = operands.iter().skip(1).rfind(keys);
        if let Some(word) =
            last.filter(|word| word.has_unknown() || word.text().is_some_and(|text| text.contains(' ')))
        {
            self.code_word(call, Some((*word).clone()));
        }
    }

    /// `hermes sandbox exec -- rm x`, `hermes sandbox jobs start 'rm x'`: run without the gate, so judged here.
    fn inside_ours(&mut self, call: &Call) {
        let verbs = call.args().iter().position(|word| word.text().as_deref() == Some("sandbox"));
        let Some(rest) = verbs.and_then(|at| call.args().get(at + 1..)) else { return };
        let runs = rest
            .first()
            .and_then(Word::text)
            .is_some_and(|verb| matches!(verb.as_str(), "exec" | "jobs" | "shell"));
        if !runs {
            return;
        }
        let skipped = rest.iter().skip(1).skip_while(|word| {
            word.text().is_some_and(|text| text.starts_with('-') && text != "--" || text == "start")
        });
        let words: Vec<Word> = skipped.filter(|word| word.text().as_deref() != Some("--")).cloned().collect();
        // A flag with a value hides the beginning: each word may be the first.
        for at in 0..words.len().min(4) {
            match &words[at..] {
                [one] if one.has_unknown() => self.unknown_code(call),
                [one] => self.code_word(call, Some(one.clone())),
                several => self.start(call, several.to_vec(), call.via),
            }
        }
        if words.is_empty() {
            self.code_from_input(call);
        }
    }

    /// `cmake -E rm -rf x`: the tools that cmake brings along.
    fn inside_cmake(&mut self, call: &Call) {
        let rest = call.args().iter().skip_while(|word| word.text().as_deref() != Some("-E")).skip(1);
        let words: Vec<Word> = rest.cloned().collect();
        let Some((verb, rest)) = words.split_first() else { return };
        let program: &[&str] = match verb.text().as_deref() {
            Some("remove_directory") => &["rm", "-r"],
            Some("remove") => &["rm"],
            Some("copy" | "copy_if_different") => &["cp"],
            Some("copy_directory" | "copy_directory_if_different") => &["cp", "-r"],
            Some("rename") => &["mv"],
            Some("create_symlink") => &["ln", "-s"],
            Some("create_hardlink") => &["ln"],
            _ => return self.start(call, words.clone(), call.via),
        };
        let words = program.iter().copied().map(Word::known).chain(rest.iter().cloned());
        self.start(call, words.collect(), call.via);
    }

    /// Commands that git itself starts.
    fn inside_git(&mut self, call: &Call) {
        for (place, word) in call.args().iter().enumerate() {
            let Some(text) = word.text() else { continue };
            let configured =
                if text == "-c" { call.args().get(place + 1).and_then(Word::text) } else { None };
            if let Some(code) =
                configured.as_deref().and_then(|text| text.split_once("=!")).map(|(_, code)| code.to_owned())
            {
                self.line_apart(&code, &Flow::default());
            }
        }
        let Some(plain) = without_globals(call) else { return };
        let path = plain.path();
        match path.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            ["git", "rebase", ..] => self.code_word(call, call.value_of(&["-x", "--exec"])),
            ["git", "bisect", "run", ..] => self.start(call, plain.words[3..].to_vec(), call.via),
            ["git", "submodule", "foreach", ..] => self.code_word(call, joined(&plain.words[3..])),
            ["git", "config", ..] => {
                let alias = plain.texts().into_iter().find(|text| text.starts_with('!'));
                if let Some(code) = alias {
                    self.line_apart(&code[1..], &Flow::default());
                }
            }
            _ => {}
        }
    }
}

/// A word in which this text stands for something that is only known later.
fn filled(word: &Word, place: &str) -> Word {
    let Some(text) = word.text().filter(|text| !place.is_empty() && text.contains(place)) else {
        return word.clone();
    };
    let mut filled = Word::default();
    for (at, part) in text.split(place).enumerate() {
        if at > 0 {
            filled.0.push(crate::command::word::Piece::Unknown);
        }
        if !part.is_empty() {
            filled.push_text(part);
        }
    }
    filled
}

/// Words as one text with spaces between them; none without words.
fn joined(words: &[Word]) -> Option<Word> {
    let (first, rest) = words.split_first()?;
    let mut text = first.clone();
    for word in rest {
        text.push_text(" ");
        text.push_word(word);
    }
    Some(text)
}
