//! Limits for tokens and money, checked before every call and counted after it.

mod check;
mod ledger;
mod limits;
mod meter;

pub use check::{Allowance, Estimate, OverBudget, UnknownPrice, check_before_call};
pub use ledger::{Counted, Entry, Ledger, LedgerError, MemoryLedger, Purpose, Scope, Span, Spent};
pub use limits::{Limit, Limits, LimitsError, Period};
pub use meter::{BudgetError, Meter, Permit};
