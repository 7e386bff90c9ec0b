//! The rules: what a program with these arguments would do that somebody should know of first. A table by family;
//! each line says what it is called, how bad it is and why, and a function recognises it.

mod cloud;
mod code;
mod containers;
mod databases;
mod deletion;
mod disks;
mod git;
mod harmless;
mod helpers;
mod interpreters;
mod network;
mod own;
mod permissions;
mod power;
mod processes;
mod secrets;
mod stores;
mod system;
mod unknown;
mod windows;
mod written;

pub(super) use databases::loses_data;
pub(super) use git::without_globals;
pub(super) use network::{FETCHERS, decodes};

use super::Context;
use super::call::Call;

/// One rule.
#[derive(Debug)]
pub struct Rule {
    /// Its name, for people and records.
    pub id: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// Where the harm would be.
    pub harm: Harm,
    /// What could be agreed to beyond the one command.
    pub offer: Offer,
    /// Why, as the rest of a sentence that begins with "it".
    pub reason: &'static str,
    /// Recognises it.
    pub(super) hits: fn(&Call, &Context<'_>) -> bool,
}

/// How bad something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// A person decides.
    Dangerous,
    /// Nobody can allow it.
    Hardline,
}

/// Where the harm of an action would be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Harm {
    /// On the machine, or in the container, where it runs.
    Here,
    /// Somewhere else too: no container keeps it in.
    Beyond,
}

/// What could be agreed to beyond the one command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offer {
    /// Nothing: with other arguments it is another matter.
    ExactOnly,
    /// The same for every command that begins with the same words, so many of them.
    Words(usize),
}

/// All rules, the worst first.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    let families: [&'static [Rule]; 17] = [
        deletion::RULES,
        disks::RULES,
        power::RULES,
        processes::RULES,
        permissions::RULES,
        system::RULES,
        secrets::RULES,
        stores::RULES,
        git::RULES,
        network::RULES,
        interpreters::RULES,
        containers::RULES,
        cloud::RULES,
        databases::RULES,
        own::RULES,
        windows::RULES,
        unknown::RULES,
    ];
    let rules = || families.into_iter().flatten();
    let of = |wanted: Severity| rules().filter(move |rule| rule.severity == wanted);
    of(Severity::Hardline).chain(of(Severity::Dangerous)).collect::<Vec<_>>().into_iter()
}

const fn hardline(id: &'static str, reason: &'static str, hits: fn(&Call, &Context<'_>) -> bool) -> Rule {
    Rule { id, severity: Severity::Hardline, harm: Harm::Here, offer: Offer::ExactOnly, reason, hits }
}

const fn dangerous(id: &'static str, reason: &'static str, hits: fn(&Call, &Context<'_>) -> bool) -> Rule {
    Rule { id, severity: Severity::Dangerous, harm: Harm::Here, offer: Offer::ExactOnly, reason, hits }
}

impl Rule {
    const fn beyond(mut self) -> Self {
        self.harm = Harm::Beyond;
        self
    }

    const fn words(mut self, count: usize) -> Self {
        self.offer = Offer::Words(count);
        self
    }
}
