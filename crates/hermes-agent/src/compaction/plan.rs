//! Which messages stay and which a summary will stand for.

use std::collections::BTreeMap;
use std::ops::Range;

use hermes_model::Message;
use serde::Serialize;

use super::groups::groups;
use super::prune::prune;
use super::summary::{Summary, is_summary};
use super::when::Fill;
use super::{CompactionConfig, Estimator};
use crate::history::{Entry, RowId};

/// Messages of the tail that stay however long they are.
const SHORTEST_TAIL: usize = 3;
/// The tail may be this many halves of its budget, so that it does not end in the middle of something.
const SOFT_HALVES: u64 = 3;
/// Bounds of a summary, in tokens, and its share of what it stands for and of the window.
const LONGEST_SUMMARY: u64 = 12_000;
const SHORTEST_SUMMARY: u64 = 2_000;
const SUMMARY_SHARE: u64 = 5;
const WINDOW_SHARE: u64 = 20;

/// How much of the end stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// As much as the budget allows.
    Budget,
    /// The last so many questions with everything that followed: `/compress here N`.
    Exchanges(usize),
}

/// What may stay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// First messages that stay.
    pub protect_first: usize,
    /// Last messages that stay if they fit the budget by and large.
    pub protect_last: usize,
    /// The budget for the tail.
    pub tail_tokens: u64,
    /// The size of the window.
    pub window: u64,
    /// How much of the end stays.
    pub keep: Keep,
    /// Counts tokens.
    pub estimator: Estimator,
}

impl Limits {
    /// The limits for a window.
    pub fn new(config: &CompactionConfig, fill: &Fill, estimator: Estimator) -> Self {
        Self {
            protect_first: config.protect_first,
            protect_last: config.protect_last,
            tail_tokens: (fill.limit(config) as f64 * config.target) as u64,
            window: fill.window(),
            keep: Keep::Budget,
            estimator,
        }
    }

    /// The same with another end.
    #[must_use]
    pub fn keeping(self, keep: Keep) -> Self {
        Self { keep, ..self }
    }
}

/// Why there is nothing to summarise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NothingToDo {
    /// Everything belongs to the part that stays.
    #[error(
        "there is nothing to summarise: all {messages} messages are among the first or the newest ones, which stay as they are"
    )]
    AllStays {
        /// How many there are.
        messages: usize,
    },
    /// There are fewer exchanges than are to be kept.
    #[error(
        "there is nothing to summarise: the conversation has fewer than {wanted} earlier questions to keep"
    )]
    FewExchanges {
        /// How many were to be kept.
        wanted: usize,
    },
}

/// A conversation, divided.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan<'h> {
    pub(super) history: &'h [Entry],
    /// What stays at the beginning.
    pub head: Range<usize>,
    /// What the summary stands for, in order.
    pub middle: Vec<usize>,
    /// Summaries that the new one takes up.
    pub(super) earlier: Vec<usize>,
    /// The last question of the user, if it lies in the middle: it stays, behind the summary.
    pub pinned: Option<usize>,
    /// What stays at the end.
    pub tail: Range<usize>,
    /// Shorter forms of messages of the middle.
    pub(super) pruned: BTreeMap<usize, Message>,
    pub(super) limits: Limits,
    tokens: u64,
    middle_tokens: u64,
}

/// What a plan would do, for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Preview {
    /// Messages that stay at the beginning.
    pub first: usize,
    /// Messages the summary will stand for.
    pub summarised: usize,
    /// Messages that stay at the end.
    pub last: usize,
    /// Tokens of the messages now.
    pub tokens: u64,
    /// Tokens of the messages afterwards, at most.
    pub tokens_after: u64,
}

/// Divides a conversation.
pub fn plan<'h>(history: &'h [Entry], limits: &Limits) -> Result<Plan<'h>, NothingToDo> {
    let groups = groups(history);
    let tail_start = match limits.keep {
        Keep::Budget => tail_start(history, &groups, limits),
        Keep::Exchanges(wanted) => exchanges_start(history, wanted)?,
    };
    let head_end = head_end(history, &groups, limits).min(tail_start);
    let pinned = history.iter().rposition(is_question).filter(|place| (head_end..tail_start).contains(place));
    let (earlier, rest): (Vec<usize>, Vec<usize>) =
        (head_end..tail_start).partition(|place| is_summary(&history[*place].message));
    let middle: Vec<usize> = rest.into_iter().filter(|place| Some(*place) != pinned).collect();
    if middle.is_empty() {
        return Err(NothingToDo::AllStays { messages: history.len() });
    }
    let tokens = |places: &mut dyn Iterator<Item = usize>| -> u64 {
        places.map(|place| limits.estimator.message(&history[place].message)).sum()
    };
    Ok(Plan {
        history,
        head: 0..head_end,
        earlier,
        pinned,
        tail: tail_start..history.len(),
        pruned: prune(history, &middle),
        limits: *limits,
        tokens: tokens(&mut (0..history.len())),
        middle_tokens: tokens(&mut middle.iter().copied()),
        middle,
    })
}

fn is_question(entry: &Entry) -> bool {
    matches!(entry.message, Message::User(_)) && !is_summary(&entry.message)
}

/// Whole groups from the end, as many as the budget holds.
fn tail_start(history: &[Entry], groups: &[Range<usize>], limits: &Limits) -> usize {
    let ceiling = limits.tail_tokens * SOFT_HALVES / 2;
    let (mut start, mut tokens) = (history.len(), 0);
    for group in groups.iter().rev() {
        let cost: u64 = history[group.clone()].iter().map(|e| limits.estimator.message(&e.message)).sum();
        let count = history.len() - start;
        let wanted = tokens < limits.tail_tokens || count < limits.protect_last;
        if count >= SHORTEST_TAIL && !(wanted && tokens + cost <= ceiling) {
            break;
        }
        start = group.start;
        tokens += cost;
    }
    start
}

fn exchanges_start(history: &[Entry], wanted: usize) -> Result<usize, NothingToDo> {
    let mut questions = (0..history.len()).rev().filter(|place| is_question(&history[*place]));
    match wanted.checked_sub(1) {
        None => Ok(history.len()),
        Some(before) => questions.nth(before).ok_or(NothingToDo::FewExchanges { wanted }),
    }
}

/// Whole groups from the beginning that cover the protected messages. An earlier summary ends the head: it is to be
/// renewed. A head that would take more than the tail is given up from its end.
fn head_end(history: &[Entry], groups: &[Range<usize>], limits: &Limits) -> usize {
    let (mut end, mut tokens) = (0, 0);
    for group in groups {
        tokens += history[group.clone()].iter().map(|e| limits.estimator.message(&e.message)).sum::<u64>();
        let stops = end >= limits.protect_first || is_summary(&history[group.start].message);
        if stops || tokens > limits.tail_tokens {
            break;
        }
        end = group.end;
    }
    end
}

impl Plan<'_> {
    /// The rows that a summary hides.
    pub fn hidden(&self) -> Vec<RowId> {
        let mut places: Vec<usize> = self.middle.iter().chain(&self.earlier).copied().collect();
        places.sort_unstable();
        places.into_iter().map(|place| self.history[place].row).collect()
    }

    /// Most tokens of the summary.
    pub fn summary_tokens(&self) -> u64 {
        let most = (self.limits.window / WINDOW_SHARE).clamp(1, LONGEST_SUMMARY);
        (self.middle_tokens / SUMMARY_SHARE).clamp(SHORTEST_SUMMARY.min(most), most)
    }

    /// The words of the summaries that the new one takes up.
    pub fn earlier_summary(&self) -> Option<String> {
        let texts: Vec<String> = self
            .earlier
            .iter()
            .filter_map(|place| Summary::of(&self.history[*place].message))
            .map(|summary| summary.text().to_owned())
            .collect();
        (!texts.is_empty()).then(|| texts.join("\n\n"))
    }

    /// Tokens of the whole conversation, without system prompt and tools.
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// Tokens of what the summary stands for.
    pub fn middle_tokens(&self) -> u64 {
        self.middle_tokens
    }

    /// What the plan would do.
    pub fn preview(&self) -> Preview {
        Preview {
            first: self.head.len(),
            summarised: self.middle.len(),
            last: self.tail.len() + usize::from(self.pinned.is_some()),
            tokens: self.tokens,
            tokens_after: (self.tokens - self.middle_tokens + self.summary_tokens()).min(self.tokens),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use crate::compaction::testing::{call, conversation, long_conversation, result};

    pub(crate) fn limits(tail_tokens: u64) -> Limits {
        Limits {
            protect_first: 3,
            protect_last: 4,
            tail_tokens,
            window: 200_000,
            keep: Keep::Budget,
            estimator: Estimator::default(),
        }
    }

    #[test]
    fn the_middle_goes() {
        let history = long_conversation(10);
        let plan = plan(&history, &limits(2_500)).unwrap();
        assert_eq!(plan.head, 0..3);
        // Two exchanges fit the budget, and the call before them is not cut off for a little more.
        assert_eq!(plan.tail, 29..40);
        assert_eq!(plan.middle, (3..29).collect::<Vec<_>>());
        let preview = plan.preview();
        assert_eq!((preview.first, preview.summarised, preview.last), (3, 26, 11));
        assert!(preview.tokens_after < preview.tokens);
    }

    #[test]
    fn a_head_ends_behind_the_results_of_its_calls() {
        let history = long_conversation(10);
        let plan = plan(&history, &Limits { protect_first: 2, ..limits(2_500) }).unwrap();
        assert_eq!(plan.head, 0..3);
    }

    #[test]
    fn one_long_turn_can_be_summarised_and_its_question_stays() {
        let mut messages = vec![Message::user("build it")];
        for n in 0..30 {
            let id = format!("c{n}");
            messages.push(call(&id, "terminal", "{}"));
            messages.push(result(&id, "terminal", &"y".repeat(4_000)));
        }
        let history = conversation(messages);
        let plan = plan(&history, &Limits { protect_first: 0, ..limits(3_000) }).unwrap();
        assert_eq!(plan.pinned, Some(0));
        assert!(!plan.hidden().contains(&history[0].row) && plan.middle.len() > 40);
    }

    #[test]
    fn exchanges_can_be_kept_by_number() {
        let history = long_conversation(5);
        let with = |n| plan(&history, &limits(100_000).keeping(Keep::Exchanges(n)));
        assert_eq!(with(2).unwrap().tail, 12..20);
        assert_eq!(with(0).unwrap().tail, 20..20);
        assert_eq!(with(9), Err(NothingToDo::FewExchanges { wanted: 9 }));
    }

    #[test]
    fn a_short_conversation_stays() {
        let history = long_conversation(1);
        assert_eq!(plan(&history, &limits(50_000)), Err(NothingToDo::AllStays { messages: 4 }));
        assert!(plan(&[], &limits(50_000)).is_err());
    }

    #[test]
    fn summaries_fit_their_window() {
        let history = long_conversation(100);
        let tokens = |window| plan(&history, &Limits { window, ..limits(2_500) }).unwrap().summary_tokens();
        assert_eq!(tokens(8_000), 400);
        assert_eq!(tokens(200_000), 10_000);
        assert_eq!(tokens(1_000_000), 12_000);
    }
}
