//! Choosing a model by answering questions.

use std::process::ExitCode;

use hermes_guard::Secret;
use hermes_model::choice::{Choice, KeyChoice};
use hermes_model::list::Offer;
use hermes_model::probe::{Proof, Verdict};
use hermes_model::provider::{KeyNeed, ProviderSpec, ResolveError, Resolved, TABLE, find, is_plain};
use hermes_model::{BaseUrl, catalog};

use super::confirm::{Consent, save};
use super::desk::{Desk, Refresh};
use super::look::grouped;
use super::set::one_key;
use crate::app::App;
use crate::prompt::{self, Enter, Left, Menu, Other, Picked};
use crate::ui;

/// How often something is asked again before giving up.
const TRIES: usize = 4;

/// Asks, and saves what came of it.
pub fn run(app: &App, refresh: Refresh) -> anyhow::Result<ExitCode> {
    let desk = Desk::open(app)?;
    choose_and_save(&desk, refresh)?;
    Ok(ExitCode::SUCCESS)
}

/// The same for other wizards.
pub fn choose_and_save(desk: &Desk<'_>, refresh: Refresh) -> anyhow::Result<()> {
    let (choice, endpoint, offers) = choose(desk, refresh)?;
    save(desk, &choice, Consent::Ask)?;
    desk.remember_window(&endpoint.endpoint, &choice.model, &offers);
    Ok(())
}

/// Asks for provider, key and model. Nothing is saved.
pub fn choose(desk: &Desk<'_>, refresh: Refresh) -> anyhow::Result<(Choice, Resolved, Vec<Offer>)> {
    let mut choice = provider(desk)?;
    let (resolved, offers, proof) = with_key(desk, &mut choice, refresh)?;
    choice.model = model(desk, &choice, &offers)?;
    let listed = offers.iter().any(|offer| offer.id == choice.model);
    let resolved =
        if listed && proof == Proof::Shown { resolved } else { answering(desk, &mut choice, resolved)? };
    Ok((choice, resolved, offers))
}

/// One line of the list of providers.
enum Entry {
    Known(&'static ProviderSpec),
    Own(String),
    Plain,
}

/// Which provider?
fn provider(desk: &Desk<'_>) -> anyhow::Result<Choice> {
    let entries = entries(desk);
    let rows: Vec<String> = entries.iter().map(|entry| row(desk, entry)).collect();
    let preset = entries.iter().position(|entry| is_current(desk, entry));
    let menu = Menu { title: "Which provider?", rows: &rows, preset, other: Other::Refused };
    let Picked::Row(place) = menu.pick()? else { return Err(Left.into()) };
    let choice = |provider: &str, base_url| Choice {
        provider: provider.to_owned(),
        model: String::new(),
        base_url,
        key: KeyChoice::AsItIs,
    };
    Ok(match &entries[place] {
        // An address the user set for this provider is not forgotten.
        Entry::Known(spec) => {
            let own =
                Some(desk.config.provider_url.clone()).filter(|url| preset == Some(place) && !url.is_empty());
            choice(spec.id, own)
        }
        Entry::Own(name) => choice(name, None),
        Entry::Plain => choice("custom", Some(address(desk)?)),
    })
}

/// Those with a key first.
fn entries(desk: &Desk<'_>) -> Vec<Entry> {
    let (keyed, others): (Vec<_>, Vec<_>) = TABLE.iter().partition(|spec| key_of(desk, spec).is_some());
    let own = desk.config.custom.iter().filter(|entry| entry.url.is_some());
    let mut entries: Vec<Entry> = keyed.into_iter().map(Entry::Known).collect();
    entries.extend(own.map(|entry| Entry::Own(entry.name.clone())));
    entries.push(Entry::Plain);
    entries.extend(others.into_iter().map(Entry::Known));
    entries
}

fn row(desk: &Desk<'_>, entry: &Entry) -> String {
    match entry {
        Entry::Known(spec) => {
            let key = key_of(desk, spec).map(|place| format!("key in {place}")).unwrap_or_default();
            format!("{:<20}{:<22}{key}", spec.id, spec.name).trim_end().to_owned()
        }
        Entry::Own(name) => format!("{name:<20}from 'providers' in config.yaml"),
        Entry::Plain => {
            format!("{:<20}a server of your own: Ollama, vLLM, llama.cpp, any OpenAI-like address", "custom")
        }
    }
}

/// Where a key of a provider is, if there is one.
fn key_of(desk: &Desk<'_>, spec: &ProviderSpec) -> Option<String> {
    let variable =
        spec.key_env.iter().find(|name| desk.variable(name).is_some()).map(|name| (*name).to_owned());
    // One variable may serve two providers; the key itself tells whose it is.
    let usable =
        Choice { provider: spec.id.into(), model: "x".into(), base_url: None, key: KeyChoice::AsItIs };
    let resolved = usable.resolve(&desk.config, &desk.settings, &desk.stored).ok()?;
    resolved.keys.first().map(|key| key.origin.clone()).or(variable)
}

fn is_current(desk: &Desk<'_>, entry: &Entry) -> bool {
    let current = desk.config.provider.as_str();
    match entry {
        Entry::Known(spec) => find(current).is_some_and(|known| known.id == spec.id),
        Entry::Own(name) => desk.config.custom(current).is_some_and(|own| own.is_named(name)),
        Entry::Plain => {
            let named = is_plain(current) && desk.config.custom(current).is_none();
            named || desk.config.is_auto() && !desk.config.base_url.is_empty()
        }
    }
}

/// Where is the server?
fn address(desk: &Desk<'_>) -> anyhow::Result<String> {
    let now = desk.config.provider_url.as_str();
    let usual = if now.is_empty() { "http://127.0.0.1:11434/v1" } else { now };
    loop {
        let typed = prompt::line(&format!("Address, Enter for {usual}:"))?;
        let typed = if typed.is_empty() { usual.to_owned() } else { typed };
        match BaseUrl::parse(&typed) {
            Ok(url) => return Ok(url.to_string()),
            Err(error) => ui::note(&format!("  {error}")),
        }
    }
}

/// The endpoint with a key that it takes, and what it offers. What cannot be listed is tested with the model later.
fn with_key(
    desk: &Desk<'_>,
    choice: &mut Choice,
    refresh: Refresh,
) -> anyhow::Result<(Resolved, Vec<Offer>, Proof)> {
    for _ in 0..TRIES {
        let resolved = match choice.resolve(&desk.config, &desk.settings, &desk.stored) {
            Ok(resolved) => resolved,
            Err(ResolveError::NoKey { .. } | ResolveError::ForeignHost { .. }) => {
                choice.key = KeyChoice::New(ask_key(choice)?);
                continue;
            }
            Err(ResolveError::NoAddress { .. } | ResolveError::BadAddress { .. }) => {
                choice.base_url = Some(address(desk)?);
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        // The list for a key that is there already may come from disk; the model itself is asked then.
        let in_use = matches!(choice.key, KeyChoice::AsItIs) && !resolved.keys.is_empty();
        if in_use
            && refresh == Refresh::WhenOld
            && let Ok(offers) = desk.offers(&resolved, refresh)
        {
            return Ok((resolved, offers, Proof::Open));
        }
        ui::note(&format!("Asking {} …", resolved.endpoint.base_url));
        match desk.try_key(&resolved) {
            Ok((offers, proof)) => return Ok((resolved, offers, proof)),
            Err(refused) => {
                ui::note(&format!("  {}", refused.text));
                match refused.verdict {
                    Verdict::WrongKey => choice.key = KeyChoice::New(ask_key(choice)?),
                    Verdict::Unreachable if choice.provider == "custom" => {
                        choice.base_url = Some(address(desk)?);
                    }
                    Verdict::Unreachable => {
                        anyhow::bail!("nothing was changed: try again when it can be reached")
                    }
                    _ => return Ok((resolved, Vec::new(), Proof::Open)),
                }
            }
        }
    }
    anyhow::bail!("it did not work {TRIES} times: nothing was changed")
}

fn ask_key(choice: &Choice) -> anyhow::Result<Secret> {
    let optional = find(&choice.provider).is_none_or(|spec| spec.key == KeyNeed::Optional);
    let name = find(&choice.provider).map_or(choice.provider.as_str(), |spec| spec.name);
    let hint = if optional { " (Enter leaves)" } else { "" };
    loop {
        match one_key(&prompt::secret(&format!("Key for {name}, not shown while you type or paste{hint}:"))?)
        {
            Ok(key) => return Ok(key),
            Err(error) => ui::note(&format!("  {error}")),
        }
    }
}

/// Which of its models?
fn model(desk: &Desk<'_>, choice: &Choice, offers: &[Offer]) -> anyhow::Result<String> {
    if offers.is_empty() {
        let name = prompt::line("There is no list to choose from. Name of the model:")?;
        return if name.is_empty() { Err(Left.into()) } else { Ok(name) };
    }
    if let [only] = offers {
        ui::note(&format!("It offers one model: {}", ui::harmless(&only.id)));
        return Ok(only.id.clone());
    }
    let mut sorted: Vec<&Offer> = offers.iter().collect();
    sorted.sort_by(|a, b| a.id.cmp(&b.id));
    let rows: Vec<String> = sorted.iter().map(|offer| offer_row(choice, offer)).collect();
    let preset = sorted.iter().position(|offer| offer.id == desk.config.model);
    let menu = Menu { title: "Which model?", rows: &rows, preset, other: Other::Allowed };
    Ok(match menu.pick()? {
        Picked::Row(place) => sorted[place].id.clone(),
        Picked::Typed(name) => name,
    })
}

fn offer_row(choice: &Choice, offer: &Offer) -> String {
    let facts = catalog::facts(&choice.provider, &offer.id);
    let window = offer.window.or(facts.window).map(|window| format!("{} tokens", grouped(window)));
    format!("{:<44} {}", offer.id, window.unwrap_or_default()).trim_end().to_owned()
}

/// Asks the model itself where the list proved nothing; a refused key may be typed again.
fn answering(desk: &Desk<'_>, choice: &mut Choice, first: Resolved) -> anyhow::Result<Resolved> {
    let mut resolved = first;
    for _ in 0..TRIES {
        ui::note(&format!("Asking {} for a word …", choice.model));
        let refused = match desk.try_model(&resolved, &choice.model) {
            Ok(()) => return Ok(resolved),
            Err(refused) => refused,
        };
        ui::note(&format!("  {}", refused.text));
        match refused.verdict {
            Verdict::KeyIsGood => return Ok(resolved),
            Verdict::WrongKey => {
                choice.key = KeyChoice::New(ask_key(choice)?);
                resolved = choice.resolve(&desk.config, &desk.settings, &desk.stored)?;
            }
            _ if prompt::yes("Use it all the same?", Enter::No)? => return Ok(resolved),
            _ => return Err(Left.into()),
        }
    }
    anyhow::bail!("it did not work {TRIES} times: nothing was changed")
}
