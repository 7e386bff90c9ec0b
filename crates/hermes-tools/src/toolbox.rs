//! The tools of one conversation.

use std::collections::BTreeMap;
use std::sync::Arc;

use hermes_model::ToolSpec;

use crate::tool::{Moment, Tool};

/// The tools of one conversation, in the order of their names so that the prompt stays the same from run to run.
#[derive(Clone, Default)]
pub struct Toolbox {
    tools: BTreeMap<String, Arc<dyn Tool>>,
    /// What the model sees, built once: every request holds the same bytes.
    specs: Arc<[ToolSpec]>,
}

impl Toolbox {
    /// These tools; of two with one name the later stays.
    pub fn new(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        let tools: BTreeMap<String, Arc<dyn Tool>> =
            tools.into_iter().map(|tool| (tool.spec().name, tool)).collect();
        let specs = tools.values().map(|tool| tool.spec()).collect();
        Self { tools, specs }
    }

    /// What the model sees.
    pub fn specs(&self) -> &[ToolSpec] {
        &self.specs
    }

    /// Tells every tool how the conversation goes.
    pub fn tell(&self, session: &str, moment: Moment<'_>) {
        for tool in self.tools.values() {
            tool.tell(session, moment);
        }
    }

    /// What the model should still know of the tools' doings when its history has been made shorter.
    pub fn reminders(&self, session: &str) -> Vec<String> {
        self.tools.values().filter_map(|tool| tool.remind(session)).collect()
    }

    /// The tool of this name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name)
    }

    /// All names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    /// All tools.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.tools.values()
    }

    /// True without any tool.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }
}

impl std::fmt::Debug for Toolbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.tools.keys()).finish()
    }
}
