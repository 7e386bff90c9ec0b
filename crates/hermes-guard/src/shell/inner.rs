//! The parts of words inside other parts and inside commands.

use super::ast::{
    AssignedValue, Command, CommandKind, Element, List, Operation, Redirect, Target, Test, Word, WordPart,
};

/// The parts directly inside a part; commands in substitutions are none.
pub(super) fn inside_part(part: &WordPart) -> Vec<&[WordPart]> {
    match part {
        WordPart::Double(inner) | WordPart::Translated(inner) | WordPart::ExtendedGlob(_, inner) => {
            vec![inner]
        }
        WordPart::Braces(alternatives) => alternatives.iter().map(Vec::as_slice).collect(),
        WordPart::Array(elements) => inside_elements(elements),
        WordPart::Arithmetic(this) => vec![&this.parts],
        WordPart::Parameter(this) => {
            let mut found: Vec<&[WordPart]> = this.subscript.iter().map(Vec::as_slice).collect();
            found.extend(inside_operation(&this.operation));
            found
        }
        WordPart::Substitution(_)
        | WordPart::Process(_)
        | WordPart::Literal(_)
        | WordPart::Escaped(_)
        | WordPart::Single(_)
        | WordPart::AnsiC(_)
        | WordPart::Tilde(_)
        | WordPart::Glob(_)
        | WordPart::Range(_) => Vec::new(),
    }
}

fn inside_operation(operation: &Operation) -> Vec<&[WordPart]> {
    match operation {
        Operation::Instead(_, _, parts)
        | Operation::Remove(_, parts)
        | Operation::Case(_, parts)
        | Operation::Unreadable(parts) => vec![parts],
        Operation::Replace(_, first, second) | Operation::Slice(first, second) => {
            std::iter::once(first).chain(second).map(Vec::as_slice).collect()
        }
        Operation::Value | Operation::Transform(_) | Operation::Names(_) => Vec::new(),
    }
}

fn inside_elements(elements: &[Element]) -> Vec<&[WordPart]> {
    elements.iter().flat_map(inside_element).collect()
}

fn inside_element(element: &Element) -> Vec<&[WordPart]> {
    let key = element.key.iter().map(|(key, _)| key.as_slice());
    key.chain([element.value.parts.as_slice()]).collect()
}

/// The words of a command itself, in order, without those of commands inside it.
pub(super) fn inside_command(command: &Command) -> Vec<&[WordPart]> {
    let mut found: Vec<&[WordPart]> = match &command.kind {
        CommandKind::Simple(simple) => {
            let mut found = Vec::new();
            for assignment in &simple.assignments {
                found.extend(assignment.subscript.iter().map(Vec::as_slice));
                match &assignment.value {
                    AssignedValue::Word(word) => found.push(word.parts.as_slice()),
                    AssignedValue::Array(elements) => found.extend(inside_elements(elements)),
                }
            }
            found.extend(of_words(&simple.words));
            found
        }
        CommandKind::For(this) | CommandKind::Select(this) => of_words(this.words.iter().flatten()).collect(),
        CommandKind::ArithmeticFor(this) => this.expressions.iter().map(Vec::as_slice).collect(),
        CommandKind::Arithmetic(parts) => vec![parts],
        CommandKind::Case(this) => vec![&this.word.parts],
        CommandKind::Test(test) => {
            let mut found = Vec::new();
            inside_test(test, &mut found);
            found
        }
        CommandKind::Group(_)
        | CommandKind::Subshell(_)
        | CommandKind::If(_)
        | CommandKind::Loop(_)
        | CommandKind::Function(_)
        | CommandKind::Coproc(_) => Vec::new(),
    };
    found.extend(command.redirects.iter().map(inside_redirect));
    found
}

fn of_words<'a>(words: impl IntoIterator<Item = &'a Word>) -> impl Iterator<Item = &'a [WordPart]> {
    words.into_iter().map(|word| word.parts.as_slice())
}

pub(super) fn inside_redirect(redirect: &Redirect) -> &[WordPart] {
    match &redirect.target {
        Target::Word(word) => &word.parts,
        Target::Document(document) => &document.body,
    }
}

pub(super) fn inside_test<'a>(test: &'a Test, found: &mut Vec<&'a [WordPart]>) {
    match test {
        Test::Word(word) | Test::Unary(_, word) => found.push(&word.parts),
        Test::Binary(left, _, right) => found.extend([left.parts.as_slice(), right.parts.as_slice()]),
        Test::Not(inner) | Test::Group(inner) => inside_test(inner, found),
        Test::And(tests) | Test::Or(tests) => tests.iter().for_each(|test| inside_test(test, found)),
    }
}

/// The commands of substitutions in these parts, with what to call them; not those inside such commands.
pub(super) fn substitutions<'a>(parts: &'a [WordPart], found: &mut Vec<(&'static str, &'a List)>) {
    for part in parts {
        match part {
            WordPart::Substitution(this) => found.push(("$( )", &this.list)),
            WordPart::Process(this) => found.push(("<( )", &this.list)),
            other => inside_part(other).into_iter().for_each(|parts| substitutions(parts, found)),
        }
    }
}
