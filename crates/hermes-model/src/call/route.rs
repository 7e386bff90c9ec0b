//! One model of the chain: where it is, its keys, what is known about it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hermes_guard::Secret;

use crate::budget::{Allowance, UnknownPrice};
use crate::client::Patience;
use crate::endpoint::Endpoint;
use crate::failure::{Class, Failure, OutputRoom};
use crate::keys::KeyPool;
use crate::money::Price;
use crate::request::Request;
use crate::retry::Attempt;

/// One model of the chain.
#[derive(Debug, Clone)]
pub struct Route {
    /// Where it is reached.
    pub endpoint: Endpoint,
    /// Its name there.
    pub model: String,
    /// The keys, shared by all who use this provider.
    pub keys: Arc<Mutex<KeyPool>>,
    /// The size of its window, when it is known.
    pub window: Option<u64>,
    /// What it costs, when that is known.
    pub price: Option<Price>,
    /// How long to wait for it.
    pub patience: Patience,
}

impl Route {
    /// Its provider and name.
    pub fn names(&self) -> (String, String) {
        (self.endpoint.provider.clone(), self.model.clone())
    }

    pub(super) fn attempt(&self, route: usize, key: Option<usize>, failure: Failure) -> Attempt {
        let (provider, model) = self.names();
        Attempt { route, provider, model, key, failure, change: None }
    }

    pub(super) fn secret(&self, key: Option<usize>) -> Option<Secret> {
        self.pool().get(key?).map(|key| key.secret.clone())
    }

    pub(super) fn other_keys(&self, key: Option<usize>) -> usize {
        key.map_or(0, |key| self.pool().others(key, Instant::now()))
    }

    fn pool(&self) -> MutexGuard<'_, KeyPool> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A limit on money cannot be kept for a price nobody knows, except where nothing is paid.
    pub(super) fn unknown_price(&self) -> UnknownPrice {
        if self.endpoint.base_url.is_local() { UnknownPrice::Allow } else { UnknownPrice::Refuse }
    }

    /// The request for this model: its name, and no more output than the budget and the last refusal allow.
    pub(super) fn shape(&self, request: &Request, allowance: Allowance, room: Option<u64>) -> Request {
        /// Below this, thoughts would eat what is left for the answer.
        const ROOM_FOR_THOUGHTS: u64 = 40_000;
        let mut request = request.clone();
        request.model.clone_from(&self.model);
        request.max_tokens = [request.max_tokens, allowance.output, room].into_iter().flatten().min();
        if allowance.output.is_some_and(|output| output < ROOM_FOR_THOUGHTS) {
            request.effort = None;
        }
        request
    }

    /// Keeps a limit of the model; one that holds only for this prompt is returned.
    pub(super) fn learn_output_room(&mut self, room: Option<OutputRoom>) -> Option<u64> {
        if let Some(OutputRoom::OfModel(tokens)) = room {
            self.endpoint.learned.output_cap = Some(tokens);
        }
        room.map(OutputRoom::tokens)
    }
}

/// How long the first model of the chain is left alone after it was left for a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hold {
    until: Instant,
}

impl Hold {
    /// After leaving it for this.
    pub fn after(class: Class, now: Instant) -> Option<Self> {
        let limited = matches!(class, Class::RateLimit | Class::Billing);
        limited.then(|| Self { until: now + Duration::from_mins(1) })
    }

    /// Whether it may be asked again.
    pub fn is_over(self, now: Instant) -> bool {
        now >= self.until
    }
}
