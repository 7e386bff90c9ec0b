//! Files through a whole conversation: read, written, patched, searched; and a program that dies while it writes.

use hermes_testkit::crash::{KillPoint, Rng, kill_repeatedly};
use serde_json::{Value, json};

use super::support::Talk;

fn calls(tool: &str, arguments: &Value) -> String {
    format!("call {tool} {arguments}")
}

/// The result of the only call of a step, as the next request has it.
#[track_caller]
fn result(talk: &Talk, step: usize) -> Value {
    let results = talk.server.calls()[step + 1].tool_results();
    serde_json::from_str(&results.last().expect("a result").1).expect("results are JSON")
}

#[test]
fn a_conversation_reads_writes_patches_and_searches() {
    let steps = [
        calls("write_file", &json!({ "path": "src/a.txt", "content": "one\ntwo\nthree\n" })),
        calls("read_file", &json!({ "path": "src/a.txt" })),
        calls(
            "patch",
            &json!({ "mode": "replace", "path": "src/a.txt", "old_string": "two", "new_string": "2" }),
        ),
        calls("search_files", &json!({ "pattern": "^(2|three)$" })),
        // Several in one message: the reads run side by side, the write after them.
        [
            calls("read_file", &json!({ "path": "src/a.txt" })),
            calls("read_file", &json!({ "path": "src/a.txt", "offset": 2, "limit": 1 })),
            calls("write_file", &json!({ "path": "src/a.txt", "content": "new\n" })),
        ]
        .join("\n"),
        calls("write_file", &json!({ "path": "~/.ssh/authorized_keys", "content": "ssh-ed25519 AAAA\n" })),
        "say \"done\"".to_owned(),
    ];
    let talk = Talk::with(&steps.join("\n---\n"));
    talk.run(&["-z", "go"]).success().stdout_is("done\n");
    assert_eq!(result(&talk, 0)["bytes_written"], 14);
    assert_eq!(result(&talk, 1)["content"], "1|one\n2|two\n3|three");
    let patched = result(&talk, 2);
    assert!(patched["diff"].as_str().unwrap().contains("-two\n+2\n"), "{patched}");
    let found = result(&talk, 3);
    assert_eq!(
        (&found["total_count"], &found["matches"][0]["path"]),
        (&json!(2), &json!("src/a.txt")),
        "{found}"
    );
    let together: Vec<Value> = talk.server.calls()[5]
        .tool_results()
        .iter()
        .rev()
        .take(3)
        .rev()
        .map(|(_, text)| serde_json::from_str(text).unwrap())
        .collect();
    assert_eq!(together[0]["content"], "1|one\n2|2\n3|three");
    assert_eq!(together[1]["content"], "2|2");
    assert_eq!(together[2]["bytes_written"], 4);
    assert!(result(&talk, 5)["error"].as_str().unwrap().contains("is not written"));
    assert_eq!(std::fs::read_to_string(talk.file("src/a.txt")).unwrap(), "new\n");
}

#[test]
fn a_kill_in_the_middle_leaves_the_old_or_the_new_content() {
    let content = |letter: &str| format!("{letter}\n").repeat(50_000);
    // Both are written at the same time: when the one is there, the other is being written.
    let writes = [
        calls("write_file", &json!({ "path": "marker", "content": "x" })),
        calls("write_file", &json!({ "path": "f", "content": content("b") })),
    ];
    let talk = Talk::with(&format!("always\n{}", writes.join("\n")));
    let point = KillPoint::Path(talk.file("marker"));
    let command = |_| {
        let _ = std::fs::remove_file(talk.file("marker"));
        std::fs::write(talk.file("f"), content("a")).unwrap();
        talk.command(&["-z", "go"])
    };
    let tally = kill_repeatedly(5, &mut Rng::seeded(5), &point, command, |_| {
        assert!(talk.file("marker").exists(), "nothing was written");
        let text = std::fs::read_to_string(talk.file("f")).unwrap();
        assert!(text == content("a") || text == content("b"), "{} bytes: {:?}", text.len(), &text[..2]);
    });
    assert_eq!(tally.hit, 5);
}
