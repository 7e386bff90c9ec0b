//! Lists, pipelines, loops, branches and functions.

use std::sync::Arc;

use super::directory::Ends;
use super::{Flow, Walk};
use crate::command::call::{Call, Input, Mark};
use crate::command::word::Word;
use crate::shell::ast::{Command, CommandKind, For, Item, List, Mode, Pipeline, RedirectOperator, Test};
use crate::shell::{Field, Piece, Value};

/// How many words of a loop are tried one by one.
const MOST_ROUNDS: usize = 32;

impl Walk<'_> {
    pub(super) fn list(&mut self, list: &List, flow: &Flow) {
        for item in &list.items {
            self.spend(1);
            if self.is_spent() {
                return;
            }
            self.item(item, flow);
        }
    }

    fn item(&mut self, item: &Item, flow: &Flow) {
        if item.mode == Mode::Foreground {
            return self.chain(item, flow);
        }
        let mut flow = flow.clone();
        flow.marks.push(Mark::Background);
        let state = self.save();
        self.chain(item, &flow);
        self.leave(state);
    }

    fn chain(&mut self, item: &Item, flow: &Flow) {
        let later = Flow { perhaps: true, ..flow.clone() };
        let mut left = Vec::new();
        self.pipeline(&item.chain.first, flow);
        for (link, pipeline) in &item.chain.rest {
            self.state.ways.joined(*link, ends_shell(pipeline), &mut left);
            self.pipeline(pipeline, &later);
        }
        self.state.ways.chain_ended(left);
    }

    fn pipeline(&mut self, pipeline: &Pipeline, flow: &Flow) {
        if let [stage] = pipeline.stages.as_slice() {
            return self.command(&stage.command, flow);
        }
        let mut input = flow.input.clone();
        for stage in &pipeline.stages {
            if self.is_spent() {
                return;
            }
            let state = self.save();
            self.spend(input.upstream.len() * 4);
            let before = self.look.calls.len();
            self.command(&stage.command, &Flow { input: input.clone(), ..flow.clone() });
            let text = self.output_of(&stage.command, &input);
            let files = if text.is_none() { self.file_shown(&stage.command) } else { Vec::new() };
            let mut upstream = std::mem::take(&mut input.upstream);
            upstream.extend(self.look.calls[before..].iter().map(|call| Arc::new(listing(call))));
            input = Input { upstream, unknown: text.is_none(), text, files };
            self.leave(state);
        }
    }

    pub(super) fn command(&mut self, command: &Command, flow: &Flow) {
        let part = command.span.of(&self.text).to_owned();
        let before = part.contains(">(").then(|| {
            let text = self.output_of(command, &flow.input);
            let mut upstream = flow.input.upstream.clone();
            upstream.extend(self.words_of_command(command));
            let writer = Input { upstream, unknown: text.is_none(), text, ..Input::default() };
            std::mem::replace(&mut self.writer, writer)
        });
        if let CommandKind::Simple(simple) = &command.kind {
            let writes = self.simple(simple, &command.redirects, part, flow);
            if !writes.is_empty() {
                self.keep_output(command, &writes, flow);
            }
        } else {
            let streams = self.redirects(&command.redirects, &flow.input);
            if !streams.writes.is_empty() {
                let (cwd, writes) = (self.state.cwd.clone(), streams.writes.clone());
                self.look.calls.push(Call { writes, cwd, part, ..Call::default() });
            }
            let opened = self.state.open.clone();
            self.state.open.inputs.extend(streams.others);
            let inner = Flow { input: streams.input, ..flow.clone() };
            self.compound(&command.kind, &inner);
            self.state.open = opened;
            if !streams.writes.is_empty() {
                self.keep_output(command, &streams.writes, flow);
            }
        }
        if let Some(before) = before {
            self.writer = before;
        }
    }

    /// Keeps what a command writes into files by redirection.
    fn keep_output(&mut self, command: &Command, writes: &[Word], flow: &Flow) {
        let text = self.output_of(command, &flow.input);
        let appends = command.redirects.iter().any(|redirect| {
            matches!(redirect.operator, RedirectOperator::Append | RedirectOperator::AppendBoth)
        });
        self.keep_written(writes, text.as_deref(), appends);
    }

    /// The words of a simple command, to say where a text comes from.
    fn words_of_command(&self, command: &Command) -> Option<Arc<Vec<Word>>> {
        let CommandKind::Simple(simple) = &command.kind else { return None };
        Some(Arc::new(simple.words.iter().flat_map(|word| self.resolve(word)).collect()))
    }

    fn compound(&mut self, kind: &CommandKind, flow: &Flow) {
        let perhaps = Flow { perhaps: true, ..flow.clone() };
        match kind {
            CommandKind::Simple(_) => {}
            CommandKind::Group(list) => self.list(list, flow),
            CommandKind::Subshell(list) => self.list_apart(list, flow),
            CommandKind::If(branching) => {
                for (condition, body) in &branching.branches {
                    self.list(condition, flow);
                    self.list(body, &perhaps);
                }
                if let Some(list) = &branching.otherwise {
                    self.list(list, &perhaps);
                }
            }
            CommandKind::Loop(repeated) => {
                self.list(&repeated.condition, &perhaps);
                self.list(&repeated.body, &perhaps);
            }
            CommandKind::For(each) | CommandKind::Select(each) => self.each(each, &perhaps),
            CommandKind::ArithmeticFor(counted) => {
                for parts in &counted.expressions {
                    self.inside_parts(parts);
                    self.in_arithmetic(parts);
                }
                self.list(&counted.body, &perhaps);
            }
            CommandKind::Case(case) => {
                self.inside_parts(&case.word.parts);
                for arm in &case.arms {
                    arm.patterns.iter().for_each(|word| self.inside_parts(&word.parts));
                    self.list(&arm.body, &perhaps);
                }
            }
            CommandKind::Arithmetic(parts) => {
                self.inside_parts(parts);
                self.in_arithmetic(parts);
            }
            CommandKind::Test(test) => self.test(test),
            CommandKind::Function(function) => {
                if let Some(name) = function.name.fixed() {
                    // One that may not be defined leaves the one before; it is read all the same.
                    if !flow.perhaps || !self.state.functions.contains_key(&name) {
                        self.state.functions.insert(name.clone(), Arc::new((*function.body).clone()));
                    }
                    // It may also be called by a later line, so it is read now too.
                    self.body(&name, &function.body, &perhaps);
                }
            }
            CommandKind::Coproc(coproc) => {
                // What is written to it later is not followed.
                let input = Input { unknown: true, ..Input::default() };
                let mut flow = Flow { input, ..flow.clone() };
                flow.marks.push(Mark::Background);
                self.command(&coproc.body, &flow);
            }
        }
    }

    /// The body of a function. Its arguments are not known.
    pub(super) fn body(&mut self, name: &str, body: &Command, flow: &Flow) {
        if self.inside.iter().any(|other| other == name) {
            return;
        }
        self.inside.push(name.to_owned());
        let state = self.save();
        self.state.variables.set("FUNCNAME", Field::from_text(name));
        self.command(body, flow);
        let (cwd, ways) = (self.state.cwd.clone(), self.state.ways.clone());
        self.leave(state);
        (self.state.cwd, self.state.ways) = (cwd, ways);
        self.inside.pop();
    }

    fn each(&mut self, each: &For, flow: &Flow) {
        let Some(name) = each.name.fixed() else { return self.list(&each.body, flow) };
        let mut values: Vec<Field> = Vec::new();
        let before = self.look.calls.len();
        for word in each.words.iter().flatten() {
            self.inside_parts(&word.parts);
            match self.state.variables.resolve(word) {
                Value::Known(fields) | Value::Partly(fields) => values.extend(fields),
                Value::Unknown => values.push(Field { pieces: vec![Piece::Unknown] }),
            }
        }
        let sources = self.look.calls[before..].iter().map(|call| Arc::new(listing(call))).collect();
        self.state.sources.insert(name.clone(), sources);
        if each.words.is_none() {
            values.extend(self.state.variables.elements("@").into_iter().flatten().cloned());
        }
        let more = each.words.is_none() || values.len() > MOST_ROUNDS;
        for value in values.into_iter().take(MOST_ROUNDS) {
            self.give(&name, &value);
            self.state.variables.set(&name, value);
            self.list(&each.body, flow);
        }
        self.state.variables.forget(&name);
        if more {
            self.list(&each.body, flow);
        }
    }

    fn test(&mut self, test: &Test) {
        match test {
            Test::Word(word) => self.inside_parts(&word.parts),
            Test::Unary(operator, word) => {
                self.inside_parts(&word.parts);
                if operator == "-v" {
                    self.in_arithmetic(&word.parts);
                }
            }
            Test::Binary(left, operator, right) => {
                if matches!(operator.as_str(), "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge") {
                    self.in_arithmetic(&left.parts);
                    self.in_arithmetic(&right.parts);
                }
                self.inside_parts(&left.parts);
                self.inside_parts(&right.parts);
            }
            Test::Not(inner) | Test::Group(inner) => self.test(inner),
            Test::And(tests) | Test::Or(tests) => tests.iter().for_each(|test| self.test(test)),
        }
    }
}

/// The words of a program whose output is used: `ls` alone lists what is here, `echo x*` what `ls x*` would.
pub(super) fn listing(call: &Call) -> Vec<Word> {
    let mut words = call.words.clone();
    if call.is(&["ls"]) && call.operands().is_empty() {
        words.push(Word::known("."));
    }
    if call.is(&["echo", "printf"]) && call.args().iter().any(Word::has_glob) {
        words.retain(Word::has_glob);
        words.insert(0, Word::known("ls"));
    }
    words
}

/// Whether a pipeline ends the shell, so that what follows the whole chain is not reached: `cd x || exit`.
fn ends_shell(pipeline: &Pipeline) -> Ends {
    let [stage] = pipeline.stages.as_slice() else { return Ends::No };
    let last = match &stage.command.kind {
        CommandKind::Group(list) => match list.items.last() {
            Some(item) if item.chain.rest.is_empty() => return ends_shell(&item.chain.first),
            _ => return Ends::No,
        },
        CommandKind::Simple(simple) => simple.words.first().and_then(crate::shell::ast::Word::fixed),
        _ => None,
    };
    match last.as_deref() {
        Some("exit" | "return" | "break" | "continue") => Ends::Yes,
        _ => Ends::No,
    }
}
