//! Whether a goal is reached, asked of another model.

use crate::gate::Waiting;

/// What a judge says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    /// The goal is reached.
    Done,
    /// It is not.
    NotYet {
        /// What is missing.
        why: String,
    },
    /// Nobody could say: no model, no answer.
    Unknown,
}

/// Compares what was said with what was wanted.
pub trait GoalJudge: Send + Sync {
    /// Whether `answer` reaches the goal.
    fn judge<'a>(&'a self, goal: &'a str, answer: &'a str) -> Waiting<'a, Judgement>;
}
