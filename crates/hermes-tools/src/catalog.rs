//! Every tool this program has.

use std::sync::Arc;

use hermes_home::{Home, Settings};

use crate::gate::Answerer;
use crate::process::Process;
use crate::terminal::Terminal;
use crate::tool::Tool;
use crate::workplace::Workplace;

/// What tools are built from.
pub struct Kit<'a> {
    /// Where they work.
    pub place: &'a Workplace,
    /// The home.
    pub home: &'a Home,
    /// Its settings.
    pub settings: &'a Settings,
    /// The person in front of the program, if there is one.
    pub person: Option<Arc<dyn Answerer>>,
}

/// All tools. Nothing is opened before the first call of one.
pub fn build(kit: &Kit<'_>) -> Vec<Arc<dyn Tool>> {
    vec![Arc::new(Terminal::new(kit.place.clone())), Arc::new(Process::new(kit.place.clone()))]
}

/// Tools the agent adds, as they need more than a place to work in.
pub const OF_THE_AGENT: [&str; 1] = ["delegate_task"];

/// The names of all tools, without a place to build them for.
pub const NAMES: [&str; 2] = ["process", "terminal"];
