//! One simple command: its words worked out, its variables kept, and what hides inside its words.

use std::sync::Arc;

use super::{Flow, Walk};
use crate::command::call::{Call, Input, Mark, Via};
use crate::command::word::Word;
use crate::shell::ast::{
    self, Assign, AssignedValue, Assignment, Direction, Element, Instead, Operation, Parameter,
    ParameterForm, Redirect, Simple, Substitution, SubstitutionForm, WordPart,
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
        let mut processes = Vec::new();
        let mut named = std::collections::BTreeMap::new();
        for (place, word) in simple.words.iter().enumerate() {
            match self.process_word(&word.parts, processes.len()) {
                Some((word, number, input)) => {
                    named.insert(place, word);
                    processes.push((number, input));
                }
                None => self.inside_parts(&word.parts),
            }
        }
        let nested: Vec<Call> = self.look.calls[before..].to_vec();
        let streams = self.redirects(redirects, &flow.input);
        let mut words: Vec<Word> = Vec::new();
        for (place, word) in simple.words.iter().enumerate() {
            match named.remove(&place) {
                Some(word) => words.push(word),
                None => words.extend(self.resolve(word)),
            }
        }
        self.spend(words.iter().map(Word::weight).sum());
        if matches!(words.as_slice(), [only] if only.text().as_deref() == Some("exec")) {
            self.keep_open(&streams);
        }
        let (writes, input) = (streams.writes, streams.input);
        let descriptors = streams.others.into_iter().chain(processes).collect();
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
            descriptors,
            part,
            cwd: self.state.cwd.clone(),
            marks: flow.marks.clone(),
            ..Call::default()
        };
        Self::name_own_shell(simple, &mut call);
        self.name_moved_homes(&mut call);
        Self::mark_origins(&mut call, &nested);
        self.mark_repetition(&mut call);
        Self::name_found_program(&mut call, &nested);
        let mut written = call.writes.clone();
        if call.is(&["tee"]) {
            written.extend(call.operands().into_iter().cloned());
        }
        let perhaps = std::mem::replace(&mut self.perhaps, flow.perhaps);
        self.run(&call);
        self.perhaps = perhaps;
        self.fed_by_sources(simple, &call);
        self.declared_lists(simple, &call, flow);
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

    /// `rm $(find /)`, `for f in $(ls /); do rm $f; done`: deleting what a program lists is like `… | xargs rm`.
    fn fed_by_sources(&mut self, simple: &Simple, call: &Call) {
        if !call.is(&["rm", "grm", "srm", "unlink"]) || !call.args().iter().any(Word::has_unknown) {
            return;
        }
        let of = |words: &Arc<Vec<Word>>| Call { words: words.to_vec(), ..Call::default() };
        let mut upstream: Vec<Arc<Vec<Word>>> =
            call.origins.iter().map(|words| Arc::new(super::compound::listing(&of(words)))).collect();
        for name in simple.words.iter().flat_map(|word| parameters(&word.parts)) {
            upstream.extend(self.state.sources.get(name).into_iter().flatten().cloned());
        }
        if !upstream.is_empty() {
            let input = Input { upstream, unknown: true, ..Input::default() };
            let fed = Call { input, via: Via::Many, ..call.clone() };
            if self.is_worst(&fed) {
                self.look.calls.push(fed);
            }
        }
    }

    /// `declare -a name=(a b)`
    fn declared_lists(&mut self, simple: &Simple, call: &Call, flow: &Flow) {
        if !call.is(&["declare", "typeset", "local", "export", "readonly"]) {
            return;
        }
        for word in &simple.words {
            if let [WordPart::Literal(text), WordPart::Array(elements)] = word.parts.as_slice()
                && let Some(name) = text.strip_suffix('=')
            {
                let (name, how) = match name.strip_suffix('+') {
                    Some(name) => (name, Assign::Append),
                    None => (name, Assign::Set),
                };
                self.list_of(name, how, elements, flow.perhaps);
            }
        }
    }

    /// `$0 …` starts the shell that runs.
    fn name_own_shell(simple: &Simple, call: &mut Call) {
        let parts = simple.words.first().map_or(&[][..], |word| word.parts.as_slice());
        let parts = if let [WordPart::Double(inner)] = parts { inner.as_slice() } else { parts };
        if let ([WordPart::Parameter(parameter)], Some(first)) = (parts, call.words.first_mut())
            && parameter.name == "0"
            && first.is_blank()
        {
            *first = Word::known("bash");
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
            return self.assign_element(assignment, subscript, value, flow);
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

    /// `name[key]=value`
    fn assign_element(&mut self, assignment: &Assignment, subscript: &[WordPart], value: Field, flow: &Flow) {
        let name = &assignment.name;
        self.in_arithmetic(subscript);
        let key = self.word(&self.state.variables.resolve_text(subscript)).text();
        let (Some(key), Some(text)) = (key, self.word(&value).text()) else {
            return self.state.variables.forget(name);
        };
        match name.as_str() {
            "BASH_ALIASES" => return self.new_alias(&key, &text),
            "BASH_CMDS" => return drop(self.state.aliases.insert(key, text.into())),
            _ => {}
        }
        if flow.perhaps || assignment.how == Assign::Append {
            self.state.variables.forget(name);
        } else {
            self.state.variables.set_element(name, &key, value);
        }
    }

    /// `name=(a b c)`, `name+=(d)`, `name=([key]=a)`
    fn assign_array(&mut self, assignment: &Assignment, elements: &[Element], flow: &Flow) {
        self.list_of(
            &assignment.name,
            assignment.how,
            elements,
            flow.perhaps || assignment.subscript.is_some(),
        );
    }

    /// Makes a variable a list; one that is not certain is not known.
    pub(super) fn list_of(&mut self, name: &str, how: Assign, elements: &[Element], uncertain: bool) {
        let mut fields: Vec<Field> = match how {
            Assign::Append => self.state.variables.elements(name).map(<[Field]>::to_vec).unwrap_or_default(),
            Assign::Set => Vec::new(),
        };
        let touched = how == Assign::Append && fields.is_empty() && self.state.variables.is_touched(name);
        self.state.variables.forget(name);
        if uncertain || touched {
            return;
        }
        let mut keyed = Vec::new();
        for element in elements {
            let Value::Known(more) = self.state.variables.resolve(&element.value) else { return };
            match &element.key {
                None => fields.extend(more),
                Some((key, _)) => {
                    let key = self.word(&self.state.variables.resolve_text(key)).text();
                    let (Some(key), [value]) = (key, more.as_slice()) else { return };
                    keyed.push((key, value.clone()));
                }
            }
        }
        self.spend(fields.len() + keyed.len());
        if !fields.is_empty() || keyed.is_empty() {
            self.state.variables.set_array(name, fields);
        }
        for (key, value) in keyed {
            self.state.variables.set_element(name, &key, value);
        }
    }

    /// A variable gets a value: one that the shell expands or runs by itself is read.
    pub(super) fn give(&mut self, name: &str, value: &Field) {
        let given = self.word(value);
        self.given_variable(name, &given);
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
                        self.in_arithmetic(parts);
                    }
                    self.assigned_by_default(parameter);
                    if parameter.form == ParameterForm::Indirect
                        && let Some(value) =
                            self.state.variables.get(&parameter.name).map(|value| self.word(value))
                    {
                        self.expanded_again(&value.shown());
                    }
                    if parameter.operation == Operation::Transform('P') {
                        match self.state.variables.get(&parameter.name).map(|value| self.word(value)) {
                            Some(value) => self.expanded_again(&value.shown()),
                            None => self.mark(&Call::default(), Mark::UnknownCode),
                        }
                    }
                    self.inside_operation(&parameter.operation);
                }
                WordPart::Substitution(substitution) => self.substituted(substitution),
                WordPart::Process(process) => {
                    let input = match process.direction {
                        Direction::FromProcess => Input::default(),
                        Direction::ToProcess => self.writer.clone(),
                    };
                    let marks = vec![Mark::Background];
                    self.list_apart(&process.list, &Flow { input, marks, ..Flow::default() });
                }
                WordPart::Arithmetic(arithmetic) => {
                    self.inside_parts(&arithmetic.parts);
                    self.in_arithmetic(&arithmetic.parts);
                }
                WordPart::Braces(choices) => choices.iter().for_each(|parts| self.inside_parts(parts)),
                WordPart::Array(elements) => self.inside_elements(elements),
            }
        }
    }

    /// `$( … )`: its commands run, and what they print stands in the word.
    fn substituted(&mut self, substitution: &Substitution) {
        self.list_apart(&substitution.list, &Flow::default());
        let mut text = None;
        if substitution.form == SubstitutionForm::Dollar {
            let input = self.state.open.inputs.get(&0).cloned().unwrap_or_default();
            text = self.output_of_list(&substitution.list, &input);
        }
        self.state.variables.set_printed(substitution.span, text);
    }

    /// `${name:=word}` assigns.
    fn assigned_by_default(&mut self, parameter: &Parameter) {
        if !matches!(parameter.operation, Operation::Instead(Instead::AssignDefault, ..)) {
            return;
        }
        let value = self.state.variables.resolve_text(&[WordPart::Parameter(parameter.clone())]);
        self.give(&parameter.name, &value);
        self.state.variables.set(&parameter.name, value);
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
                for parts in std::iter::once(offset).chain(length) {
                    self.inside_parts(parts);
                    self.in_arithmetic(parts);
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

/// The names of variables that stand in a word.
fn parameters(parts: &[WordPart]) -> Vec<&str> {
    let mut names = Vec::new();
    for part in parts {
        match part {
            WordPart::Parameter(parameter) => names.push(parameter.name.as_str()),
            WordPart::Double(inner) => names.extend(parameters(inner)),
            _ => {}
        }
    }
    names
}
