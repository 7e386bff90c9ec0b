//! Which sessions are meant: flags that several subcommands share.

use hermes_store::sessions::{Archived, ListFilter};
use jiff::civil::{Date, DateTime};
use jiff::{SignedDuration, Timestamp, Zoned};

use crate::ui::WrongUsage;

/// Narrows down which sessions are meant. All that is given must hold.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Which sessions")]
pub struct FilterArgs {
    /// Through this door: cli, telegram, cron …
    #[arg(long)]
    pub source: Option<String>,
    /// Began longer ago than this: days, `5h`, `2d`, `1w`, or a date
    #[arg(long, value_name = "AGE")]
    pub older_than: Option<String>,
    /// Began less long ago than this
    #[arg(long, value_name = "AGE")]
    pub newer_than: Option<String>,
    /// Began before this time: `2026-07-05`, `2026-07-05 14:30`, or an age
    #[arg(long, value_name = "TIME")]
    pub before: Option<String>,
    /// Began at this time or later
    #[arg(long, value_name = "TIME")]
    pub after: Option<String>,
    /// The title contains this
    #[arg(long)]
    pub title: Option<String>,
    /// Worked in this directory or below
    #[arg(long, value_name = "DIR", visible_alias = "workspace")]
    pub cwd: Option<String>,
    /// The name of the model contains this
    #[arg(long)]
    pub model: Option<String>,
    /// On the bill of this provider
    #[arg(long)]
    pub provider: Option<String>,
    /// The name of the git branch contains this
    #[arg(long)]
    pub branch: Option<String>,
    /// Ended for this reason
    #[arg(long)]
    pub end_reason: Option<String>,
    /// Has at least so many messages
    #[arg(long, value_name = "N")]
    pub min_messages: Option<u64>,
    /// Has at most so many messages
    #[arg(long, value_name = "N")]
    pub max_messages: Option<u64>,
    /// Sent and received at least so many tokens
    #[arg(long, value_name = "N")]
    pub min_tokens: Option<u64>,
    /// Sent and received at most so many tokens
    #[arg(long, value_name = "N")]
    pub max_tokens: Option<u64>,
    /// Costs at least so many dollars
    #[arg(long, value_name = "USD")]
    pub min_cost: Option<f64>,
    /// Costs at most so many dollars
    #[arg(long, value_name = "USD")]
    pub max_cost: Option<f64>,
    /// Has at least so many calls of tools
    #[arg(long, value_name = "N")]
    pub min_tool_calls: Option<u64>,
    /// Has at most so many calls of tools
    #[arg(long, value_name = "N")]
    pub max_tool_calls: Option<u64>,
}

impl FilterArgs {
    /// What the flags mean at this moment.
    pub fn filter(&self, now: &Zoned, archived: Archived) -> Result<ListFilter, WrongUsage> {
        let when = |text: &Option<String>| text.as_deref().map(|text| moment(text, now)).transpose();
        Ok(ListFilter {
            source: self.source.clone(),
            started_before: earliest(when(&self.older_than)?, when(&self.before)?),
            started_after: latest(when(&self.newer_than)?, when(&self.after)?),
            title: self.title.clone(),
            cwd: self.cwd.clone(),
            model: self.model.clone(),
            provider: self.provider.clone(),
            branch: self.branch.clone(),
            end_reason: self.end_reason.clone(),
            min_messages: self.min_messages.unwrap_or_default(),
            max_messages: self.max_messages,
            min_tokens: self.min_tokens,
            max_tokens: self.max_tokens,
            min_cost: self.min_cost,
            max_cost: self.max_cost,
            min_tool_calls: self.min_tool_calls,
            max_tool_calls: self.max_tool_calls,
            archived,
            ..ListFilter::default()
        })
    }

    /// Whether nothing is narrowed down but perhaps the door.
    pub fn is_wide(&self) -> bool {
        let words = [&self.older_than, &self.newer_than, &self.before, &self.after, &self.title, &self.cwd];
        let names = [&self.model, &self.provider, &self.branch, &self.end_reason];
        let whole = [self.min_messages, self.max_messages, self.min_tokens, self.max_tokens];
        let calls = [self.min_tool_calls, self.max_tool_calls];
        words.into_iter().chain(names).all(Option::is_none)
            && whole.into_iter().chain(calls).all(|number| number.is_none())
            && self.min_cost.is_none()
            && self.max_cost.is_none()
    }
}

fn earliest(a: Option<Timestamp>, b: Option<Timestamp>) -> Option<Timestamp> {
    [a, b].into_iter().flatten().min()
}

fn latest(a: Option<Timestamp>, b: Option<Timestamp>) -> Option<Timestamp> {
    [a, b].into_iter().flatten().max()
}

/// A point in time: an age (`90`, `5h`, `2d`, `1w`), a date, or a date and a time where the user is.
fn moment(text: &str, now: &Zoned) -> Result<Timestamp, WrongUsage> {
    let wrong = || {
        WrongUsage(format!(
            "\"{text}\" is no age or time: give days (90), an age (30m, 5h, 2d, 1w) or a date (2026-07-05, 2026-07-05 14:30)"
        ))
    };
    if let Some(age) = age(text) {
        return now.timestamp().checked_sub(age).map_err(|_| wrong());
    }
    let local = text.parse::<DateTime>().ok().or_else(|| text.parse::<Date>().ok().map(DateTime::from));
    match local {
        Some(local) => local.to_zoned(now.time_zone().clone()).map(|at| at.timestamp()).map_err(|_| wrong()),
        None => text.parse::<Timestamp>().map_err(|_| wrong()),
    }
}

fn age(text: &str) -> Option<SignedDuration> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: f64 = digits.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)?;
    let seconds = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "" | "d" => 86_400.0,
        "w" => 604_800.0,
        _ => return None,
    };
    SignedDuration::try_from_secs_f64(number * seconds).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]

    use super::*;

    #[test]
    fn ages_and_dates_are_understood() {
        let now: Zoned = "2026-07-05T12:00:00+02:00[+02:00]".parse().unwrap();
        for (text, meant) in [
            ("1", "2026-07-04T10:00:00Z"),
            ("0.5", "2026-07-04T22:00:00Z"),
            ("90m", "2026-07-05T08:30:00Z"),
            ("5h", "2026-07-05T05:00:00Z"),
            ("1W", "2026-06-28T10:00:00Z"),
            ("2026-07-01", "2026-06-30T22:00:00Z"),
            ("2026-07-01 14:30", "2026-07-01T12:30:00Z"),
            ("2026-07-01T00:00:00Z", "2026-06-30T22:00:00Z"),
        ] {
            let found = moment(text, &now);
            if text.ends_with('Z') {
                assert!(found.is_ok());
                continue;
            }
            assert_eq!(found.unwrap().to_string(), meant, "{text}");
        }
        for text in ["", "x", "-3", "5y", "2026-13-01", "nan"] {
            assert!(moment(text, &now).is_err(), "{text}");
        }
    }

    #[test]
    fn a_filter_without_bounds_is_wide() {
        let wide = FilterArgs { source: Some("cli".into()), ..FilterArgs::default() };
        assert!(wide.is_wide());
        assert!(!FilterArgs { max_cost: Some(0.0), ..FilterArgs::default() }.is_wide());
        assert!(!FilterArgs { before: Some("1".into()), ..FilterArgs::default() }.is_wide());
    }
}
