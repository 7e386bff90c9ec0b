//! What a compaction does to the conversation: which rows are hidden and what takes their place.

use hermes_guard::{Policy, Redactor};
use hermes_model::{Finish, Message};

use super::plan::Plan;
use super::summary::Summary;
use super::{SummaryFailure, groups};
use crate::history::RowId;

/// A change of the conversation. `inserted` goes to the place of the first hidden row; nothing is destroyed.
#[derive(Debug, Clone, PartialEq)]
pub struct Replacement {
    /// Rows the model no longer sees.
    pub hidden: Vec<RowId>,
    /// What it sees instead.
    pub inserted: Vec<Message>,
    /// Tokens of the messages before.
    pub before: u64,
    /// Tokens of the messages after.
    pub after: u64,
}

/// Why an answer is no summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    /// There is nothing in it.
    #[error("the summary was empty")]
    Empty,
    /// It did not come to its end.
    #[error("the summary broke off")]
    BrokeOff,
    /// It would save nothing.
    #[error("the summary was as long as what it stands for")]
    TooLong,
}

impl Rejected {
    /// For [`Health::failed`](super::Health::failed).
    pub fn failure(self) -> SummaryFailure {
        SummaryFailure::BadAnswer
    }
}

/// Puts an answer in the place of the middle, with what the model should still know behind it. An answer that is of no
/// use changes nothing.
pub fn apply(
    plan: &Plan<'_>,
    answer: &str,
    finish: &Finish,
    reminders: &[String],
    redactor: &Redactor,
) -> Result<Replacement, Rejected> {
    let text = redactor.redact(answer, Policy::Log);
    let text = match finish {
        Finish::Stop | Finish::Other(_) => text.trim().to_owned(),
        // Its end is missing: the last sections. What there is, is still right, and must say that it is not all.
        Finish::Length => format!("{}\n[the note was cut off here]", text.trim()),
        Finish::ToolCalls | Finish::ContentFilter | Finish::Interrupted => return Err(Rejected::BrokeOff),
    };
    if answer.trim().is_empty() {
        return Err(Rejected::Empty);
    }
    let message = Summary::new(text).message_with(reminders);
    let estimator = plan.limits.estimator;
    let tokens = |places: &[usize]| -> u64 {
        places.iter().map(|place| estimator.message(&plan.history[*place].message)).sum()
    };
    let replaced = plan.middle_tokens() + tokens(&plan.earlier);
    let after = plan.tokens() - replaced + estimator.message(&message);
    if after >= plan.tokens() {
        return Err(Rejected::TooLong);
    }
    Ok(Replacement { hidden: plan.hidden(), inserted: vec![message], before: plan.tokens(), after })
}

/// Only makes old tool output and arguments short, without a model. Nothing if that saves nothing.
pub fn prune_only(plan: &Plan<'_>) -> Option<Replacement> {
    let estimator = plan.limits.estimator;
    let saved = |place: usize, shorter: &Message| {
        estimator.message(&plan.history[place].message).saturating_sub(estimator.message(shorter))
    };
    let saved: u64 = plan.pruned.iter().map(|(place, shorter)| saved(*place, shorter)).sum();
    let (first, last) = (*plan.pruned.keys().next()?, *plan.pruned.keys().next_back()?);
    if saved == 0 {
        return None;
    }
    // New rows stand together, so everything from the first to the last changed group is written anew.
    let groups = groups::groups(plan.history);
    let start = groups.iter().find(|group| group.contains(&first))?.start;
    let end = groups.iter().find(|group| group.contains(&last))?.end;
    let message = |place: usize| plan.pruned.get(&place).unwrap_or(&plan.history[place].message).clone();
    Some(Replacement {
        hidden: plan.history[start..end].iter().map(|entry| entry.row).collect(),
        inserted: (start..end).map(message).collect(),
        before: plan.tokens(),
        after: plan.tokens() - saved,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use crate::compaction::testing::{conversation, long_conversation};
    use crate::compaction::{CompactionConfig, Estimator, Limits, is_summary, plan, when::Fill};

    fn limits() -> Limits {
        let fill = Fill { tokens: 0, window: Some(32_000), max_output: None };
        Limits::new(&CompactionConfig::default(), &fill, Estimator::default())
    }

    #[test]
    fn a_summary_takes_the_place_of_the_middle() {
        let history = long_conversation(30);
        let plan = plan(&history, &limits()).unwrap();
        let done = apply(&plan, "## Goal\nbuild it", &Finish::Stop, &[], &Redactor::new([])).unwrap();
        assert_eq!(done.hidden.len(), plan.middle.len());
        assert!(done.inserted.len() == 1 && is_summary(&done.inserted[0]));
        assert!(done.after < done.before / 2);
    }

    #[test]
    fn what_is_no_summary_changes_nothing() {
        let history = long_conversation(30);
        let plan = plan(&history, &limits()).unwrap();
        let redactor = Redactor::new([]);
        let with = |answer: &str, finish: &Finish| apply(&plan, answer, finish, &[], &redactor).unwrap_err();
        assert_eq!(with(" \n", &Finish::Stop), Rejected::Empty);
        assert_eq!(with("", &Finish::Length), Rejected::Empty);
        assert_eq!(with("half a", &Finish::Interrupted), Rejected::BrokeOff);
        assert_eq!(with(&"x".repeat(1 << 20), &Finish::Stop), Rejected::TooLong);
    }

    #[test]
    fn secrets_do_not_survive_in_a_summary() {
        let history = long_conversation(30);
        let plan = plan(&history, &limits()).unwrap();
        let redactor = Redactor::new(["correct-horse-battery-9".to_owned()]);
        let done =
            apply(&plan, "log in with correct-horse-battery-9", &Finish::Stop, &[], &redactor).unwrap();
        assert!(!done.inserted[0].text().contains("correct-horse-battery-9"));
    }

    #[test]
    fn pruning_alone_saves_and_then_has_nothing_left_to_do() {
        let history = long_conversation(30);
        let first = plan(&history, &limits()).unwrap();
        let done = prune_only(&first).unwrap();
        assert_eq!(done.hidden.len(), done.inserted.len());
        assert!(done.after < done.before / 2, "{} of {}", done.after, done.before);
        let messages: Vec<Message> = history
            .iter()
            .map(|entry| match done.hidden.iter().position(|row| *row == entry.row) {
                Some(place) => done.inserted[place].clone(),
                None => entry.message.clone(),
            })
            .collect();
        let shorter = conversation(messages);
        let same_middle = first.middle.len();
        if let Ok(second) = plan(&shorter, &limits()) {
            assert!(second.middle.len() <= same_middle);
            assert_eq!(prune_only(&second), None);
        }
    }
}
