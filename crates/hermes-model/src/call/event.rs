//! What a call is asked, what it tells on the way, and how it can end.

use std::time::Duration;

use super::Report;
use crate::answer::Answer;
use crate::budget::{BudgetError, Scope};
use crate::event::Event;
use crate::failure::{Change, Failure};
use crate::money::Cost;
use crate::request::Request;
use crate::retry::Attempt;

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    /// The request; the model in it is replaced by the one of the route.
    pub request: &'a Request,
    /// What the call belongs to.
    pub scope: &'a Scope,
    /// How often the conversation was made shorter for this answer already.
    pub shortened: u32,
}

/// What happens on the way to an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum CallEvent {
    /// A model is asked.
    Asking {
        /// Its provider.
        provider: String,
        /// Its name.
        model: String,
    },
    /// Something of the answer came.
    Model(Event),
    /// What came of the answer so far is void: it broke off and is begun again.
    StartOver,
    /// A failure; the same is tried again after a pause.
    Waiting {
        /// What happened.
        failure: Failure,
        /// The pause.
        after: Duration,
    },
    /// A failure; the same is tried again with a change to the request.
    Changed {
        /// What happened.
        failure: Failure,
        /// The change.
        change: Change,
    },
    /// A failure; the next key is tried.
    NextKey {
        /// What happened.
        failure: Failure,
        /// Where the refused key comes from.
        origin: String,
    },
    /// A failure; the next model of the chain is tried.
    NextRoute {
        /// What happened.
        failure: Failure,
        /// The provider and model that take over.
        to: (String, String),
    },
    /// The record of what was spent could not be written. The answer counts all the same.
    NotRecorded {
        /// Why not.
        reason: String,
    },
}

/// Where the steps are told.
pub type OnEvent<'a> = dyn FnMut(CallEvent) + Send + 'a;

/// An answer and how it came about.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// The answer.
    pub answer: Answer,
    /// Who gave it.
    pub provider: String,
    /// Which model.
    pub model: String,
    /// What it cost.
    pub cost: Cost,
    /// What failed before.
    pub failed: Vec<Attempt>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum GaveUp {
    /// Somebody wanted it to end. What had come is here.
    #[error("cancelled")]
    Cancelled(Box<Answer>),
    /// The budget does not allow it.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// The conversation must be made shorter first; then ask again with `shortened` one higher.
    #[error("the conversation is too long for the model: {0}")]
    TooLong(Box<Failure>),
    /// Everything was tried.
    #[error(transparent)]
    Failed(#[from] Box<Report>),
}
