//! What the tools keep in mind when a conversation is made shorter.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;

use hermes_agent::Control;
use hermes_agent::compaction::Keep;
use hermes_agent::shorten::{Shortened, Wish};
use hermes_testkit::model::ModelServer;
use hermes_tools::{Todo, Tool};

use support::{agent, said, turn};

#[tokio::test]
async fn open_tasks_follow_the_summary_and_are_not_summarised_themselves() {
    let todos = r#"call todo {"todos": [{"id": "1", "content": "look around", "status": "completed"}, {"id": "2", "content": "build the bridge", "status": "in_progress"}]}"#;
    let done = r#"call todo {"merge": true, "todos": [{"id": "2", "status": "completed"}, {"id": "3", "content": "paint it red"}]}"#;
    let server = ModelServer::scripted(&format!(
        "{todos}\n---\nsay \"planned\"\n---\nsay \"more\"\n---\nsay \"fine\"\n---\nsay \"## Goal\\na bridge\"\n---\n\
         {done}\n---\nsay \"built\"\n---\nsay \"again\"\n---\nsay \"well\"\n---\nsay \"## Goal\\na red bridge\""
    ));
    let mut agent = agent(&server, vec![Arc::new(Todo::new()) as Arc<dyn Tool>]);
    let wish = Wish { keep: Keep::Exchanges(1), ..Wish::default() };
    let long = "with many words ".repeat(300);

    for question in ["plan it", &long, "go on"] {
        turn(&mut agent, question).await;
    }
    let made = agent.compact(&wish, &Control::new(), &mut drop).await.unwrap();
    assert_eq!(made, Shortened::Done);
    let first = said(&agent).into_iter().find(|line| line.contains("a bridge")).unwrap();
    assert!(first.contains("build the bridge") && !first.contains("look around"), "{first}");

    for question in ["finish it", &long, "and now?"] {
        turn(&mut agent, question).await;
    }
    let made = agent.compact(&wish, &Control::new(), &mut drop).await.unwrap();
    assert_eq!(made, Shortened::Done);
    let second = said(&agent).into_iter().find(|line| line.contains("a red bridge")).unwrap();
    assert!(second.contains("paint it red") && !second.contains("build the bridge"), "{second}");
    // What was told once is not taken up as if it were part of the story.
    let asked = String::from_utf8_lossy(&server.calls().last().unwrap().raw).into_owned();
    assert!(asked.contains("a bridge") && !asked.contains("what is not done yet"), "{asked}");
}
