//! Goes through a command line in the order a shell would run it and writes down every program it would start: in
//! pipelines, substitutions, loops and functions, behind wrappers and inside texts that are themselves commands.

mod builtins;
mod compound;
mod directory;
mod hidden;
mod interpret;
mod many;
mod net;
mod options;
mod output;
mod shells;
mod simple;
mod starters;
mod streams;
mod tools;
mod wrappers;
mod written;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::call::{Call, Input, Mark, Via};
use super::rules::{Harm, Severity};
use super::script::Act;
use super::word::Word;
use super::{Context, Finding, script};
use crate::shell::ast::{Command, List};
use crate::shell::{Field, Piece, Reason, Variables, parse, parse_extended};

/// How deep texts inside texts are read.
const DEEPEST: usize = 12;
/// How many programs one line may start before it is no longer a line somebody wrote.
const MOST_CALLS: usize = 5_000;
/// How much work one judgement may take: characters read and put together, things copied. Far beyond what a line
/// somebody wrote needs.
const MOST_WORK: usize = 2_000_000;

/// What a command line would run.
#[derive(Debug, Clone, Default)]
pub struct Look {
    /// The programs, in order.
    pub calls: Vec<Call>,
    /// What could not be read.
    pub troubles: Vec<Trouble>,
    /// What the shell would remember afterwards.
    pub memory: Memory,
}

/// What a shell remembers from one line to the next: variables, functions, the directory.
#[derive(Debug, Clone, Default)]
pub struct Memory(Option<State>);

/// Something that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// It is no command a shell would take.
    Unreadable {
        /// The text.
        part: String,
        /// What is wrong with it.
        why: String,
    },
    /// It hands a program, which may run it, the text of a command that would be refused.
    Hands {
        /// The program with its words.
        part: String,
        /// The text.
        text: String,
    },
    /// It is a script with a name that reaches beyond what the tools do.
    Reaches {
        /// Where the script stands.
        part: String,
        /// The name.
        name: String,
    },
    /// It holds characters that make it look other than it is.
    Misleads {
        /// The text.
        part: String,
        /// What such a character is called.
        name: &'static str,
    },
    /// It is too long or too deep for anybody to read.
    TooMuch {
        /// The beginning of it.
        part: String,
    },
}

impl Trouble {
    /// As something to ask about, or to refuse.
    pub(super) fn finding(&self) -> Finding {
        let (rule, severity, reason, part) = match self {
            Self::Unreadable { part, why } => (
                "unreadable",
                Severity::Dangerous,
                format!("it cannot be read, so nobody knows what it does: {why}"),
                part,
            ),
            Self::Reaches { part, name } => (
                "script-reach",
                Severity::Dangerous,
                format!("it is a script that reaches beyond the tools: {name}"),
                part,
            ),
            Self::Hands { part, text } => (
                "hidden-command",
                Severity::Dangerous,
                format!("it hands over a text that may be run and would be refused as a command: {text}"),
                part,
            ),
            Self::Misleads { part, name } => (
                "misleading-text",
                Severity::Dangerous,
                format!("it does not say what it seems to say: {name} in it"),
                part,
            ),
            Self::TooMuch { part } => (
                "too-long",
                Severity::Hardline,
                "it is too long or too deeply nested to be judged: split it up".to_owned(),
                part,
            ),
        };
        Finding {
            rule: rule.to_owned(),
            severity,
            reason,
            part: part.clone(),
            prefix: None,
            harm: Harm::Here,
        }
    }
}

/// Looks at a command line.
pub(super) fn look(line: &str, sight: &Context<'_>) -> Look {
    let mut walk = Walk::new(sight);
    walk.line(line, &Flow::default());
    // What was new in this line is an old file for the next.
    walk.state.fresh.clear();
    // Links are there from then on, and followed where they lie.
    walk.state.links.clear();
    // Where the shell is in the end is known to those who ran it.
    walk.state.ways = directory::Ways::default();
    walk.state.open = streams::Open::default();
    walk.look.memory = Memory(Some(walk.state));
    walk.look
}

/// Looks at a script in Python.
pub(super) fn look_at_script(code: &str, sight: &Context<'_>) -> Look {
    let mut walk = Walk::new(sight);
    let call = Call { part: "the script".to_owned(), cwd: walk.state.cwd.clone(), ..Call::default() };
    walk.acts(&call, script::python_and_names(code));
    walk.look
}

/// What a shell remembers from one command to the next.
#[derive(Debug, Clone)]
struct State {
    variables: Variables,
    cwd: Option<String>,
    functions: BTreeMap<String, Arc<Command>>,
    /// Names that stand for the beginning of a command, and its text.
    aliases: BTreeMap<String, Arc<str>>,
    /// Files that are programs of the system under another name.
    programs: BTreeMap<String, String>,
    /// Where else it may be, and where it was.
    ways: directory::Ways,
    /// What `exec` opened.
    open: streams::Open,
    /// Links that were made: the name, and what it leads to.
    links: BTreeMap<String, String>,
    /// Variables that hold what programs print, and those.
    sources: BTreeMap<String, Vec<Arc<Vec<Word>>>>,
    /// Variables that hold numbers.
    numbers: BTreeSet<String>,
    /// Variables that the shell's children have too.
    exported: BTreeSet<String>,
    /// Files that were fetched, written or made executable.
    fresh: Vec<String>,
    /// Texts that were written into files.
    written: BTreeMap<String, Arc<str>>,
}

impl State {
    /// That of a shell that has just begun.
    fn fresh(sight: &Context<'_>) -> Self {
        let mut variables = Variables::new();
        if !sight.home.is_empty() {
            variables.set("HOME", Field::from_text(sight.home));
        }
        if !sight.hermes_home.is_empty() {
            variables.set("HERMES_HOME", Field::from_text(sight.hermes_home));
        }
        for name in ["SHELL", "BASH"] {
            variables.set(name, Field::from_text("/bin/bash"));
        }
        Self {
            variables,
            cwd: None,
            functions: BTreeMap::new(),
            aliases: BTreeMap::new(),
            programs: BTreeMap::new(),
            ways: directory::Ways::default(),
            open: streams::Open::default(),
            links: BTreeMap::new(),
            sources: BTreeMap::new(),
            numbers: BTreeSet::new(),
            exported: BTreeSet::new(),
            fresh: Vec::new(),
            written: BTreeMap::new(),
        }
    }
}

/// What surrounds a command.
#[derive(Clone, Default)]
struct Flow {
    input: Input,
    marks: Vec<Mark>,
    /// Whether it may also not run: then what it assigns is not certain.
    perhaps: bool,
}

struct Walk<'a> {
    sight: &'a Context<'a>,
    look: Look,
    state: State,
    /// The text that spans point into.
    text: String,
    depth: usize,
    /// How much work was done.
    work: usize,
    /// Functions whose bodies are being read.
    inside: Vec<String>,
    /// What a command writes, for the programs in its `>( … )`.
    writer: Input,
    /// Whether the command that runs may also not run.
    perhaps: bool,
    /// Whether words are tried out that may be a command.
    trying: bool,
    /// How many commands were followed to know what one prints.
    printed: Cell<usize>,
}

impl<'a> Walk<'a> {
    fn new(sight: &'a Context<'a>) -> Self {
        let remembered = sight.memory.and_then(|memory| memory.0.clone());
        let mut state = remembered.unwrap_or_else(|| State::fresh(sight));
        // Where a directory is given it counts, whatever the shell remembers.
        if let Some(cwd) = sight.cwd {
            state.cwd = Some(cwd.to_owned());
            state.variables.set("PWD", Field::from_text(cwd));
        }
        Self {
            sight,
            look: Look::default(),
            state,
            text: String::new(),
            depth: 0,
            work: 0,
            inside: Vec::new(),
            writer: Input { unknown: true, ..Input::default() },
            perhaps: false,
            trying: false,
            printed: Cell::new(0),
        }
    }

    /// Counts work.
    fn spend(&mut self, work: usize) {
        self.work = self.work.saturating_add(work);
    }

    /// Whether there was too much to do; then that is written down.
    fn is_spent(&mut self) -> bool {
        let spent = self.work > MOST_WORK || self.look.calls.len() > MOST_CALLS;
        if spent {
            let text = self.text.clone();
            self.too_much(&text);
        }
        spent
    }

    /// What the shell remembers now, to come back to.
    fn save(&mut self) -> State {
        let State { variables, functions, fresh, written, .. } = &self.state;
        self.work = self.work.saturating_add(variables.len() + functions.len() + fresh.len() + written.len());
        self.state.clone()
    }

    /// A text that is a command line.
    fn line(&mut self, line: &str, flow: &Flow) {
        self.spend(line.len());
        if self.depth >= DEEPEST || self.is_spent() {
            return self.too_much(line);
        }
        // Patterns that only some shells know are read where the text is nothing else.
        let read = parse(line).or_else(|error| {
            let extended = ["!(", "@(", "+(", "*(", "?("].iter().any(|sign| line.contains(sign));
            if extended { parse_extended(line).map_err(|_| error) } else { Err(error) }
        });
        match read {
            Ok(script) => {
                let before = std::mem::replace(&mut self.text, line.to_owned());
                self.depth += 1;
                self.list(&script.list, flow);
                self.depth -= 1;
                self.text = before;
            }
            Err(error) if matches!(error.reason, Reason::TooLong | Reason::TooDeep) => self.too_much(line),
            Err(error) => {
                let trouble = Trouble::Unreadable { part: line.to_owned(), why: error.to_string() };
                self.look.troubles.push(trouble);
            }
        }
    }

    /// A text that a shell of its own runs: what it changes stays there.
    fn line_apart(&mut self, line: &str, flow: &Flow) {
        let state = self.save();
        self.line(line, flow);
        self.leave(state);
    }

    /// A text that another shell runs with these arguments, its own name first: of our variables it has only those that are
    /// exported or given to it.
    fn line_of_child(&mut self, line: &str, arguments: &[Word], call: &Call) {
        let state = self.save();
        let exported = std::mem::take(&mut self.state.exported);
        self.state.variables.keep_only(|name| {
            matches!(name, "HOME" | "PWD" | "HERMES_HOME" | "SHELL" | "BASH") || exported.contains(name)
        });
        self.state.exported = exported;
        for text in &call.env {
            if let Some((name, value)) = text.split_once('=').filter(|(_, value)| !value.contains('…')) {
                self.state.variables.set(name, Field::from_text(value));
            }
        }
        if let Some(name) = arguments.first().and_then(Word::text) {
            self.state.variables.set("0", Field::from_text(&name));
        }
        self.set_arguments(arguments.get(1..).unwrap_or_default());
        let before = self.look.calls.len();
        self.line(line, &Flow { input: call.input.clone(), ..Flow::default() });
        // What is done to arguments that are only known later is done to many.
        if call.via == Via::Many {
            for inner in &mut self.look.calls[before..] {
                if inner.via == Via::Line && inner.args().iter().any(Word::has_unknown) {
                    inner.via = Via::Many;
                }
            }
        }
        self.leave(state);
    }

    fn list_apart(&mut self, list: &List, flow: &Flow) {
        let state = self.save();
        self.list(list, flow);
        self.leave(state);
    }

    /// Goes back to what a shell remembered; files that another one wrote are there all the same.
    fn leave(&mut self, before: State) {
        let State { fresh, written, links, programs, .. } = std::mem::replace(&mut self.state, before);
        (self.state.fresh, self.state.written) = (fresh, written);
        (self.state.links, self.state.programs) = (links, programs);
    }

    fn too_much(&mut self, text: &str) {
        // Once is enough.
        if self.look.troubles.iter().any(|trouble| matches!(trouble, Trouble::TooMuch { .. })) {
            return;
        }
        let part = text.chars().take(80).collect();
        self.look.troubles.push(Trouble::TooMuch { part });
    }

    /// A program that is started: written down, and what it starts in turn.
    fn run(&mut self, call: &Call) {
        if self.depth >= DEEPEST || self.is_spent() {
            return self.too_much(&call.shown());
        }
        self.depth += 1;
        self.effects(call);
        self.subscripts(call);
        self.look.calls.push(call.clone());
        self.elsewhere(call);
        if let Some(through) = self.through_links(call) {
            self.look.calls.push(through);
        }
        self.under_its_name(call);
        self.inner(call);
        self.try_words(call);
        // A variable that stands for nothing makes the next word the program.
        if let [first, rest @ ..] = call.words.as_slice()
            && first.is_blank()
            && rest.first().is_some_and(|word| !word.beginning().starts_with('-') && !word.is_blank())
        {
            self.run(&Call { words: rest.to_vec(), ..call.clone() });
        }
        self.depth -= 1;
    }

    /// What a script in another language does.
    fn acts(&mut self, call: &Call, acts: Vec<Act>) {
        for act in acts {
            let of = |words: Vec<Word>| Call {
                words,
                input: Input::default(),
                writes: Vec::new(),
                ..call.clone()
            };
            let known = |words: &[&str]| words.iter().copied().map(Word::known).collect::<Vec<_>>();
            let with = |mut words: Vec<Word>, last: Word| {
                words.push(last);
                of(words)
            };
            match act {
                Act::Line(line) => self.line_apart(&line, &Flow::default()),
                Act::Words(words) => self.run(&of(words)),
                Act::DeleteTree(word) => self.run(&with(known(&["rm", "-r"]), word)),
                Act::Delete(word) => self.run(&with(known(&["rm"]), word)),
                Act::Write(word) => self.look.calls.push(Call { writes: vec![word], ..of(Vec::new()) }),
                Act::Multiply => self.mark(call, Mark::Multiplies),
                Act::Unknown => self.mark(call, Mark::UnknownCode),
                Act::Reach(name) => {
                    let part = if call.part.is_empty() { call.shown() } else { call.part.clone() };
                    self.look.troubles.push(Trouble::Reaches { part, name });
                }
            }
        }
    }

    /// Writes a program down again with something to know about it.
    fn mark(&mut self, call: &Call, mark: Mark) {
        let mut call = call.clone();
        call.marks.push(mark);
        self.look.calls.push(call);
    }

    /// A field of the shell as a word.
    fn word(&self, field: &Field) -> Word {
        let mut word = Word::default();
        for piece in &field.pieces {
            match piece {
                Piece::Text(text) => word.push_text(text),
                Piece::Home if self.sight.home.is_empty() => word.push_text("/root"),
                Piece::Home => word.push_text(self.sight.home),
                Piece::HomeOf(user) if user == "root" => word.push_text("/root"),
                Piece::HomeOf(user) => word.push_text(&format!("/home/{user}")),
                Piece::Glob(glob) => word.0.push(super::word::Piece::Glob(glob.clone())),
                Piece::Unknown => word.0.push(super::word::Piece::Unknown),
            }
        }
        word
    }
}
