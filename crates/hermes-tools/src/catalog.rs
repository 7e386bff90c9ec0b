//! Every tool this program has.

use std::sync::Arc;

use hermes_home::settings::table::memory as memory_settings;
use hermes_home::{Home, Settings};
use hermes_skills::skills::Library;

use crate::clarify::Clarify;
use crate::code::{ExecuteCode, Rules};
use crate::cronjob::{Cronjob, Schedule};
use crate::file::{Patch, ReadFile, SearchFiles, WriteFile};
use crate::gate::Answerer;
use crate::kanban;
use crate::memory::Memory;
use crate::process::Process;
use crate::send_message::{Post, SendMessage};
use crate::session_search::SessionSearch;
use crate::skills::{FillIn, SkillView, SkillsList};
use crate::terminal::Terminal;
use crate::todo::Todo;
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
    /// Through which door the conversation comes.
    pub platform: &'a str,
    /// The person in front of the program, if there is one.
    pub person: Option<Arc<dyn Answerer>>,
    /// Looks at pictures.
    pub eyes: Option<Arc<dyn Eyes>>,
    /// Who delivers messages, where somebody does.
    pub post: Option<Arc<dyn Post>>,
    /// Who keeps jobs, where somebody does.
    pub schedule: Option<Arc<dyn Schedule>>,
    /// Who uses the board, and which.
    pub desk: kanban::Desk,
}

/// All tools. Nothing is opened before the first call of one.
pub fn build(kit: &Kit<'_>) -> Vec<Arc<dyn Tool>> {
    choose(kit, |_| true)
}

/// The tools that are chosen; scripts can call those and no others.
pub fn choose(kit: &Kit<'_>, chosen: impl Fn(&Arc<dyn Tool>) -> bool) -> Vec<Arc<dyn Tool>> {
    let mut tools = simple(kit);
    tools.retain(&chosen);
    // A setting that is wrong is told by whoever reads the settings first; scripts then have the usual limits.
    let rules = Rules::from_settings(kit.settings).unwrap_or_default();
    let script: Arc<dyn Tool> = Arc::new(ExecuteCode::new(kit.place.clone(), tools.clone()).with(rules));
    tools.extend(Some(script).filter(|script| chosen(script)));
    tools
}

/// The tools that need no other tools.
fn simple(kit: &Kit<'_>) -> Vec<Arc<dyn Tool>> {
    let library = Library::open(kit.home, kit.settings, kit.platform).map_err(|error| error.to_string());
    let fill_in = match kit.settings.get(&memory_settings::SKILLS_TEMPLATE_VARS) {
        Ok(false) => FillIn::No,
        Ok(true) | Err(_) => FillIn::Yes,
    };
    let web = Web::new(kit.home, kit.settings);
    let cards = kanban::tools(&kit.desk, &web);
    let mut tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(Terminal::new(kit.place.clone())),
        Arc::new(Process::new(kit.place.clone())),
        Arc::new(ReadFile::new(kit.place.clone())),
        Arc::new(WriteFile::new(kit.place.clone())),
        Arc::new(Patch::new(kit.place.clone())),
        Arc::new(SearchFiles::new(kit.place.clone())),
        Arc::new(WebSearch::new(web.clone())),
        Arc::new(WebExtract::new(web.clone(), kit.place.clone(), kit.settings)),
        Arc::new(Vision::new(web, kit.place.clone(), kit.eyes.clone(), kit.settings)),
        Arc::new(Memory::new(kit.home, kit.settings, kit.person.clone(), kit.place.redactor())),
        Arc::new(SessionSearch::new(&kit.home.path("state.db"), kit.place.redactor())),
        Arc::new(SkillsList::new(library.clone())),
        Arc::new(SkillView::new(library, kit.home.dir(), kit.settings, fill_in, kit.place.redactor())),
        Arc::new(Todo::new()),
        Arc::new(Clarify::new(kit.person.clone())),
        Arc::new(SendMessage::new(kit.post.clone())),
        Arc::new(Cronjob::new(kit.schedule.clone())),
    ];
    tools.extend(cards);
    tools
}

/// Tools the agent adds, as they need more than a place to work in.
pub const OF_THE_AGENT: [&str; 1] = ["delegate_task"];

/// The names of all tools, without a place to build them for.
pub const NAMES: &[&str] = &[
    "clarify",
    "cronjob",
    "execute_code",
    "kanban_attach",
    "kanban_attach_url",
    "kanban_attachments",
    "kanban_block",
    "kanban_comment",
    "kanban_complete",
    "kanban_create",
    "kanban_heartbeat",
    "kanban_link",
    "kanban_list",
    "kanban_show",
    "kanban_unblock",
    "memory",
    "patch",
    "process",
    "read_file",
    "search_files",
    "send_message",
    "session_search",
    "skill_view",
    "skills_list",
    "terminal",
    "todo",
    "vision_analyze",
    "web_extract",
    "web_search",
    "write_file",
];
