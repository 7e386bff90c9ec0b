//! Trying a key before it is stored.

use hermes_model::list::Offer;
use hermes_model::probe::{Proof, Verdict};
use hermes_model::provider::Resolved;

use super::super::model::Desk;
use crate::ui;

/// Asks the provider. A key that is refused is not stored; one that cannot be tried is, with a word about it.
pub fn key(desk: &Desk<'_>, resolved: &Resolved) -> anyhow::Result<()> {
    ui::note(&format!("Asking {} …", resolved.endpoint.base_url));
    let (offers, proof) = match desk.try_key(resolved) {
        Ok(offered) => offered,
        Err(refused) => match refused.verdict {
            Verdict::WrongKey | Verdict::Unreachable => {
                anyhow::bail!("{}\nNothing was stored (--no-test stores it all the same)", refused.text)
            }
            _ => {
                ui::warn(&format!("the key could not be tried: {}", refused.text));
                return Ok(());
            }
        },
    };
    if proof == Proof::Shown {
        return Ok(());
    }
    // Everybody gets the list, so a model must be asked: the cheapest.
    let Some(model) = cheapest(&offers, &desk.config.model) else { return Ok(()) };
    match desk.try_model(resolved, model) {
        Err(refused) if refused.verdict == Verdict::WrongKey => {
            anyhow::bail!("{}\nNothing was stored (--no-test stores it all the same)", refused.text)
        }
        Err(refused) => {
            ui::warn(&refused.text);
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

/// The model in use if it is on offer, else the one that costs least.
fn cheapest<'o>(offers: &'o [Offer], in_use: &str) -> Option<&'o str> {
    let cost =
        |offer: &&Offer| offer.price.map_or(u64::MAX, |price| price.input.saturating_add(price.output));
    let used = offers.iter().find(|offer| offer.id == in_use);
    used.or_else(|| offers.iter().min_by_key(cost)).map(|offer| offer.id.as_str())
}
