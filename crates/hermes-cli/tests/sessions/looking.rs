//! The commands that only look.

use std::fs;

use hermes_store::sessions::{NewMessage, Role};
use hermes_testkit::{Hermes, TestHome};

use crate::{FRESH, OLD, home, ids, sessions};

#[test]
fn without_conversations_there_is_nothing_and_no_file_is_made() {
    let home = TestHome::new();
    let finished = sessions(&home, &["list"]);
    finished.success();
    assert!(finished.out().contains("No conversations yet"));
    assert_eq!(ids(&sessions(&home, &["list", "--json"])), [""; 0]);
    for args in [&["stats"][..], &["browse"], &["export"], &["repair"], &["prune"]] {
        sessions(&home, args).success();
    }
    let finished = sessions(&home, &["show", "x"]);
    finished.code(1);
    assert!(finished.err().contains("there is no session \"x\""));
    assert!(!home.path().join("state.db").exists());
}

#[test]
fn a_list_shows_conversations_and_not_those_of_helpers() {
    let home = home();
    let finished = sessions(&home, &[]);
    finished.success();
    let out = finished.out();
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 3, "{out}");
    assert!(lines[0].starts_with("ID"));
    assert!(lines[1].starts_with(FRESH) && lines[1].contains("1d ago"), "{}", lines[1]);
    assert!(lines[2].contains("Old Work"));
    assert!(!finished.out().contains('\u{1b}'), "nothing a stranger said steers the terminal");
    assert_eq!(ids(&sessions(&home, &["list", "--json"])), [FRESH, OLD]);
    assert_eq!(ids(&sessions(&home, &["list", "--children", "--json"])).len(), 3);
    assert_eq!(ids(&sessions(&home, &["list", "--source", "telegram", "--json"])), [OLD]);
    assert_eq!(ids(&sessions(&home, &["list", "--model", "LARGE", "--json"])), [FRESH]);
    assert_eq!(ids(&sessions(&home, &["list", "--older-than", "30d", "--json"])), [OLD]);
    assert_eq!(ids(&sessions(&home, &["list", "-n", "1", "--sort", "started", "--json"])), [FRESH]);
    assert_eq!(ids(&sessions(&home, &["browse", "--json"])), [FRESH, OLD]);
    let wrong = sessions(&home, &["list", "--older-than", "soon"]);
    wrong.code(2);
    assert!(wrong.err().contains("\"soon\" is no age"));
}

#[test]
fn a_conversation_is_shown_by_id_beginning_title_or_as_the_latest() {
    let home = home();
    for args in [&["show", FRESH][..], &["show", "20260105"], &["show"]] {
        let finished = sessions(&home, args);
        finished.success();
        let page = finished.out();
        for part in
            [FRESH, "vendor/large", "1200 in, 34 out", "$0.0042", "── You", "→ terminal {", "there are eight"]
        {
            assert!(page.contains(part), "{part} is not in\n{page}");
        }
        assert!(page.contains("… 2 lines more (--full)") && !page.contains('\u{1b}'), "{page}");
        assert!(finished.err().contains(&format!("hermes --resume {FRESH}")));
    }
    assert!(sessions(&home, &["show", FRESH, "--full"]).out().contains("\n8\n"));
    let json = sessions(&home, &["show", "Old Work", "--json"]).json();
    assert_eq!((&json["id"], &json["transcript"][0]["content"]), (&OLD.into(), &"ages ago".into()));
    let last = sessions(&home, &["show", FRESH, "-n", "1"]);
    assert!(last.out().contains("(3 messages before)") && !last.out().contains("→ terminal"));
    let ambiguous = sessions(&home, &["show", "202"]);
    ambiguous.code(1);
    assert!(ambiguous.err().contains("several sessions"));
}

#[test]
fn words_are_found() {
    let home = home();
    let finished = sessions(&home, &["search", "zebras"]);
    finished.success();
    assert!(finished.out().contains(FRESH) && finished.out().contains(">>>zebras<<<"));
    let json = sessions(&home, &["search", "eight OR ages", "--sort", "oldest", "--json"]).json();
    assert_eq!((&json[0]["session"], json.as_array().unwrap().len()), (&OLD.into(), 2));
    sessions(&home, &["search", "quagga"]).code(1);
}

#[test]
fn counts_and_insights() {
    let home = home();
    let stats = sessions(&home, &["stats", "--json"]).json();
    assert_eq!((&stats["stats"]["sessions"], &stats["stats"]["messages"]), (&3.into(), &6.into()));
    assert!(sessions(&home, &["stats"]).out().contains("telegram"));
    let insights =
        |args: &[&str]| Hermes::new(env!("CARGO_BIN_EXE_hermes"), &home).arg("insights").args(args).run();
    let json = insights(&["--json"]).json();
    assert_eq!(json["insights"]["total"]["sessions"], 1);
    assert_eq!(json["insights"]["tools"][0][0], "terminal");
    assert_eq!(insights(&["--json", "--days", "365"]).json()["insights"]["total"]["sessions"], 3);
    let page = insights(&[]);
    page.success();
    for part in ["vendor/large", "terminal", "$0.0042", "█"] {
        assert!(page.out().contains(part), "{part} is not in\n{}", page.out());
    }
    assert!(insights(&["--source", "cron"]).out().contains("Nothing was done"));
    insights(&["--days", "0"]).code(2);
}

#[test]
fn an_export_is_private_and_replaces_nothing_by_itself() {
    use std::os::unix::fs::PermissionsExt;

    let home = home();
    let line = sessions(&home, &["export", "--session-id", FRESH]).json();
    assert_eq!(line["messages"].as_array().unwrap().len(), 4);
    assert_eq!(line["messages"][1]["tool_calls"][0]["function"]["name"], "terminal");
    let all = sessions(&home, &["export", "out.jsonl"]);
    all.success();
    let file = home.work_dir().join("out.jsonl");
    assert_eq!(fs::read_to_string(&file).unwrap().lines().count(), 3);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let again = sessions(&home, &["export", "out.jsonl", "--source", "telegram"]);
    again.code(1);
    assert!(again.err().contains("--force"));
    sessions(&home, &["export", "out.jsonl", "--source", "telegram", "--force"]).success();
    assert_eq!(fs::read_to_string(&file).unwrap().lines().count(), 1);
    let page = sessions(&home, &["export", "--format", "md", "--session", "Old Work"]);
    assert!(page.out().starts_with("# Old Work\n"), "{}", page.out());
}

#[test]
fn keys_show_only_in_a_copy_that_is_asked_for() {
    let home = home();
    let key = format!("ghp_{}", "a1B2".repeat(9));
    let id = hermes_store::sessions::SessionId::from(FRESH);
    let now = jiff::Timestamp::now();
    let calls = serde_json::json!([{"id": "2", "function": {"name": "terminal", "arguments": format!("{{\"command\":\"push {key}\"}}")}}]);
    let said = [
        NewMessage::new(Role::User, format!("zebra token {key}"), now),
        NewMessage { tool_calls: Some(calls), ..NewMessage::empty(Role::Assistant, now) },
        NewMessage {
            tool_name: Some("terminal".into()),
            ..NewMessage::new(Role::Tool, format!("{} {key}", "x".repeat(190)), now)
        },
    ];
    crate::store(&home).append_all(&id, &said).unwrap();
    for args in [
        &["show", FRESH][..],
        &["show", FRESH, "--json"],
        &["show", FRESH, "--full"],
        &["search", "zebra"],
        &["search", "zebra", "--json"],
        &["export"],
        &["export", "--format", "md"],
    ] {
        let shown = sessions(&home, args);
        assert!(!shown.success().out().contains("a1B2a1B2"), "{args:?}: {}", shown.out());
    }
    let export = sessions(&home, &["export", "--session-id", FRESH]);
    assert_eq!(export.out().matches("ghp_a1...a1B2").count(), 3, "{}", export.out());
    assert!(serde_json::from_str::<serde_json::Value>(export.out().trim()).is_ok());
    assert_eq!(sessions(&home, &["export", "--secrets"]).success().out().matches(&key).count(), 3);
}
