//! From a choice to an endpoint with its keys, or to the reason why not.

use hermes_home::settings::nearest;

use super::alias::Family;
use super::config::ModelConfig;
use super::custom::{CustomProvider, ModelOptions};
use super::error::ResolveError;
use super::hosts::{wire_of_model, wire_of_url};
use super::keys::{self, AddressFrom, Variables};
use super::stored::StoredKeys;
use super::table::{KeyNeed, LOGIN_ONLY, ProviderSpec, TABLE, find};
use crate::endpoint::Endpoint;
use crate::keys::{Key, Strategy};
use crate::url::BaseUrl;
use crate::wire::Wire;

/// What somebody asked for; nothing means what the settings say.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wanted {
    /// The provider.
    pub provider: Option<String>,
    /// The model, or an alias for one.
    pub model: Option<String>,
    /// The address.
    pub base_url: Option<String>,
}

/// Where a model is and how it is reached.
#[derive(Debug, Clone)]
pub struct Resolved {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// The model; empty when none was chosen yet.
    pub model: String,
    /// The keys, best first.
    pub keys: Vec<Key>,
    /// How they take turns.
    pub strategy: Strategy,
    /// What the settings say about the model.
    pub options: ModelOptions,
}

/// Words for a plain endpoint, with the address each program listens at.
const PLAIN: [(&str, &str); 7] = [
    ("custom", ""),
    ("local", ""),
    ("ollama", "http://127.0.0.1:11434/v1"),
    ("vllm", "http://127.0.0.1:8000/v1"),
    ("llamacpp", "http://127.0.0.1:8080/v1"),
    ("llama.cpp", "http://127.0.0.1:8080/v1"),
    ("llama-cpp", "http://127.0.0.1:8080/v1"),
];

/// Whether a word stands for a plain endpoint.
pub fn is_plain(word: &str) -> bool {
    PLAIN.iter().any(|(plain, _)| plain.eq_ignore_ascii_case(word.trim()))
}

/// Finds the endpoint for a choice.
pub fn resolve(
    config: &ModelConfig,
    wanted: &Wanted,
    variables: &Variables<'_>,
    stored: &StoredKeys,
) -> Result<Resolved, ResolveError> {
    let wanted = with_alias(config, wanted);
    let wanted = Finder { config, wanted: &wanted, variables, stored }.with_family();
    let found = Finder { config, wanted: &wanted, variables, stored };
    let name = found.provider_name()?;
    let mut resolved = found.by_name(&name)?;
    resolved.strategy =
        config.strategies.get(&resolved.endpoint.provider.to_lowercase()).copied().unwrap_or_default();
    Ok(resolved)
}

/// Puts what an alias of the settings stands for in its place.
fn with_alias(config: &ModelConfig, wanted: &Wanted) -> Wanted {
    let name = wanted.model.as_deref().unwrap_or(&config.model);
    let meant = &config.aliases[name];
    let part = |key: &str| meant[key].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let short = meant.as_str().map(str::to_owned);
    Wanted {
        provider: wanted.provider.clone().or_else(|| part("provider")),
        model: part("model").or(short).or_else(|| wanted.model.clone()),
        base_url: wanted.base_url.clone().or_else(|| part("base_url")),
    }
}

struct Finder<'a> {
    config: &'a ModelConfig,
    wanted: &'a Wanted,
    variables: &'a Variables<'a>,
    stored: &'a StoredKeys,
}

impl Finder<'_> {
    /// Puts a model in the place of a short name such as `sonnet`: that of the provider in use if it has the family,
    /// else that of the family's maker or of a router, whichever has a key. On a server of the user's own a name is a
    /// name.
    fn with_family(&self) -> Wanted {
        let name = self.wanted.model.as_deref().unwrap_or(&self.config.model);
        let Some(family) = Family::find(name) else { return self.wanted.clone() };
        let chosen = self.provider_name();
        let in_use = chosen.as_deref().ok().and_then(find).map(|spec| spec.id);
        let explicit = self.wanted.provider.is_some() || self.wanted.base_url.is_some();
        let own = chosen.as_deref().is_ok_and(|name| find(name).is_none());
        let sold = in_use.and_then(|provider| family.at(provider));
        if own || explicit || sold.is_some() {
            return Wanted { model: sold.or_else(|| self.wanted.model.clone()), ..self.wanted.clone() };
        }
        let keyed = |id: &str| find(id).is_some_and(|spec| keys::has_key(spec, self.variables, self.stored));
        let sellers = family.maker.into_iter().chain(["openrouter"]);
        let seller = sellers.clone().find(|id| keyed(id)).or_else(|| sellers.clone().next());
        let provider = seller.map(str::to_owned);
        let model = provider.as_deref().and_then(|id| family.at(id));
        Wanted { provider, model, base_url: None }
    }

    /// Who was chosen; when nobody was, an address decides, then a key.
    fn provider_name(&self) -> Result<String, ResolveError> {
        let chosen = self.wanted.provider.as_deref().map(|name| name.trim().to_lowercase());
        let chosen = chosen.filter(|name| !matches!(name.as_str(), "" | "auto"));
        if let Some(name) = chosen.or_else(|| (!self.config.is_auto()).then(|| self.config.provider.clone()))
        {
            return Ok(name);
        }
        if self.wanted.base_url.is_some() || !self.config.base_url.is_empty() {
            return Ok("custom".to_owned());
        }
        // A server on this machine that needs no key says nothing about what the user wants.
        let with_key = TABLE.iter().filter(|spec| spec.key == KeyNeed::Required);
        let with_key = with_key
            .filter(|spec| keys::has_key(spec, self.variables, self.stored))
            .map(|spec| spec.id.to_owned());
        let only_own = match self.config.custom.as_slice() {
            [entry] if entry.url.is_some() => Some(entry.name.clone()),
            _ => None,
        };
        with_key.into_iter().next().or(only_own).ok_or(ResolveError::NothingChosen)
    }

    fn by_name(&self, name: &str) -> Result<Resolved, ResolveError> {
        let own = self.config.custom(name);
        if let Some(entry) = own.filter(|entry| entry.url.is_some()) {
            return self.custom(entry);
        }
        if let Some(spec) = find(name) {
            return self.known(spec, own);
        }
        if let Some((_, usual)) = PLAIN.iter().find(|(word, _)| *word == name) {
            return self.plain(name, usual);
        }
        if let Some(entry) = own {
            let setting = format!("'providers.{}.base_url'", entry.name);
            return Err(ResolveError::NoAddress { provider: entry.name.clone(), setting });
        }
        if LOGIN_ONLY.contains(&name) {
            return Err(ResolveError::LoginOnly(name.to_owned()));
        }
        let names = TABLE
            .iter()
            .map(|spec| spec.id)
            .chain(self.config.custom.iter().map(|entry| entry.name.as_str()));
        let near = nearest(name, names).first().map(|name| (*name).to_owned());
        Err(ResolveError::UnknownProvider { name: name.to_owned(), near })
    }

    /// An endpoint of the user's own.
    fn custom(&self, entry: &CustomProvider) -> Result<Resolved, ResolveError> {
        let written = self.wanted.base_url.as_deref().or(entry.url.as_deref()).unwrap_or_default();
        let url = parse(&entry.name, written)?;
        let wire = entry.wire.unwrap_or_else(|| wire_of_url(&url));
        let keys = keys::of_custom(entry, &url, self.variables, self.stored);
        let model = self.model(entry.default_model.as_deref(), &entry.name);
        let mut endpoint = Endpoint::new(entry.name.clone(), url, wire);
        add_extras(&mut endpoint, entry);
        Ok(self.done(endpoint, model, keys, Some(entry)))
    }

    /// The plain endpoint of `model.base_url`.
    fn plain(&self, name: &str, usual: &str) -> Result<Resolved, ResolveError> {
        let set = Some(self.config.base_url.as_str()).filter(|url| !url.is_empty());
        let written = self.wanted.base_url.as_deref().or(set).unwrap_or(usual);
        if written.is_empty() {
            let setting = "'model.base_url', such as http://127.0.0.1:8000/v1".to_owned();
            return Err(ResolveError::NoAddress { provider: name.to_owned(), setting });
        }
        let url = parse(name, written)?;
        let wire = self.config.wire.unwrap_or_else(|| wire_of_url(&url));
        // A key beside one address is not meant for another.
        let same = self.wanted.base_url.is_none() || self.wanted.base_url.as_deref() == set;
        let keys = if same {
            keys::of_plain(self.config, &url, self.variables)
        } else {
            keys::of_plain(&ModelConfig::default(), &url, self.variables)
        };
        let mut endpoint = Endpoint::new("custom", url, wire);
        if let Some(size) = self.config.num_ctx {
            endpoint.extra_body.insert("options".to_owned(), serde_json::json!({"num_ctx": size}));
        }
        Ok(self.done(endpoint, self.model(None, "custom"), keys, None))
    }

    /// A provider of the table.
    fn known(
        &self,
        spec: &'static ProviderSpec,
        own: Option<&CustomProvider>,
    ) -> Result<Resolved, ResolveError> {
        let is_configured = find(&self.config.provider).is_some_and(|configured| configured.id == spec.id);
        let (url, from) = self.known_address(spec, is_configured)?;
        let model = self.model(own.and_then(|entry| entry.default_model.as_deref()), spec.id);
        let mut keys = Vec::new();
        if let Some(entry) = own {
            let place = format!("config.yaml, providers.{}", entry.name);
            let named = entry.key_env.as_deref().unwrap_or_default();
            keys.extend(keys::beside(entry.api_key.as_ref(), named, &place, self.variables));
        }
        if is_configured {
            let (written, named) = (self.config.api_key.as_ref(), self.config.key_env.as_str());
            keys.extend(keys::beside(written, named, "config.yaml, model.api_key", self.variables));
        }
        keys.extend(keys::of_provider(spec, &url, from, self.variables, self.stored));
        if keys.is_empty() && spec.key == KeyNeed::Required {
            return Err(self.no_key(spec, &url, from));
        }
        let (url, wire) = for_key(spec, url, from, &model, &keys);
        let explicit = own.and_then(|entry| entry.wire).or(self.config.wire.filter(|_| is_configured));
        let mut endpoint = Endpoint::new(spec.id, url, explicit.unwrap_or(wire));
        if spec.id == "openrouter" && !self.config.routing.is_empty() {
            endpoint.extra_body.insert("provider".to_owned(), self.config.routing.clone().into());
        }
        if let Some(entry) = own {
            add_extras(&mut endpoint, entry);
        }
        Ok(self.done(endpoint, model, keys, own))
    }

    fn known_address(
        &self,
        spec: &ProviderSpec,
        is_configured: bool,
    ) -> Result<(BaseUrl, AddressFrom), ResolveError> {
        let variable = Some(spec.base_url_env).filter(|name| !name.is_empty());
        let overridden = variable.and_then(self.variables).filter(|url| !url.trim().is_empty());
        let configured =
            Some(self.config.provider_url.clone()).filter(|url| is_configured && !url.is_empty());
        let (written, from) = match (&self.wanted.base_url, configured, overridden) {
            (Some(url), ..) => (url.clone(), AddressFrom::Elsewhere),
            (None, Some(url), _) => (url, AddressFrom::Elsewhere),
            (None, None, Some(url)) => (url, AddressFrom::Provider),
            (None, None, None) => (spec.base_url.to_owned(), AddressFrom::Provider),
        };
        if written.is_empty() {
            let setting = format!("{} or 'model.base_url'", spec.base_url_env);
            return Err(ResolveError::NoAddress { provider: spec.id.to_owned(), setting });
        }
        let url = parse(spec.id, &written)?;
        // The address people know is that of Google's own format; the one spoken here lies below it.
        let native = spec.id == "gemini" && url.is_in("googleapis.com") && !url.path().ends_with("/openai");
        let url = if native { url.with_path(&format!("{}/openai", url.path())) } else { url };
        Ok((url, from))
    }

    fn no_key(&self, spec: &ProviderSpec, url: &BaseUrl, from: AddressFrom) -> ResolveError {
        let provider = spec.id.to_owned();
        if from == AddressFrom::Elsewhere && keys::has_key(spec, self.variables, self.stored) {
            return ResolveError::ForeignHost { provider, host: url.host().to_owned() };
        }
        ResolveError::NoKey {
            provider,
            variables: spec.key_env.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    /// The model: the one asked for, the endpoint's own, the one of the settings when they are about this provider.
    fn model(&self, own: Option<&str>, provider: &str) -> String {
        let is_about = |name: &str| {
            self.config.is_auto()
                || name.eq_ignore_ascii_case(provider)
                || find(name).is_some_and(|spec| spec.id == provider)
                || self.config.custom(name).is_some_and(|entry| entry.is_named(provider))
                || (provider == "custom" && PLAIN.iter().any(|(word, _)| *word == name))
        };
        let configured = Some(self.config.model.as_str())
            .filter(|model| !model.is_empty() && is_about(&self.config.provider));
        let wanted = self.wanted.model.as_deref().filter(|model| !model.is_empty());
        wanted.or(configured).or(own).unwrap_or_default().to_owned()
    }

    fn done(
        &self,
        endpoint: Endpoint,
        model: String,
        keys: Vec<Key>,
        own: Option<&CustomProvider>,
    ) -> Resolved {
        let mut options = own.map(|entry| entry.options(&model)).unwrap_or_default();
        // The size and the price in the settings are those of the model in the settings.
        if model == self.config.model || self.config.model.is_empty() {
            options.window = self.config.window.or(options.window);
            options.price = self.config.price.or(options.price);
        }
        Resolved { endpoint, model, keys, strategy: Strategy::default(), options }
    }
}

fn parse(provider: &str, written: &str) -> Result<BaseUrl, ResolveError> {
    BaseUrl::parse(written)
        .map_err(|source| ResolveError::BadAddress { provider: provider.to_owned(), source })
}

fn add_extras(endpoint: &mut Endpoint, entry: &CustomProvider) {
    endpoint.headers.extend(entry.headers.clone());
    endpoint.extra_body.extend(entry.extra_body.clone());
}

/// The address and format for a key: newer keys of Kimi open another door than older ones.
fn for_key(
    spec: &ProviderSpec,
    url: BaseUrl,
    from: AddressFrom,
    model: &str,
    keys: &[Key],
) -> (BaseUrl, Wire) {
    let is_default =
        from == AddressFrom::Provider && BaseUrl::parse(spec.base_url).is_ok_and(|own| own == url);
    let newer = keys.first().is_some_and(|key| key.secret.expose().starts_with("sk-kimi-"));
    if spec.id == "kimi-coding"
        && is_default
        && newer
        && let Ok(url) = BaseUrl::parse("https://api.kimi.com/coding")
    {
        return (url, Wire::Messages);
    }
    let wire = if is_default { wire_of_model(spec, model) } else { wire_of_url(&url) };
    (url, wire)
}
