//! Models besides the main one: summaries, titles and helpers may have some of their own.

use std::sync::{Arc, Mutex};

use hermes_guard::Secret;
use hermes_home::settings::Def;
use hermes_home::settings::table::{auxiliary as table, delegation};
use hermes_home::{Home, Settings};
use hermes_model::keys::{Key, KeyPool, Strategy};
use hermes_model::provider::Wanted;
use hermes_model::{Caller, Route, Wire, setup};

use super::{OpenError, SideWork, caller_for};
use crate::agent::SideCallers;
use crate::journal::SharedStore;

/// Where the settings of one kind of work stand.
struct Place {
    section: &'static str,
    provider: &'static Def<String>,
    model: &'static Def<String>,
    base_url: &'static Def<String>,
    key: &'static Def<Option<String>>,
    wire: Option<&'static Def<String>>,
    fallbacks: Fallbacks,
}

/// Whether the fallback models stand behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fallbacks {
    Behind,
    /// The main model does the work, should this one fail.
    None,
}

const SUMMARIES: Place = Place {
    section: "auxiliary.compression",
    provider: &table::COMPRESSION_PROVIDER,
    model: &table::COMPRESSION_MODEL,
    base_url: &table::COMPRESSION_BASE_URL,
    key: &table::COMPRESSION_API_KEY,
    wire: None,
    fallbacks: Fallbacks::None,
};

const TITLES: Place = Place {
    section: "auxiliary.title_generation",
    provider: &table::TITLE_GENERATION_PROVIDER,
    model: &table::TITLE_GENERATION_MODEL,
    base_url: &table::TITLE_GENERATION_BASE_URL,
    key: &table::TITLE_GENERATION_API_KEY,
    wire: None,
    fallbacks: Fallbacks::None,
};

const HELPERS: Place = Place {
    section: "delegation",
    provider: &delegation::PROVIDER,
    model: &delegation::MODEL,
    base_url: &delegation::BASE_URL,
    key: &delegation::API_KEY,
    wire: Some(&delegation::API_MODE),
    fallbacks: Fallbacks::Behind,
};

const APPROVAL: Place = Place {
    section: "auxiliary.approval",
    provider: &table::APPROVAL_PROVIDER,
    model: &table::APPROVAL_MODEL,
    base_url: &table::APPROVAL_BASE_URL,
    key: &table::APPROVAL_API_KEY,
    wire: None,
    fallbacks: Fallbacks::None,
};

/// The model that looks at dangerous commands; the main ones, should it have none of its own.
pub(super) fn judge(
    home: &Home,
    settings: &Settings,
    store: &SharedStore,
    main: Vec<Route>,
    notices: &mut Vec<String>,
) -> Result<Caller, OpenError> {
    match caller(&APPROVAL, home, settings, store, notices)? {
        Some(own) => Ok(own),
        None => caller_for(home, settings, main, store),
    }
}

const VISION: Place = Place {
    section: "auxiliary.vision",
    provider: &table::VISION_PROVIDER,
    model: &table::VISION_MODEL,
    base_url: &table::VISION_BASE_URL,
    key: &table::VISION_API_KEY,
    wire: None,
    fallbacks: Fallbacks::None,
};

/// The model for looking at pictures, if there is one of its own.
pub(super) fn vision(
    home: &Home,
    settings: &Settings,
    notices: &mut Vec<String>,
) -> Result<Option<Vec<Route>>, OpenError> {
    routes(&VISION, home, settings, notices)
}

const SPECIFIER: Place = Place {
    section: "auxiliary.triage_specifier",
    provider: &table::TRIAGE_SPECIFIER_PROVIDER,
    model: &table::TRIAGE_SPECIFIER_MODEL,
    base_url: &table::TRIAGE_SPECIFIER_BASE_URL,
    key: &table::TRIAGE_SPECIFIER_API_KEY,
    wire: None,
    fallbacks: Fallbacks::None,
};

const DECOMPOSER: Place = Place {
    section: "auxiliary.kanban_decomposer",
    provider: &table::KANBAN_DECOMPOSER_PROVIDER,
    model: &table::KANBAN_DECOMPOSER_MODEL,
    base_url: &table::KANBAN_DECOMPOSER_BASE_URL,
    key: &table::KANBAN_DECOMPOSER_API_KEY,
    wire: None,
    fallbacks: Fallbacks::None,
};

const GOAL_JUDGE: Place = Place {
    section: "auxiliary.goal_judge",
    provider: &table::GOAL_JUDGE_PROVIDER,
    model: &table::GOAL_JUDGE_MODEL,
    base_url: &table::GOAL_JUDGE_BASE_URL,
    key: &table::GOAL_JUDGE_API_KEY,
    wire: None,
    fallbacks: Fallbacks::None,
};

/// The model of side work that belongs to no conversation, if there is one of its own.
pub(super) fn routes_of(
    work: SideWork,
    home: &Home,
    settings: &Settings,
    notices: &mut Vec<String>,
) -> Result<Option<Vec<Route>>, OpenError> {
    let place = match work {
        SideWork::Specify => &SPECIFIER,
        SideWork::Decompose => &DECOMPOSER,
        SideWork::JudgeGoal => &GOAL_JUDGE,
    };
    routes(place, home, settings, notices)
}

/// The models for side work. One that cannot be reached is said and left out: the main model does its work then.
pub(super) fn callers(
    home: &Home,
    settings: &Settings,
    store: &SharedStore,
    notices: &mut Vec<String>,
) -> Result<SideCallers, OpenError> {
    Ok(SideCallers {
        summaries: caller(&SUMMARIES, home, settings, store, notices)?,
        titles: caller(&TITLES, home, settings, store, notices)?,
    })
}

/// The models of helpers, if they have some of their own.
pub(super) fn for_helpers(
    home: &Home,
    settings: &Settings,
    store: &SharedStore,
    notices: &mut Vec<String>,
) -> Result<Option<Caller>, OpenError> {
    caller(&HELPERS, home, settings, store, notices)
}

fn caller(
    place: &Place,
    home: &Home,
    settings: &Settings,
    store: &SharedStore,
    notices: &mut Vec<String>,
) -> Result<Option<Caller>, OpenError> {
    let routes = routes(place, home, settings, notices)?;
    routes.map(|routes| caller_for(home, settings, routes, store)).transpose()
}

/// The model of one kind of side work; nothing when the main one does it.
fn routes(
    place: &Place,
    home: &Home,
    settings: &Settings,
    notices: &mut Vec<String>,
) -> Result<Option<Vec<Route>>, OpenError> {
    let text = |def: &Def<String>| -> Result<Option<String>, OpenError> {
        Ok(Some(settings.get(def)?).filter(|text| !text.is_empty() && text != "auto"))
    };
    let wanted = Wanted {
        provider: text(place.provider)?,
        model: text(place.model)?,
        base_url: text(place.base_url)?,
    };
    if wanted == Wanted::default() {
        return Ok(None);
    }
    let chain = match setup::open(home.dir(), settings, &wanted) {
        Ok(chain) => chain,
        Err(error) => {
            notices.push(format!("'{}' is left out, the main model does its work: {error}", place.section));
            return Ok(None);
        }
    };
    let mut routes = chain.routes;
    if place.fallbacks == Fallbacks::None {
        routes.truncate(1);
    }
    let wire = place.wire.map(text).transpose()?.flatten().and_then(|word| Wire::parse(&word));
    if let (Some(wire), Some(route)) = (wire, routes.first_mut()) {
        route.endpoint.wire = wire;
    }
    if let (Some(key), Some(route)) = (settings.get(place.key)?, routes.first_mut()) {
        let key = Key { origin: format!("{}.api_key", place.section), secret: Secret::new(key) };
        route.keys = Arc::new(Mutex::new(KeyPool::new([key], Strategy::FillFirst)));
    }
    Ok(Some(routes))
}
