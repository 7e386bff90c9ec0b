//! Every tool this program has.

use std::sync::Arc;

use crate::process::Process;
use crate::terminal::Terminal;
use crate::tool::Tool;
use crate::workplace::Workplace;

/// All tools for a place. Nothing is opened before the first call of one.
pub fn build(place: &Workplace) -> Vec<Arc<dyn Tool>> {
    vec![Arc::new(Terminal::new(place.clone())), Arc::new(Process::new(place.clone()))]
}

/// The names of all tools, without a place to build them for.
pub const NAMES: [&str; 2] = ["process", "terminal"];
