//! The gate of a helper: that of its agent, which learns who asks.

use std::sync::Arc;

use hermes_tools::gate::Waiting;
use hermes_tools::{Action, Gate, Verdict};

/// See the module. What was granted to the agent is granted to its helpers, and what is asked is asked of the same
/// person; how the helper's turns go is no business of the agent's gate.
pub(super) struct HelperGate {
    gate: Arc<dyn Gate>,
    name: String,
}

impl HelperGate {
    pub fn new(gate: Arc<dyn Gate>, name: impl Into<String>) -> Self {
        Self { gate, name: name.into() }
    }
}

impl Gate for HelperGate {
    fn decide<'a>(&'a self, action: &'a Action<'a>) -> Waiting<'a, Verdict> {
        self.gate.decide_for(&self.name, action)
    }

    fn decide_for<'a>(&'a self, helper: &'a str, action: &'a Action<'a>) -> Waiting<'a, Verdict> {
        Box::pin(async move {
            let both = format!("{} > {helper}", self.name);
            self.gate.decide_for(&both, action).await
        })
    }
}
