//! One question at a time, however many helpers have one: two at once on one terminal could not be told apart.

use std::sync::Arc;

use hermes_tools::gate::Waiting;
use hermes_tools::{Answerer, Question, Reply};
use tokio::sync::Mutex;

/// Asks a person one thing after the other.
pub(super) struct OneAtATime {
    person: Arc<dyn Answerer>,
    turn: Mutex<()>,
}

impl OneAtATime {
    pub fn new(person: Arc<dyn Answerer>) -> Self {
        Self { person, turn: Mutex::new(()) }
    }
}

impl Answerer for OneAtATime {
    fn ask<'a>(&'a self, question: &'a Question) -> Waiting<'a, Reply> {
        Box::pin(async move {
            let _turn = self.turn.lock().await;
            self.person.ask(question).await
        })
    }
}
