//! What a home remembers about models besides its settings.

use std::path::Path;
use std::time::SystemTime;

use hermes_guard::Secret;

use crate::endpoint::Endpoint;
use crate::list::{Cached, ListCache, Offer};
use crate::money::Price;
use crate::window::{WindowCache, WindowFrom};

/// What a home remembers about models.
#[derive(Debug, Clone)]
pub struct Memory {
    windows: WindowCache,
    lists: ListCache,
}

/// What is remembered about one model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Remembered {
    /// The size of its window.
    pub window: Option<(u64, WindowFrom)>,
    /// What its provider says it costs.
    pub price: Option<Price>,
}

impl Memory {
    /// Of the home directory `home`.
    pub fn in_home(home: &Path) -> Self {
        Self { windows: WindowCache::in_home(home), lists: ListCache::in_home(home) }
    }

    /// What is remembered about a model.
    pub fn about(&self, endpoint: &Endpoint, model: &str, key: Option<&Secret>) -> Remembered {
        let learned = self.windows.get(model, &endpoint.base_url).map(|window| (window, WindowFrom::Learned));
        // An old list is still what the provider said last.
        let offers = match self.lists.get(endpoint, key, SystemTime::UNIX_EPOCH) {
            Cached::Fresh(offers) | Cached::Stale(offers) => offers,
            Cached::Missing => Vec::new(),
        };
        let offer: Option<&Offer> = offers.iter().find(|offer| offer.id == model);
        let offered = offer.and_then(|offer| offer.window).map(|window| (window, WindowFrom::Offered));
        Remembered { window: learned.or(offered), price: offer.and_then(|offer| offer.price) }
    }
}
