//! The tools, as data: names, what the model is told, parameters, and what does them.

use serde_json::{Map, Value, json};

use super::{Call, act, attach, create, look};

/// One tool.
pub(super) struct Entry {
    pub name: &'static str,
    pub about: &'static str,
    pub parameters: fn() -> Value,
    pub whom: Whom,
    pub does: Does,
}

/// Whom it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whom {
    Everybody,
    /// Those who look after a board.
    Orchestrator,
}

/// What does it.
#[derive(Clone, Copy)]
pub(super) enum Does {
    /// Changes nothing.
    Look(fn(&Call) -> Result<Value, String>),
    /// Changes something.
    Write(fn(&Call) -> Result<Value, String>),
    /// Finishes a card, if its judge agrees.
    Complete,
    /// Fetches a file.
    Fetch,
}

use Whom::{Everybody, Orchestrator};

/// All of them.
pub(super) static ALL: &[Entry] = &[
    Entry {
        name: "kanban_show",
        about: "A card with everything about it; worker_context is what to read first. Without task_id: your own.",
        parameters: || object(&[("task_id", text())], &[]),
        whom: Everybody,
        does: Does::Look(look::show),
    },
    Entry {
        name: "kanban_list",
        about: "Cards of the board, the most urgent first.",
        parameters: || {
            object(
                &[
                    ("assignee", text()),
                    ("status", choice(&STATUSES)),
                    ("tenant", text()),
                    ("include_archived", flag()),
                    ("limit", json!({ "type": "integer", "minimum": 1, "maximum": 200 })),
                ],
                &[],
            )
        },
        whom: Orchestrator,
        does: Does::Write(look::list),
    },
    Entry {
        name: "kanban_complete",
        about: "Finish a card when all of its work is done and checked. summary: what the next one needs to know.",
        parameters: || {
            object(
                &[
                    ("task_id", text()),
                    ("summary", text()),
                    ("result", told("string", "The result itself, if it is a text")),
                    ("metadata", told("object", "Facts for programs: changed files, tests run")),
                    ("created_cards", told_list("Ids of cards made on the way")),
                    ("artifacts", told_list("Files that are the result, as paths")),
                ],
                &[],
            )
        },
        whom: Everybody,
        does: Does::Complete,
    },
    Entry {
        name: "kanban_block",
        about: "Stop working on a card because only somebody else can go on; reason says what they must do.",
        parameters: || {
            object(
                &[
                    ("task_id", text()),
                    ("reason", text()),
                    ("kind", choice(&["dependency", "needs_input", "capability", "transient"])),
                ],
                &["reason"],
            )
        },
        whom: Everybody,
        does: Does::Write(act::block),
    },
    Entry {
        name: "kanban_heartbeat",
        about: "Say that a long piece of work goes on.",
        parameters: || object(&[("task_id", text()), ("note", text())], &[]),
        whom: Everybody,
        does: Does::Write(act::heartbeat),
    },
    Entry {
        name: "kanban_comment",
        about: "Leave a note on any card.",
        parameters: || object(&[("task_id", text()), ("body", text())], &["task_id", "body"]),
        whom: Everybody,
        does: Does::Write(act::comment),
    },
    Entry {
        name: "kanban_create",
        about: "Make a card for work that somebody else should do, or that comes later. Its worker knows only what it says.",
        parameters: || {
            object(
                &[
                    ("title", text()),
                    ("assignee", told("string", "A profile")),
                    ("body", told("string", "What is to be done, and how to tell that it is")),
                    ("parents", told_list("Ids of cards it waits for")),
                    ("tenant", text()),
                    ("priority", told("integer", "Larger comes sooner")),
                    ("workspace_kind", choice(&["scratch", "dir", "worktree"])),
                    ("workspace_path", text()),
                    ("project", text()),
                    ("triage", told("boolean", "It needs to be thought through first")),
                    ("idempotency_key", told("string", "A second card with it is not made")),
                    ("max_runtime_seconds", json!({ "type": "integer", "minimum": 1 })),
                    ("initial_status", choice(&["running", "blocked"])),
                    ("skills", told_list("Skills its worker loads")),
                    ("goal_mode", told("boolean", "A judge decides when it is done")),
                    ("goal_max_turns", json!({ "type": "integer", "minimum": 1 })),
                ],
                &["title", "assignee"],
            )
        },
        whom: Everybody,
        does: Does::Write(create::create),
    },
    Entry {
        name: "kanban_link",
        about: "Let one card wait for another.",
        parameters: || object(&[("parent_id", text()), ("child_id", text())], &["parent_id", "child_id"]),
        whom: Everybody,
        does: Does::Write(act::link),
    },
    Entry {
        name: "kanban_unblock",
        about: "Let a blocked card go on.",
        parameters: || object(&[("task_id", text())], &["task_id"]),
        whom: Orchestrator,
        does: Does::Write(act::unblock),
    },
    Entry {
        name: "kanban_attach",
        about: "Keep a small file with a card.",
        parameters: || {
            object(
                &[("task_id", text()), ("filename", text()), ("content_base64", text())],
                &["filename", "content_base64"],
            )
        },
        whom: Everybody,
        does: Does::Write(attach::attach),
    },
    Entry {
        name: "kanban_attach_url",
        about: "Fetch a file from the web and keep it with a card.",
        parameters: || object(&[("task_id", text()), ("url", text()), ("filename", text())], &["url"]),
        whom: Everybody,
        does: Does::Fetch,
    },
    Entry {
        name: "kanban_attachments",
        about: "The files of a card, with where they are.",
        parameters: || object(&[("task_id", text())], &[]),
        whom: Everybody,
        does: Does::Look(attach::list),
    },
];

const STATUSES: [&str; 9] =
    ["triage", "todo", "scheduled", "ready", "running", "blocked", "review", "done", "archived"];

/// The parameters of a tool. Every one takes the name of a board.
fn object(properties: &[(&str, Value)], required: &[&str]) -> Value {
    let mut map: Map<String, Value> =
        properties.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    map.insert("board".to_owned(), text());
    let mut schema = json!({ "type": "object", "properties": map });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn flag() -> Value {
    json!({ "type": "boolean" })
}

fn told(kind: &str, about: &str) -> Value {
    json!({ "type": kind, "description": about })
}

fn told_list(about: &str) -> Value {
    json!({ "type": "array", "items": text(), "description": about })
}

fn choice(words: &[&str]) -> Value {
    json!({ "type": "string", "enum": words })
}
