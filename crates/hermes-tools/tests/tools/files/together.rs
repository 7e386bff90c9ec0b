//! Several at once: calls of one message, agents of one program, programs on one machine.

use std::path::PathBuf;

use hermes_tools::tool::{Access, Sharing};
use serde_json::{Value, json};

use super::{Tools, names};
use crate::fixture::Fixture;

fn sharing(talk: &crate::fixture::Talk, arguments: Value) -> Sharing {
    let Value::Object(arguments) = arguments else { panic!("an object") };
    talk.tool.sharing(&arguments)
}

#[tokio::test]
async fn calls_say_which_files_they_touch() {
    let tools = Tools::new(&Fixture::local()).await;
    let files =
        |names: &[&str], access| Sharing::Files { paths: names.iter().map(PathBuf::from).collect(), access };
    assert_eq!(sharing(&tools.read, json!({ "path": "/w/a" })), files(&["a"], Access::Read));
    assert_eq!(sharing(&tools.write, json!({ "path": "./a", "content": "" })), files(&["a"], Access::Write));
    assert_eq!(sharing(&tools.search, json!({ "pattern": "x" })), files(&[""], Access::Read));
    let patch = "*** Begin Patch\n*** Delete File: x/a\n*** Move File: b -> c\n*** End Patch";
    assert_eq!(
        sharing(&tools.patch, json!({ "mode": "patch", "patch": patch })),
        files(&["a", "b", "c"], Access::Write)
    );
}

/// Many edits of one file at once: none is lost.
async fn all_edits_arrive(agents: Vec<Tools>) {
    let file = agents[0].dir.join("f");
    let all = 12 * agents.len();
    let lines: Vec<String> = (0..all).map(|n| format!("line {n:03} old\n")).collect();
    std::fs::write(&file, lines.concat()).unwrap();
    let mut running = tokio::task::JoinSet::new();
    for (agent, tools) in agents.into_iter().enumerate() {
        running.spawn(async move {
            for n in (agent * 12)..(agent * 12 + 12) {
                let done = tools.replace("f", &format!("line {n:03} old"), &format!("line {n:03} new")).await;
                assert_eq!(done["success"], true, "{done}");
            }
            tools
        });
    }
    let agents = running.join_all().await;
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(text.matches("new").count(), all, "{text}");
    assert_eq!(names(&agents[0].dir), ["f"], "no draft is left");
}

#[tokio::test]
async fn edits_of_agents_side_by_side_all_arrive() {
    let fixture = Fixture::local();
    let place = fixture.place();
    let mut agents = Vec::new();
    for name in ["a", "b", "c"] {
        agents.push(Tools::with(place.clone(), name).await);
    }
    all_edits_arrive(agents).await;
}

#[tokio::test]
async fn edits_of_two_programs_all_arrive() {
    let fixture = Fixture::local();
    // Places of their own, as two programs have them: they share nothing but the file.
    let agents = vec![Tools::with(fixture.place(), "a").await, Tools::with(fixture.place(), "b").await];
    all_edits_arrive(agents).await;
}

#[tokio::test]
async fn a_reader_sees_the_old_or_the_new_content() {
    let fixture = Fixture::local();
    let tools = Tools::new(&fixture).await;
    let (a, b) = ("a\n".repeat(200_000), "b\n".repeat(200_000));
    tools.put("f", &a).await;
    let file = tools.dir.join("f");
    let writing = tokio::spawn(async move {
        for n in 0..20 {
            tools.put("f", if n % 2 == 0 { &b } else { &a }).await;
        }
    });
    let mut looks = 0;
    while !writing.is_finished() {
        let text = std::fs::read(&file).unwrap();
        assert!(text.len() == 400_000 && text.chunks(2).all(|pair| pair == &text[..2]));
        looks += 1;
        tokio::task::yield_now().await;
    }
    writing.await.unwrap();
    assert!(looks > 0);
}
