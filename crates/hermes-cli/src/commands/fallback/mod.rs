//! `hermes fallback`: the models that are tried when the first one fails.

mod chain;

use std::process::ExitCode;

use clap::Subcommand;
use hermes_home::settings::table::model;
use hermes_home::settings::{self, Change};
use serde_json::{Value, json};

use super::model::{Desk, Refresh, choose, or_left};
use crate::app::App;
use crate::prompt;
use crate::ui::{self, WrongUsage};
use chain::{Entry, check, entries, place_of};

/// Manage the models that are tried when the first one fails
///
/// They are tried in order, for limits, missing money, outages and refusals. At the next turn the first model gets its
/// chance again.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  hermes fallback                                    what is tried, in order
  hermes fallback add claude-haiku-4-5 --provider anthropic
  hermes fallback add qwen3 --base-url http://127.0.0.1:11434/v1 --position 1
  hermes fallback remove 2")]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List them in order, and whether each could be asked
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Add one; without a name it is chosen from lists
    Add(AddArgs),
    /// Remove one, by its number, its model or PROVIDER/MODEL
    Remove {
        /// Which
        target: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove all of them
    Clear {
        /// Do not ask
        #[arg(long, short = 'y')]
        yes: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, clap::Args)]
struct AddArgs {
    /// The model, as its provider names it
    model: Option<String>,
    /// Its provider; otherwise the one in use
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// The address of a server of your own
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// The variable that holds its key
    #[arg(long, value_name = "VARIABLE")]
    key_env: Option<String>,
    /// Its place, from 1; otherwise the last
    #[arg(long, value_name = "N")]
    position: Option<usize>,
    /// Add it even if it cannot be asked now
    #[arg(long)]
    no_check: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs `hermes fallback`.
pub fn run(app: &App, args: Args) -> anyhow::Result<ExitCode> {
    let desk = Desk::open(app)?;
    or_left(match args.action.unwrap_or(Action::List { json: false }) {
        Action::List { json } => list(&desk, json),
        Action::Add(args) => add(&desk, &args),
        Action::Remove { target, json } => remove(&desk, &target, json),
        Action::Clear { yes, json } => clear(&desk, yes, json),
    })
}

fn list(desk: &Desk<'_>, as_json: bool) -> anyhow::Result<ExitCode> {
    let entries = entries(&desk.config);
    print(desk, &entries, as_json)?;
    if entries.is_empty() && !as_json {
        ui::note("Add one with `hermes fallback add MODEL --provider NAME`.");
    }
    Ok(ExitCode::SUCCESS)
}

fn print(desk: &Desk<'_>, entries: &[Entry], as_json: bool) -> anyhow::Result<()> {
    let checked: Vec<(usize, &Entry, Result<String, String>)> =
        entries.iter().enumerate().map(|(place, entry)| (place + 1, entry, check(desk, entry))).collect();
    if as_json {
        let value = |(number, entry, state): &(usize, &Entry, Result<String, String>)| {
            json!({
                "position": number,
                "provider": entry.provider(),
                "model": entry.model(),
                "base_url": entry.base_url(),
                "usable": state.is_ok(),
                "key": state.as_ref().ok(),
                "problem": state.as_ref().err(),
            })
        };
        return ui::print_json(&checked.iter().map(value).collect::<Vec<_>>());
    }
    if checked.is_empty() {
        ui::print("No fallbacks: when the model in use fails, the turn fails.")?;
        return Ok(());
    }
    let row = |(number, entry, state): &(usize, &Entry, Result<String, String>)| {
        let state = match state {
            Ok(key) => format!("ready ({key})"),
            Err(problem) => format!("NOT USABLE: {problem}"),
        };
        vec![number.to_string(), entry.provider(), entry.model(), state]
    };
    let rows: Vec<Vec<String>> = checked.iter().map(row).collect();
    Ok(ui::print(&ui::table(&["#", "PROVIDER", "MODEL", "STATE"], &rows))?)
}

fn add(desk: &Desk<'_>, args: &AddArgs) -> anyhow::Result<ExitCode> {
    let entry = wanted(desk, args)?;
    // The wizard may have saved a key.
    let desk = &Desk::open(desk.app)?;
    put(desk, entry, args)
}

fn wanted(desk: &Desk<'_>, args: &AddArgs) -> anyhow::Result<Entry> {
    let text = Option::<String>::as_deref;
    match &args.model {
        Some(model) => {
            Entry::new(&desk.config, model, text(&args.provider), text(&args.base_url), text(&args.key_env))
        }
        None if prompt::is_possible() => {
            let (choice, ..) = choose(desk, Refresh::WhenOld)?;
            Entry::chosen(desk, &choice)
        }
        None => {
            Err(WrongUsage("no model was named: hermes fallback add MODEL [--provider NAME]".into()).into())
        }
    }
}

fn put(desk: &Desk<'_>, entry: Entry, args: &AddArgs) -> anyhow::Result<ExitCode> {
    if !args.no_check {
        chain::refuse_useless(desk, &entry)?;
    }
    let mut all = entries(&desk.config);
    if let Some(place) = all.iter().position(|other| other.is_same(desk, &entry)) {
        anyhow::bail!("{} is in the chain already, as number {}", entry.name(), place + 1);
    }
    let place = match args.position {
        Some(0) => return Err(WrongUsage("positions are counted from 1".into()).into()),
        Some(number) => (number - 1).min(all.len()),
        None => all.len(),
    };
    let name = entry.name();
    all.insert(place, entry);
    write(desk, &all)?;
    ui::note(&format!("{name} is number {} now.", place + 1));
    show_after(desk, args.json)
}

fn remove(desk: &Desk<'_>, target: &str, as_json: bool) -> anyhow::Result<ExitCode> {
    let mut all = entries(&desk.config);
    let place = place_of(&all, target)?;
    let gone = all.remove(place);
    write(desk, &all)?;
    ui::note(&format!("{} is removed.", gone.name()));
    show_after(desk, as_json)
}

fn clear(desk: &Desk<'_>, yes: bool, as_json: bool) -> anyhow::Result<ExitCode> {
    let all = entries(&desk.config);
    if all.is_empty() {
        return list(desk, as_json);
    }
    let question = format!("Remove {}?", ui::count(all.len() as u64, "fallback"));
    if !yes && !ui::confirm(&question)? {
        anyhow::bail!("nothing was removed: say yes, or add --yes");
    }
    write(desk, &[])?;
    show_after(desk, as_json)
}

/// The whole chain in its newer form. An older `fallback_model` becomes part of it.
fn write(desk: &Desk<'_>, entries: &[Entry]) -> anyhow::Result<()> {
    let list: Vec<Value> = entries.iter().map(|entry| entry.0.clone()).collect();
    let newer = if list.is_empty() {
        Change::unset(&model::FALLBACK_PROVIDERS)
    } else {
        Change::set(&model::FALLBACK_PROVIDERS, list)
    };
    settings::apply(&desk.app.home, &[newer, Change::unset(&model::FALLBACK_MODEL)])?;
    Ok(())
}

fn show_after(desk: &Desk<'_>, as_json: bool) -> anyhow::Result<ExitCode> {
    let desk = Desk::open(desk.app)?;
    print(&desk, &entries(&desk.config), as_json)?;
    Ok(ExitCode::SUCCESS)
}
