//! Whether a goal is reached, asked of another model.

use hermes_board::Card;

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

/// What a card wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Goal {
    /// What it is about.
    pub title: String,
    /// What is to be done.
    pub body: Option<String>,
}

impl Goal {
    /// The goal of a card.
    pub fn of(card: &Card) -> Self {
        Self { title: card.title.clone(), body: card.body.clone() }
    }
}

/// Compares what was said with what was wanted.
pub trait GoalJudge: Send + Sync {
    /// Whether `answer` reaches the goal.
    fn judge<'a>(&'a self, goal: &'a Goal, answer: &'a str) -> Waiting<'a, Judgement>;
}
