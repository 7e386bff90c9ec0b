//! Lists, pipelines, loops, branches and functions.

use std::sync::Arc;

use super::{Flow, Walk};
use crate::command::call::{Call, Input, Mark};
use crate::command::word::Word;
use crate::shell::ast::{
    Command, CommandKind, For, Item, List, Mode, Pipeline, Redirect, RedirectOperator, Target, Test, WordPart,
};
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
        for (place, pipeline) in item.chain.pipelines().enumerate() {
            self.pipeline(pipeline, if place == 0 { flow } else { &later });
        }
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
            self.spend(input.upstream.len());
            let before = self.look.calls.len();
            self.command(&stage.command, &Flow { input: input.clone(), ..flow.clone() });
            let text = self.output_of(&stage.command, &input);
            let mut upstream = std::mem::take(&mut input.upstream);
            upstream.extend(self.look.calls[before..].iter().map(|call| Arc::new(call.words.clone())));
            input = Input { upstream, unknown: text.is_none(), text, ..Input::default() };
            self.leave(state);
        }
    }

    pub(super) fn command(&mut self, command: &Command, flow: &Flow) {
        let part = command.span.of(&self.text).to_owned();
        if let CommandKind::Simple(simple) = &command.kind {
            let writes = self.simple(simple, &command.redirects, part, flow);
            if !writes.is_empty() {
                let text = self.output_of(command, &flow.input);
                let appends = command.redirects.iter().any(|redirect| {
                    matches!(redirect.operator, RedirectOperator::Append | RedirectOperator::AppendBoth)
                });
                self.keep_written(&writes, text.as_deref(), appends);
            }
            return;
        }
        let (writes, input) = self.redirects(&command.redirects, &flow.input);
        if !writes.is_empty() {
            let cwd = self.state.cwd.clone();
            self.look.calls.push(Call { writes, cwd, part, ..Call::default() });
        }
        let flow = Flow { input, ..flow.clone() };
        self.compound(&command.kind, &flow);
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
                counted.expressions.iter().for_each(|parts| self.inside_parts(parts));
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
                    self.state.functions.insert(name.clone(), Arc::new((*function.body).clone()));
                    // It may also be called by a later line, so it is read now too.
                    self.body(&name, &function.body, &perhaps);
                }
            }
            CommandKind::Coproc(coproc) => self.command(&coproc.body, flow),
        }
    }

    /// The body of a function. Its arguments are not known.
    pub(super) fn body(&mut self, name: &str, body: &Command, flow: &Flow) {
        if self.inside.iter().any(|other| other == name) {
            return;
        }
        self.inside.push(name.to_owned());
        let state = self.save();
        self.command(body, flow);
        let cwd = self.state.cwd.clone();
        self.leave(state);
        self.state.cwd = cwd;
        self.inside.pop();
    }

    fn each(&mut self, each: &For, flow: &Flow) {
        let Some(name) = each.name.fixed() else { return self.list(&each.body, flow) };
        let mut values: Vec<Field> = Vec::new();
        for word in each.words.iter().flatten() {
            self.inside_parts(&word.parts);
            match self.state.variables.resolve(word) {
                Value::Known(fields) | Value::Partly(fields) => values.extend(fields),
                Value::Unknown => values.push(Field { pieces: vec![Piece::Unknown] }),
            }
        }
        let more = each.words.is_none() || values.len() > MOST_ROUNDS;
        for value in values.into_iter().take(MOST_ROUNDS) {
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

    /// What redirections write to, and what then stands on standard input.
    pub(super) fn redirects(&mut self, redirects: &[Redirect], from: &Input) -> (Vec<Word>, Input) {
        let (mut writes, mut input) = (Vec::new(), from.clone());
        for redirect in redirects {
            let parts: &[WordPart] = match &redirect.target {
                Target::Word(word) => &word.parts,
                Target::Document(document) => &document.body,
            };
            self.inside_parts(parts);
            match redirect.operator {
                RedirectOperator::HereString
                | RedirectOperator::HereDocument
                | RedirectOperator::HereDocumentStripped => {
                    let text = self.word(&self.state.variables.resolve_text(parts)).text();
                    input = Input { unknown: text.is_none(), text, ..Input::default() };
                }
                RedirectOperator::Read => {
                    let files = match &redirect.target {
                        Target::Word(word) => self.resolve(word),
                        Target::Document(_) => Vec::new(),
                    };
                    input = Input { upstream: self.inside_sources(parts), files, text: None, unknown: true };
                }
                // What another descriptor was opened on is not followed.
                RedirectOperator::DuplicateInput => {
                    input = Input { unknown: true, ..Input::default() };
                }
                RedirectOperator::Write
                | RedirectOperator::Append
                | RedirectOperator::Clobber
                | RedirectOperator::ReadWrite
                | RedirectOperator::DuplicateOutput
                | RedirectOperator::WriteBoth
                | RedirectOperator::AppendBoth => writes.extend(self.target(redirect)),
            }
        }
        (writes, input)
    }

    /// The file a redirection writes to; a descriptor is none.
    fn target(&mut self, redirect: &Redirect) -> Vec<Word> {
        let Target::Word(word) = &redirect.target else { return Vec::new() };
        let words = self.resolve(word);
        let is_descriptor = |word: &Word| {
            redirect.operator == RedirectOperator::DuplicateOutput
                && word.text().is_some_and(|text| text == "-" || text.chars().all(|c| c.is_ascii_digit()))
        };
        words.into_iter().filter(|word| !is_descriptor(word)).collect()
    }
}
