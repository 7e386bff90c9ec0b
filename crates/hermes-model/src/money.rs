//! Money in whole millionths of a dollar, and what an answer costs. No floating point: sums must come out even.

use std::fmt;
use std::ops::{Add, AddAssign};

use crate::usage::Usage;

/// An amount of money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct MicroDollars(pub u64);

impl MicroDollars {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// Reads dollars written as a decimal number, such as `2.5` or `0.0000025`; digits beyond the millionth are cut.
    pub fn parse(dollars: &str) -> Option<Self> {
        decimal(dollars.trim(), 6).map(Self)
    }

    /// What is left after taking `other` away, at least nothing.
    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add for MicroDollars {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for MicroDollars {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl fmt::Display for MicroDollars {
    /// Dollars and cents; more digits where cents would hide the amount.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (dollars, micros) = (self.0 / 1_000_000, self.0 % 1_000_000);
        if self.0 == 0 || self.0 >= 1_000_000 || micros.is_multiple_of(10_000) {
            let cents = (micros + 5_000) / 10_000;
            return write!(f, "${}.{:02}", dollars + cents / 100, cents % 100);
        }
        let digits = format!("{micros:06}");
        write!(f, "${dollars}.{}", digits.trim_end_matches('0'))
    }
}

/// What tokens cost, in millionths of a dollar per million tokens: three dollars a million is `3_000_000`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    /// Fresh prompt tokens.
    pub input: u64,
    /// Generated tokens, reasoning included.
    pub output: u64,
    /// Prompt tokens read from the cache.
    pub cache_read: u64,
    /// Prompt tokens written to the cache.
    pub cache_write: u64,
}

impl Price {
    /// A model on the user's own machine.
    pub const FREE: Self = Self { input: 0, output: 0, cache_read: 0, cache_write: 0 };

    /// What these tokens cost. Rounded up once, at the end: many small calls must not come out as free.
    pub fn cost(&self, usage: &Usage) -> MicroDollars {
        let parts = [
            (usage.input, self.input),
            (usage.output, self.output),
            (usage.cache_read, self.cache_read),
            (usage.cache_write, self.cache_write),
        ];
        let sum: u128 = parts.iter().map(|(tokens, price)| u128::from(*tokens) * u128::from(*price)).sum();
        MicroDollars(u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX))
    }

    /// How many output tokens this much money buys.
    pub fn output_tokens_for(&self, money: MicroDollars) -> Option<u64> {
        let tokens = u128::from(money.0) * 1_000_000 / u128::from(self.output).max(1);
        (self.output > 0).then(|| u64::try_from(tokens).unwrap_or(u64::MAX))
    }
}

/// What an answer cost, and how sure we are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cost {
    /// The provider said so.
    Charged(MicroDollars),
    /// Tokens times the price we know.
    Estimated(MicroDollars),
    /// Nobody knows the price.
    Unknown,
}

impl Cost {
    /// The cost of an answer: what the provider says, else the price, else unknown.
    pub fn of(usage: &Usage, price: Option<&Price>) -> Self {
        match (usage.charged, price) {
            (Some(amount), _) => Self::Charged(amount),
            (None, Some(price)) => Self::Estimated(price.cost(usage)),
            (None, None) => Self::Unknown,
        }
    }

    /// The amount, when it is known.
    pub fn amount(self) -> Option<MicroDollars> {
        match self {
            Self::Charged(amount) | Self::Estimated(amount) => Some(amount),
            Self::Unknown => None,
        }
    }
}

/// A decimal number as a whole number of units of 10^-places; more digits are cut, exponents as JSON writes them.
pub(crate) fn decimal(text: &str, places: u32) -> Option<u64> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) || digits.len() > 40 {
        return None;
    }
    let number: u128 = digits
        .trim_start_matches('0')
        .parse()
        .or_else(|_| if digits.bytes().all(|b| b == b'0') { Ok(0) } else { Err(()) })
        .ok()?;
    let shift = exponent.checked_add(places as i32)?.checked_sub(fraction.len() as i32)?;
    let scaled = if shift >= 0 {
        number.checked_mul(10u128.checked_pow(shift.unsigned_abs())?)?
    } else {
        10u128.checked_pow(shift.unsigned_abs()).map_or(0, |scale| number / scale)
    };
    u64::try_from(scaled).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use proptest::prelude::*;

    const SONNET: Price =
        Price { input: 3_000_000, output: 15_000_000, cache_read: 300_000, cache_write: 3_750_000 };

    #[test]
    fn every_bucket_has_its_price() {
        let usage = Usage {
            input: 1000,
            output: 100,
            cache_read: 10_000,
            cache_write: 2000,
            reasoning: 50,
            charged: None,
        };
        // 0.003 + 0.0015 + 0.003 + 0.0075 dollars; reasoning is part of the output.
        assert_eq!(SONNET.cost(&usage), MicroDollars(15_000));
        assert_eq!(Cost::of(&usage, None), Cost::Unknown);
        let said = Usage { charged: Some(MicroDollars(7)), ..usage };
        assert_eq!(Cost::of(&said, Some(&SONNET)), Cost::Charged(MicroDollars(7)));
    }

    #[test]
    fn a_part_of_a_millionth_counts_as_one() {
        let cheap = Price { input: 28_000, ..Price::FREE };
        assert_eq!(cheap.cost(&Usage { input: 1, ..Usage::default() }), MicroDollars(1));
        assert_eq!(Price::FREE.cost(&Usage { input: 1, ..Usage::default() }), MicroDollars::ZERO);
    }

    #[test]
    fn money_buys_output() {
        assert_eq!(SONNET.output_tokens_for(MicroDollars(15_000)), Some(1000));
        assert_eq!(Price::FREE.output_tokens_for(MicroDollars(1)), None);
    }

    #[test]
    fn amounts_are_read_and_shown() {
        for (text, micros) in [
            ("2.5", 2_500_000),
            ("0", 0),
            (".25", 250_000),
            ("0.0000025", 2),
            ("1e-3", 1000),
            ("3E2", 300_000_000),
        ] {
            assert_eq!(MicroDollars::parse(text), Some(MicroDollars(micros)), "{text}");
        }
        for text in ["", "-1", "1,5", "x", "1e99", "."] {
            assert_eq!(MicroDollars::parse(text), None, "{text}");
        }
        for (micros, shown) in [
            (0, "$0.00"),
            (1, "$0.000001"),
            (12_300, "$0.0123"),
            (250_000, "$0.25"),
            (1_999_999, "$2.00"),
            (12_345_678, "$12.35"),
        ] {
            assert_eq!(MicroDollars(micros).to_string(), shown);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_number_or_not(text in "[-0-9.eE+ ]{0,12}") {
            let _ = MicroDollars::parse(&text);
        }

        #[test]
        fn cost_of_a_sum_is_at_most_the_sum_of_costs(a in 0u64..1_000_000_000, b in 0u64..1_000_000_000) {
            let usage = |input| Usage { input, ..Usage::default() };
            let apart = SONNET.cost(&usage(a)) + SONNET.cost(&usage(b));
            prop_assert!(SONNET.cost(&usage(a + b)) <= apart);
        }
    }
}
