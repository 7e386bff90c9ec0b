//! What comes after a turn of a worker: pure.

use hermes_agent::{Cause, Outcome};
use hermes_board::Seconds;
use hermes_board::ending::Verdict;
use hermes_tools::kanban::Judgement;

/// What is known when a turn is over.
#[derive(Debug, Clone)]
pub struct Seen<'a> {
    /// How it ended.
    pub outcome: Outcome,
    /// Whose fault it was.
    pub cause: Option<Cause>,
    /// What went wrong, for people.
    pub error: Option<&'a str>,
    /// What was said last.
    pub text: &'a str,
    /// Whether the card is closed.
    pub card: Standing,
    /// What the judge of the card's goal says, where it has one.
    pub goal: Option<&'a Judgement>,
    /// Turns so far.
    pub turns: u32,
    /// Most turns for a goal.
    pub most_turns: u32,
    /// Whether the model may still be told to close the card.
    pub reminder: Reminder,
    /// Now.
    pub now: Seconds,
}

/// Whether a card is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It waits for this worker.
    Open,
    /// It is done, blocked, or waits for others.
    Closed,
}

/// Whether the model may still be told to close the card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reminder {
    /// It may.
    Left,
    /// It was told, or nobody wants that.
    Used,
}

/// What comes next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Another turn, which begins with these words.
    Turn {
        /// The words.
        text: String,
        /// Whether they tell the model to close the card.
        reminder: Reminder,
    },
    /// The attempt is over.
    End(End),
}

/// How an attempt is over.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// The card is closed.
    Closed,
    /// Somebody wanted it to end.
    Interrupted,
    /// The worker's program has something to say of it.
    Verdict(Verdict),
    /// The worker's program blocks the card.
    Block(String),
    /// It failed by itself.
    Failed,
}

/// Decides.
pub fn next(seen: &Seen<'_>) -> Next {
    let error = || seen.error.unwrap_or("it ended without an answer").to_owned();
    let end = match (seen.outcome, seen.card, seen.cause) {
        (Outcome::Interrupted, ..) => End::Interrupted,
        (_, Standing::Closed, _) => End::Closed,
        (Outcome::OutOfCalls | Outcome::OutOfBudget, ..) => {
            End::Verdict(Verdict::OutOfBudget { what: error() })
        }
        (_, _, Some(Cause::Quota { wait_seconds })) => {
            let wait = wait_seconds.and_then(|seconds| i64::try_from(seconds).ok());
            End::Verdict(Verdict::Quota {
                until: wait.map(|wait| seen.now.saturating_add(wait)),
                error: error(),
            })
        }
        (_, _, Some(Cause::Surroundings)) => End::Verdict(Verdict::Infrastructure { error: error() }),
        (Outcome::Failed, ..) => End::Failed,
        (Outcome::Completed | Outcome::Partial, ..) => return unclosed(seen),
    };
    Next::End(end)
}

/// The model stopped, and the card is open.
fn unclosed(seen: &Seen<'_>) -> Next {
    match seen.goal {
        Some(Judgement::NotYet { why }) if seen.turns < seen.most_turns => {
            let text = format!(
                "The goal of the card is not reached yet: {why}\nGo on. Close the card when it is, with kanban_complete."
            );
            Next::Turn { text, reminder: seen.reminder }
        }
        Some(Judgement::NotYet { why }) => {
            let turns = seen.turns;
            Next::End(End::Block(format!("the goal was not reached in {turns} turns: {why}")))
        }
        Some(Judgement::Done) if seen.reminder == Reminder::Used => Next::End(End::Block(
            "the goal seems to be reached, but the worker did not close the card: look at it and complete it"
                .to_owned(),
        )),
        Some(Judgement::Done | Judgement::Unknown) | None => match seen.reminder {
            Reminder::Left => Next::Turn { text: CLOSE.to_owned(), reminder: Reminder::Used },
            Reminder::Used => Next::End(End::Verdict(Verdict::None { text: shortened(seen.text) })),
        },
    }
}

/// What the model is told when it stopped without closing its card.
const CLOSE: &str = "You stopped, but your card is still open. If its work is done and checked, close it now with \
kanban_complete. If it cannot be done without somebody else, use kanban_block and say what is needed. If something is \
left that you can do, do it first. This is the last time you are asked.";

/// Most characters of the last words that are kept.
const LAST_WORDS: usize = 2_000;

fn shortened(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(LAST_WORDS) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(outcome: Outcome) -> Seen<'static> {
        Seen {
            outcome,
            cause: None,
            error: Some("no"),
            text: "I think that is all.",
            card: Standing::Open,
            goal: None,
            turns: 1,
            most_turns: 3,
            reminder: Reminder::Left,
            now: 100,
        }
    }

    fn verdict(seen: &Seen<'_>) -> Verdict {
        match next(seen) {
            Next::End(End::Verdict(verdict)) => verdict,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_closed_card_is_the_end() {
        for outcome in [Outcome::Completed, Outcome::OutOfBudget, Outcome::Failed] {
            let seen = Seen { card: Standing::Closed, cause: Some(Cause::Surroundings), ..seen(outcome) };
            assert_eq!(next(&seen), Next::End(End::Closed), "{outcome:?}");
        }
        let stopped = Seen { card: Standing::Closed, ..seen(Outcome::Interrupted) };
        assert_eq!(next(&stopped), Next::End(End::Interrupted));
    }

    #[test]
    fn whoever_stops_without_closing_is_reminded_once() {
        let first = next(&seen(Outcome::Completed));
        assert!(matches!(first, Next::Turn { reminder: Reminder::Used, .. }), "{first:?}");
        let again = Seen { reminder: Reminder::Used, ..seen(Outcome::Partial) };
        assert_eq!(verdict(&again), Verdict::None { text: "I think that is all.".into() });
    }

    #[test]
    fn limits_quotas_and_broken_surroundings_are_told_apart() {
        let what = Verdict::OutOfBudget { what: "no".into() };
        assert_eq!(
            (verdict(&seen(Outcome::OutOfCalls)), verdict(&seen(Outcome::OutOfBudget))),
            (what.clone(), what)
        );
        let quota =
            |wait_seconds| Seen { cause: Some(Cause::Quota { wait_seconds }), ..seen(Outcome::Failed) };
        assert_eq!(verdict(&quota(Some(30))), Verdict::Quota { until: Some(130), error: "no".into() });
        assert_eq!(verdict(&quota(None)), Verdict::Quota { until: None, error: "no".into() });
        let broken = Seen { cause: Some(Cause::Surroundings), ..seen(Outcome::Partial) };
        assert_eq!(verdict(&broken), Verdict::Infrastructure { error: "no".into() });
        let own = Seen { cause: Some(Cause::Request), ..seen(Outcome::Failed) };
        assert_eq!(
            (next(&own), next(&seen(Outcome::Failed))),
            (Next::End(End::Failed), Next::End(End::Failed))
        );
    }

    #[test]
    fn a_goal_is_worked_on_until_it_is_reached_or_turns_run_out() {
        let not_yet = Judgement::NotYet { why: "two tests fail".into() };
        let more = next(&Seen { goal: Some(&not_yet), ..seen(Outcome::Completed) });
        let Next::Turn { text, reminder: Reminder::Left } = more else { panic!("{more:?}") };
        assert!(text.contains("two tests fail"), "{text}");
        let last = next(&Seen { goal: Some(&not_yet), turns: 3, ..seen(Outcome::Completed) });
        assert!(matches!(&last, Next::End(End::Block(why)) if why.contains("3 turns")), "{last:?}");
        let reached = Seen { goal: Some(&Judgement::Done), ..seen(Outcome::Completed) };
        assert!(matches!(next(&reached), Next::Turn { reminder: Reminder::Used, .. }));
        let unclosed = next(&Seen { reminder: Reminder::Used, ..reached });
        assert!(matches!(unclosed, Next::End(End::Block(_))), "{unclosed:?}");
        let nobody =
            Seen { goal: Some(&Judgement::Unknown), reminder: Reminder::Used, ..seen(Outcome::Completed) };
        assert!(matches!(verdict(&nobody), Verdict::None { .. }));
    }
}
