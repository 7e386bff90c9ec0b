//! The half of `hermes model` that only looks.

use std::fmt::Write as _;
use std::process::ExitCode;

use hermes_guard::mask;
use hermes_home::settings::table::model;
use hermes_home::settings::{Def, Origin};
use hermes_model::catalog;
use hermes_model::list::Offer;
use hermes_model::money::{MicroDollars, Price};
use hermes_model::provider::{Resolved, Wanted, resolve};
use hermes_model::setup::{self, Memory, SetupError};
use hermes_model::window::{DEFAULT_WINDOW, WindowFrom};
use serde_json::{Value, json};

use super::desk::{Desk, Refresh};
use crate::app::App;
use crate::ui;

/// What `list` takes.
#[derive(Debug, clap::Args)]
pub struct ListArgs {
    /// The provider; otherwise the one in use
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// The address of a server of your own
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Ask anew instead of taking the list from disk
    #[arg(long)]
    refresh: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What `show` takes.
#[derive(Debug, clap::Args)]
pub struct ShowArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Lists what a provider offers.
pub fn list(app: &App, args: &ListArgs) -> anyhow::Result<ExitCode> {
    let desk = Desk::open(app)?;
    let wanted = Wanted { provider: args.provider.clone(), base_url: args.base_url.clone(), model: None };
    let resolved = resolve(&desk.config, &wanted, &|name: &str| desk.variable(name), &desk.stored)?;
    let refresh = if args.refresh { Refresh::Now } else { Refresh::WhenOld };
    let mut offers = desk.offers(&resolved, refresh)?;
    offers.sort_by(|a, b| a.id.cmp(&b.id));
    if args.json {
        let models: Vec<Value> = offers.iter().map(|offer| offer_json(&resolved, offer)).collect();
        ui::print_json(&json!({
            "provider": resolved.endpoint.provider,
            "base_url": resolved.endpoint.base_url.to_string(),
            "models": models,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let rows: Vec<Vec<String>> = offers.iter().map(|offer| offer_row(&resolved, offer)).collect();
    ui::print(&ui::table(&["MODEL", "WINDOW", "IN", "OUT"], &rows))?;
    ui::note(&format!(
        "{} of {}; prices in dollars per million tokens where they are known. * is in use.",
        ui::count(offers.len() as u64, "model"),
        resolved.endpoint.provider
    ));
    Ok(ExitCode::SUCCESS)
}

/// What is known about a model on offer: what its seller says, else the table.
fn known(resolved: &Resolved, offer: &Offer) -> (Option<u64>, Option<Price>) {
    let facts = catalog::facts(&resolved.endpoint.provider, &offer.id);
    (offer.window.or(facts.window), offer.price.or(facts.price))
}

fn offer_row(resolved: &Resolved, offer: &Offer) -> Vec<String> {
    let (window, price) = known(resolved, offer);
    let mark = if offer.id == resolved.model { " *" } else { "" };
    let dollars = |part: fn(&Price) -> u64| price.as_ref().map(|price| MicroDollars(part(price)).to_string());
    vec![
        format!("{}{mark}", ui::harmless(&offer.id)),
        window.map(grouped).unwrap_or_default(),
        dollars(|price| price.input).unwrap_or_default(),
        dollars(|price| price.output).unwrap_or_default(),
    ]
}

fn offer_json(resolved: &Resolved, offer: &Offer) -> Value {
    let (window, price) = known(resolved, offer);
    json!({"id": offer.id, "window": window, "price": price.map(price_json), "in_use": offer.id == resolved.model})
}

/// Dollars per million tokens, as numbers people would write.
fn price_json(price: Price) -> Value {
    let dollars = |micros: u64| micros as f64 / 1e6;
    json!({
        "input": dollars(price.input),
        "output": dollars(price.output),
        "cache_read": dollars(price.cache_read),
        "cache_write": dollars(price.cache_write),
    })
}

/// `1,000,000`
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Shows what is in use.
pub fn show(app: &App, args: &ShowArgs) -> anyhow::Result<ExitCode> {
    let desk = Desk::open(app)?;
    let (state, code) = state(&desk);
    if args.json {
        ui::print_json(&state)?;
    } else {
        ui::print(&render(&state))?;
        advise(&state);
    }
    Ok(code)
}

/// Without anybody to ask: what is set, and what to do.
pub fn without_questions(app: &App) -> anyhow::Result<ExitCode> {
    let desk = Desk::open(app)?;
    let (state, code) = state(&desk);
    ui::print(&render(&state))?;
    advise(&state);
    if state["problem"].is_null() {
        ui::note("To choose another one: hermes model NAME (there is no terminal here to ask at)");
    }
    Ok(code)
}

/// Everything about the model in use, and the exit code that goes with it: 2 if nothing is set up, 1 if it leads nowhere.
fn state(desk: &Desk<'_>) -> (Value, ExitCode) {
    let opened = setup::open(desk.app.home.dir(), &desk.settings, &Wanted::default());
    let variables = |name: &str| desk.variable(name);
    let resolved = resolve(&desk.config, &Wanted::default(), &variables, &desk.stored);
    let mut state = json!({
        "model": value_of(desk, &model::DEFAULT),
        "provider": value_of(desk, &model::PROVIDER),
        "problem": null,
    });
    if let Ok(resolved) = &resolved {
        in_use(desk, resolved, &mut state);
    }
    match opened {
        Ok(chain) => {
            state["fallbacks"] = json!(chain.routes.len() - 1);
            state["fallback_problems"] = chain.problems.iter().map(ToString::to_string).collect();
            (state, ExitCode::SUCCESS)
        }
        Err(error) => {
            let code = if error.is_nothing_set_up() { ui::WRONG_USAGE } else { ui::FAILED };
            state["problem"] = json!(error.to_string());
            state["what_to_do"] = advice(&error);
            (state, ExitCode::from(code))
        }
    }
}

fn advice(error: &SetupError) -> Value {
    if error.is_nothing_set_up() { json!(setup::suggest_setup()) } else { Value::Null }
}

fn value_of(desk: &Desk<'_>, def: &Def<String>) -> Value {
    let Ok(found) = desk.settings.resolve(&def.spec) else { return Value::Null };
    let origin = if found.origin == Origin::Default { Value::Null } else { json!(found.origin.to_string()) };
    json!({"value": found.value, "from": origin})
}

fn in_use(desk: &Desk<'_>, resolved: &Resolved, state: &mut Value) {
    let (endpoint, model) = (&resolved.endpoint, resolved.model.as_str());
    let key = resolved.keys.first();
    let memory = Memory::in_home(desk.app.home.dir()).about(endpoint, model, key.map(|key| &key.secret));
    let facts = catalog::facts(&endpoint.provider, model);
    let window = resolved
        .options
        .window
        .map(|window| (window, WindowFrom::Settings))
        .or(memory.window)
        .or(facts.window.map(|window| (window, WindowFrom::Table)));
    let price = resolved
        .options
        .price
        .map(|price| (price, "config.yaml"))
        .or(memory.price.map(|price| (price, "the provider's list of models")))
        .or(facts.price.map(|price| (price, "built-in table")));
    state["model"]["value"] = json!(model);
    state["provider"]["value"] = json!(endpoint.provider);
    state["base_url"] = json!(endpoint.base_url.to_string());
    state["speaks"] = json!(endpoint.wire.word());
    state["keys"] = resolved
        .keys
        .iter()
        .map(|key| json!({"from": key.origin, "masked": mask(key.secret.expose())}))
        .collect();
    state["window"] = match window {
        Some((window, from)) => json!({"tokens": window, "from": from.words()}),
        None => Value::Null,
    };
    state["price"] = match price {
        Some((price, from)) => {
            let mut parts = price_json(price);
            parts["from"] = json!(from);
            parts
        }
        None => Value::Null,
    };
}

fn render(state: &Value) -> String {
    let mut out = String::new();
    let mut row = |label: &str, text: &str, from: &str| {
        let line = format!("{label:<10}{:<34}{from}", ui::harmless(text));
        let _ = writeln!(out, "{}", line.trim_end());
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    for name in ["model", "provider"] {
        let value = text(&state[name]["value"]);
        row(name, if value.is_empty() { "(not set)" } else { &value }, &text(&state[name]["from"]));
    }
    if state["base_url"].is_string() {
        row("address", &text(&state["base_url"]), &text(&state["speaks"]));
        let keys = state["keys"].as_array().map(Vec::as_slice).unwrap_or_default();
        if keys.is_empty() {
            row("key", "none", "");
        }
        for key in keys {
            row("key", &text(&key["masked"]), &text(&key["from"]));
        }
        match state["window"]["tokens"].as_u64() {
            Some(window) => {
                row("window", &format!("{} tokens", grouped(window)), &text(&state["window"]["from"]));
            }
            None => row(
                "window",
                "unknown",
                &format!("{} tokens are assumed; set model.context_length", grouped(DEFAULT_WINDOW)),
            ),
        }
        match (state["price"]["input"].as_f64(), state["price"]["output"].as_f64()) {
            (Some(input), Some(output)) => {
                row(
                    "price",
                    &format!("${input} in, ${output} out"),
                    &format!("per million tokens; {}", text(&state["price"]["from"])),
                );
            }
            _ => row("price", "unknown", "set model.price to count money"),
        }
    }
    if let Some(count) = state["fallbacks"].as_u64().filter(|count| *count > 0) {
        row("fallbacks", &count.to_string(), "hermes fallback list");
    }
    out
}

fn advise(state: &Value) {
    if let Some(problem) = state["problem"].as_str() {
        ui::note(&format!("\n{problem}"));
    }
    if let Some(advice) = state["what_to_do"].as_str() {
        ui::note(&format!("\n{advice}"));
    }
    for problem in state["fallback_problems"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        ui::warn(&format!("a fallback leads nowhere: {problem}"));
    }
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn numbers_are_grouped_by_three() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_048_576, "1,048,576")] {
            assert_eq!(grouped(number), text);
        }
    }
}
