//! Cards from the first to the last.

use hermes_testkit::TestHome;

use crate::{create, kanban};

#[test]
fn looking_makes_nothing() {
    let home = TestHome::new();
    kanban(&home, &["list"]).success().stdout_has("No cards yet");
    kanban(&home, &["list", "--json"]).success().stdout_is("[]\n");
    for args in [&["stats"][..], &["assignees"], &["tree"], &["search", "x"], &["boards"]] {
        kanban(&home, args).success();
    }
    kanban(&home, &["show", "t_00000000"]).code(1).stderr_has("there is no card \"t_00000000\"");
    assert!(!home.path().join("kanban.db").exists());
}

#[test]
fn a_card_goes_its_way() {
    let home = TestHome::new();
    home.write("profiles/alpha/config.yaml", "");
    let made = kanban(&home, &["create", "Paint it", "--body", "all of it", "--assignee", "Alpha"]);
    made.success();
    assert!(
        made.out().starts_with("Created t_") && made.out().contains("  (ready, assignee=alpha)"),
        "{}",
        made.out()
    );
    let id = made.out().split_whitespace().nth(1).unwrap().to_owned();
    let child = create(&home, &["Look at it", "--parent", &id]);
    let list = kanban(&home, &["list"]);
    let lines = list.lines();
    assert_eq!(lines[0], format!("▶ {id}  ready     alpha                 Paint it"));
    assert!(lines[1].starts_with(&format!("◻ {child}  todo      (nobody)")), "{}", lines[1]);
    kanban(&home, &["claim", &id]).success().stdout_has(&format!("kanban/workspaces/{id}"));
    kanban(&home, &["claim", &id]).code(1).stderr_has("only ready cards can be claimed");
    kanban(&home, &["heartbeat", &id, "--note", "half"]).success();
    kanban(&home, &["comment", &id, "two", "words", "--author", "me"]).success();
    kanban(&home, &["complete", &id, "--result", "red", "--metadata", "{\"coats\": 2}"]).success();
    let shown = kanban(&home, &["show", &id, "--json"]).json();
    assert_eq!(shown["task"]["status"], "done");
    assert_eq!(shown["runs"][0]["metadata"]["coats"], 2);
    assert_eq!(shown["comments"][0]["body"], "two words");
    let kinds: Vec<&str> =
        shown["events"].as_array().unwrap().iter().map(|e| e["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["created", "claimed", "heartbeat", "commented", "completed"]);
    assert_eq!(kanban(&home, &["show", &child, "--json"]).json()["task"]["status"], "ready");
    let page = kanban(&home, &["show", &id]).out();
    for part in ["Paint it", "all of it", "Result:\nred", "me: two words", "#1 completed @alpha"] {
        assert!(page.contains(part), "{part} is not in\n{page}");
    }
    kanban(&home, &["runs", &id]).success().stdout_has("completed");
    kanban(&home, &["edit", &id, "--result", "blue"]).success();
    kanban(&home, &["search", "blue"]).success().stdout_has(&id);
    kanban(&home, &["tree"]).success().stdout_has(&format!("  ▶ {child}"));
    kanban(&home, &["archive", &id]).success();
    kanban(&home, &["archive", "--rm", &id]).success();
    kanban(&home, &["show", &id]).code(1);
}

#[test]
fn exit_codes_mean_something_and_others_are_still_done() {
    let home = TestHome::new();
    let (one, two) = (create(&home, &["one"]), create(&home, &["two"]));
    kanban(&home, &["link", &one, &one]).code(1).stderr_has("cannot wait for itself");
    kanban(&home, &["create", "  "]).code(1).stderr_has("needs a title");
    kanban(&home, &["create", "x", "--workspace", "dir"]).code(2).stderr_has("say which directory");
    kanban(&home, &["create", "x", "--max-runtime", "soon"]).code(2).stderr_has("is no span");
    kanban(&home, &["complete", &one, "--metadata", "[1]"]).code(2).stderr_has("JSON object");
    kanban(&home, &["--board", "nowhere", "list"]).code(1).stderr_has("there is no board \"nowhere\"");
    let some = kanban(&home, &["complete", "t_ffffffff", &two]);
    some.code(1).stderr_has("t_ffffffff").stdout_has(&format!("Completed {two}"));
    kanban(&home, &["complete", &one, &two, "--summary", "x"]).code(2);
    kanban(&home, &["unblock", &one]).code(1).stderr_has("only blocked or scheduled cards");
    kanban(&home, &["unlink", &one, &two]).code(1).stderr_has("does not wait for");
}

#[test]
fn blocking_putting_off_and_letting_go() {
    let home = TestHome::new();
    let id = create(&home, &["x"]);
    kanban(&home, &["block", &id, "which", "colour?", "--kind", "needs_input"])
        .success()
        .stdout_has("(blocked)");
    let shown = kanban(&home, &["show", &id, "--json"]).json();
    assert_eq!(shown["comments"][0]["body"], "BLOCKED: which colour?");
    kanban(&home, &["unblock", &id, "--reason", "red"]).success().stdout_has("(ready)");
    kanban(&home, &["schedule", &id, "--in", "2h"]).success().stdout_has(&format!("Scheduled {id} for 2"));
    kanban(&home, &["unblock", &id]).success();
    let parent = create(&home, &["first"]);
    kanban(&home, &["link", &parent, &id]).success();
    let dry = kanban(&home, &["promote", &id, "--dry-run", "--json"]);
    dry.code(1);
    assert_eq!(dry.json()["promoted"], false);
    kanban(&home, &["promote", &id, "--force"]).success().stdout_is(&format!("Promoted {id} -> ready\n"));
}

#[test]
fn who_takes_an_unassigned_card_is_always_said() {
    let home = TestHome::new();
    let made = kanban(&home, &["create", "x"]);
    made.success().stderr_has("nobody will take it");
    home.write("profiles/helper/config.yaml", "");
    home.config("kanban:\n  default_assignee: ' Helper '\n");
    kanban(&home, &["create", "y"]).success().stderr_has("will go to \"helper\"");
    kanban(&home, &["list"]).success().stdout_has("(→ helper)");
    kanban(&home, &["create", "z", "--assignee", "stranger"]).success().stderr_has("no profile \"stranger\"");
}

#[test]
fn strangers_words_do_not_steer_the_terminal() {
    let home = TestHome::new();
    let id = create(&home, &["a\u{1b}[31mb", "--body", "c\u{7}d", "--tenant", "\u{1b}]0;x"]);
    for args in [&["list"][..], &["show", &id], &["tree"], &["search", "a"]] {
        let out = kanban(&home, args);
        out.success();
        assert!(!out.out().contains(['\u{1b}', '\u{7}']), "{}", out.out());
    }
}
