//! Several keys of one provider and how they take turns. Time and chance come in as arguments.

use std::time::{Duration, Instant};

use hermes_guard::Secret;

use crate::failure::{Class, Failure};

/// A key and where it was found.
#[derive(Debug, Clone)]
pub struct Key {
    /// Where it comes from, for messages: a variable, an entry of the key store.
    pub origin: String,
    /// The key.
    pub secret: Secret,
}

/// How keys take turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strategy {
    /// The first one until it is used up.
    #[default]
    FillFirst,
    /// One after the other.
    RoundRobin,
    /// By chance.
    Random,
    /// The one that was used least.
    LeastUsed,
}

impl Strategy {
    /// Reads the word of the setting `credential_pool_strategies`.
    pub fn parse(word: &str) -> Option<Self> {
        match word.trim().to_lowercase().as_str() {
            "fill_first" => Some(Self::FillFirst),
            "round_robin" => Some(Self::RoundRobin),
            "random" => Some(Self::Random),
            "least_used" => Some(Self::LeastUsed),
            _ => None,
        }
    }
}

/// The keys of one provider.
#[derive(Debug, Clone, Default)]
pub struct KeyPool {
    keys: Vec<Held>,
    strategy: Strategy,
    /// The one that was picked last.
    last: Option<usize>,
}

#[derive(Debug, Clone)]
struct Held {
    key: Key,
    uses: u64,
    rests_until: Option<Instant>,
}

impl KeyPool {
    /// A pool of these keys; the same key from two places counts once.
    pub fn new(keys: impl IntoIterator<Item = Key>, strategy: Strategy) -> Self {
        let mut held: Vec<Held> = Vec::new();
        for key in keys {
            let known = held.iter().any(|other| other.key.secret.matches(key.secret.expose()));
            if !known && !key.secret.is_empty() {
                held.push(Held { key, uses: 0, rests_until: None });
            }
        }
        Self { keys: held, strategy, last: None }
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// True without any key.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The key at a place.
    pub fn get(&self, place: usize) -> Option<&Key> {
        self.keys.get(place).map(|held| &held.key)
    }

    /// Picks the key for the next call. When all rest, the one that rests shortest: better a refusal than silence.
    pub fn pick(&mut self, now: Instant, random: f64) -> Option<usize> {
        let fresh: Vec<usize> =
            (0..self.keys.len()).filter(|place| self.keys[*place].is_fresh(now)).collect();
        let place = if fresh.is_empty() {
            (0..self.keys.len()).min_by_key(|place| self.keys[*place].rests_until)
        } else {
            self.choose(&fresh, random)
        }?;
        self.keys[place].uses += 1;
        self.last = Some(place);
        Some(place)
    }

    fn choose(&self, fresh: &[usize], random: f64) -> Option<usize> {
        match self.strategy {
            Strategy::FillFirst => fresh.first().copied(),
            Strategy::RoundRobin => {
                let after = fresh.iter().find(|place| self.last.is_none_or(|last| **place > last));
                after.or(fresh.first()).copied()
            }
            Strategy::Random => {
                let place = (random.clamp(0.0, 1.0) * fresh.len() as f64) as usize;
                fresh.get(place.min(fresh.len().saturating_sub(1))).copied()
            }
            Strategy::LeastUsed => fresh.iter().min_by_key(|place| self.keys[**place].uses).copied(),
        }
    }

    /// How many keys besides this one can be used now.
    pub fn others(&self, place: usize, now: Instant) -> usize {
        (0..self.keys.len()).filter(|other| *other != place && self.keys[*other].is_fresh(now)).count()
    }

    /// Lets a key rest that was refused. What the provider says about the time wins.
    pub fn rest(&mut self, place: usize, failure: &Failure, now: Instant) {
        let usual = match failure.class {
            Class::Auth => Duration::from_mins(5),
            _ => Duration::from_hours(1),
        };
        if let Some(held) = self.keys.get_mut(place) {
            held.rests_until = Some(now + failure.observed.retry_after.unwrap_or(usual));
        }
    }
}

impl Held {
    fn is_fresh(&self, now: Instant) -> bool {
        self.rests_until.is_none_or(|until| until <= now)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use crate::failure::Observed;

    fn pool(names: &[&str], strategy: Strategy) -> KeyPool {
        let key = |name: &&str| Key { origin: format!("VAR_{name}"), secret: Secret::new(*name) };
        KeyPool::new(names.iter().map(key), strategy)
    }

    fn failure(class: Class) -> Failure {
        Failure { class, observed: Observed::default(), quoted_window: None, output_room: None }
    }

    fn picks(pool: &mut KeyPool, now: Instant, count: usize) -> Vec<usize> {
        (0..count).map(|_| pool.pick(now, 0.7).unwrap()).collect()
    }

    #[test]
    fn strategies_differ_in_whose_turn_it_is() {
        let now = Instant::now();
        assert_eq!(picks(&mut pool(&["a", "b", "c"], Strategy::FillFirst), now, 3), [0, 0, 0]);
        assert_eq!(picks(&mut pool(&["a", "b", "c"], Strategy::RoundRobin), now, 5), [0, 1, 2, 0, 1]);
        assert_eq!(picks(&mut pool(&["a", "b", "c"], Strategy::LeastUsed), now, 4), [0, 1, 2, 0]);
        assert_eq!(picks(&mut pool(&["a", "b", "c"], Strategy::Random), now, 1), [2]);
    }

    #[test]
    fn refused_keys_rest_and_come_back() {
        let now = Instant::now();
        let mut pool = pool(&["a", "b"], Strategy::FillFirst);
        pool.rest(0, &failure(Class::Auth), now);
        assert_eq!((pool.others(1, now), pool.pick(now, 0.0)), (0, Some(1)));
        assert_eq!(pool.pick(now + Duration::from_mins(5), 0.0), Some(0));
        pool.rest(0, &failure(Class::RateLimit), now);
        assert_eq!(pool.pick(now + Duration::from_mins(59), 0.0), Some(1));
        let mut said = failure(Class::RateLimit);
        said.observed.retry_after = Some(Duration::from_secs(3));
        pool.rest(1, &said, now);
        assert_eq!(pool.pick(now, 0.0), Some(1), "when all rest, the one that is back first");
    }

    #[test]
    fn empty_and_repeated_keys_do_not_count() {
        let pool = pool(&["a", "", "a", "b"], Strategy::FillFirst);
        assert_eq!(pool.len(), 2);
        assert_eq!(pool.get(1).unwrap().origin, "VAR_b");
        assert!(KeyPool::default().is_empty());
        assert_eq!(KeyPool::default().pick(Instant::now(), 0.0), None);
    }
}
