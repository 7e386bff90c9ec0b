//! `todo` as a conversation uses it.

use hermes_model::{Message, ToolCall, ToolResult};
use hermes_tools::{Moment, Todo};
use serde_json::json;

use crate::fixture::Talk;

#[tokio::test]
async fn a_list_is_kept_for_each_conversation_and_found_again() {
    let (talk, other) = (Talk::with(Todo::new(), "one"), Talk::with(Todo::new(), "two"));
    let given = json!({ "todos": [
        { "id": "1", "content": "look", "status": "completed" },
        { "id": "2", "content": "leap", "status": "in_progress" },
    ] });
    let result = talk.call(given).await;
    assert_eq!(result["summary"]["total"], 2);
    assert_eq!(talk.call(json!({})).await, result);
    assert_eq!(other.call(json!({})).await["todos"], json!([]));
    let reminder = talk.tool.remind("one").unwrap();
    assert!(reminder.contains("leap") && !reminder.contains("look"), "{reminder}");
    assert_eq!(talk.tool.remind("two"), None);

    let call = ToolCall { id: "c".into(), name: "todo".into(), ..ToolCall::default() };
    let history = [
        Message::Tool(ToolResult::ok(&call, result.to_string())),
        Message::Tool(ToolResult::ok(&call, json!({ "error": "no" }).to_string())),
        Message::user("go on"),
    ];
    other.tool.tell("two", Moment::Resumed(&history));
    assert_eq!(other.call(json!({})).await, result);
}

#[tokio::test]
async fn a_mistake_changes_nothing() {
    let talk = Talk::new(Todo::new());
    talk.call(json!({ "todos": [{ "id": "1", "content": "a" }] })).await;
    let wrong = talk.call(json!({ "merge": true, "todos": [{ "id": "1", "status": "soon" }] })).await;
    assert!(wrong["error"].as_str().unwrap().contains("soon"));
    assert_eq!(talk.call(json!({})).await["todos"][0]["status"], "pending");
}
