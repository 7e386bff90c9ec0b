//! What a front door can do to a turn that runs: end it, or give it guidance.

use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

/// A handle on a running turn. Cheap to clone, callable from any thread.
#[derive(Debug, Clone, Default)]
pub struct Control {
    cancel: CancellationToken,
    guidance: Arc<Mutex<Vec<String>>>,
}

impl Control {
    /// A handle for one turn.
    pub fn new() -> Self {
        Self::default()
    }

    /// A handle for a turn that ends with something else at the latest.
    pub fn under(parent: &CancellationToken) -> Self {
        Self { cancel: parent.child_token(), guidance: Arc::default() }
    }

    /// Ends the turn: the model's answer is cut off, the process tree of a running tool ends.
    pub fn interrupt(&self) {
        self.cancel.cancel();
    }

    /// Whether somebody wanted it to end.
    pub fn is_interrupted(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Gives the model something to consider, with the next result of a tool.
    pub fn steer(&self, text: impl Into<String>) {
        self.lock().push(text.into());
    }

    /// What is cancelled with the turn.
    pub fn token(&self) -> &CancellationToken {
        &self.cancel
    }

    /// The guidance so far, taken out.
    pub fn take_guidance(&self) -> Option<String> {
        let guidance = std::mem::take(&mut *self.lock());
        (!guidance.is_empty()).then(|| guidance.join("\n"))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.guidance.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guidance_is_taken_once_and_in_order() {
        let control = Control::new();
        assert_eq!(control.take_guidance(), None);
        control.steer("first");
        control.clone().steer("second");
        assert_eq!(control.take_guidance().as_deref(), Some("first\nsecond"));
        assert_eq!(control.take_guidance(), None);
    }
}
