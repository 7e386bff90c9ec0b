//! Every tool this program has.

use std::sync::Arc;

use hermes_home::{Home, Settings};

use crate::code::{ExecuteCode, Rules};
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
    choose(kit, |_| true)
}

/// The tools that are chosen; scripts can call those and no others.
pub fn choose(kit: &Kit<'_>, chosen: impl Fn(&Arc<dyn Tool>) -> bool) -> Vec<Arc<dyn Tool>> {
    let tools: [Arc<dyn Tool>; 2] =
        [Arc::new(Terminal::new(kit.place.clone())), Arc::new(Process::new(kit.place.clone()))];
    let mut tools: Vec<Arc<dyn Tool>> = tools.into_iter().filter(&chosen).collect();
    // A setting that is wrong is told by whoever reads the settings first; scripts then have the usual limits.
    let rules = Rules::from_settings(kit.settings).unwrap_or_default();
    let script: Arc<dyn Tool> = Arc::new(ExecuteCode::new(kit.place.clone(), tools.clone()).with(rules));
    tools.extend(Some(script).filter(|script| chosen(script)));
    tools
}

/// The names of all tools, without a place to build them for.
pub const NAMES: [&str; 3] = ["execute_code", "process", "terminal"];
