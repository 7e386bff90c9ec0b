//! Every tool this program has.

use std::sync::Arc;

use hermes_home::{Home, Settings};

use crate::file::{Patch, ReadFile, SearchFiles, WriteFile};
use crate::gate::Answerer;
use crate::process::Process;
use crate::terminal::Terminal;
use crate::tool::Tool;
use crate::vision::{Eyes, Vision};
use crate::web::{Web, WebExtract, WebSearch};
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
    /// Looks at pictures.
    pub eyes: Option<Arc<dyn Eyes>>,
}

/// All tools. Nothing is opened before the first call of one.
pub fn build(kit: &Kit<'_>) -> Vec<Arc<dyn Tool>> {
    let web = Web::new(kit.home, kit.settings);
    vec![
        Arc::new(Terminal::new(kit.place.clone())),
        Arc::new(Process::new(kit.place.clone())),
        Arc::new(ReadFile::new(kit.place.clone())),
        Arc::new(WriteFile::new(kit.place.clone())),
        Arc::new(Patch::new(kit.place.clone())),
        Arc::new(SearchFiles::new(kit.place.clone())),
        Arc::new(WebSearch::new(web.clone())),
        Arc::new(WebExtract::new(web.clone(), kit.place.clone(), kit.settings)),
        Arc::new(Vision::new(web, kit.place.clone(), kit.eyes.clone(), kit.settings)),
    ]
}

/// The names of all tools, without a place to build them for.
pub const NAMES: &[&str] = &[
    "patch",
    "process",
    "read_file",
    "search_files",
    "terminal",
    "vision_analyze",
    "web_extract",
    "web_search",
    "write_file",
];
