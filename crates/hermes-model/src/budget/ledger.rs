//! Who spent what, and the trait of whatever keeps the record.

use std::sync::{Mutex, PoisonError};

use jiff::civil::Date;

use super::limits::Period;
use crate::money::{Cost, MicroDollars};
use crate::usage::Usage;

/// What a call belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// The turn.
    pub turn: String,
    /// The session.
    pub session: String,
    /// The day, in the user's time zone.
    pub day: Date,
    /// What the call is for.
    pub purpose: Purpose,
}

impl Scope {
    /// The stretch of time or work that a period means for this call.
    pub fn span(&self, period: Period) -> Span {
        match period {
            Period::Turn => Span::Turn(self.turn.clone()),
            Period::Session => Span::Session(self.session.clone()),
            Period::Day => Span::Day(self.day),
            Period::Month => Span::Month { year: self.day.year(), month: self.day.month() },
        }
    }
}

/// A stretch of time or work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Span {
    /// A turn.
    Turn(String),
    /// A session.
    Session(String),
    /// A day.
    Day(Date),
    /// A month.
    Month {
        /// The year.
        year: i16,
        /// The month, from 1.
        month: i8,
    },
}

/// What a call is for. Everything counts, but the user may want to know what spent the money.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purpose {
    /// The conversation itself.
    Main,
    /// Side work: titles, summaries, reviews.
    Auxiliary(String),
}

/// One call, as it is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// What it belongs to.
    pub scope: Scope,
    /// Who answered.
    pub provider: String,
    /// Which model.
    pub model: String,
    /// What it took.
    pub usage: Usage,
    /// What it cost.
    pub cost: Cost,
    /// Whether the counts are the provider's.
    pub counted: Counted,
}

/// Who counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// The provider.
    Reported,
    /// We guessed: the answer broke off before the counts came.
    Guessed,
}

/// What was spent in a stretch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spent {
    /// Tokens, prompt and output.
    pub tokens: u64,
    /// Money.
    pub money: MicroDollars,
    /// Tokens whose price nobody knew.
    pub unpriced: u64,
}

impl Spent {
    /// Adds one call.
    pub fn add(&mut self, usage: &Usage, cost: Cost) {
        self.tokens = self.tokens.saturating_add(usage.total());
        match cost.amount() {
            Some(amount) => self.money += amount,
            None => self.unpriced = self.unpriced.saturating_add(usage.total()),
        }
    }
}

/// The record could not be read or written.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the record of what was spent cannot be {doing}: {reason}")]
pub struct LedgerError {
    /// `read` or `written`.
    pub doing: &'static str,
    /// Why not.
    pub reason: String,
}

/// Keeps the record.
pub trait Ledger: Send + Sync {
    /// What was spent in a stretch so far.
    fn spent(&self, span: &Span) -> Result<Spent, LedgerError>;
    /// Records one call.
    fn record(&self, entry: &Entry) -> Result<(), LedgerError>;
}

/// A record that lives as long as the program.
#[derive(Debug, Default)]
pub struct MemoryLedger {
    entries: Mutex<Vec<Entry>>,
}

impl MemoryLedger {
    /// All calls so far.
    pub fn entries(&self) -> Vec<Entry> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Ledger for MemoryLedger {
    fn spent(&self, span: &Span) -> Result<Spent, LedgerError> {
        let mut spent = Spent::default();
        let inside = |entry: &&Entry| Period::ALL.iter().any(|period| entry.scope.span(*period) == *span);
        for entry in self.entries().iter().filter(inside) {
            spent.add(&entry.usage, entry.cost);
        }
        Ok(spent)
    }

    fn record(&self, entry: &Entry) -> Result<(), LedgerError> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).push(entry.clone());
        Ok(())
    }
}
