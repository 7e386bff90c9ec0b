//! Memory and skills in one home: what one program notes the other reads, and neither loses what the other wrote.
use std::path::Path;

use hermes_testkit::{Finished, Hermes, ModelServer, TestHome};
use serde_json::{Value, json};

use super::support::{reference, their_script};

/// The Python program's own memory tool, called with these arguments one after the other.
fn they_note(program: &Path, home: &TestHome, calls: &[Value]) -> Finished {
    let script = format!(
        "import json\nfrom tools.memory_tool import MemoryStore, memory_tool\n\
         store = MemoryStore()\nstore.load_from_disk()\n\
         for call in json.loads({:?}):\n    print('DONE ' + memory_tool(store=store, **call))\n",
        Value::from(calls).to_string()
    );
    their_script(program, home, &script).run()
}

/// Our program, whose model makes these calls one after the other; their results.
fn we_note(home: &TestHome, calls: &[Value]) -> Vec<Value> {
    let script = calls.iter().map(|call| format!("call memory {call}\n---\n")).collect::<Vec<_>>().concat();
    let server = ModelServer::scripted(&format!("{script}say \"done\""));
    home.config_for(&server);
    Hermes::new(env!("CARGO_BIN_EXE_hermes"), home).args(["-z", "go"]).run().success();
    let results = server.last_call().tool_results();
    results.iter().map(|(_, text)| serde_json::from_str(text).unwrap()).collect()
}

fn add(text: &str) -> Value {
    json!({ "action": "add", "target": "memory", "content": text })
}

#[test]
fn each_reads_and_changes_what_the_other_noted() {
    let Some(program) = reference() else { return };
    let home = TestHome::new();
    they_note(&program, &home, &[add("theirs: one\nof two lines"), add("theirs: two")]).success();
    let ours = we_note(
        &home,
        &[
            add("ours: grüße § inside"),
            json!({ "target": "memory", "operations": [
                { "action": "replace", "old_text": "theirs: two", "content": "theirs: changed" }
            ] }),
        ],
    );
    assert!(ours.iter().all(|result| result["success"] == true), "{ours:?}");
    let expected = "theirs: one\nof two lines\n§\ntheirs: changed\n§\nours: grüße § inside";
    assert_eq!(home.read("memories/MEMORY.md"), expected);
    let done = they_note(
        &program,
        &home,
        &[json!({ "action": "replace", "target": "memory", "old_text": "ours", "content": "now theirs" })],
    );
    done.success().stdout_has("\"success\": true").stdout_has("\"entry_count\": 3");
    assert!(home.read("memories/MEMORY.md").ends_with("\n§\nnow theirs"));
}

#[test]
fn both_at_once_lose_nothing() {
    let Some(program) = reference() else { return };
    let home = TestHome::new();
    let notes = |who: &str| (0..10).map(|n| add(&format!("{who} note {n}."))).collect::<Vec<_>>();
    std::thread::scope(|scope| {
        let theirs = scope.spawn(|| they_note(&program, &home, &notes("theirs")));
        let ours = we_note(&home, &notes("ours"));
        assert!(ours.iter().all(|result| result["success"] == true), "{ours:?}");
        theirs.join().unwrap().success();
    });
    let kept = home.read("memories/MEMORY.md");
    assert_eq!(kept.split("\n§\n").count(), 20, "{kept}");
}

#[test]
fn both_find_the_same_skills() {
    let Some(program) = reference() else { return };
    let home = TestHome::new();
    home.write("skills/dev/git/SKILL.md", "---\nname: git\ndescription: use git\ntags: [a]\n---\nDo.\n");
    home.write("skills/dev/git/references/a.md", "more");
    home.write("skills/dev/git/scripts/x.sh", "echo");
    home.write("skills/flat/SKILL.md", "---\nname: flat\ndescription: flat one\n---\nDo.\n");
    home.write("skills/mac/SKILL.md", "---\nname: mac\ndescription: m\nplatforms: [macos]\n---\nDo.\n");
    let script = "from tools.skills_tool import skills_list, skill_view\n\
                  print('LIST ' + skills_list())\nprint('VIEW ' + skill_view('git'))\n";
    let done = their_script(&program, &home, script).run();
    let told = |mark: &str| -> Value {
        let line = done.lines().into_iter().find_map(|l| l.strip_prefix(mark).map(str::to_owned)).unwrap();
        serde_json::from_str(&line).unwrap()
    };
    let server =
        ModelServer::scripted("call skills_list {}\ncall skill_view {\"name\":\"git\"}\n---\nsay \"done\"");
    home.config_for(&server);
    Hermes::new(env!("CARGO_BIN_EXE_hermes"), &home).args(["-z", "go"]).run().success();
    let results = server.last_call().tool_results();
    let ours: Vec<Value> = results.iter().map(|(_, text)| serde_json::from_str(text).unwrap()).collect();
    let mut listed = told("LIST ")["skills"].as_array().unwrap().clone();
    let mut mine = ours[0]["skills"].as_array().unwrap().clone();
    listed.sort_by_key(|skill| skill["name"].to_string());
    mine.sort_by_key(|skill| skill["name"].to_string());
    assert_eq!(mine, listed);
    let view = told("VIEW ");
    for field in ["name", "description", "content", "path", "skill_dir", "linked_files", "readiness_status"] {
        assert_eq!(ours[1][field], view[field], "{field}");
    }
}
