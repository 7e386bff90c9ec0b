//! From the settings of a home to the tools of a conversation.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hermes_guard::Redactor;
use hermes_home::{Home, Locator, Settings};
use hermes_tools::gate::ask::{Mode, Yolo};
use hermes_tools::toolsets::{Origin, Selection, SelectionError};
use hermes_tools::workplace::Options;
use hermes_tools::{Tool, Toolbox, catalog};

use crate::fixture::Fixture;

fn home_with(dir: &Path, settings: &str) -> (Home, Settings) {
    std::fs::write(dir.join("config.yaml"), settings).unwrap();
    let locator = Locator { hermes_home: Some(dir.into()), user_home: dir.to_path_buf(), profile_flag: None };
    let home = Home::locate(&locator).unwrap();
    let settings = Settings::load(&home, &BTreeMap::new()).unwrap();
    (home, settings)
}

fn settings(text: &str) -> Settings {
    home_with(tempfile::tempdir().unwrap().path(), text).1
}

/// Every tool there is, for the usual settings.
fn all_tools() -> Vec<Arc<dyn Tool>> {
    let dir = tempfile::tempdir().unwrap();
    let (home, settings) = home_with(dir.path(), "");
    let place = Fixture::local().place();
    catalog::build(&catalog::Kit {
        place: &place,
        home: &home,
        settings: &settings,
        platform: "cli",
        person: None,
        post: None,
        schedule: None,
        desk: hermes_tools::kanban::Desk::new(&home, |_| None, Path::new("/"), Arc::new(Redactor::new([]))),
        eyes: None,
    })
}

/// Names of the tools a conversation has.
fn tools(settings: &Settings, asked: &[&str]) -> Result<Vec<String>, SelectionError> {
    let asked: Vec<String> = asked.iter().map(|name| (*name).to_owned()).collect();
    let chosen = Selection::new(settings, "cli", &asked)?;
    let all = all_tools();
    let toolbox = Toolbox::new(all.into_iter().filter(|tool| chosen.has(tool.as_ref())));
    Ok(toolbox.names().map(str::to_owned).collect())
}

#[test]
fn settings_choose_the_tools() {
    let both = ["process", "terminal"];
    let web = ["web_extract", "web_search"];
    let debugging = [
        "patch",
        "process",
        "read_file",
        "search_files",
        "terminal",
        "web_extract",
        "web_search",
        "write_file",
    ];
    let none: [&str; 0] = [];
    let usual: Vec<&str> =
        catalog::NAMES.iter().copied().filter(|name| !name.starts_with("kanban_")).collect();
    assert_eq!(tools(&settings(""), &[]).unwrap(), usual, "all but those that wait to be wanted");
    assert_eq!(tools(&settings(""), &["kanban"]).unwrap().len(), 12);
    assert_eq!(tools(&settings(""), &["web"]).unwrap(), web);
    assert_eq!(tools(&settings("toolsets: [web]"), &["debugging, web"]).unwrap(), debugging);
    assert_eq!(tools(&settings("toolsets: [web]"), &[]).unwrap(), web);
    assert_eq!(tools(&settings("toolsets: [web]\nplatform_toolsets: {cli: [terminal]}"), &[]).unwrap(), both);
    assert_eq!(tools(&settings("platform_toolsets: {cli: []}"), &[]).unwrap(), none);
    let off = settings("agent: {disabled_toolsets: [terminal]}");
    assert_eq!(tools(&off, &["terminal"]).unwrap(), none);
    assert!(matches!(tools(&settings(""), &["nonsense"]), Err(SelectionError::NoneKnown(_))));
    let chosen = Selection::new(&settings("platform_toolsets: {cli: [web, a-server]}"), "cli", &[]).unwrap();
    assert_eq!((chosen.origin(), chosen.notices().len()), (Origin::PlatformSetting, 0));
}

#[test]
fn settings_decide_who_is_asked() {
    let mode = |text: &str| Mode::from_settings(&settings(text), false).unwrap();
    let usual = mode("");
    assert_eq!((usual.yolo, usual.patience), (Yolo::Off, None));
    assert_eq!(mode("approvals: {mode: off, timeout: 0}").yolo, Yolo::On);
    assert_eq!(mode("approvals: {timeout: 0}").patience, None);
    assert_eq!(mode("approvals: {timeout: 60}").patience, Some(Duration::from_mins(1)));
    assert_eq!(Mode::from_settings(&settings(""), true).unwrap().yolo, Yolo::On);
    let lists = mode("approvals: {deny: ['rm *']}\ncommand_allowlist: ['git *']");
    assert_eq!((lists.deny, lists.allow), (vec!["rm *".to_owned()], vec!["git *".to_owned()]));
}

#[test]
fn settings_bound_the_output() {
    let options =
        Options::from_settings(&settings("tool_output: {max_bytes: 4000}"), Arc::new(Redactor::new([])));
    assert_eq!(options.unwrap().max_output, 4000);
}

#[test]
fn what_the_model_reads_about_the_tools_is_short() {
    let tools = all_tools();
    let bytes = |set: &dyn Fn(&str) -> bool| -> usize {
        let told = |tool: &Arc<dyn Tool>| {
            let spec = tool.spec();
            serde_json::json!({ "name": spec.name, "description": spec.description, "parameters": spec.parameters })
        };
        tools.iter().filter(|tool| set(tool.toolset())).map(|tool| told(tool).to_string().len()).sum()
    };
    let (usual, board) = (bytes(&|set| set != "kanban"), bytes(&|set| set == "kanban"));
    assert!(usual < 12_500 && board < 5_000, "{usual} {board}");
}

#[test]
fn the_catalogue_lists_every_tool_there_is() {
    let mut names: Vec<String> = all_tools().iter().map(|tool| tool.spec().name).collect();
    names.sort();
    assert_eq!(names, catalog::NAMES);
}
