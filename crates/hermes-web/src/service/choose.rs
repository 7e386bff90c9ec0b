//! Which service the user has. Looks at settings and nothing else.

use hermes_guard::Secret;
use hermes_home::Settings;
use hermes_home::settings::SettingError;
use hermes_home::settings::table::tools;
use url::Url;

use super::{Backend, SERVICES, Service};
use crate::net::Network;

/// Why there is no service.
#[derive(Debug, Clone, thiserror::Error)]
pub enum NoService {
    /// None is set up.
    #[error(
        "no search service is set up: set one of {} (for example `hermes config set TAVILY_API_KEY KEY`)",
        variables()
    )]
    None,
    /// The one that was chosen is not known here.
    #[error("'{name}' is no web service of this program: set '{setting}' to one of {}", names())]
    Unknown {
        /// Its name.
        name: String,
        /// The setting that names it.
        setting: &'static str,
    },
    /// The one that was chosen lacks its key or address.
    #[error(
        "'{setting}' is '{name}', which needs {variable}: set it with `hermes config set {variable} VALUE`"
    )]
    Incomplete {
        /// Its name.
        name: &'static str,
        /// The setting that names it.
        setting: &'static str,
        /// The variable.
        variable: &'static str,
    },
    /// The one that was chosen does not do this.
    #[error("'{name}' does not search: set '{setting}' to one of {}", names())]
    CannotSearch {
        /// Its name.
        name: &'static str,
        /// The setting that names it.
        setting: &'static str,
    },
    /// Its address cannot be used.
    #[error("the address in {variable} is not an http or https address")]
    Address {
        /// The variable.
        variable: &'static str,
    },
    /// A setting holds something it must not.
    #[error(transparent)]
    Setting(#[from] SettingError),
}

/// Who reads pages.
#[derive(Debug, Clone)]
pub enum Extraction {
    /// We do.
    Own,
    /// A service the user chose.
    Service(Box<Backend>),
}

fn variables() -> String {
    let names: Vec<&str> = SERVICES.iter().map(Service::variable).collect();
    names.join(", ")
}

fn names() -> String {
    let names: Vec<&str> = SERVICES.iter().map(|service| service.name).collect();
    names.join(", ")
}

/// Who searches: the service that was chosen, or the first that can be used.
pub fn search(settings: &Settings, network: &Network) -> Result<Backend, NoService> {
    for (setting, def) in
        [("web.search_backend", &tools::WEB_SEARCH_BACKEND), ("web.backend", &tools::WEB_BACKEND)]
    {
        let name = settings.get(def)?;
        if name.trim().is_empty() || is_own(&name) {
            continue;
        }
        let service = Service::named(&name).ok_or(NoService::Unknown { name, setting })?;
        if service.search.is_none() {
            return Err(NoService::CannotSearch { name: service.name, setting });
        }
        let incomplete = NoService::Incomplete { name: service.name, setting, variable: service.variable() };
        return open(service, settings, network)?.ok_or(incomplete);
    }
    for service in SERVICES.iter().filter(|service| service.search.is_some()) {
        if let Some(backend) = open(service, settings, network)? {
            return Ok(backend);
        }
    }
    Err(NoService::None)
}

/// Who reads pages: we do, unless the user chose a service that can.
pub fn extraction(settings: &Settings, network: &Network) -> Result<Extraction, NoService> {
    let own = settings.get(&tools::WEB_EXTRACT_BACKEND)?;
    let (setting, name) = if own.trim().is_empty() {
        ("web.backend", settings.get(&tools::WEB_BACKEND)?)
    } else {
        ("web.extract_backend", own)
    };
    if name.trim().is_empty() || is_own(&name) {
        return Ok(Extraction::Own);
    }
    let service = Service::named(&name).ok_or(NoService::Unknown { name, setting })?;
    if service.extract.is_none() {
        return Ok(Extraction::Own);
    }
    let incomplete = NoService::Incomplete { name: service.name, setting, variable: service.variable() };
    open(service, settings, network)?.map(|backend| Extraction::Service(Box::new(backend))).ok_or(incomplete)
}

/// Names for reading pages ourselves.
fn is_own(name: &str) -> bool {
    matches!(name.trim().to_ascii_lowercase().as_str(), "fetch" | "plain" | "builtin" | "local")
}

fn open(
    service: &'static Service,
    settings: &Settings,
    network: &Network,
) -> Result<Option<Backend>, NoService> {
    let address = service.address.map(|def| settings.get(def)).transpose()?.unwrap_or_default();
    let key =
        service.key.map(|def| settings.get(def)).transpose()?.flatten().filter(|key| !key.trim().is_empty());
    // Somebody's own server may want no key.
    if address.trim().is_empty() && (service.base.is_empty() || key.is_none()) {
        return Ok(None);
    }
    let base = if address.trim().is_empty() { service.base } else { address.trim() };
    let variable = service.address.map_or("", |def| def.spec.key);
    let url = Url::parse(base).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let base = url.ok_or(NoService::Address { variable })?;
    Ok(Some(Backend::new(service, base, key.map(Secret::new), network.clone())))
}
