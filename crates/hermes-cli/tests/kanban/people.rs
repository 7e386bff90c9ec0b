//! What people use to look after a board: changing cards, files, subscriptions, sweeping, diagnostics, modes.

use hermes_testkit::{Hermes, TestHome};

use crate::{create, kanban};

#[test]
fn everything_a_card_says_can_be_said_and_changed() {
    let home = TestHome::new();
    let id = create(
        &home,
        &[
            "all of it",
            "--model",
            "m",
            "--provider",
            "p",
            "--toolsets",
            "file,web",
            "--max-tokens",
            "5000",
            "--max-cost",
            "2.50",
            "--deadline",
            "2h",
            "--reviewer",
            "human",
            "--accept",
            "make test",
            "--goal",
            "--goal-max-turns",
            "7",
            "--max-runtime",
            "30m",
            "--tenant",
            "acme",
            "--priority",
            "3",
            "--project",
            "x",
            "--skill",
            "a",
            "--idempotency-key",
            "k",
        ],
    );
    let shown = kanban(&home, &["show", &id, "--json"]).json();
    let extras = &shown["extras"];
    assert_eq!((&extras["model"], &extras["provider"]), (&"m".into(), &"p".into()));
    assert_eq!(extras["toolsets"], serde_json::json!(["file", "web"]));
    assert_eq!((&extras["max_tokens"], &extras["max_cost_usd"]), (&5000.into(), &2.5.into()));
    assert_eq!((&extras["reviewer"], &extras["acceptance"]), (&"human".into(), &"make test".into()));
    assert_eq!((&extras["goal_mode"], &extras["goal_max_turns"]), (&true.into(), &7.into()));
    assert!(extras["deadline"].as_i64().unwrap() > shown["task"]["created_at"].as_i64().unwrap());
    let page = kanban(&home, &["show", &id]).out();
    for part in ["30m an attempt, 5000 tokens, $2.50", "a judge looks", "make test", "human", "acme", "key:"]
    {
        assert!(page.contains(part), "{part} is not in\n{page}");
    }
    kanban(&home, &["list"]).success().stdout_has("(p3, due in ");
    let edited = kanban(
        &home,
        &[
            "edit",
            &id,
            "--title",
            "less",
            "--max-cost",
            "none",
            "--deadline",
            "none",
            "--toolsets",
            "none",
            "--reviewer",
            "none",
            "--accept",
            "none",
            "--no-goal",
            "--priority",
            "0",
            "--model",
            "none",
            "--json",
        ],
    );
    edited.success();
    let shown = kanban(&home, &["show", &id, "--json"]).json();
    assert_eq!((&shown["task"]["title"], &shown["task"]["priority"]), (&"less".into(), &0.into()));
    for gone in ["max_cost_usd", "deadline", "reviewer", "acceptance", "model"] {
        assert!(shown["extras"][gone].is_null(), "{gone}: {}", shown["extras"]);
    }
    assert_eq!(shown["extras"]["toolsets"], serde_json::json!([]));
    assert_eq!(shown["extras"]["provider"], "p", "what was not named stays");
    let kinds: Vec<&str> =
        shown["events"].as_array().unwrap().iter().map(|e| e["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["created", "reprioritized", "edited"]);
    kanban(&home, &["edit", &id, "--title", "less"]).success().stdout_has("says that already");
}

#[test]
fn what_makes_no_sense_is_refused_in_words() {
    let home = TestHome::new();
    let id = create(&home, &["x", "--assignee", "alpha"]);
    for (args, code, says) in [
        (&["create", "y", "--max-cost", "0"][..], 1, "more than 0 dollars"),
        (&["create", "y", "--max-cost", "a lot"], 2, "no amount of dollars"),
        (&["create", "y", "--max-tokens", "0"], 1, "tokens must be 1 or more"),
        (&["create", "y", "--deadline", "soon"], 2, "is no time"),
        (&["create", "y", "--reviewer", "command: "], 1, "the reviewer is empty"),
        (&["create", "y", "--assignee", "bob", "--reviewer", "Bob"], 1, "would look at its own work"),
        (&["edit", &id], 2, "say what to change"),
        (&["edit", &id, "--title", " "], 1, "needs a title"),
        (&["edit", &id, "--reviewer", "alpha"], 1, "would look at its own work"),
        (&["edit", &id, "--run-at", "2h"], 1, "only a scheduled card has a time"),
        (&["edit", &id, "--branch", "b"], 1, "a branch needs a worktree"),
        (&["edit", "t_00000000", "--title", "z"], 1, "there is no card"),
        (&["schedule", &id, "--at", "@1000"], 2, "is over already"),
        (&["attach", &id, "/nowhere/at/all"], 1, "cannot read"),
        (&["attach-rm", "7"], 1, "there is no attachment 7"),
        (&["notify-subscribe", &id, "--platform", " ", "--chat-id", "1"], 1, "which platform"),
        (&["gc", "--event-retention-days", "-1"], 2, "-1"),
        (&["boards", "rename", "default", " "], 2, "needs a name"),
        (&["top", "--interval", "0"], 2, "more than 0 seconds"),
        (&["tree", "t_00000000"], 1, "there is no card"),
        (&["log", "t_00000000"], 1, "there is no card"),
    ] {
        kanban(&home, args).code(code).stderr_has(says);
    }
}

#[test]
fn a_card_with_a_time_of_its_own_is_scheduled() {
    let home = TestHome::new();
    let id = create(&home, &["later", "--run-at", "2h"]);
    let shown = kanban(&home, &["show", &id, "--json"]).json();
    assert_eq!(shown["task"]["status"], "scheduled");
    let before = shown["extras"]["run_at"].as_i64().unwrap();
    kanban(&home, &["edit", &id, "--run-at", "4h"]).success();
    let after = kanban(&home, &["show", &id, "--json"]).json()["extras"]["run_at"].as_i64().unwrap();
    assert!(after > before + 3600);
    let past = create(&home, &["now", "--run-at", "@1000"]);
    assert_eq!(kanban(&home, &["show", &past, "--json"]).json()["task"]["status"], "ready");
}

#[test]
fn a_card_is_held_while_it_is_edited() {
    let home = TestHome::new();
    let id = create(&home, &["a title", "--body", "a text"]);
    kanban(&home, &["edit", &id, "--lock"]).success().stdout_has("is not started until");
    assert!(kanban(&home, &["show", &id, "--json"]).json()["extras"]["editing_until"].is_i64());
    kanban(&home, &["list"]).success().stdout_has("being edited");
    let editor = home
        .write("editor.sh", "#!/bin/sh\nprintf 'A new title\\n\\nand a text\\nof two lines\\n' > \"$1\"\n");
    let edit = |editor: &str| {
        let hermes = Hermes::new(env!("CARGO_BIN_EXE_hermes"), &home).env("EDITOR", editor);
        hermes.args(["kanban", "edit", &id, "--editor"]).run()
    };
    let editor = format!("sh {}", editor.display());
    edit(&editor).code(1).stderr_has("somebody edits");
    kanban(&home, &["edit", &id, "--unlock"]).success().stdout_has("may be started again");
    edit(&editor).success().stdout_has("title, body");
    let shown = kanban(&home, &["show", &id, "--json"]).json();
    assert_eq!(shown["task"]["title"], "A new title");
    assert_eq!(shown["task"]["body"], "and a text\nof two lines");
    assert!(shown["extras"]["editing_until"].is_null());
    edit("false").code(1).stderr_has("nothing was changed");
    assert!(kanban(&home, &["show", &id, "--json"]).json()["extras"]["editing_until"].is_null());
    // Somebody else changes the card while the editor is open: neither overwrites the other.
    let racing = format!(
        "#!/bin/sh\n{} kanban edit {id} --title theirs >/dev/null\necho mine > \"$1\"\n",
        env!("CARGO_BIN_EXE_hermes")
    );
    let racing = home.write("racing.sh", racing);
    edit(&format!("sh {}", racing.display())).code(1).stderr_has("what you wrote is in");
    assert_eq!(kanban(&home, &["show", &id, "--json"]).json()["task"]["title"], "theirs");
}

#[test]
fn files_are_kept_listed_and_taken_away() {
    let home = TestHome::new();
    let id = create(&home, &["x"]);
    let file = home.work_dir().join("notes.txt");
    std::fs::write(&file, "hello").unwrap();
    let file = file.to_str().unwrap();
    kanban(&home, &["attachments", &id]).success().stdout_is("No files.\n");
    let kept = kanban(&home, &["attach", &id, file, "--json"]).json();
    assert_eq!((&kept["filename"], &kept["size"]), (&"notes.txt".into(), &5.into()));
    kanban(&home, &["attachments", &id]).success().stdout_has("notes.txt").stdout_has("5 B");
    kanban(&home, &["show", &id]).success().stdout_has("Files (1):");
    kanban(&home, &["context", &id]).success().stdout_has("notes.txt");
    kanban(&home, &["attach-rm", &kept["id"].to_string()]).success();
    assert_eq!(kanban(&home, &["attachments", &id, "--json"]).json(), serde_json::json!([]));
}

#[test]
fn chats_are_told_and_no_longer() {
    let home = TestHome::new();
    let id = create(&home, &["x"]);
    let place = ["--platform", "Telegram", "--chat-id", "12", "--thread-id", "3"];
    kanban(&home, &["notify-list"]).success().stdout_is("Nobody is told.\n");
    kanban(&home, &[&["notify-subscribe", &id], &place[..], &["--notifier-profile", "beta"]].concat())
        .success();
    kanban(&home, &[&["notify-subscribe", &id], &place[..]].concat()).success();
    kanban(&home, &["notify-list", &id])
        .success()
        .stdout_is(&format!("{id}  telegram:12:3  (since event 0) [owner=beta]\n"));
    let all = kanban(&home, &["notify-list", "--json"]).json();
    assert_eq!((all.as_array().unwrap().len(), &all[0]["chat_id"]), (1, &"12".into()));
    kanban(&home, &[&["notify-unsubscribe", &id], &place[..4]].concat()).code(1).stderr_has("is not told");
    kanban(&home, &[&["notify-unsubscribe", &id], &place[..]].concat()).success();
    kanban(&home, &[&["notify-subscribe", "t_00000000"], &place[..]].concat()).code(1);
}

#[test]
fn sweeping_takes_only_what_nobody_needs() {
    let home = TestHome::new();
    let (old, kept) = (create(&home, &["old"]), create(&home, &["kept"]));
    for place in [&old, &kept, "t_deadbeef"] {
        home.write(format!("kanban/workspaces/{place}/work.txt"), "w");
        home.write(format!("kanban/attachments/{place}/a.txt"), "a");
    }
    home.write("kanban/workspaces/mine/work.txt", "somebody's own");
    let outside = home.write("elsewhere/precious.txt", "p");
    std::os::unix::fs::symlink(outside.parent().unwrap(), home.path().join("kanban/workspaces/t_0badf00d"))
        .unwrap();
    let log = home.write(format!("kanban/logs/{old}.log"), "l");
    kanban(&home, &["archive", &old]).success();
    let dry = kanban(&home, &["gc", "--dry-run", "--json"]).json();
    assert_eq!(dry["workspaces"].as_array().unwrap().len(), 2, "{dry}");
    assert!(home.path().join(format!("kanban/workspaces/{old}")).exists());
    let done = kanban(&home, &["gc", "--event-retention-days", "0"]);
    done.success().stdout_has("Removed 2 workspaces");
    let there = |path: String| home.path().join(path).exists();
    assert!(!there(format!("kanban/workspaces/{old}")) && !there("kanban/workspaces/t_deadbeef".into()));
    assert!(there(format!("kanban/workspaces/{kept}")) && there("kanban/workspaces/mine".into()));
    assert!(!there("kanban/attachments/t_deadbeef".into()) && there(format!("kanban/attachments/{old}")));
    assert!(outside.exists() && log.exists());
    kanban(&home, &["gc", "--log-retention-days", "0"]).success();
    assert_eq!(kanban(&home, &["show", &kept, "--json"]).json()["events"].as_array().unwrap().len(), 1);
}

#[test]
fn boards_are_paused_resumed_and_drained() {
    let home = TestHome::new();
    create(&home, &["x"]);
    kanban(&home, &["boards", "create", "web"]).success();
    let modes = || {
        let boards = kanban(&home, &["boards", "list", "--json"]).json();
        boards
            .as_array()
            .unwrap()
            .iter()
            .map(|board| board["mode"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(modes(), ["parked", "parked"]);
    kanban(&home, &["resume", "--all"]).success();
    assert_eq!(modes(), ["active", "active"]);
    kanban(&home, &["--board", "web", "pause", "too", "dear"]).success().stdout_has("is paused");
    kanban(&home, &["drain"]).success().stdout_has("starts nothing new");
    assert_eq!(modes(), ["draining", "paused"]);
    assert_eq!(kanban(&home, &["resume", "--json"]).json()["mode"], "active");
}

#[test]
fn what_is_wrong_is_found() {
    let home = TestHome::new();
    let id = create(&home, &["x", "--assignee", "alpha"]);
    kanban(&home, &["diagnostics"]).success().stdout_has("Nothing is wrong");
    for _ in 0..3 {
        kanban(&home, &["block", &id, "again"]).success();
        kanban(&home, &["unblock", &id]).success();
    }
    let found = kanban(&home, &["diag", "--json"]).json();
    assert_eq!(found[0]["task_id"], id.as_str());
    assert_eq!(found[0]["diagnostics"][0]["kind"], "block_unblock_cycling");
    for key in
        ["severity", "title", "detail", "actions", "first_seen_at", "last_seen_at", "count", "run_id", "data"]
    {
        assert!(found[0]["diagnostics"][0].get(key).is_some(), "{key}");
    }
    kanban(&home, &["show", &id]).success().stdout_has("Diagnostics:");
    kanban(&home, &["diag", "--severity", "error"]).success().stdout_has("Nothing is wrong");
    kanban(&home, &["diag", "--task", "t_00000000"]).code(1);
    home.config("kanban:\n  diagnostics:\n    block_cycle_threshold: 9\n");
    kanban(&home, &["diag"]).success().stdout_has("Nothing is wrong");
}

#[test]
fn a_board_named_by_the_environment_must_be_there() {
    let home = TestHome::new();
    let with = |board: &str, args: &[&str]| {
        let hermes = Hermes::new(env!("CARGO_BIN_EXE_hermes"), &home).env("HERMES_KANBAN_BOARD", board);
        hermes.arg("kanban").args(args).run()
    };
    with("nowhere", &["create", "x"]).code(1).stderr_has("HERMES_KANBAN_BOARD is \"nowhere\"");
    assert!(!home.path().join("kanban.db").exists(), "nothing landed on another board");
    with("../up", &["list"]).code(1).stderr_has("no such board");
    with("nowhere", &["boards", "list"]).success();
    with("nowhere", &["boards", "create", "nowhere"]).success();
    with("nowhere", &["create", "x"]).success();
    with("gone", &["--board", "nowhere", "list"]).success();
}
