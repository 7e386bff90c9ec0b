//! Whether an action may happen. Tools ask before they act; who decides, and whether a person is asked, is behind the
//! trait.

pub mod advice;
pub mod ask;
mod asking;
pub mod ledger;

use std::path::PathBuf;
use std::pin::Pin;

pub use asking::{Answerer, NO, Offer, Question, Reply, Words};
pub use hermes_guard::command::Reach;

use crate::tool::Moment;

/// Something about to happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action<'a> {
    /// A shell command.
    Command {
        /// The command line.
        line: &'a str,
        /// The directory it was asked to run in; none is the conversation's own.
        workdir: Option<&'a str>,
        /// What it can harm.
        reach: Reach,
    },
    /// Files that are written, moved or removed.
    Write {
        /// Which, as whole paths in the place where they are.
        paths: &'a [PathBuf],
        /// What it can harm.
        reach: Reach,
    },
    /// A program that may call tools.
    Script {
        /// Its text.
        code: &'a str,
        /// What it can harm.
        reach: Reach,
    },
    /// Text typed into a running command.
    Input {
        /// What the command is.
        command: &'a str,
        /// The text.
        text: &'a str,
        /// What it can harm.
        reach: Reach,
    },
}

/// The decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Go on.
    Allowed,
    /// Do not; the model is told why.
    Refused {
        /// Why, in a sentence.
        reason: String,
    },
}

/// A future that is sent between threads.
pub type Waiting<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Decides about actions.
pub trait Gate: Send + Sync {
    /// Decides; may take as long as a person takes.
    fn decide<'a>(&'a self, action: &'a Action<'a>) -> Waiting<'a, Verdict>;

    /// The same for an action of a helper, so that whoever is asked learns who wants it.
    fn decide_for<'a>(&'a self, helper: &'a str, action: &'a Action<'a>) -> Waiting<'a, Verdict> {
        let _ = helper;
        self.decide(action)
    }

    /// Hears how the conversation goes.
    fn tell(&self, moment: Moment<'_>) {
        let _ = moment;
    }

    /// What the user should know, taken out.
    fn take_notices(&self) -> Vec<String> {
        Vec::new()
    }
}
