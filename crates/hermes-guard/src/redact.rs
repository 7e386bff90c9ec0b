//! The redactor: text in, the same text with its secrets masked out.
//!
//! One pass of an Aho-Corasick automaton looks for the few letters every kind of secret starts with or is
//! announced by. Text without any of them is handed back as it came. At each hit a small scanner looks only at the
//! bytes around it, so the whole is linear in the length of the text.
//!
//! Redact first, truncate afterwards: half a key is not recognised as one, but it is half a key.

mod assign;
mod block;
mod chars;
mod command;
mod header;
mod known;
mod names;
mod place;
mod scan;
mod token;
mod triggers;
mod url;
mod value;
mod vendor;

use std::borrow::Cow;

pub use block::complete_prefix;
pub use names::is_secret_name;

use crate::mask::{self, Mark};
use known::Known;
use scan::Span;

/// What the text is, which decides how much of it is taken for a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Logs, screens, exports, messages: every rule.
    Log,
    /// The output of a command that lists variables (`env`, `printenv`, `set`, `export`, `declare`): every rule, and
    /// what follows a secret-like name is masked however ordinary it looks.
    EnvDump,
    /// Output of any other command: source code is full of `token = next_token` and `"password": "string"`, so what a
    /// name announces is left alone. Keys that are recognisable by themselves are masked.
    Code,
    /// A file that was read and may be written back: as [`Policy::Code`], with masks that cannot be taken for values.
    File,
    /// A file of variables, such as `.env`: as [`Policy::EnvDump`], with masks that cannot be taken for values.
    EnvFile,
}

/// How far a secret-like name condemns the value beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Names {
    Ignored,
    Plausible,
    Always,
}

impl Policy {
    fn names(self) -> Names {
        match self {
            Self::Log => Names::Plausible,
            Self::EnvDump | Self::EnvFile => Names::Always,
            Self::Code | Self::File => Names::Ignored,
        }
    }

    fn mark(self) -> Mark {
        match self {
            Self::Log | Self::EnvDump | Self::Code => Mark::Ends,
            Self::File | Self::EnvFile => Mark::Sentinel,
        }
    }
}

/// Masks secrets in text. Cheap to share, safe to call from many threads.
#[derive(Debug)]
pub struct Redactor {
    work: Work,
}

#[derive(Debug)]
enum Work {
    Nothing,
    Mask(Known),
}

impl Redactor {
    /// A redactor that also masks these exact values wherever they appear, as they are, percent-encoded or escaped as
    /// in JSON. Values too short or too ordinary to be a secret (`true`, `default`, a path) are passed over.
    pub fn new(known_values: impl IntoIterator<Item = String>) -> Self {
        Self { work: Work::Mask(Known::new(known_values)) }
    }

    /// A redactor that knows the values of those variables whose names announce a secret.
    pub fn from_variables<N, V>(variables: impl IntoIterator<Item = (N, V)>) -> Self
    where
        N: AsRef<str>,
        V: Into<String>,
    {
        let secret = variables.into_iter().filter(|(name, _)| is_secret_name(name.as_ref()));
        Self::new(secret.map(|(_, value)| value.into()))
    }

    /// Hands every text back as it came, for users who switched redaction off.
    pub fn disabled() -> Self {
        Self { work: Work::Nothing }
    }

    /// The text with its secrets masked; borrowed when there were none.
    pub fn redact<'t>(&self, text: &'t str, policy: Policy) -> Cow<'t, str> {
        let Work::Mask(known) = &self.work else { return Cow::Borrowed(text) };
        let mut out = Cow::Borrowed(text);
        // A mask may be the word boundary that a key right behind it was missing, so what was changed is looked at again.
        for _ in 0..ROUNDS {
            match round(known, &out, policy) {
                Some(masked) => out = Cow::Owned(masked),
                None => break,
            }
        }
        out
    }
}

/// Each round needs a secret glued to the one before; more of them in a row is nothing anybody writes.
const ROUNDS: usize = 4;

/// The text with everything masked that is found in it; nothing if nothing is.
fn round(known: &Known, text: &str, policy: Policy) -> Option<String> {
    let mut spans = known.find(text);
    spans.extend(scan::find(text, policy));
    (!spans.is_empty()).then(|| apply(text, merge(spans), policy.mark()))
}

/// Overlapping finds become one, as wide as both, so that no end of a secret sticks out.
fn merge(mut spans: Vec<Span>) -> Vec<Span> {
    // A stable sort: of two finds of the same range the first, which is the more telling one, names it.
    spans.sort_by_key(|span| (span.range.start, usize::MAX - span.range.end));
    let mut merged: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.range.start < last.range.end => {
                last.range.end = last.range.end.max(span.range.end);
            }
            _ => merged.push(span),
        }
    }
    merged
}

fn apply(text: &str, spans: Vec<Span>, mark: Mark) -> String {
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for Span { range, kind } in spans {
        out.push_str(&text[copied..range.start]);
        let secret = &text[range.clone()];
        out.push_str(&mask::replacement(kind, secret, mark));
        if mark == Mark::Sentinel {
            // Lines of a file keep their numbers.
            out.extend(secret.matches('\n'));
        }
        copied = range.end;
    }
    out.push_str(&text[copied..]);
    out
}
