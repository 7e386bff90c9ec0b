//! Every simple command of a script, wherever it hides.

use super::ast::{
    Command, CommandKind, Direction, Expands, Fd, Redirect, RedirectOperator, Script, Simple, Target,
};
use super::print::print_parts;
use super::value::{Field, Piece, Variables};
use super::walk::{Loops, walk};

/// A simple command and where it was found.
#[derive(Clone, Debug)]
pub struct Site<'a> {
    /// The command; its kind is always [`CommandKind::Simple`].
    pub command: &'a Command,
    /// What surrounds it, outermost first.
    pub places: Vec<Place>,
    /// The command whose output it reads through a pipe. A command inside a group reads what the group reads.
    pub upstream: Option<&'a Command>,
    /// The command that reads its output through a pipe.
    pub downstream: Option<&'a Command>,
}

/// Something that surrounds a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// `{ }`
    Group,
    /// `( )`
    Subshell,
    /// The condition of `if`, `while` or `until`.
    Condition,
    /// What depends on a condition: `then`, `else`, an arm of `case`, what follows `&&` or `||`.
    Branch,
    /// The body of a loop.
    Loop,
    /// The body of a function with this name.
    Function(String),
    /// `$( )` or backquotes.
    Substitution,
    /// `<( )` or `>( )`
    Process(Direction),
    /// An expansion in the body of a here-document.
    HereDocument,
    /// `coproc`
    Coproc,
    /// Ended by `&`.
    Background,
}

impl<'a> Site<'a> {
    /// Its assignments and words.
    pub fn simple(&self) -> &'a Simple {
        const NONE: &Simple = &Simple { assignments: Vec::new(), words: Vec::new() };
        match &self.command.kind {
            CommandKind::Simple(simple) => simple,
            _ => NONE,
        }
    }

    /// What it reads from a here-document or here-string, if its input comes from one.
    pub fn input(&self, variables: &Variables) -> Option<Field> {
        let redirect = self.command.redirects.iter().rev().find(|redirect| redirect.is_input())?;
        match (&redirect.target, redirect.operator) {
            (Target::Document(document), _) if document.expands == Expands::No => {
                Some(Field::from_text(&print_parts(&document.body)))
            }
            (Target::Document(document), _) => Some(variables.resolve_text(&document.body)),
            (Target::Word(word), RedirectOperator::HereString) => {
                let mut text = variables.resolve_text(&word.parts);
                text.push(Piece::Text("\n".to_owned()));
                Some(text)
            }
            _ => None,
        }
    }
}

impl Redirect {
    /// Whether it changes what the command reads.
    pub fn is_input(&self) -> bool {
        let reads = matches!(
            self.operator,
            RedirectOperator::Read
                | RedirectOperator::ReadWrite
                | RedirectOperator::DuplicateInput
                | RedirectOperator::HereString
                | RedirectOperator::HereDocument
                | RedirectOperator::HereDocumentStripped
        );
        match &self.fd {
            None => reads,
            Some(Fd::Number(number)) => number.trim_start_matches('0').is_empty(),
            Some(Fd::Variable(_)) => false,
        }
    }
}

/// Every simple command in the order it would run: those of a substitution before the command that uses it.
/// Commands without any word (`> file`, `a=1`) are included.
pub fn sites(script: &Script) -> Vec<Site<'_>> {
    let mut found = Vec::new();
    let mut variables = Variables::new();
    walk(script, &mut variables, Loops::Once, &mut |site, _| found.push(site.clone()));
    found
}

/// Visits every simple command in the order it would run, with what is known of the variables at that point.
/// The body of a `for` loop over few words is visited once for each of them.
pub fn trace<'a>(
    script: &'a Script,
    variables: &mut Variables,
    visit: &mut dyn FnMut(&Site<'a>, &Variables),
) {
    walk(script, variables, Loops::Unrolled, visit);
}
