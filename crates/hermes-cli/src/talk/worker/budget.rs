//! What a card may still take: its own limits less what earlier attempts used up, as limits of the conversation.

use hermes_board::CardId;
use hermes_board::ending::Verdict;
use hermes_board::extras::Extras;
use hermes_board::workers::Usage;
use hermes_home::Settings;
use hermes_home::settings::SettingError;
use hermes_home::settings::table::model::BUDGET;
use serde_json::{Value, json};

/// What is left for an attempt.
#[derive(Debug, Clone, PartialEq)]
pub enum Left {
    /// These limits; none are those of the card.
    Some(Limits),
    /// Nothing.
    Nothing(Verdict),
}

/// Limits of one conversation.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Limits {
    tokens: Option<i64>,
    dollars: Option<f64>,
}

/// What earlier attempts left.
pub fn left(id: &CardId, extras: &Extras, used: &Usage) -> Left {
    let tokens = extras.max_tokens.map(|most| most - used.tokens());
    let dollars = extras.max_cost.map(|most| most - used.cost_usd);
    if tokens.is_some_and(|left| left <= 0) || dollars.is_some_and(|left| left <= 0.0) {
        return Left::Nothing(used_up(id, extras, used, ""));
    }
    Left::Some(Limits { tokens, dollars })
}

/// That a card's budget is used up, why the next call cannot be made, and how it is raised.
pub fn used_up(id: &CardId, extras: &Extras, used: &Usage, why: &str) -> Verdict {
    let mut parts = Vec::new();
    if let Some(most) = extras.max_tokens {
        parts.push(format!("{} of {most} tokens (--max-tokens)", used.tokens()));
    }
    if let Some(most) = extras.max_cost {
        parts.push(format!("${:.4} of ${most:.4} (--max-cost)", used.cost_usd));
    }
    let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
    let parts = parts.join(", ");
    let what = format!("the card's budget is used up: {parts}; raise it with `hermes kanban edit {id}`{why}");
    Verdict::OutOfBudget { what }
}

impl Limits {
    /// Whether the card says anything.
    pub fn is_set(self) -> bool {
        self != Self::default()
    }

    /// The settings with these limits on the conversation; a tighter one of the user stays.
    pub fn on(self, settings: Settings) -> Result<Settings, SettingError> {
        if !self.is_set() {
            return Ok(settings);
        }
        let mut budget = match settings.get(&BUDGET)? {
            Value::Object(map) => map,
            _ => serde_json::Map::new(),
        };
        let mut session = match budget.remove("session") {
            Some(Value::Object(map)) => map,
            _ => serde_json::Map::new(),
        };
        if let Some(tokens) = self.tokens {
            let known = session.get("tokens").and_then(Value::as_i64);
            session.insert("tokens".to_owned(), json!(known.map_or(tokens, |known| known.min(tokens))));
        }
        if let Some(dollars) = self.dollars {
            let known = session.get("dollars").and_then(Value::as_f64);
            session.insert("dollars".to_owned(), json!(known.map_or(dollars, |known| known.min(dollars))));
        }
        budget.insert("session".to_owned(), Value::Object(session));
        Ok(settings.with_flag(&BUDGET, Value::Object(budget)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlier_attempts_count() {
        let id = CardId::new("t_00000001");
        let extras = Extras { max_tokens: Some(100), max_cost: Some(1.0), ..Extras::default() };
        let used = |tokens, cost_usd| Usage { input_tokens: tokens, output_tokens: 0, cost_usd };
        let expected = Limits { tokens: Some(60), dollars: Some(0.75) };
        assert_eq!(left(&id, &extras, &used(40, 0.25)), Left::Some(expected));
        for used in [used(100, 0.0), used(0, 1.5)] {
            let Left::Nothing(Verdict::OutOfBudget { what }) = left(&id, &extras, &used) else {
                panic!("{used:?}")
            };
            assert!(what.contains("of 100 tokens") && what.contains("kanban edit t_00000001"), "{what}");
        }
        assert_eq!(left(&id, &Extras::default(), &used(9_999, 9.0)), Left::Some(Limits::default()));
    }
}
