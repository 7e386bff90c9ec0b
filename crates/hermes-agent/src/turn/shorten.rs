//! When a turn makes its conversation shorter: before a request, and when a provider refuses one as too long.

use super::Turn;
use crate::compaction::Urgency;
use crate::journal::JournalError;
use crate::shorten::{Shortened, Wish};

impl Turn<'_, '_> {
    /// Makes the conversation shorter when it is time. A summary that fails is no reason to stop: the request may fit.
    pub(super) async fn shorten_if_due(&mut self) -> Result<(), JournalError> {
        self.shorten_for(Urgency::Routine).await.map(drop)
    }

    /// Makes the conversation shorter now. False when that is not possible.
    pub(super) async fn shorten(&mut self) -> Result<bool, JournalError> {
        Ok(self.shorten_for(Urgency::Overflow).await? == Shortened::Done)
    }

    async fn shorten_for(&mut self, urgency: Urgency) -> Result<Shortened, JournalError> {
        let wish = Wish::default();
        self.agent.shorten(&wish, urgency, &self.name, self.control.token(), self.on).await
    }
}
