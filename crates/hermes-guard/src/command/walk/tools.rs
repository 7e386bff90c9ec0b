//! Tools that start programs in ways of their own: windows in a terminal, git, cmake, and this program.

use super::options::{Next, Spec, has};
use super::wrappers::joined;
use super::{Flow, Walk};
use crate::command::call::Call;
use crate::command::path::Route;
use crate::command::rules::without_globals;
use crate::command::word::Word;
use crate::shell::{Field, Variables};

/// Commands of tmux whose words are a command line, with their options.
const TMUX_LINES: &[(&[&str], &str)] = &[
    (&["new-session", "new"], "c:e:F:f:n:s:t:x:y:"),
    (&["new-window", "neww"], "c:e:F:n:t:"),
    (&["split-window", "splitw", "split"], "c:e:F:l:p:t:"),
    (&["respawn-pane", "respawnp", "respawn-window", "respawnw"], "c:e:t:"),
    (&["run-shell", "run"], "d:t:c:"),
    (&["display-popup", "popup"], "b:c:d:e:h:s:S:t:T:w:x:y:"),
    (&["pipe-pane", "pipep"], "t:"),
];

impl Walk<'_> {
    /// `tmux new-session 'code' \; send-keys 'code' Enter`
    pub(super) fn in_tmux(&mut self, call: &Call) {
        let spec = Spec { short: "L:S:f:c:T:", long: "" };
        let mut rest = call.args();
        while let Next::Options(given, after) = spec.next(rest) {
            for option in given.into_iter().filter(|option| option.name == "-c") {
                self.code_word(call, option.value);
            }
            rest = after;
        }
        for words in rest.split(|word| word.text().as_deref() == Some(";")) {
            self.tmux_command(call, words);
        }
    }

    fn tmux_command(&mut self, call: &Call, words: &[Word]) {
        let Some((verb, rest)) = words.split_first() else { return };
        let verb = verb.text().unwrap_or_default();
        if let Some((_, short)) = TMUX_LINES.iter().find(|(names, _)| names.contains(&verb.as_str())) {
            let (mut rest, spec) = (rest, Spec { short, long: "" });
            while let Next::Options(_, after) | Next::Dashes(after) = spec.next(rest) {
                rest = after;
            }
            return self.code_word(call, joined(rest));
        }
        match verb.as_str() {
            "if-shell" | "if" => {
                let (_, codes) = Spec { short: "t:", long: "" }.all(rest);
                for word in codes {
                    self.code_word(call, Some(word));
                }
            }
            "send-keys" | "send" => {
                let (spec, mut keys, mut options) = (Spec { short: "N:t:c:", long: "" }, rest, Vec::new());
                while let Next::Options(given, after) = spec.next(keys) {
                    options.extend(given);
                    keys = after;
                }
                let literal = has(&options, &["-l"]);
                let mut typed = Word::default();
                for key in keys {
                    match key.text().as_deref().filter(|_| !literal) {
                        Some("Enter" | "C-m" | "C-j" | "KPEnter") => typed.push_text("\n"),
                        Some("Space") => typed.push_text(" "),
                        Some("C-c" | "C-l" | "C-u" | "C-d" | "Escape") => {}
                        _ => typed.push_word(key),
                    }
                }
                // Letters that are typed into something are no programs.
                if typed.has_unknown() || typed.text().is_some_and(|text| text.contains([' ', '\n'])) {
                    self.code_word(call, Some(typed));
                }
            }
            _ => {}
        }
    }

    /// `screen -dmS name program`, `screen -X stuff 'code'`
    pub(super) fn in_screen(&mut self, call: &Call) {
        let spec = Spec { short: "c:e:h:p:s:S:t:T:", long: "" };
        let mut rest = call.args();
        let mut options = Vec::new();
        while let Next::Options(given, after) = spec.next(rest) {
            options.extend(given);
            rest = after;
            if has(&options, &["-X"]) {
                break;
            }
        }
        if has(&options, &["-X"]) {
            return match rest {
                [verb, text @ ..] if verb.text().as_deref() == Some("stuff") => {
                    for word in text {
                        self.code_word(call, Some(word.clone()));
                    }
                }
                [_, words @ ..] => self.start(call, words.to_vec(), call.via),
                [] => {}
            };
        }
        if !has(&options, &["-r", "-x", "-R", "-l"]) {
            self.start(call, rest.to_vec(), call.via);
        }
    }

    /// `hermes sandbox exec -- rm x`, `hermes sandbox jobs start 'rm x'`: run without the gate, so judged here.
    pub(super) fn inside_ours(&mut self, call: &Call) {
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
    pub(super) fn inside_cmake(&mut self, call: &Call) {
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
            Some("chdir") => {
                let cwd = rest.first().and_then(|dir| Route::of(dir, call.cwd.as_deref())?.text());
                let words = rest.get(1..).unwrap_or_default().to_vec();
                return self.start(&Call { cwd, ..call.clone() }, words, call.via);
            }
            _ => return self.start(call, words.clone(), call.via),
        };
        let words = program.iter().copied().map(Word::known).chain(rest.iter().cloned());
        self.start(call, words.collect(), call.via);
    }

    /// Commands that git itself starts.
    pub(super) fn inside_git(&mut self, call: &Call) {
        for code in configured(call, &self.state.variables) {
            self.line_apart(&code, &Flow::default());
        }
        let Some(plain) = without_globals(call) else { return };
        let path = plain.path();
        match path.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            ["git", "rebase", ..] => {
                let spec =
                    Spec { short: "x:s:X:C:S::", long: "exec= strategy= strategy-option= onto= whitespace=" };
                for option in spec.all(plain.args()).0 {
                    if matches!(option.name.as_str(), "-x" | "--exec") {
                        self.code_word(call, option.value);
                    }
                }
            }
            ["git", "bisect", "run", ..] => self.start(call, plain.words[3..].to_vec(), call.via),
            ["git", "submodule", ..] => {
                let mut rest =
                    plain.args().iter().skip_while(|word| word.text().as_deref() != Some("foreach"));
                rest.next();
                let rest: Vec<Word> =
                    rest.skip_while(|word| word.beginning().starts_with('-')).cloned().collect();
                self.code_word(call, joined(&rest));
            }
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

/// Commands that git is given as settings: `-c alias.x=!code`, `--config-env`, and by its variables.
fn configured(call: &Call, variables: &Variables) -> Vec<String> {
    let code = |text: &str| text.split_once("=!").map(|(_, code)| code.trim_end_matches('\'').to_owned());
    let given = |name: &str| {
        let start = format!("{name}=");
        let by_call = call.env.iter().rev().find_map(|text| text.strip_prefix(&start).map(str::to_owned));
        by_call.or_else(|| variables.get(name).and_then(Field::text))
    };
    let mut codes: Vec<String> = Vec::new();
    let texts = call.texts();
    for (place, text) in texts.iter().enumerate() {
        let next = || texts.get(place + 1).map(String::as_str);
        if text == "-c" {
            codes.extend(next().and_then(code));
        }
        let by_variable = if text == "--config-env" { next() } else { text.strip_prefix("--config-env=") };
        let value = by_variable.and_then(|text| text.rsplit_once('=')).and_then(|(_, name)| given(name));
        codes.extend(value.and_then(|value| value.strip_prefix('!').map(str::to_owned)));
    }
    for text in &call.env {
        let Some((name, value)) = text.split_once('=') else { continue };
        if name.starts_with("GIT_CONFIG_VALUE_") {
            codes.extend(value.strip_prefix('!').map(str::to_owned));
        } else if name == "GIT_CONFIG_PARAMETERS" {
            codes.extend(code(value));
        }
    }
    codes
}
