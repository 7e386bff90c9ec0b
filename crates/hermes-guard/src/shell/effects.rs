//! What commands and expansions do to variables.

use super::ast::{Assign, AssignedValue, Instead, Operation, Parameter, ParameterForm, Simple, WordPart};
use super::value::{Field, State, Variables};
use super::word::is_name;

/// Commands that may set any variable: what they run is not in the tree.
const RUNS_ANYTHING: [&str; 6] = ["eval", "source", ".", "trap", "builtin", "command"];

/// Commands that set the variables they are given by name.
const SETS_NAMES: [&str; 9] =
    ["read", "mapfile", "readarray", "getopts", "printf", "let", "unset", "wait", "coproc"];

/// Commands whose arguments are assignments.
const ASSIGNS: [&str; 5] = ["export", "declare", "typeset", "local", "readonly"];

/// After a simple command has run.
pub(super) fn after_command(simple: &Simple, variables: &mut Variables) {
    let Some(first) = simple.words.first() else {
        assignments(simple, variables);
        return;
    };
    let name = variables.resolve(first).texts().and_then(|texts| texts.into_iter().next());
    match name.as_deref() {
        Some(name) if RUNS_ANYTHING.contains(&name) => variables.forget_all(),
        Some(name) if ASSIGNS.contains(&name) => {
            simple.words[1..].iter().for_each(|word| argument_assignment(&word.parts, variables));
        }
        Some(name) if SETS_NAMES.contains(&name) => {
            for word in &simple.words[1..] {
                match variables.resolve(word).texts() {
                    Some(texts) => texts.iter().for_each(|text| forget_names(text, variables)),
                    None => return variables.forget_all(),
                }
            }
        }
        Some(_) => {}
        // A name that cannot be known may be any of those above.
        None => variables.forget_all(),
    }
}

fn assignments(simple: &Simple, variables: &mut Variables) {
    for assignment in &simple.assignments {
        let value = match &assignment.value {
            AssignedValue::Word(word) if assignment.subscript.is_none() => {
                variables.resolve_text(&word.parts)
            }
            _ => Field::unknown(),
        };
        let value = match (assignment.how, variables.state(&assignment.name)) {
            (Assign::Set, _) => value,
            (Assign::Append, State::Known(before)) => {
                let mut before = std::sync::Arc::unwrap_or_clone(before);
                value.pieces.into_iter().for_each(|piece| before.push(piece));
                before
            }
            (Assign::Append, _) => Field::unknown(),
        };
        variables.set(&assignment.name, value);
    }
}

/// `name=value` as an argument of `export`.
fn argument_assignment(parts: &[WordPart], variables: &mut Variables) {
    let Some(WordPart::Literal(text)) = parts.first() else { return variables.forget_all() };
    let Some((name, start)) = text.split_once('=') else {
        // `declare -i x` and the like change what later assignments mean.
        return forget_names(text, variables);
    };
    if !is_name(name) {
        return forget_names(name, variables);
    }
    let mut value = vec![WordPart::Literal(start.to_owned())];
    value.extend_from_slice(&parts[1..]);
    // `~` after the sign is expanded too, which this does not follow.
    let value = if start.contains('~') { Field::unknown() } else { variables.resolve_text(&value) };
    variables.set(name, value);
}

fn forget_names(text: &str, variables: &mut Variables) {
    let names = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|name| is_name(name));
    names.for_each(|name| variables.forget(name));
}

/// `${name:=word}` assigns.
pub(super) fn after_expansion(parameter: &Parameter, variables: &mut Variables) {
    if let Operation::Instead(Instead::AssignDefault, when, word) = &parameter.operation {
        let default = Operation::Instead(Instead::Default, *when, word.clone());
        let form =
            if parameter.form == ParameterForm::Plain { ParameterForm::Braced } else { parameter.form };
        let value = Parameter { operation: default, form, ..parameter.clone() };
        let value = variables.resolve_text(&[WordPart::Parameter(value)]);
        variables.set(&parameter.name, value);
    }
}

/// Arithmetic may assign to any name in it.
pub(super) fn names_in_arithmetic(parts: &[WordPart], variables: &mut Variables) {
    for part in parts {
        match part {
            WordPart::Literal(text) => forget_names(text, variables),
            WordPart::Double(inner) => names_in_arithmetic(inner, variables),
            _ => {}
        }
    }
}
