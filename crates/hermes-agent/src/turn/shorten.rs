//! Makes a conversation shorter before it outgrows the window.
use super::Turn;
use crate::journal::JournalError;

impl Turn<'_, '_> {
    /// Makes the conversation shorter when it is time.
    pub(super) async fn shorten_if_due(&mut self) -> Result<(), JournalError> {
        Ok(())
    }
    /// Makes the conversation shorter now. False when that is not possible.
    pub(super) async fn shorten(&mut self) -> Result<bool, JournalError> {
        Ok(false)
    }
}
