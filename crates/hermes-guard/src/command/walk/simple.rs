//! One simple command: its words worked out, its variables kept, and what hides inside its words.

use std::sync::Arc;

use super::{Flow, Walk};
use crate::command::call::{Call, Mark};
use crate::command::word::Word;
use crate::shell::ast::{
    self, Assign, AssignedValue, Assignment, Element, Operation, Redirect, Simple, WordPart,
};
use crate::shell::{Field, Piece, Value};

impl Walk<'_> {
    pub(super) fn simple(
        &mut self,
        simple: &Simple,
        redirects: &[Redirect],
        part: String,
        flow: &Flow,
    ) -> Vec<Word> {
        let before = self.look.calls.len();
        for assignment in &simple.assignments {
            self.inside_assignment(assignment);
        }
        for word in &simple.words {
            self.inside_parts(&word.parts);
        }
        let nested: Vec<Call> = self.look.calls[before..].to_vec();
        let (writes, input) = self.redirects(redirects, &flow.input);
        let words: Vec<Word> = simple.words.iter().flat_map(|word| self.resolve(word)).collect();
        self.spend(words.iter().map(Word::weight).sum());
        let env: Vec<String> =
            simple.assignments.iter().filter_map(|assignment| self.assigned(assignment)).collect();
        self.spend(env.iter().map(String::len).sum());
        if words.is_empty() {
            for assignment in &simple.assignments {
                self.assign(assignment, flow);
            }
        }
        let mut call = Call {
            words,
            env,
            writes,
            input,
            part,
            cwd: self.state.cwd.clone(),
            marks: flow.marks.clone(),
            ..Call::default()
        };
        self.name_moved_homes(&mut call);
        Self::mark_origins(&mut call, &nested);
        self.mark_repetition(&mut call);
        Self::name_found_program(&mut call, &nested);
        let mut written = call.writes.clone();
        if call.is(&["tee"]) {
            written.extend(call.operands().into_iter().cloned());
        }
        self.run(&call);
        written
    }

    /// This program looks for its home in two variables: ones that were changed before are given to it as well.
    fn name_moved_homes(&self, call: &mut Call) {
        if !call.is(&["hermes", "hermes-agent"]) {
            return;
        }
        for (name, usual) in [("HOME", self.sight.home), ("HERMES_HOME", self.sight.hermes_home)] {
            let now = self.state.variables.get(name).and_then(Field::text);
            if !usual.is_empty() && now.as_deref() != Some(usual) {
                call.env.push(format!("{name}={}", now.as_deref().unwrap_or("…")));
            }
        }
    }

    /// `$(which x)` is x.
    fn name_found_program(call: &mut Call, nested: &[Call]) {
        let [asked] = nested else { return };
        let asks =
            asked.is(&["which"]) || asked.is(&["command", "type"]) && asked.has_any(&["-v", "-p", "-P"]);
        if let (true, Some(first), Some(found)) = (asks, call.words.first_mut(), asked.operands().last())
            && first.is_blank()
        {
            *first = (*found).clone();
        }
    }

    /// Where the text of substitutions in the words comes from.
    fn mark_origins(call: &mut Call, nested: &[Call]) {
        if nested.is_empty() {
            return;
        }
        if nested.iter().any(|inner| inner.is(&["pgrep", "pidof", "ps"])) {
            call.marks.push(Mark::FoundProcesses);
        }
        call.origins.extend(nested.iter().map(|inner| Arc::new(inner.words.clone())));
    }

    /// A function that calls itself beside itself never ends.
    fn mark_repetition(&self, call: &mut Call) {
        let Some(name) = call.words.first().and_then(Word::text) else { return };
        let itself = self.inside.contains(&name);
        let twice = itself
            && call
                .input
                .upstream
                .iter()
                .any(|words| words.first().and_then(Word::text).as_ref() == Some(&name));
        if itself && (twice || call.marks.contains(&Mark::Background)) {
            call.marks.push(Mark::Multiplies);
        }
    }

    /// What a word becomes.
    pub(super) fn resolve(&self, word: &ast::Word) -> Vec<Word> {
        match self.state.variables.resolve(word) {
            Value::Known(fields) | Value::Partly(fields) => {
                fields.iter().map(|field| self.word(field)).collect()
            }
            Value::Unknown => vec![Word::unknown()],
        }
    }

    /// `NAME=value`, as far as it is known.
    fn assigned(&self, assignment: &Assignment) -> Option<String> {
        let AssignedValue::Word(word) = &assignment.value else { return None };
        let value = self.word(&self.state.variables.resolve_text(&word.parts));
        Some(format!("{}={}", assignment.name, value.shown()))
    }

    fn assign(&mut self, assignment: &Assignment, flow: &Flow) {
        let name = &assignment.name;
        let word = match &assignment.value {
            AssignedValue::Word(word) => word,
            AssignedValue::Array(elements) => return self.assign_array(assignment, elements, flow),
        };
        let mut value = self.state.variables.resolve_text(&word.parts);
        if let Some(subscript) = &assignment.subscript {
            // One element of a list that was not known before.
            let first =
                self.word(&self.state.variables.resolve_text(subscript)).text().as_deref() == Some("0");
            self.state.variables.forget(name);
            if first && assignment.how == Assign::Set && !flow.perhaps {
                self.state.variables.set_array(name, vec![value]);
            }
            return;
        }
        if assignment.how == Assign::Append {
            match self.state.variables.get(name) {
                Some(old) => value.pieces.splice(0..0, old.pieces.clone()).for_each(drop),
                None => value.pieces.insert(0, Piece::Unknown),
            }
        }
        let given = self.word(&value);
        self.given_variable(name, &given);
        self.set(name, value, flow);
    }

    /// `name=(a b c)`, where the list is plain.
    fn assign_array(&mut self, assignment: &Assignment, elements: &[Element], flow: &Flow) {
        let plain = assignment.how == Assign::Set
            && assignment.subscript.is_none()
            && !flow.perhaps
            && elements.iter().all(|element| element.key.is_none());
        self.state.variables.forget(&assignment.name);
        if !plain {
            return;
        }
        let mut fields = Vec::new();
        for element in elements {
            match self.state.variables.resolve(&element.value) {
                Value::Known(more) => fields.extend(more),
                Value::Partly(_) | Value::Unknown => return,
            }
        }
        self.spend(fields.len());
        self.state.variables.set_array(&assignment.name, fields);
    }

    /// Keeps a value; where it may also not be assigned, only if that makes no difference.
    pub(super) fn set(&mut self, name: &str, value: Field, flow: &Flow) {
        let differs = self.state.variables.get(name).is_some_and(|old| *old != value);
        if flow.perhaps && differs {
            self.state.variables.forget(name);
        } else {
            self.state.variables.set(name, value);
        }
    }

    fn inside_assignment(&mut self, assignment: &Assignment) {
        if let Some(parts) = &assignment.subscript {
            self.inside_parts(parts);
        }
        match &assignment.value {
            AssignedValue::Word(word) => self.inside_parts(&word.parts),
            AssignedValue::Array(elements) => self.inside_elements(elements),
        }
    }

    fn inside_elements(&mut self, elements: &[Element]) {
        for element in elements {
            if let Some((key, _)) = &element.key {
                self.inside_parts(key);
            }
            self.inside_parts(&element.value.parts);
        }
    }

    /// Commands inside the parts of a word.
    pub(super) fn inside_parts(&mut self, parts: &[WordPart]) {
        for part in parts {
            match part {
                WordPart::Literal(_)
                | WordPart::Escaped(_)
                | WordPart::Single(_)
                | WordPart::AnsiC(_)
                | WordPart::Tilde(_)
                | WordPart::Glob(_)
                | WordPart::Range(_) => {}
                WordPart::Double(parts) | WordPart::Translated(parts) | WordPart::ExtendedGlob(_, parts) => {
                    self.inside_parts(parts);
                }
                WordPart::Parameter(parameter) => {
                    if let Some(parts) = &parameter.subscript {
                        self.inside_parts(parts);
                    }
                    if parameter.operation == Operation::Transform('P') {
                        match self.state.variables.get(&parameter.name).map(|value| self.word(value)) {
                            Some(value) => self.expanded_again(&value.shown()),
                            None => self.mark(&Call::default(), Mark::UnknownCode),
                        }
                    }
                    self.inside_operation(&parameter.operation);
                }
                WordPart::Substitution(substitution) => self.list_apart(&substitution.list, &Flow::default()),
                WordPart::Process(process) => self.list_apart(&process.list, &Flow::default()),
                WordPart::Arithmetic(arithmetic) => {
                    self.inside_parts(&arithmetic.parts);
                    self.in_arithmetic(&arithmetic.parts);
                }
                WordPart::Braces(choices) => choices.iter().for_each(|parts| self.inside_parts(parts)),
                WordPart::Array(elements) => self.inside_elements(elements),
            }
        }
    }

    fn inside_operation(&mut self, operation: &Operation) {
        match operation {
            Operation::Value | Operation::Transform(_) | Operation::Names(_) => {}
            Operation::Instead(_, _, parts)
            | Operation::Remove(_, parts)
            | Operation::Case(_, parts)
            | Operation::Unreadable(parts) => self.inside_parts(parts),
            Operation::Replace(_, pattern, replacement) => {
                self.inside_parts(pattern);
                if let Some(parts) = replacement {
                    self.inside_parts(parts);
                }
            }
            Operation::Slice(offset, length) => {
                self.inside_parts(offset);
                if let Some(parts) = length {
                    self.inside_parts(parts);
                }
            }
        }
    }

    /// The programs whose output a word stands for.
    pub(super) fn inside_sources(&mut self, parts: &[WordPart]) -> Vec<Arc<Vec<Word>>> {
        let before = self.look.calls.len();
        self.inside_parts(parts);
        let found = self.look.calls.split_off(before);
        found.into_iter().map(|call| Arc::new(call.words)).collect()
    }
}
