//! Writes words as they were quoted.

use super::ast::{
    Arithmetic, ArithmeticForm, Direction, Instead, Operation, Parameter, ParameterForm, SubstitutionForm,
    When, WordPart,
};
use super::print::Printer;

/// Writes these parts.
pub(super) fn parts(to: &mut Printer, these: &[WordPart]) {
    for one in these {
        part(to, one);
    }
}

fn part(to: &mut Printer, part: &WordPart) {
    match part {
        WordPart::Literal(text) | WordPart::Glob(text) => to.text(text),
        WordPart::Escaped(c) => {
            to.out.push('\\');
            to.out.push(*c);
        }
        WordPart::Single(text) => around(to, "'", "'", |to| to.text(text)),
        WordPart::AnsiC(text) => around(to, "$'", "'", |to| to.text(text)),
        WordPart::Double(inner) => around(to, "\"", "\"", |to| parts(to, inner)),
        WordPart::Translated(inner) => around(to, "$\"", "\"", |to| parts(to, inner)),
        WordPart::Parameter(this) => parameter(to, this),
        WordPart::Substitution(this) => match &this.form {
            SubstitutionForm::Dollar => around(to, "$(", ")", |to| to.list_in_brackets(&this.list)),
            SubstitutionForm::Backquotes(text) => around(to, "`", "`", |to| to.text(text)),
        },
        WordPart::Arithmetic(this) => arithmetic(to, this),
        WordPart::Process(this) => {
            let open = if this.direction == Direction::FromProcess { "<(" } else { ">(" };
            around(to, open, ")", |to| to.list_in_brackets(&this.list));
        }
        WordPart::Tilde(name) => around(to, "~", "", |to| to.text(name)),
        WordPart::ExtendedGlob(kind, inner) => {
            to.out.push(*kind);
            parts(to, inner);
        }
        WordPart::Braces(alternatives) => around(to, "{", "}", |to| {
            for (i, alternative) in alternatives.iter().enumerate() {
                if i > 0 {
                    to.text(",");
                }
                parts(to, alternative);
            }
        }),
        WordPart::Range(text) => around(to, "{", "}", |to| to.text(text)),
        WordPart::Array(elements) => to.array(elements),
    }
}

fn around(to: &mut Printer, open: &str, close: &str, inner: impl FnOnce(&mut Printer)) {
    to.text(open);
    inner(to);
    to.text(close);
}

fn arithmetic(to: &mut Printer, this: &Arithmetic) {
    let (open, close) = match this.form {
        ArithmeticForm::Parentheses => ("$((", "))"),
        ArithmeticForm::Brackets => ("$[", "]"),
    };
    around(to, open, close, |to| parts(to, &this.parts));
}

fn parameter(to: &mut Printer, this: &Parameter) {
    let open = match this.form {
        ParameterForm::Plain => {
            to.text("$");
            return to.text(&this.name);
        }
        ParameterForm::Braced => "${",
        ParameterForm::Indirect => "${!",
        ParameterForm::Length => "${#",
    };
    around(to, open, "}", |to| {
        to.text(&this.name);
        if let Some(subscript) = &this.subscript {
            around(to, "[", "]", |to| parts(to, subscript));
        }
        operation(to, &this.operation);
    });
}

fn operation(to: &mut Printer, this: &Operation) {
    match this {
        Operation::Value => {}
        Operation::Instead(instead, when, word) => {
            if *when == When::UnsetOrEmpty {
                to.text(":");
            }
            to.text(match instead {
                Instead::Default => "-",
                Instead::AssignDefault => "=",
                Instead::Error => "?",
                Instead::Alternative => "+",
            });
            parts(to, word);
        }
        Operation::Remove(operator, pattern) | Operation::Case(operator, pattern) => {
            to.text(operator);
            parts(to, pattern);
        }
        Operation::Replace(operator, pattern, with) => {
            to.text(operator);
            parts(to, pattern);
            if let Some(with) = with {
                to.text("/");
                parts(to, with);
            }
        }
        Operation::Slice(offset, length) => {
            to.text(":");
            parts(to, offset);
            if let Some(length) = length {
                to.text(":");
                parts(to, length);
            }
        }
        Operation::Transform(kind) => around(to, "@", "", |to| to.out.push(*kind)),
        Operation::Names(kind) => to.out.push(*kind),
        Operation::Unreadable(rest) => parts(to, rest),
    }
}
