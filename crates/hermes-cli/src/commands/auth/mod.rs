//! `hermes auth`: several keys for one provider, kept in auth.json.

mod test;

use std::process::ExitCode;

use clap::Subcommand;
use hermes_model::choice::{Choice, KeyChoice};
use hermes_model::provider::{
    KeyState, KeyStore, LOGIN_ONLY, NewKey, PooledKey, ResolveError, Wanted, find, resolve,
};
use jiff::Timestamp;
use serde_json::json;

use super::model::{Desk, or_left, read_key};
use crate::app::App;
use crate::ui::{self, WrongUsage};

/// Keep several keys for a provider, which take turns
///
/// One key is simplest kept in .env (`hermes model` does it). More than one is kept here: when a key meets a limit, the
/// next one takes over. How they take turns is the setting `credential_pool_strategies`. Keys are never shown whole and
/// never taken from the command line, where every user of the machine could read them.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  hermes auth add openrouter --label work          asks for the key without showing it
  hermes auth add openrouter < key.txt
  hermes auth list
  hermes auth remove openrouter 2
  hermes auth status openrouter                    which keys count, in order")]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Add a key; it is tested before it is stored
    Add(AddArgs),
    /// List the stored keys, masked
    List {
        /// Only of this provider
        provider: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove a key, by its number, identifier or label
    Remove {
        /// Whose key
        provider: String,
        /// Which one
        target: String,
    },
    /// Forget that keys were refused, so that they are tried again
    Reset {
        /// Whose keys
        provider: String,
    },
    /// Show which keys of a provider count, in order, and where they come from
    Status {
        /// Whose keys
        provider: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, clap::Args)]
struct AddArgs {
    /// The provider, or one of your own under 'providers'
    provider: String,
    /// What to call it
    #[arg(long)]
    label: Option<String>,
    /// The only address it may be sent to; otherwise the provider's own
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// The kind; only keys are kept here
    #[arg(long = "type", value_name = "KIND", default_value = "api-key")]
    kind: String,
    /// Store it without asking the provider whether it is any good
    #[arg(long)]
    no_test: bool,
    /// Refused: keys do not belong on the command line
    #[arg(long, hide = true)]
    api_key: Option<String>,
}

/// Runs `hermes auth`.
pub fn run(app: &App, args: Args) -> anyhow::Result<ExitCode> {
    let desk = Desk::open(app)?;
    let store = KeyStore::in_home(app.home.dir());
    or_left(match args.action {
        Action::Add(args) => add(&desk, &store, &args),
        Action::List { provider, json } => list(&desk, &store, provider.as_deref(), json),
        Action::Remove { provider, target } => {
            let gone = store.remove(&pool_of(&desk, &provider)?, &target, Timestamp::now())?;
            ui::note(&format!(
                "Removed key #{} of {} ({}).",
                gone.number,
                gone.provider,
                ui::harmless(&gone.label)
            ));
            Ok(ExitCode::SUCCESS)
        }
        Action::Reset { provider } => {
            let pool = pool_of(&desk, &provider)?;
            let count = store.reset(&pool, Timestamp::now())?;
            ui::note(&format!("{} of {pool} will be tried again.", ui::count(count as u64, "key")));
            Ok(ExitCode::SUCCESS)
        }
        Action::Status { provider, json } => status(&desk, &provider, json),
    })
}

/// The name of a provider's pool.
fn pool_of(desk: &Desk<'_>, name: &str) -> anyhow::Result<String> {
    if let Some(own) = desk.config.custom(name).filter(|entry| entry.url.is_some()) {
        return Ok(format!("custom:{}", own.name.to_lowercase()));
    }
    if let Some(spec) = find(name) {
        return Ok(spec.id.to_owned());
    }
    let lower = name.trim().to_lowercase();
    if LOGIN_ONLY.contains(&lower.as_str()) {
        return Err(ResolveError::LoginOnly(lower).into());
    }
    Err(ResolveError::UnknownProvider { name: name.to_owned(), near: None }.into())
}

fn add(desk: &Desk<'_>, store: &KeyStore, args: &AddArgs) -> anyhow::Result<ExitCode> {
    if args.api_key.is_some() {
        let text = format!(
            "a key on the command line can be read by every user of this machine, and stays in the shell's history. \
             Use `hermes auth add {0}` and type it, or `hermes auth add {0} < FILE`. That key was shown already: better make a new one",
            args.provider
        );
        return Err(WrongUsage(text).into());
    }
    if !matches!(args.kind.as_str(), "api-key" | "api_key") {
        return Err(
            WrongUsage(format!("'{}' is not kept here: only keys are (--type api-key)", args.kind)).into()
        );
    }
    let pool = pool_of(desk, &args.provider)?;
    let provider = pool.strip_prefix("custom:").unwrap_or(&pool).to_owned();
    let secret = read_key(&format!("Key for {provider}, not shown while you type or paste:"))?;
    let choice = Choice {
        provider,
        model: String::new(),
        base_url: args.base_url.clone(),
        key: KeyChoice::New(secret.clone()),
    };
    let mut resolved = choice.resolve(&desk.config, &desk.settings, &desk.stored)?;
    // The new key alone is tried, not one that stands before it.
    resolved.keys.retain(|key| key.secret.matches(secret.expose()));
    if !args.no_test {
        test::key(desk, &resolved)?;
    }
    let address = resolved.endpoint.base_url.to_string();
    let id = fresh_id()?;
    let new = NewKey {
        provider: &pool,
        label: args.label.as_deref(),
        secret: &secret,
        base_url: &address,
        id: &id,
    };
    let added = store.add(&new, Timestamp::now())?;
    ui::note(&format!(
        "Stored key #{} of {} ({}) in {}; it is sent only to {address}.",
        added.number,
        added.provider,
        ui::harmless(&added.label),
        store.path().display()
    ));
    Ok(ExitCode::SUCCESS)
}

/// Six hexadecimal digits, as other programs of this home write them.
fn fresh_id() -> anyhow::Result<String> {
    let mut bytes = [0u8; 4];
    rustix::rand::getrandom(&mut bytes[1..], rustix::rand::GetRandomFlags::empty())?;
    Ok(format!("{:06x}", u32::from_be_bytes(bytes)))
}

fn list(
    desk: &Desk<'_>,
    store: &KeyStore,
    provider: Option<&str>,
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    let pool = provider.map(|name| pool_of(desk, name)).transpose()?;
    let wanted = |key: &PooledKey| pool.as_ref().is_none_or(|pool| *pool == key.provider);
    let keys: Vec<PooledKey> = store.list()?.into_iter().filter(wanted).collect();
    if as_json {
        ui::print_json(&keys)?;
        return Ok(ExitCode::SUCCESS);
    }
    if keys.is_empty() {
        ui::note("No keys are stored in auth.json. Keys in .env: hermes status");
        return Ok(ExitCode::SUCCESS);
    }
    let row = |key: &PooledKey| {
        let state = match &key.state {
            KeyState::Ready => "ready".to_owned(),
            KeyState::Refused(why) => format!("refused: {why}"),
            KeyState::NotTaken => format!("not used here ({})", key.source),
        };
        [&key.provider, &format!("#{}", key.number), &key.label, &key.masked, &state]
            .map(|cell| ui::harmless(cell))
            .to_vec()
    };
    let rows: Vec<Vec<String>> = keys.iter().map(row).collect();
    ui::print(&ui::table(&["PROVIDER", "#", "LABEL", "KEY", "STATE"], &rows))?;
    Ok(ExitCode::SUCCESS)
}

fn status(desk: &Desk<'_>, provider: &str, as_json: bool) -> anyhow::Result<ExitCode> {
    let pool = pool_of(desk, provider)?;
    let name = pool.strip_prefix("custom:").unwrap_or(&pool).to_owned();
    let wanted = Wanted { provider: Some(name), ..Wanted::default() };
    let resolved = resolve(&desk.config, &wanted, &|name: &str| desk.variable(name), &desk.stored);
    let keys = resolved.as_ref().map(|resolved| resolved.keys.as_slice()).unwrap_or_default();
    let code = if keys.is_empty() { ExitCode::from(ui::FAILED) } else { ExitCode::SUCCESS };
    let masked = |key: &hermes_model::keys::Key| hermes_guard::mask(key.secret.expose());
    if as_json {
        let keys: Vec<_> =
            keys.iter().map(|key| json!({"from": key.origin, "masked": masked(key)})).collect();
        ui::print_json(
            &json!({"provider": pool, "keys": keys, "problem": resolved.err().map(|e| e.to_string())}),
        )?;
        return Ok(code);
    }
    let rows: Vec<Vec<String>> = keys
        .iter()
        .enumerate()
        .map(|(place, key)| vec![format!("{}", place + 1), masked(key), ui::harmless(&key.origin)])
        .collect();
    if rows.is_empty() {
        match resolved {
            Ok(_) => ui::note(&format!("{pool} has no key, and needs none.")),
            Err(error) => ui::note(&error.to_string()),
        }
        return Ok(code);
    }
    ui::print(&ui::table(&["#", "KEY", "FROM"], &rows))?;
    Ok(code)
}
