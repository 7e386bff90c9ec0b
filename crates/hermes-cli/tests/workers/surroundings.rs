//! What workers begin with: skills, models, toolsets, pictures.

use hermes_testkit::home::MODEL;
use serde_json::json;

use crate::{Shift, calls, card};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n0000";

fn closing() -> String {
    format!("{}\n---\nsay \"ok\"", calls("kanban_complete", &json!({ "summary": "done" })))
}

#[test]
fn skills_and_toolsets_of_the_card_are_there_from_the_first_request() {
    let shift = Shift::new(&closing());
    shift
        .home
        .write("skills/dev/paint/SKILL.md", "---\nname: paint\ndescription: how\n---\nTwo coats, always.");
    shift.worker(&["--skills", "paint", "-m", "other-model", "--toolsets", "file,web"]).run().success();
    let first = &shift.server.calls()[0];
    assert_eq!(first.model(), "other-model");
    assert_ne!(first.model(), MODEL);
    let said = first.raw.clone();
    assert!(String::from_utf8_lossy(said.as_ref()).contains("Two coats, always."));
    let tools = first.tool_names();
    assert!(tools.contains(&"read_file") && tools.contains(&"kanban_complete"), "{tools:?}");
    assert!(!tools.contains(&"terminal"), "{tools:?}");
}

#[test]
fn pictures_of_the_card_go_with_the_first_question() {
    let mut new = card("look");
    new.body = Some("Make it like shots/a.png, not like missing.png or notes.txt.".into());
    let shift = Shift::on(&closing(), "", &new);
    let dir = shift.home.work_dir().join("shots");
    std::fs::create_dir(&dir).unwrap();
    std::fs::write(dir.join("a.png"), PNG).unwrap();
    shift.run().success();
    let first = String::from_utf8_lossy(shift.server.calls()[0].raw.as_ref()).into_owned();
    assert_eq!(first.matches("iVBORw0KGgo").count(), 1, "{first}");
}

#[test]
fn results_of_calls_read_as_the_tools_say() {
    let shift = Shift::new(&format!("{}\n---\nalways\nsay \"ok\"", calls("kanban_show", &json!({}))));
    shift.run().success();
    let shown = &shift.results();
    assert_eq!(shown.len(), 1);
    assert_eq!(shown[0]["task"]["id"], json!(shift.claim.card.id));
    assert!(shown[0]["worker_context"].as_str().unwrap().contains("paint it"));
}
