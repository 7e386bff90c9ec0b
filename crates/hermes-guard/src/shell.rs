//! Shell commands as bash reads them: a lexer, a parser, and what can be known of a command without running it.
//!
//! ```
//! use hermes_guard::shell::{parse, sites};
//!
//! let script = parse("cd /tmp && echo \"$(date)\" | tee log")?;
//! let names: Vec<_> =
//!     sites(&script).iter().filter_map(|site| site.simple().words.first()?.fixed()).collect();
//! assert_eq!(names, ["cd", "date", "echo", "tee"]);
//! # Ok::<(), hermes_guard::shell::ParseError>(())
//! ```
//!
//! - [`parse`] gives the tree ([`ast`]) or says where and why the text is not a command.
//! - [`sites`] lists every simple command wherever it hides, with what feeds it and what surrounds it.
//! - [`trace`] does the same and keeps track of variables, so that words can be resolved.
//! - [`print`] writes a tree so that bash reads the same; [`tree`] draws it for people.

mod ansi;
mod arithmetic;
pub mod ast;
mod command;
mod compound;
mod cursor;
mod dollar;
mod effects;
mod error;
mod heredoc;
mod inner;
mod marks;
mod output;
mod parameter;
mod print;
mod print_word;
mod redirect;
mod resolve;
mod sites;
mod test;
mod transform;
mod tree;
mod value;
mod walk;
mod word;

use cursor::{Origin, Parser, Patterns};

pub use arithmetic::{Computed, compute};
pub use ast::Script;
pub use error::{ParseError, Reason};
pub use print::{print, print_word};
pub use sites::{Place, Site, sites, trace};
pub use tree::tree;
pub use value::{Field, Piece, Value, Variables};

/// The longest text that is read, in bytes.
pub const MAX_LENGTH: usize = 128_000;

/// How deep commands and words may nest.
pub const MAX_DEPTH: usize = 60;

/// Reads `text` as bash would read a script (aliases are not expanded, `extglob` is off).
pub fn parse(text: &str) -> Result<Script, ParseError> {
    read(text, Patterns::Plain)
}

/// Reads `text` as bash would read a script after `shopt -s extglob`.
pub fn parse_extended(text: &str) -> Result<Script, ParseError> {
    read(text, Patterns::Extended)
}

fn read(text: &str, patterns: Patterns) -> Result<Script, ParseError> {
    if text.len() > MAX_LENGTH {
        return Err(ParseError { at: MAX_LENGTH, reason: Reason::TooLong });
    }
    if let Some(at) = text.find('\0') {
        return Err(ParseError {
            at,
            reason: Reason::Unexpected("NUL, which no command can hold".to_owned()),
        });
    }
    let parser = Parser { patterns, ..Parser::new("") };
    let list = parser.read_inner(text, Origin::Offset(0), Parser::script)?;
    Ok(Script { list })
}
