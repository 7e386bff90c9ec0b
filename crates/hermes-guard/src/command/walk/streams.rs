//! Redirections: what a command writes, and what stands on its descriptors, under every name they have.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Flow, Walk};
use crate::command::call::{Call, Input, Mark};
use crate::command::path::Route;
use crate::command::word::Word;
use crate::shell::ast::{Direction, Fd, List, Redirect, RedirectOperator, Target, WordPart};

/// The first descriptor that the shell takes for `<( … )`; it counts down from there.
const FIRST_PROCESS: u32 = 63;

/// What `exec` opened for all commands that follow.
#[derive(Debug, Clone, Default)]
pub(super) struct Open {
    /// What can be read, by descriptor.
    pub(super) inputs: BTreeMap<u32, Input>,
    /// The files that are written, by descriptor.
    pub(super) outputs: BTreeMap<u32, Word>,
}

/// What the redirections of a command do.
#[derive(Debug, Default)]
pub(super) struct Streams {
    /// The files it writes.
    pub(super) writes: Vec<Word>,
    /// What stands on its standard input.
    pub(super) input: Input,
    /// What stands on its other descriptors.
    pub(super) others: BTreeMap<u32, Input>,
    /// The files behind its descriptors.
    outputs: BTreeMap<u32, Word>,
}

impl Walk<'_> {
    /// What redirections write to, and what then stands on the descriptors.
    pub(super) fn redirects(&mut self, redirects: &[Redirect], from: &Input) -> Streams {
        let mut inputs = self.state.open.inputs.clone();
        if *from != Input::default() {
            inputs.insert(0, from.clone());
        }
        let mut streams = Streams { outputs: self.state.open.outputs.clone(), ..Streams::default() };
        if !redirects.iter().any(writes_output) {
            streams.writes.extend(streams.outputs.get(&1).cloned());
        }
        for redirect in redirects {
            let number = self.number(redirect);
            let parts: &[WordPart] = match &redirect.target {
                Target::Word(word) => &word.parts,
                Target::Document(document) => &document.body,
            };
            match redirect.operator {
                RedirectOperator::HereString
                | RedirectOperator::HereDocument
                | RedirectOperator::HereDocumentStripped => {
                    self.inside_parts(parts);
                    let text = self.word(&self.state.variables.resolve_text(parts)).text();
                    inputs.insert(
                        number.unwrap_or(0),
                        Input { unknown: text.is_none(), text, ..Input::default() },
                    );
                }
                RedirectOperator::Read => {
                    let input = self.read_from(redirect, parts, &inputs);
                    inputs.insert(number.unwrap_or(0), input);
                }
                RedirectOperator::DuplicateInput => {
                    self.inside_parts(parts);
                    let source = self.word(&self.state.variables.resolve_text(parts)).text();
                    let source = source.and_then(|text| text.trim_end_matches('-').parse::<u32>().ok());
                    let known = source.and_then(|source| inputs.get(&source).cloned());
                    let unknown = Input { unknown: true, ..Input::default() };
                    inputs.insert(number.unwrap_or(0), known.unwrap_or(unknown));
                }
                RedirectOperator::Write
                | RedirectOperator::Append
                | RedirectOperator::Clobber
                | RedirectOperator::ReadWrite
                | RedirectOperator::DuplicateOutput
                | RedirectOperator::WriteBoth
                | RedirectOperator::AppendBoth => {
                    self.inside_parts(parts);
                    let files = self.target(redirect, &streams.outputs);
                    if let Some(file) = files.first() {
                        streams.outputs.insert(number.unwrap_or(1), file.clone());
                    }
                    streams.writes.extend(files);
                }
            }
        }
        streams.input = inputs.remove(&0).unwrap_or_default();
        streams.others = inputs;
        streams
    }

    /// `exec` without a program: what its redirections opened stays open.
    pub(super) fn keep_open(&mut self, streams: &Streams) {
        self.state.open.inputs = streams.others.clone();
        if streams.input != Input::default() {
            self.state.open.inputs.insert(0, streams.input.clone());
        }
        self.state.open.outputs = streams.outputs.clone();
    }

    /// The descriptor that is named; `{name}` gets one that nobody else has.
    fn number(&mut self, redirect: &Redirect) -> Option<u32> {
        match redirect.fd.as_ref()? {
            Fd::Number(number) => number.parse().ok(),
            Fd::Variable(name) => {
                let number = 10;
                self.state.variables.set(name, crate::shell::Field::from_text(&number.to_string()));
                Some(number)
            }
        }
    }

    fn read_from(&mut self, redirect: &Redirect, parts: &[WordPart], inputs: &BTreeMap<u32, Input>) -> Input {
        if let [WordPart::Process(process)] = parts
            && process.direction == Direction::FromProcess
        {
            return self.output_of_process(&process.list);
        }
        let upstream = self.inside_sources(parts);
        let files = match &redirect.target {
            Target::Word(word) => self.resolve(word),
            Target::Document(_) => Vec::new(),
        };
        let known = files.first().and_then(|file| inputs.get(&descriptor(file, self.state.cwd.as_deref())?));
        if let Some(input) = known {
            return input.clone();
        }
        let text = match files.as_slice() {
            [file] => self.written_text(file),
            _ => None,
        };
        Input { upstream, files, unknown: text.is_none(), text }
    }

    /// What the programs of `<( … )` print.
    pub(super) fn output_of_process(&mut self, list: &List) -> Input {
        let before = self.look.calls.len();
        // It runs beside the command that reads it.
        let marks = vec![Mark::Background];
        self.list_apart(list, &Flow { marks, ..Flow::default() });
        let upstream = self.look.calls[before..].iter().map(|call| Arc::new(call.words.clone())).collect();
        let text = self.output_of_list(list, &Input::default());
        let files = if text.is_none() { self.file_shown_by(list) } else { Vec::new() };
        Input { upstream, files, unknown: text.is_none(), text }
    }

    /// A word that is `<( … )` alone: the name the shell gives it, and what can be read there.
    pub(super) fn process_word(&mut self, parts: &[WordPart], taken: usize) -> Option<(Word, u32, Input)> {
        let [WordPart::Process(process)] = parts else { return None };
        if process.direction != Direction::FromProcess {
            return None;
        }
        let number = FIRST_PROCESS.checked_sub(u32::try_from(taken).ok()?)?;
        let input = self.output_of_process(&process.list);
        Some((Word::known(format!("/dev/fd/{number}")), number, input))
    }

    /// What a word names, where that is a descriptor of the program.
    pub(super) fn descriptor_of(call: &Call, word: &Word) -> Option<Input> {
        let number = descriptor(word, call.cwd.as_deref())?;
        if number == 0 {
            return Some(call.input.clone());
        }
        let given = call.descriptors.iter().find(|(other, _)| *other == number);
        Some(given.map_or(Input { unknown: true, ..Input::default() }, |(_, input)| input.clone()))
    }

    /// The file a redirection writes to; a descriptor stands for the file behind it.
    fn target(&mut self, redirect: &Redirect, outputs: &BTreeMap<u32, Word>) -> Vec<Word> {
        let Target::Word(word) = &redirect.target else { return Vec::new() };
        let words = self.resolve(word);
        if redirect.operator != RedirectOperator::DuplicateOutput {
            return words;
        }
        let file = |word: Word| match word.text().as_deref().map(|text| text.trim_end_matches('-')) {
            Some("") => None,
            Some(text) => match text.parse::<u32>() {
                Ok(number) => outputs.get(&number).filter(|_| number > 2).cloned(),
                Err(_) => Some(word),
            },
            None => Some(word),
        };
        words.into_iter().filter_map(file).collect()
    }
}

/// Whether a redirection changes where standard output goes.
fn writes_output(redirect: &Redirect) -> bool {
    let number = match &redirect.fd {
        None => "1",
        Some(Fd::Number(number)) => number,
        Some(Fd::Variable(_)) => return false,
    };
    let reads = matches!(
        redirect.operator,
        RedirectOperator::Read
            | RedirectOperator::DuplicateInput
            | RedirectOperator::HereString
            | RedirectOperator::HereDocument
            | RedirectOperator::HereDocumentStripped
    );
    number == "1" && !reads
}

/// The number of the descriptor that a path names: `/dev/stdin`, `/dev/fd/3`, `/proc/self/fd/3`.
fn descriptor(word: &Word, cwd: Option<&str>) -> Option<u32> {
    let parts = word.split_slashes();
    // `/proc/$$/fd/0`
    if let [root, proc, _, fd, number] = parts.as_slice()
        && root.is_empty()
        && proc.may_be("proc")
        && fd.may_be("fd")
    {
        return number.text()?.parse().ok();
    }
    let path = Route::of(word, cwd)?.text()?;
    match path.as_str() {
        "/dev/stdin" => Some(0),
        path => {
            let names: Vec<&str> = path.split('/').collect();
            match names.as_slice() {
                ["", "dev", "fd", number]
                | ["", "proc", _, "fd", number]
                | ["", "proc", _, "task", _, "fd", number] => number.parse().ok(),
                _ => None,
            }
        }
    }
}
