//! The check before a call: pure.

use super::ledger::Spent;
use super::limits::{Limits, Period};
use crate::money::{MicroDollars, Price};
use crate::usage::Usage;

/// What a call is expected to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Estimate {
    /// Tokens of the prompt.
    pub prompt: u64,
    /// Most output tokens asked for, when that is limited already.
    pub output: Option<u64>,
    /// What the model costs, when that is known.
    pub price: Option<Price>,
    /// What to do about a limit on money when it is not.
    pub unknown_price: UnknownPrice,
}

impl Estimate {
    /// What the prompt costs if nothing of it is cached.
    pub fn prompt_cost(&self) -> MicroDollars {
        let usage = Usage { input: self.prompt, ..Usage::default() };
        self.price.map_or(MicroDollars::ZERO, |price| price.cost(&usage))
    }
}

/// What a limit on money means for a model whose price nobody knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownPrice {
    /// It must not be used: the limit could not be kept.
    Refuse,
    /// It may be used, as a model on the user's own machine.
    Allow,
}

/// What a call may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// Most output tokens that keep every limit; none when no limit says so.
    pub output: Option<u64>,
}

/// A call that would break a limit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OverBudget {
    /// Tokens.
    #[error(
        "the budget of this {period} is used up: {spent} of {limit} tokens spent, and the next call needs about {needed}. \
         Raise 'budget.{period}.tokens' to go on"
    )]
    Tokens {
        /// Which limit.
        period: Period,
        /// Spent so far.
        spent: u64,
        /// The limit.
        limit: u64,
        /// What the next prompt takes.
        needed: u64,
    },
    /// Money.
    #[error(
        "the budget of this {period} is used up: {spent} of {limit} spent, and the next call costs at least {needed}. \
         Raise 'budget.{period}.dollars' to go on"
    )]
    Money {
        /// Which limit.
        period: Period,
        /// Spent so far.
        spent: MicroDollars,
        /// The limit.
        limit: MicroDollars,
        /// What the next prompt costs.
        needed: MicroDollars,
    },
    /// Nobody knows what the model costs.
    #[error(
        "there is a limit on money for this {period}, but the price of this model is unknown: set it under \
         'providers.NAME.models.MODEL.price' (dollars per million tokens: input, output), or remove 'budget.{period}.dollars'"
    )]
    PriceUnknown {
        /// Which limit.
        period: Period,
    },
}

/// Decides whether a call may be made and how much it may write. `spent` holds what each period has seen so far.
pub fn check_before_call(
    limits: &Limits,
    spent: impl Fn(Period) -> Spent,
    estimate: &Estimate,
) -> Result<Allowance, OverBudget> {
    let mut output: Option<u64> = None;
    let mut at_most = |tokens: u64| output = Some(output.map_or(tokens, |known| known.min(tokens)));
    for period in Period::ALL {
        let limit = limits.of(period);
        if limit == super::Limit::default() {
            continue;
        }
        let spent = spent(period);
        if let Some(limit) = limit.tokens {
            at_most(tokens_left(period, limit, &spent, estimate)?);
        }
        if let Some(limit) = limit.money
            && let Some(tokens) = money_left(period, limit, &spent, estimate)?
        {
            at_most(tokens);
        }
    }
    Ok(Allowance { output })
}

fn tokens_left(period: Period, limit: u64, spent: &Spent, estimate: &Estimate) -> Result<u64, OverBudget> {
    let over = OverBudget::Tokens { period, spent: spent.tokens, limit, needed: estimate.prompt };
    let left = limit.checked_sub(spent.tokens.saturating_add(estimate.prompt));
    left.filter(|left| *left > 0).ok_or(over)
}

/// How many output tokens the money that is left buys; nothing when they cost nothing.
fn money_left(
    period: Period,
    limit: MicroDollars,
    spent: &Spent,
    estimate: &Estimate,
) -> Result<Option<u64>, OverBudget> {
    let Some(price) = estimate.price else {
        return match estimate.unknown_price {
            UnknownPrice::Allow => Ok(None),
            UnknownPrice::Refuse => Err(OverBudget::PriceUnknown { period }),
        };
    };
    let needed = estimate.prompt_cost();
    let over = OverBudget::Money { period, spent: spent.money, limit, needed };
    let left = limit.0.checked_sub((spent.money + needed).0).ok_or_else(|| over.clone())?;
    match price.output_tokens_for(MicroDollars(left)) {
        Some(0) => Err(over),
        tokens => Ok(tokens),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use crate::budget::Limit;
    use proptest::prelude::*;

    const PRICE: Price =
        Price { input: 3_000_000, output: 15_000_000, cache_read: 300_000, cache_write: 3_750_000 };

    fn estimate(prompt: u64) -> Estimate {
        Estimate { prompt, output: None, price: Some(PRICE), unknown_price: UnknownPrice::Refuse }
    }

    fn tokens(limit: u64) -> Limit {
        Limit { tokens: Some(limit), money: None }
    }

    fn money(limit: u64) -> Limit {
        Limit { tokens: None, money: Some(MicroDollars(limit)) }
    }

    #[test]
    fn without_limits_everything_goes() {
        let unknown = Estimate { price: None, ..estimate(u64::MAX) };
        let allowed = check_before_call(&Limits::default(), |_| Spent::default(), &unknown);
        assert_eq!(allowed, Ok(Allowance { output: None }));
    }

    #[test]
    fn the_tightest_limit_decides_how_much_may_be_written() {
        let limits = Limits::default().with(Period::Day, tokens(10_000)).with(Period::Turn, money(30_000));
        // Money: 0.03 - 1000 * 3/1M = 0.027 dollars buy 1800 tokens; tokens: 9000 are left.
        let allowed = check_before_call(&limits, |_| Spent::default(), &estimate(1000)).unwrap();
        assert_eq!(allowed.output, Some(1800));
        let late =
            |period| Spent { tokens: if period == Period::Day { 8500 } else { 0 }, ..Spent::default() };
        assert_eq!(check_before_call(&limits, late, &estimate(1000)).unwrap().output, Some(500));
    }

    #[test]
    fn a_call_that_would_break_a_limit_is_refused_with_the_numbers() {
        let limits = Limits::default().with(Period::Month, money(1_000_000));
        let spent = |_| Spent { money: MicroDollars(999_000), ..Spent::default() };
        let refused = check_before_call(&limits, spent, &estimate(1000)).unwrap_err();
        let text = refused.to_string();
        assert!(
            text.contains("this month") && text.contains("$0.999 of $1.00") && text.contains("$0.003"),
            "{text}"
        );
        let limits = Limits::default().with(Period::Session, tokens(100));
        let refused = check_before_call(&limits, |_| Spent::default(), &estimate(100)).unwrap_err();
        assert_eq!(
            refused,
            OverBudget::Tokens { period: Period::Session, spent: 0, limit: 100, needed: 100 }
        );
    }

    #[test]
    fn an_unknown_price_cannot_keep_a_limit_on_money() {
        let limits = Limits::default().with(Period::Day, money(1_000_000));
        let unknown = Estimate { price: None, ..estimate(10) };
        let refused = check_before_call(&limits, |_| Spent::default(), &unknown);
        assert_eq!(refused, Err(OverBudget::PriceUnknown { period: Period::Day }));
        let local = Estimate { unknown_price: UnknownPrice::Allow, ..unknown };
        assert_eq!(check_before_call(&limits, |_| Spent::default(), &local), Ok(Allowance { output: None }));
        let free = Estimate { price: Some(Price::FREE), ..unknown };
        assert_eq!(check_before_call(&limits, |_| Spent::default(), &free), Ok(Allowance { output: None }));
    }

    proptest! {
        /// A call that keeps to its allowance keeps the limits.
        #[test]
        fn what_is_allowed_fits(
            prompt in 0u64..200_000, spent_tokens in 0u64..1_000_000, spent_money in 0u64..5_000_000,
            token_limit in 1u64..2_000_000, money_limit in 1u64..10_000_000,
        ) {
            let limits = Limits::default().with(Period::Day, Limit { tokens: Some(token_limit), money: Some(MicroDollars(money_limit)) });
            let spent = Spent { tokens: spent_tokens, money: MicroDollars(spent_money), unpriced: 0 };
            if let Ok(allowed) = check_before_call(&limits, |_| spent, &estimate(prompt)) {
                let output = allowed.output.unwrap();
                prop_assert!(spent_tokens + prompt + output <= token_limit);
                let cost = PRICE.cost(&Usage { input: prompt, output, ..Usage::default() });
                // Rounding up twice can cost one millionth.
                prop_assert!(spent_money + cost.0 <= money_limit + 1);
            }
        }
    }
}
