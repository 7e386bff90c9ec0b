//! The one gate every call passes: checks the limits, holds what running calls will need, and records what they took.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::check::{Allowance, Estimate, OverBudget, check_before_call};
use super::ledger::{Counted, Entry, Ledger, LedgerError, Scope, Spent};
use super::limits::{Limits, Period};
use crate::money::{Cost, Price};
use crate::usage::Usage;

/// A call that may not be made.
#[derive(Debug, Clone, thiserror::Error)]
pub enum BudgetError {
    /// A limit would be broken.
    #[error(transparent)]
    Over(#[from] OverBudget),
    /// Without the record no limit can be kept, so nothing is spent.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// Checks and records. One for the whole process, so that parallel calls see each other.
pub struct Meter {
    limits: Limits,
    ledger: Arc<dyn Ledger>,
    running: Mutex<Running>,
}

#[derive(Debug, Default)]
struct Running {
    next: u64,
    calls: Vec<(u64, Scope, Spent)>,
}

impl std::fmt::Debug for Meter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Meter").field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// What a call that runs is expected to write when nobody said.
const USUAL_OUTPUT: u64 = 4096;

impl Meter {
    /// A gate with these limits and this record.
    pub fn new(limits: Limits, ledger: Arc<dyn Ledger>) -> Self {
        Self { limits, ledger, running: Mutex::default() }
    }

    /// Asks for a call. What it will need is held until the permit is settled or dropped.
    pub fn admit(&self, scope: &Scope, estimate: &Estimate) -> Result<Permit<'_>, BudgetError> {
        let mut running = self.lock();
        let mut known = [Spent::default(); 4];
        for period in Period::ALL {
            if self.limits.of(period) != super::Limit::default() {
                known[period as usize] =
                    running.with_running(scope, period, self.ledger.spent(&scope.span(period))?);
            }
        }
        let allowance = check_before_call(&self.limits, |period| known[period as usize], estimate)?;
        let output = estimate.output.unwrap_or(USUAL_OUTPUT).min(allowance.output.unwrap_or(u64::MAX));
        let usage = Usage { input: estimate.prompt, output, ..Usage::default() };
        let mut held = Spent::default();
        held.add(&usage, Cost::of(&usage, estimate.price.as_ref()));
        let number = running.next;
        running.next += 1;
        running.calls.push((number, scope.clone(), held));
        Ok(Permit { meter: self, number, scope: scope.clone(), allowance, price: estimate.price })
    }

    fn lock(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Running {
    fn with_running(&self, scope: &Scope, period: Period, mut spent: Spent) -> Spent {
        let span = scope.span(period);
        for (_, _, held) in self.calls.iter().filter(|(_, other, _)| other.span(period) == span) {
            spent.tokens = spent.tokens.saturating_add(held.tokens);
            spent.money += held.money;
        }
        spent
    }
}

/// The right to make one call.
#[derive(Debug)]
pub struct Permit<'a> {
    meter: &'a Meter,
    number: u64,
    scope: Scope,
    /// How much it may write.
    pub allowance: Allowance,
    price: Option<Price>,
}

impl Permit<'_> {
    /// The call is over: records what it took and returns what it cost.
    pub fn settle(
        self,
        provider: &str,
        model: &str,
        usage: Usage,
        counted: Counted,
    ) -> Result<Cost, LedgerError> {
        let cost = Cost::of(&usage, self.price.as_ref());
        let entry = Entry {
            scope: self.scope.clone(),
            provider: provider.to_owned(),
            model: model.to_owned(),
            usage,
            cost,
            counted,
        };
        self.meter.ledger.record(&entry)?;
        Ok(cost)
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.meter.lock().calls.retain(|(number, ..)| *number != self.number);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use crate::budget::{Limit, MemoryLedger, Purpose, UnknownPrice};
    use crate::money::MicroDollars;

    const PRICE: Price = Price { input: 1_000_000, output: 1_000_000, cache_read: 0, cache_write: 0 };

    fn scope(session: &str, day: &str) -> Scope {
        Scope { turn: "t".into(), session: session.into(), day: day.parse().unwrap(), purpose: Purpose::Main }
    }

    fn estimate(prompt: u64) -> Estimate {
        Estimate { prompt, output: Some(100), price: Some(PRICE), unknown_price: UnknownPrice::Refuse }
    }

    fn meter(period: Period, tokens: u64) -> (Arc<MemoryLedger>, Meter) {
        let ledger = Arc::new(MemoryLedger::default());
        let limits = Limits::default().with(period, Limit { tokens: Some(tokens), money: None });
        (Arc::clone(&ledger), Meter::new(limits, ledger))
    }

    fn usage(input: u64) -> Usage {
        Usage { input, ..Usage::default() }
    }

    #[test]
    fn what_was_spent_counts_where_it_belongs() {
        let (ledger, meter) = meter(Period::Day, 1000);
        let monday = scope("a", "2026-01-05");
        let permit = meter.admit(&monday, &estimate(500)).unwrap();
        let cost = permit.settle("p", "m", usage(800), Counted::Reported).unwrap();
        assert_eq!(cost, Cost::Estimated(MicroDollars(800)));
        assert!(matches!(meter.admit(&scope("b", "2026-01-05"), &estimate(500)), Err(BudgetError::Over(_))));
        assert!(meter.admit(&scope("b", "2026-01-06"), &estimate(500)).is_ok(), "another day");
        assert_eq!(ledger.spent(&monday.span(Period::Month)).unwrap().tokens, 800);
        assert_eq!(ledger.entries().len(), 1);
    }

    #[test]
    fn running_calls_hold_what_they_will_need() {
        let (_, meter) = meter(Period::Session, 1000);
        let mine = scope("a", "2026-01-05");
        let first = meter.admit(&mine, &estimate(500)).unwrap();
        assert!(matches!(meter.admit(&mine, &estimate(500)), Err(BudgetError::Over(_))));
        assert!(meter.admit(&scope("b", "2026-01-05"), &estimate(500)).is_ok(), "another session");
        drop(first);
        assert!(meter.admit(&mine, &estimate(500)).is_ok(), "a call that was never made holds nothing");
    }

    #[test]
    fn side_work_counts_as_well() {
        let (_, meter) = meter(Period::Session, 1000);
        let main = scope("a", "2026-01-05");
        let side = Scope { purpose: Purpose::Auxiliary("title".into()), ..main.clone() };
        meter.admit(&side, &estimate(10)).unwrap().settle("p", "m", usage(990), Counted::Guessed).unwrap();
        assert!(meter.admit(&main, &estimate(10)).is_err());
    }

    struct Broken;

    impl Ledger for Broken {
        fn spent(&self, _: &crate::budget::Span) -> Result<Spent, LedgerError> {
            Err(LedgerError { doing: "read", reason: "disk full".into() })
        }

        fn record(&self, _: &Entry) -> Result<(), LedgerError> {
            Ok(())
        }
    }

    #[test]
    fn without_a_record_nothing_that_is_limited_is_spent() {
        let limits = Limits::default().with(Period::Day, Limit { tokens: Some(1), money: None });
        let meter = Meter::new(limits, Arc::new(Broken));
        assert!(matches!(meter.admit(&scope("a", "2026-01-05"), &estimate(0)), Err(BudgetError::Ledger(_))));
        let free = Meter::new(Limits::default(), Arc::new(Broken));
        assert!(free.admit(&scope("a", "2026-01-05"), &estimate(0)).is_ok());
    }
}
