//! The limits and how they are written in the settings.

use std::fmt;

use serde_json::Value;

use crate::money::MicroDollars;

/// What a limit is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Period {
    /// One question with all that is done to answer it.
    Turn,
    /// One conversation.
    Session,
    /// One day, of everything that uses this home.
    Day,
    /// One month, of everything that uses this home.
    Month,
}

impl Period {
    /// All of them, shortest first.
    pub const ALL: [Self; 4] = [Self::Turn, Self::Session, Self::Day, Self::Month];

    /// Its name in the settings.
    pub fn word(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::Session => "session",
            Self::Day => "day",
            Self::Month => "month",
        }
    }
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Most that may be spent in one period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limit {
    /// Tokens, prompt and output together, cached or not.
    pub tokens: Option<u64>,
    /// Money.
    pub money: Option<MicroDollars>,
}

/// The limits of all periods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    of: [Limit; 4],
}

/// Limits that make no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LimitsError {
    /// There is no such period or field.
    #[error(
        "budget.{0}: there is no such limit; it is one of turn, session, day, month with 'tokens' or 'dollars'"
    )]
    Unknown(String),
    /// It is no amount.
    #[error("budget.{key}: {found} is not an amount; write a number such as {example}")]
    NotAnAmount {
        /// The limit.
        key: String,
        /// What stands there.
        found: String,
        /// A number as it could be.
        example: &'static str,
    },
}

impl Limits {
    /// The limit of a period.
    pub fn of(&self, period: Period) -> Limit {
        self.of[period as usize]
    }

    /// With the limit of a period.
    #[must_use]
    pub fn with(mut self, period: Period, limit: Limit) -> Self {
        self.of[period as usize] = limit;
        self
    }

    /// Whether there is any limit on money.
    pub fn limits_money(&self) -> bool {
        self.of.iter().any(|limit| limit.money.is_some())
    }

    /// Reads `{day: {dollars: 5, tokens: 2000000}, session: …}`. Zero and nothing mean no limit.
    pub fn from_tree(tree: &Value) -> Result<Self, LimitsError> {
        let mut limits = Self::default();
        for (name, fields) in tree.as_object().into_iter().flatten() {
            let period = Period::ALL.into_iter().find(|period| period.word() == name);
            let period = period.ok_or_else(|| LimitsError::Unknown(name.clone()))?;
            let mut limit = Limit::default();
            for (field, value) in fields.as_object().into_iter().flatten() {
                let key = format!("{name}.{field}");
                match field.as_str() {
                    "tokens" => limit.tokens = amount(&key, value, "2000000", |text| text.parse().ok())?,
                    "dollars" => limit.money = amount(&key, value, "5.00", MicroDollars::parse)?,
                    _ => return Err(LimitsError::Unknown(key)),
                }
            }
            limit.tokens = limit.tokens.filter(|tokens| *tokens > 0);
            limit.money = limit.money.filter(|money| *money > MicroDollars::ZERO);
            limits = limits.with(period, limit);
        }
        Ok(limits)
    }
}

fn amount<T>(
    key: &str,
    value: &Value,
    example: &'static str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, LimitsError> {
    let text = match value {
        Value::Null => return Ok(None),
        Value::String(text) => text.trim().trim_start_matches('$').to_owned(),
        other => other.to_string(),
    };
    let wrong = || LimitsError::NotAnAmount { key: key.to_owned(), found: value.to_string(), example };
    read(&text).map(Some).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use serde_json::json;

    #[test]
    fn limits_are_read_from_the_settings() {
        let tree = json!({"day": {"dollars": 2.5, "tokens": 1000}, "turn": {"dollars": "$0.10"}, "month": {"tokens": 0}});
        let limits = Limits::from_tree(&tree).unwrap();
        let day = Limit { tokens: Some(1000), money: Some(MicroDollars(2_500_000)) };
        assert_eq!(limits.of(Period::Day), day);
        assert_eq!(limits.of(Period::Turn).money, Some(MicroDollars(100_000)));
        assert_eq!(limits.of(Period::Month), Limit::default());
        assert!(limits.limits_money());
        assert_eq!(Limits::from_tree(&Value::Null).unwrap(), Limits::default());
    }

    #[test]
    fn mistakes_are_named() {
        let wrong = |tree: Value| Limits::from_tree(&tree).unwrap_err().to_string();
        assert!(wrong(json!({"week": {}})).contains("budget.week"));
        assert!(wrong(json!({"day": {"euros": 1}})).contains("budget.day.euros"));
        assert!(wrong(json!({"day": {"dollars": "much"}})).contains("budget.day.dollars: \"much\""));
        assert!(wrong(json!({"day": {"tokens": -5}})).contains("not an amount"));
    }
}
