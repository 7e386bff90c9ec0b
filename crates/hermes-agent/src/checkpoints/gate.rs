//! The gate that takes a snapshot before it lets something through.

use std::sync::Arc;

use hermes_tools::gate::{Action, Gate, Verdict, Waiting};
use hermes_tools::tool::Moment;

use super::Keeper;
use super::aim::Aim;

/// See the module. What is refused needs no snapshot.
pub struct CheckpointGate {
    inner: Arc<dyn Gate>,
    keeper: Arc<Keeper>,
}

impl CheckpointGate {
    /// Asks `inner` first.
    pub fn new(inner: Arc<dyn Gate>, keeper: Arc<Keeper>) -> Self {
        Self { inner, keeper }
    }

    /// The verdict of the inner gate; if it is a yes, after a snapshot.
    async fn kept(&self, action: &Action<'_>, verdict: Waiting<'_, Verdict>) -> Verdict {
        let verdict = verdict.await;
        if verdict == Verdict::Allowed
            && let Some(aim) = Aim::of(action)
        {
            let keeper = Arc::clone(&self.keeper);
            // One that panicked took no snapshot; the action was allowed all the same.
            let _ = tokio::task::spawn_blocking(move || keeper.before(&aim)).await;
        }
        verdict
    }
}

impl Gate for CheckpointGate {
    fn decide<'a>(&'a self, action: &'a Action<'a>) -> Waiting<'a, Verdict> {
        Box::pin(self.kept(action, self.inner.decide(action)))
    }

    fn decide_for<'a>(&'a self, helper: &'a str, action: &'a Action<'a>) -> Waiting<'a, Verdict> {
        Box::pin(self.kept(action, self.inner.decide_for(helper, action)))
    }

    fn tell(&self, moment: Moment<'_>) {
        self.inner.tell(moment);
        match moment {
            Moment::TurnBegins => self.keeper.turn_begins(),
            Moment::TurnEnds => self.keeper.turn_ends(),
            Moment::Resumed(_) | Moment::HistoryShortened => {}
        }
    }

    fn take_notices(&self) -> Vec<String> {
        let mut notices = self.inner.take_notices();
        notices.extend(self.keeper.take_notices());
        notices
    }
}
