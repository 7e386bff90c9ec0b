//! `hermes model NAME`: choosing without questions.

use std::io::{IsTerminal, Read};
use std::process::ExitCode;

use anyhow::Context as _;
use hermes_guard::Secret;
use hermes_home::settings::nearest;
use hermes_model::choice::{Choice, KeyChoice};
use hermes_model::list::Offer;
use hermes_model::probe::{Proof, Verdict};
use hermes_model::provider::{Family, ResolveError, Resolved, Wanted, find, resolve};

use super::confirm::{Consent, save};
use super::desk::{Desk, Refresh, Refused};
use crate::app::App;
use crate::prompt;
use crate::ui::{self, WrongUsage};

/// The choice, as flags.
#[derive(Debug, clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of its own on the command line")]
pub struct SetArgs {
    /// The model, as its provider names it, or a short name such as `sonnet`
    name: Option<String>,
    /// The provider: one of `hermes model`'s list, or one of your own under 'providers'
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// The address of a server of your own, such as `http://127.0.0.1:11434/v1`
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Take the key from this variable (in the environment or .env)
    #[arg(long, value_name = "VARIABLE", conflicts_with = "key_stdin")]
    key_env: Option<String>,
    /// Read a new key from standard input; it is tested, then saved to .env
    #[arg(long)]
    key_stdin: bool,
    /// Save without asking the endpoint whether key and model are any good
    #[arg(long)]
    no_test: bool,
    /// Replace a model that works without asking
    #[arg(long, short = 'y')]
    yes: bool,
    /// Ask for lists of models anew instead of taking them from disk
    #[arg(long)]
    refresh: bool,
}

impl SetArgs {
    /// Whether nothing was asked for but to choose.
    pub fn is_empty(&self) -> bool {
        self.name.is_none()
            && self.provider.is_none()
            && self.base_url.is_none()
            && self.key_env.is_none()
            && !self.key_stdin
    }

    /// Whether lists on disk will do.
    pub fn refresh(&self) -> Refresh {
        if self.refresh { Refresh::Now } else { Refresh::WhenOld }
    }
}

/// Chooses what the flags say.
pub fn run(app: &App, args: &SetArgs) -> anyhow::Result<ExitCode> {
    let desk = Desk::open(app)?;
    let mut choice = wanted(&desk, args)?;
    let resolved = choice.resolve(&desk.config, &desk.settings, &desk.stored).map_err(with_hint)?;
    let consent = if args.yes { Consent::Given } else { Consent::Ask };
    if args.no_test {
        choice.model = named(choice.model)?;
        save(&desk, &choice, consent)?;
        return Ok(ExitCode::SUCCESS);
    }
    let offers = test(&desk, &mut choice, &resolved, args.name.as_deref())?;
    save(&desk, &choice, consent)?;
    desk.remember_window(&resolved.endpoint, &choice.model, &offers);
    Ok(ExitCode::SUCCESS)
}

/// What the flags mean, together with what is set already.
fn wanted(desk: &Desk<'_>, args: &SetArgs) -> anyhow::Result<Choice> {
    let key = key(desk, args)?;
    let asked =
        Wanted { provider: args.provider.clone(), model: args.name.clone(), base_url: args.base_url.clone() };
    // A new key must not be missed while the name is looked up.
    let fresh = matches!(key, KeyChoice::New(_) | KeyChoice::Variable(_));
    let variables = |name: &str| desk.variable(name);
    let named = args.provider.clone().map(|name| id_of(&name));
    let (provider, model) = match resolve(&desk.config, &asked, &variables, &desk.stored) {
        Ok(resolved) => (resolved.endpoint.provider, resolved.model),
        Err(ResolveError::NoKey { provider, .. }) if fresh => {
            let family = args.name.as_deref().and_then(Family::find).and_then(|family| family.at(&provider));
            (provider, family.or(args.name.clone()).unwrap_or_default())
        }
        Err(ResolveError::ForeignHost { provider, .. }) if fresh => {
            (provider, args.name.clone().unwrap_or_default())
        }
        Err(error) => return Err(with_hint(error)),
    };
    let provider = named.filter(|name| find(name).is_some()).unwrap_or(provider);
    let same = provider == id_of(&desk.config.provider) && args.provider.is_none();
    let kept = (same && !desk.config.provider_url.is_empty()).then(|| desk.config.provider_url.clone());
    let plain = (provider == "custom").then(|| plain_address(desk, &asked)).flatten();
    Ok(Choice { provider, model, base_url: args.base_url.clone().or(kept).or(plain), key })
}

/// The address behind words such as `ollama`, written out so that every program of this home understands it.
fn plain_address(desk: &Desk<'_>, asked: &Wanted) -> Option<String> {
    let variables = |name: &str| desk.variable(name);
    resolve(&desk.config, asked, &variables, &desk.stored)
        .ok()
        .map(|found| found.endpoint.base_url.to_string())
}

fn id_of(name: &str) -> String {
    find(name).map_or_else(|| name.trim().to_lowercase(), |spec| spec.id.to_owned())
}

fn key(desk: &Desk<'_>, args: &SetArgs) -> anyhow::Result<KeyChoice> {
    if let Some(variable) = &args.key_env {
        if desk.variable(variable).is_none() {
            let text = format!(
                "the variable {variable} is not set: `hermes config set {variable}` asks for its value and keeps it in .env"
            );
            return Err(WrongUsage(text).into());
        }
        return Ok(KeyChoice::Variable(variable.clone()));
    }
    if !args.key_stdin {
        return Ok(KeyChoice::AsItIs);
    }
    Ok(KeyChoice::New(read_key("Key (not shown):")?))
}

/// A key from standard input, or asked for when that is a terminal. Never from the arguments: everybody on the machine
/// can read those.
pub fn read_key(question: &str) -> anyhow::Result<Secret> {
    let text = if std::io::stdin().is_terminal() {
        prompt::secret(question)?
    } else {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).context("cannot read the key from standard input")?;
        text
    };
    one_key(&text)
}

/// What was pasted must be one key: two in one line, or a line of `.env`, would only be refused much later.
pub fn one_key(text: &str) -> anyhow::Result<Secret> {
    let text = text.trim();
    if text.is_empty() {
        return Err(WrongUsage("no key was given".to_owned()).into());
    }
    if text.split_whitespace().count() > 1 {
        return Err(WrongUsage("this is more than one word: a key has no blanks in it".to_owned()).into());
    }
    let assigned = text.split_once('=').is_some_and(|(name, value)| {
        !value.trim_matches('=').is_empty()
            && !name.is_empty()
            && name.chars().all(|c| c.is_ascii_uppercase() || c == '_' || c.is_ascii_digit())
    });
    if assigned {
        return Err(WrongUsage("this is NAME=value: give the value alone".to_owned()).into());
    }
    Ok(Secret::new(text))
}

fn named(model: String) -> anyhow::Result<String> {
    if model.is_empty() {
        return Err(
            WrongUsage("no model was named: hermes model NAME, or hermes model list".to_owned()).into()
        );
    }
    Ok(model)
}

/// What to do about a missing key when it can be given with a flag.
fn with_hint(error: ResolveError) -> anyhow::Error {
    match error {
        ResolveError::NoKey { .. } => anyhow::anyhow!("{error}, or give it with --key-stdin"),
        other => other.into(),
    }
}

/// Asks the endpoint about key and model. What it offers comes back.
fn test(
    desk: &Desk<'_>,
    choice: &mut Choice,
    resolved: &Resolved,
    typed: Option<&str>,
) -> anyhow::Result<Vec<Offer>> {
    ui::note(&format!("Asking {} …", resolved.endpoint.base_url));
    let (offers, proof) = match desk.try_key(resolved) {
        Ok(offered) => offered,
        Err(refused) => (Vec::new(), after_list(&refused)?),
    };
    if choice.model.is_empty() {
        match offers.as_slice() {
            [only] => choice.model.clone_from(&only.id),
            _ => choice.model = named(String::new())?,
        }
    }
    // A short name means the newest of its family that is really on offer.
    let family = typed.and_then(Family::find).filter(|_| choice.provider != "custom");
    if let Some(newest) =
        family.and_then(|family| family.newest(offers.iter().map(|offer| offer.id.as_str())))
    {
        newest.clone_into(&mut choice.model);
    }
    let listed = offers.iter().any(|offer| offer.id == choice.model);
    if listed && proof == Proof::Shown {
        return Ok(offers);
    }
    match desk.try_model(resolved, &choice.model) {
        Ok(()) => Ok(offers),
        Err(refused) if refused.verdict == Verdict::KeyIsGood => {
            ui::warn(&refused.text);
            Ok(offers)
        }
        Err(refused) => {
            let near = nearest(&choice.model, offers.iter().map(|offer| offer.id.as_str()));
            let hint = match near.as_slice() {
                _ if listed => String::new(),
                [] => ". `hermes model list` shows what there is".to_owned(),
                near => format!(". Did you mean {}?", near.join(" or ")),
            };
            anyhow::bail!("{}{hint}\nNothing was changed (--no-test saves it all the same)", refused.text)
        }
    }
}

/// What a list that did not come means for going on.
fn after_list(refused: &Refused) -> anyhow::Result<Proof> {
    match refused.verdict {
        Verdict::NoList | Verdict::Unclear | Verdict::WrongModel => Ok(Proof::Open),
        Verdict::KeyIsGood => {
            ui::warn(&refused.text);
            Ok(Proof::Open)
        }
        Verdict::WrongKey | Verdict::Unreachable => {
            anyhow::bail!("{}\nNothing was changed (--no-test saves it all the same)", refused.text)
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    #[test]
    fn only_one_key_is_taken() {
        for (text, fine) in [
            (" sk-abc \n", true),
            ("dGVzdA==", true),
            ("sk-abc=", true),
            ("", false),
            ("sk-a sk-b", false),
            ("OPENROUTER_API_KEY=sk-abc", false),
        ] {
            assert_eq!(one_key(text).is_ok(), fine, "{text}");
        }
        assert!(one_key("  key\n").unwrap().matches("key"));
    }
}
