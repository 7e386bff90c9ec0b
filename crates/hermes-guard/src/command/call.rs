//! One program about to be run, as far as a command line tells: its words, what it reads, what it writes.

use std::sync::Arc;

use super::word::Word;

/// A program with its arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Call {
    /// The program and its arguments.
    pub words: Vec<Word>,
    /// Variables it is given, as `NAME=value`.
    pub env: Vec<String>,
    /// Files it is made to write by the shell.
    pub writes: Vec<Word>,
    /// What stands on its standard input.
    pub input: Input,
    /// What stands on other descriptors it is given, by their numbers.
    pub descriptors: Vec<(u32, Input)>,
    /// The programs whose output stands in its words.
    pub origins: Vec<Arc<Vec<Word>>>,
    /// The directory it runs in.
    pub cwd: Option<String>,
    /// How it comes to be run.
    pub via: Via,
    /// The part of the line it stands in.
    pub part: String,
    /// What the line around it does with it.
    pub marks: Vec<Mark>,
}

/// What a program reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Input {
    /// The programs before it in the pipeline, nearest last; the words of each.
    pub upstream: Vec<Arc<Vec<Word>>>,
    /// The files it is made to read by the shell.
    pub files: Vec<Word>,
    /// The text, where it can be known.
    pub text: Option<String>,
    /// Whether there is a text that is not known: a pipe, a file, a document with expansions.
    pub unknown: bool,
}

/// How a program comes to be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Via {
    /// As it stands there.
    #[default]
    Line,
    /// Once for each of many things that are only known when it runs: `xargs`, `find -exec`.
    Many,
    /// On another machine.
    Remote,
}

/// What the line around a program does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Nobody waits for it.
    Background,
    /// It starts copies of itself.
    Multiplies,
    /// It is a file that was made executable, or fetched, earlier in the line.
    JustMadeExecutable,
    /// What it runs comes from a download.
    FromDownload,
    /// What it runs comes out of a program that decodes.
    FromDecoder,
    /// What it runs cannot be known.
    UnknownCode,
    /// An argument is the outcome of a search for processes.
    FoundProcesses,
    /// It goes on when its shell has ended.
    Detached,
}

impl Call {
    /// The name of the program: lower case, without its directory. None when it cannot be known.
    pub fn name(&self) -> Option<String> {
        let parts = self.words.first()?.split_slashes();
        // A pattern may stand for any program.
        let last = parts.last().filter(|last| !last.has_glob())?;
        let name = last.text().filter(|name| !name.is_empty())?.to_lowercase();
        Some(name.strip_suffix(".exe").unwrap_or(&name).to_owned())
    }

    /// Whether the program has one of these names.
    pub fn is(&self, names: &[&str]) -> bool {
        self.name().is_some_and(|name| names.contains(&name.as_str()))
    }

    /// The arguments.
    pub fn args(&self) -> &[Word] {
        self.words.get(1..).unwrap_or_default()
    }

    /// The known arguments as text; what is not known is left out.
    pub fn texts(&self) -> Vec<String> {
        self.args().iter().filter_map(Word::text).collect()
    }

    /// Whether this very argument is there.
    pub fn has(&self, text: &str) -> bool {
        self.args().iter().any(|word| word.text().as_deref() == Some(text))
    }

    /// Whether an argument is one of these.
    pub fn has_any(&self, texts: &[&str]) -> bool {
        texts.iter().any(|text| self.has(text))
    }

    /// Whether a one-letter flag is given, alone or among others (`-rf`).
    pub fn short(&self, letter: char) -> bool {
        self.flags().any(|flag| !flag.starts_with("--") && flag[1..].contains(letter))
    }

    /// Whether a long flag is given, cut short or with a value too (`--recurs`, `--force=x`). Shorter than `least`
    /// characters it could mean something else.
    pub fn long(&self, name: &str, least: usize) -> bool {
        self.flags().any(|flag| {
            let Some(given) = flag.strip_prefix("--") else { return false };
            let given = given.split('=').next().unwrap_or(given);
            given.len() >= least && name.starts_with(given)
        })
    }

    /// The flags before `--`, as far as they are known.
    pub fn flags(&self) -> impl Iterator<Item = String> {
        let known = self.args().iter().map(Word::beginning);
        known.take_while(|text| text != "--").filter(|text| text.len() > 1 && text.starts_with('-'))
    }

    /// The arguments that are no flags.
    pub fn operands(&self) -> Vec<&Word> {
        let mut ended = false;
        let mut operands = Vec::new();
        for word in self.args() {
            let beginning = word.beginning();
            if !ended && beginning == "--" && !word.has_unknown() {
                ended = true;
            } else if ended || beginning == "-" || !beginning.starts_with('-') {
                operands.push(word);
            }
        }
        operands
    }

    /// The value of a flag: the rest of its word (`-o x`, `-ox`, `--output=x`, `--output x`).
    pub fn value_of(&self, flags: &[&str]) -> Option<Word> {
        let args = self.args();
        for (place, word) in args.iter().enumerate() {
            for flag in flags {
                if word.text().as_deref() == Some(*flag) {
                    return args.get(place + 1).cloned();
                }
                let joined = if flag.starts_with("--") { format!("{flag}=") } else { (*flag).to_owned() };
                if let Some(rest) = word.without_prefix(&joined).filter(|rest| !rest.is_empty()) {
                    return Some(rest);
                }
            }
        }
        None
    }

    /// The words before the first flag, program included: `git push`, `docker compose down`.
    pub fn path(&self) -> Vec<String> {
        let mut path = vec![self.name().unwrap_or_default()];
        let plain = self.args().iter().map_while(Word::text).take_while(|text| !text.starts_with('-'));
        path.extend(plain);
        path
    }

    /// Whether only help or the version is asked for.
    pub fn only_asks_for_help(&self) -> bool {
        let texts = self.texts();
        self.args().len() == 1
            && texts.first().is_some_and(|text| matches!(text.as_str(), "--help" | "--version" | "-h" | "-V"))
    }

    /// The words for people.
    pub fn shown(&self) -> String {
        self.words.iter().map(Word::shown).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(line: &str) -> Call {
        Call { words: line.split(' ').map(Word::known).collect(), ..Call::default() }
    }

    #[test]
    fn flags_and_operands_are_told_apart() {
        let rm = call("/bin/RM -rf -- -x y");
        assert_eq!(rm.name().as_deref(), Some("rm"));
        assert!(rm.short('r') && rm.short('f') && !rm.short('x'));
        let operands: Vec<String> = rm.operands().iter().map(|word| word.shown()).collect();
        assert_eq!(operands, ["-x", "y"]);
        assert!(call("rm --recurs x").long("recursive", 3));
        assert!(!call("rm --re x").long("recursive", 3));
    }

    #[test]
    fn values_of_flags_are_found() {
        for line in ["x -o f", "x -of", "x --output f", "x --output=f"] {
            let value = call(line).value_of(&["-o", "--output"]);
            assert_eq!(value.and_then(|word| word.text()).as_deref(), Some("f"), "{line}");
        }
        assert_eq!(call("git push origin -f").path(), ["git", "push", "origin"]);
    }
}
