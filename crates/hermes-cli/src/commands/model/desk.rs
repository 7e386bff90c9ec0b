//! What every command about models works with: the settings, the keys, and somebody who asks endpoints.

use std::time::SystemTime;

use anyhow::Context as _;
use hermes_guard::Secret;
use hermes_home::Settings;
use hermes_model::list::{self, Cached, ListCache, Offer};
use hermes_model::probe::{self, Proof, Verdict};
use hermes_model::provider::{ModelConfig, Resolved, StoredKeys};
use hermes_model::window::WindowCache;
use hermes_model::{CallError, Client, Endpoint, setup};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::ui;

/// Whether lists on disk are good enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refresh {
    /// Yes, for an hour.
    WhenOld,
    /// No.
    Now,
}

/// Settings, keys and a client.
pub struct Desk<'a> {
    /// The home.
    pub app: &'a App,
    /// Its settings.
    pub settings: Settings,
    /// What they say about models.
    pub config: ModelConfig,
    /// The keys in `auth.json`.
    pub stored: StoredKeys,
    client: Client,
    runtime: Runtime,
}

impl<'a> Desk<'a> {
    /// Reads everything; nobody is asked anything.
    pub fn open(app: &'a App) -> anyhow::Result<Self> {
        let settings = app.settings()?;
        let config = ModelConfig::from_settings(&settings)?;
        let stored = StoredKeys::in_home(app.home.dir())?;
        let client = Client::new(setup::client_options(&settings)?);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("cannot start what speaks to the network")?;
        Ok(Self { app, settings, config, stored, client, runtime })
    }

    /// Looks a variable up.
    pub fn variable(&self, name: &str) -> Option<String> {
        self.settings.variable(name).map(str::to_owned).filter(|value| !value.trim().is_empty())
    }

    /// The models of an endpoint, from disk while that is fresh.
    pub fn offers(&self, resolved: &Resolved, refresh: Refresh) -> anyhow::Result<Vec<Offer>> {
        let key = resolved.keys.first().map(|key| &key.secret);
        let kept = self.lists().get(&resolved.endpoint, key, SystemTime::now());
        let stale = match kept {
            Cached::Fresh(offers) if refresh == Refresh::WhenOld => return Ok(offers),
            Cached::Fresh(offers) | Cached::Stale(offers) => Some(offers),
            Cached::Missing => None,
        };
        let cancel = CancellationToken::new();
        match (self.runtime.block_on(list::fetch(&self.client, &resolved.endpoint, key, &cancel)), stale) {
            (Ok(offers), _) => {
                self.keep(&resolved.endpoint, key, &offers);
                Ok(offers)
            }
            (Err(error), Some(offers)) => {
                ui::warn(&format!("{}: this is the list of last time", said(&error)));
                Ok(offers)
            }
            (Err(error), None) => Err(anyhow::anyhow!(
                "{} gives no list of models: {}",
                place(&resolved.endpoint),
                said(&error)
            )),
        }
    }

    /// Tries a key: with the list of models, and where that says nothing, with a word of the model.
    pub fn try_key(&self, resolved: &Resolved) -> Result<(Vec<Offer>, Proof), Refused> {
        let key = resolved.keys.first().map(|key| &key.secret);
        let cancel = CancellationToken::new();
        match self.runtime.block_on(probe::offered(&self.client, &resolved.endpoint, key, &cancel)) {
            Ok(offered) => {
                self.keep(&resolved.endpoint, key, &offered.models);
                Ok((offered.models, offered.proof))
            }
            Err(error) => Err(Refused::new(resolved, &error)),
        }
    }

    /// Tries a model with the shortest of questions.
    pub fn try_model(&self, resolved: &Resolved, model: &str) -> Result<(), Refused> {
        let key = resolved.keys.first().map(|key| &key.secret);
        let cancel = CancellationToken::new();
        let asked = probe::one_word(&self.client, &resolved.endpoint, key, model, &cancel);
        self.runtime.block_on(asked).map_err(|error| Refused::new(resolved, &error))
    }

    /// Keeps what an endpoint says about one of its models for those who do not ask for lists.
    pub fn remember_window(&self, endpoint: &Endpoint, model: &str, offers: &[Offer]) {
        let window = offers.iter().find(|offer| offer.id == model).and_then(|offer| offer.window);
        if let Some(window) = window
            && let Err(error) =
                WindowCache::in_home(self.app.home.dir()).put(model, &endpoint.base_url, window)
        {
            ui::warn(&error.to_string());
        }
    }

    fn keep(&self, endpoint: &Endpoint, key: Option<&Secret>, offers: &[Offer]) {
        if let Err(error) = self.lists().put(endpoint, key, offers, SystemTime::now()) {
            ui::warn(&error.to_string());
        }
    }

    fn lists(&self) -> ListCache {
        ListCache::in_home(self.app.home.dir())
    }
}

/// An endpoint that did not do what was asked.
#[derive(Debug)]
pub struct Refused {
    /// What it means.
    pub verdict: Verdict,
    /// Who said what.
    pub text: String,
}

impl Refused {
    fn new(resolved: &Resolved, error: &CallError) -> Self {
        let verdict = probe::verdict(error);
        let (place, said) = (place(&resolved.endpoint), said(error));
        let key = resolved.keys.first().map_or("no key", |key| key.origin.as_str());
        let text = match verdict {
            Verdict::WrongKey if resolved.keys.is_empty() => format!("{place} wants a key: {said}"),
            Verdict::WrongKey => format!("{place} refuses the key ({key}): {said}"),
            Verdict::KeyIsGood => format!("{place} takes the key, but does not answer now: {said}"),
            Verdict::WrongModel => format!("{place} does not have this model: {said}"),
            Verdict::NoList => format!("{place} gives no list of models: {said}"),
            Verdict::Unreachable => format!("{place} cannot be reached: {said}"),
            Verdict::Unclear => format!("{place} says no: {said}"),
        };
        Self { verdict, text }
    }
}

fn place(endpoint: &Endpoint) -> String {
    format!("{} ({})", endpoint.provider, endpoint.base_url)
}

/// What was said, on one line that cannot steer the terminal.
fn said(error: &CallError) -> String {
    let text = error.to_string();
    ui::harmless(text.lines().next().unwrap_or_default())
}
