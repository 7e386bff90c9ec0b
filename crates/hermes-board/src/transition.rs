//! Every way a card can go, in one place. Whoever changes a status asks here first.

use std::fmt;

use crate::card::{BlockKind, Status};

/// What somebody wants of a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// What it waited for is done.
    Promote,
    /// A worker takes it.
    Claim,
    /// A reviewer takes it.
    ClaimReview,
    /// Something it waits for was added.
    Wait,
    /// The work is done.
    Complete,
    /// The work is done and another looks at it first.
    SendToReview,
    /// One who looked at the work wants it changed.
    SendBack,
    /// The worker cannot go on.
    Block(Option<BlockKind>),
    /// It is put off.
    Schedule,
    /// What blocked it is gone.
    Unblock,
    /// An operator lets it go on.
    PromoteByHand(Force),
    /// It is understood now.
    Specify,
    /// The worker lost it.
    Release,
    /// It failed too often.
    GiveUp,
    /// It is put away.
    Archive,
}

/// Whether an operator insists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Force {
    /// What it waits for is respected.
    #[default]
    No,
    /// It goes on whatever it waits for.
    Yes,
}

/// What is known of a card when a step is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// Where it stands.
    pub status: Status,
    /// Whether all it waits for is done.
    pub parents: Parents,
    /// Whether somebody holds it.
    pub held: Held,
    /// Why it was blocked last.
    pub last_block: Option<BlockKind>,
    /// How often it was blocked for that.
    pub recurrences: i64,
}

/// Whether all that a card waits for is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parents {
    /// It is, or there is nothing.
    Finished,
    /// Something is not.
    Open,
}

/// Whether somebody holds a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// Nobody does.
    Free,
    /// A worker does.
    Claimed,
}

/// Blocks for one reason before somebody has to look at the card itself.
pub const MOST_BLOCKS: i64 = 2;

/// Where a step leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Move {
    /// Where the card stands then.
    pub to: Status,
    /// How often it was blocked for one reason then.
    pub recurrences: i64,
    /// What is written down.
    pub event: &'static str,
}

/// Why a step cannot be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It does not stand where the step begins.
    #[error("it is {status}, and only {from} cards can be {done}")]
    NotFrom {
        /// Where it stands.
        status: Status,
        /// Where it would have to stand.
        from: Words,
        /// What was wanted.
        done: &'static str,
    },
    /// What it waits for is not done.
    #[error("it waits for cards that are not finished")]
    ParentsOpen,
    /// Somebody holds it.
    #[error("a worker has it")]
    Claimed,
}

/// Statuses as words for a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Words(pub &'static [Status]);

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, status) in self.0.iter().enumerate() {
            let between = match (n, self.0.len() - n) {
                (0, _) => "",
                (_, 1) => " or ",
                _ => ", ",
            };
            write!(f, "{between}{status}")?;
        }
        Ok(())
    }
}

use Status::{Archived, Blocked, Done, Ready, Review, Running, Scheduled, Todo, Triage};

/// Where a step leads from here, or why it cannot be taken.
pub fn decide(step: Step, facts: &Facts) -> Result<Move, Refusal> {
    let from = |allowed: &'static [Status], done: &'static str| {
        if allowed.contains(&facts.status) {
            Ok(())
        } else {
            Err(Refusal::NotFrom { status: facts.status, from: Words(allowed), done })
        }
    };
    let finished = || if facts.parents == Parents::Finished { Ok(()) } else { Err(Refusal::ParentsOpen) };
    let free = || if facts.held == Held::Free { Ok(()) } else { Err(Refusal::Claimed) };
    let to = |to: Status, event: &'static str| Move { to, recurrences: facts.recurrences, event };
    Ok(match step {
        Step::Promote => {
            from(&[Todo, Blocked], "promoted")?;
            finished()?;
            to(Ready, "promoted")
        }
        Step::Claim => {
            from(&[Ready], "claimed")?;
            free()?;
            match facts.parents {
                Parents::Finished => to(Running, "claimed"),
                Parents::Open => to(Todo, "claim_rejected"),
            }
        }
        Step::ClaimReview => {
            from(&[Review], "claimed for review")?;
            free()?;
            to(Running, "claimed")
        }
        Step::Wait => {
            from(&[Ready], "made to wait")?;
            free()?;
            to(Todo, "linked")
        }
        Step::Complete => {
            from(&[Running, Ready, Blocked, Review], "completed")?;
            Move { to: Done, recurrences: 0, event: "completed" }
        }
        Step::SendToReview => {
            from(&[Running], "sent to review")?;
            to(Review, "status")
        }
        Step::SendBack => {
            from(&[Review, Running], "sent back")?;
            to(Ready, "status")
        }
        Step::Block(kind) => {
            from(&[Running, Ready], "blocked")?;
            block(kind, facts)
        }
        Step::Schedule => {
            from(&[Todo, Ready, Running, Blocked], "scheduled")?;
            to(Scheduled, "scheduled")
        }
        Step::Unblock => {
            from(&[Blocked, Scheduled], "unblocked")?;
            to(if facts.parents == Parents::Finished { Ready } else { Todo }, "unblocked")
        }
        Step::PromoteByHand(force) => {
            // Whoever insists also lets a card go that something holds back where it could be taken.
            match force {
                Force::No => {
                    from(&[Triage, Todo, Blocked], "promoted")?;
                    finished()?;
                }
                Force::Yes => from(&[Triage, Todo, Ready, Blocked], "promoted")?,
            }
            to(Ready, "promoted_manual")
        }
        Step::Specify => {
            from(&[Triage], "specified")?;
            to(Todo, "specified")
        }
        Step::Release => {
            from(&[Running], "released")?;
            to(Ready, "reclaimed")
        }
        Step::GiveUp => {
            from(&[Ready, Running], "given up")?;
            to(Blocked, "gave_up")
        }
        Step::Archive => {
            if facts.status == Archived {
                return Err(Refusal::NotFrom {
                    status: Archived,
                    from: Words(NOT_ARCHIVED),
                    done: "archived",
                });
            }
            to(Archived, "archived")
        }
    })
}

const NOT_ARCHIVED: &[Status] = &[Triage, Todo, Scheduled, Ready, Running, Blocked, Review, Done];

/// A card that is blocked again and again for the same reason goes back to somebody who looks at the card itself. One
/// that waits for others waits in `todo`, unless nothing is left to wait for: that is no reason then.
fn block(kind: Option<BlockKind>, facts: &Facts) -> Move {
    let again = kind.is_some() && kind == facts.last_block;
    let recurrences = if again { facts.recurrences + 1 } else { 0 };
    let (to, event) = if recurrences >= MOST_BLOCKS {
        (Triage, "block_loop_detected")
    } else if kind == Some(BlockKind::Dependency) && facts.parents == Parents::Open {
        (Todo, "dependency_wait")
    } else {
        (Blocked, "blocked")
    };
    Move { to, recurrences, event }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(status: Status) -> Facts {
        Facts { status, parents: Parents::Finished, held: Held::Free, last_block: None, recurrences: 0 }
    }

    fn from(step: Step) -> Vec<(Status, Status)> {
        Status::ALL.iter().filter_map(|s| Some((*s, decide(step, &facts(*s)).ok()?.to))).collect()
    }

    #[test]
    fn the_table() {
        assert_eq!(from(Step::Promote), [(Todo, Ready), (Blocked, Ready)]);
        assert_eq!(from(Step::Claim), [(Ready, Running)]);
        assert_eq!(from(Step::ClaimReview), [(Review, Running)]);
        assert_eq!(from(Step::Wait), [(Ready, Todo)]);
        assert_eq!(from(Step::Complete), [(Ready, Done), (Running, Done), (Blocked, Done), (Review, Done)]);
        assert_eq!(from(Step::SendToReview), [(Running, Review)]);
        assert_eq!(from(Step::SendBack), [(Running, Ready), (Review, Ready)]);
        assert_eq!(from(Step::Block(None)), [(Ready, Blocked), (Running, Blocked)]);
        assert_eq!(
            from(Step::Schedule),
            [(Todo, Scheduled), (Ready, Scheduled), (Running, Scheduled), (Blocked, Scheduled)]
        );
        assert_eq!(from(Step::Unblock), [(Scheduled, Ready), (Blocked, Ready)]);
        assert_eq!(from(Step::PromoteByHand(Force::No)), [(Triage, Ready), (Todo, Ready), (Blocked, Ready)]);
        assert_eq!(from(Step::Specify), [(Triage, Todo)]);
        assert_eq!(from(Step::Release), [(Running, Ready)]);
        assert_eq!(from(Step::GiveUp), [(Ready, Blocked), (Running, Blocked)]);
        assert_eq!(from(Step::Archive).len(), Status::ALL.len() - 1);
    }

    #[test]
    fn parents_and_holders_are_respected() {
        let open = |status| Facts { parents: Parents::Open, ..facts(status) };
        assert_eq!(decide(Step::Promote, &open(Todo)), Err(Refusal::ParentsOpen));
        assert_eq!(decide(Step::Claim, &open(Ready)).unwrap().event, "claim_rejected");
        assert_eq!(decide(Step::Unblock, &open(Blocked)).unwrap().to, Todo);
        assert_eq!(decide(Step::PromoteByHand(Force::No), &open(Todo)), Err(Refusal::ParentsOpen));
        assert_eq!(decide(Step::PromoteByHand(Force::Yes), &open(Todo)).unwrap().to, Ready);
        let held = Facts { held: Held::Claimed, ..facts(Ready) };
        assert_eq!(decide(Step::Claim, &held), Err(Refusal::Claimed));
    }

    #[test]
    fn blocking_in_circles_ends() {
        let block = |kind, parents, last_block, recurrences| {
            let facts = Facts { parents, last_block, recurrences, ..facts(Running) };
            decide(Step::Block(kind), &facts).unwrap()
        };
        let input = Some(BlockKind::NeedsInput);
        assert_eq!(block(input, Parents::Finished, None, 0).to, Blocked);
        assert_eq!(block(input, Parents::Finished, input, 0).recurrences, 1);
        assert_eq!(block(input, Parents::Finished, input, 1).event, "block_loop_detected");
        assert_eq!(
            block(None, Parents::Finished, None, 5).to,
            Blocked,
            "no reason given, nothing to compare"
        );
        let waits = Some(BlockKind::Dependency);
        assert_eq!(block(waits, Parents::Open, None, 0).to, Todo);
        assert_eq!(block(waits, Parents::Finished, None, 0).to, Blocked, "there is nothing to wait for");
        assert_eq!(block(waits, Parents::Open, waits, 1).to, Triage);
    }

    #[test]
    fn refusals_read_well() {
        let refusal = decide(Step::Unblock, &facts(Done)).unwrap_err();
        assert_eq!(refusal.to_string(), "it is done, and only blocked or scheduled cards can be unblocked");
    }
}
