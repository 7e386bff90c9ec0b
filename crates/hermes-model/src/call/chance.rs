//! Chance for pauses and for picking keys. Nothing secret depends on it.

use std::hash::{BuildHasher, RandomState};

/// A stream of numbers from 0 to 1.
#[derive(Debug, Clone)]
pub struct Chance {
    state: u64,
}

impl Chance {
    /// Seeded by the system.
    pub fn from_system() -> Self {
        Self::seeded(RandomState::new().hash_one(std::process::id()))
    }

    /// Always the same numbers for the same seed.
    pub fn seeded(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next number.
    #[allow(
        clippy::should_implement_trait,
        reason = "it never ends, so an iterator would only add an Option"
    )]
    pub fn next(&mut self) -> f64 {
        // SplitMix64: small, and good enough to spread retries.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        (mixed >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_spread_between_zero_and_one() {
        let mut chance = Chance::seeded(7);
        let numbers: Vec<f64> = (0..1000).map(|_| chance.next()).collect();
        assert!(numbers.iter().all(|number| (0.0..1.0).contains(number)));
        let low = numbers.iter().filter(|number| **number < 0.5).count();
        assert!((400..600).contains(&low), "{low}");
    }
}
