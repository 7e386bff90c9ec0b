//! Results keep within the room the model has for them.

use std::collections::BTreeSet;

use hermes_tools::file::{ReadFile, SearchFiles};
use hermes_tools::{ExecuteCode, Terminal, Tool, ToolOutput};
use serde_json::{Value, json};

use crate::fixture::{Fixture, Talk, json_of};

/// What a model with a window of 64,000 tokens has for one result.
const ROOM: usize = 25_600;

fn talk(tool: impl Tool + 'static) -> Talk {
    Talk { most_chars: ROOM, ..Talk::new(tool) }
}

/// The result, which is no longer than it may be.
fn fitting(output: &ToolOutput) -> Value {
    let length = hermes_model::message::text_of(&output.content).chars().count();
    assert!(length <= ROOM, "{length}");
    assert!(length > ROOM * 3 / 4, "{length}: it could say more");
    json_of(output)
}

fn text_of<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap()
}

#[tokio::test]
async fn a_file_is_read_in_pages_that_fit() {
    let fixture = Fixture::local();
    let place = fixture.place();
    let shell = Talk::new(Terminal::new(place.clone()));
    shell
        .call(json!({ "command": "for n in $(seq 1 500); do printf '%s\\t\"%0100d\"\\n' $n 0; done > big" }))
        .await;
    let read = talk(ReadFile::new(place));
    let first = fitting(&read.run(json!({ "path": "big" })).await);
    assert_eq!((&first["truncated"], &first["truncated_by"]), (&json!(true), &json!("bytes")));
    let (mut next, mut seen) = (first["next_offset"].as_u64(), text_of(&first, "content").lines().count());
    while let Some(offset) = next {
        let page = read.call(json!({ "path": "big", "offset": offset })).await;
        assert!(
            text_of(&page, "content").starts_with(&format!("{offset}|")),
            "no line is lost or shown twice"
        );
        seen += text_of(&page, "content").lines().count();
        next = page["next_offset"].as_u64();
    }
    assert_eq!(seen, 500);
}

#[tokio::test]
async fn a_command_keeps_both_ends_of_what_it_prints() {
    let fixture = Fixture::local();
    let shell = talk(Terminal::new(fixture.place()));
    let printed = fitting(&shell.run(json!({ "command": "seq 1 20000" })).await);
    let output = text_of(&printed, "output");
    assert!(output.starts_with("1\n2\n") && output.ends_with("\n19999\n20000"));
    let (before, after) = output.split_once("\n\n[").unwrap();
    assert!(before.len() < after.len() && after.contains("bytes are left out here; all of it is in /"));
}

#[tokio::test]
async fn a_script_keeps_both_ends_of_what_it_prints() {
    let fixture = Fixture::local();
    let code = talk(ExecuteCode::new(fixture.place(), Vec::new()));
    let printed =
        code.run(json!({ "code": "import sys\nfor n in range(9000): print(n)\nsys.exit('x' * 9000)" })).await;
    let printed = fitting(&printed);
    assert!(text_of(&printed, "output").starts_with("0\n1\n") && printed["stdout_truncated"] == true);
}

#[tokio::test]
async fn a_search_shows_fewer_lines_and_the_next_page_has_the_others() {
    let fixture = Fixture::local();
    let place = fixture.place();
    let shell = Talk::new(Terminal::new(place.clone()));
    shell.call(json!({ "command": "seq -f 'hit %g \"and a few words more to fill the line to its end\"' 1 900 > a; cp a b.key; cp a c" })).await;
    let search = talk(SearchFiles::new(place));
    let order = |offset: u64| json!({ "pattern": "hit", "limit": 2000, "offset": offset });
    let first = fitting(&search.run(order(0)).await);
    assert_eq!((&first["truncated"], &first["limit_reason"]), (&json!(true), &json!("result_size")));
    let (mut seen, mut next) = (BTreeSet::new(), Some(0));
    while let Some(offset) = next {
        let page = search.call(order(offset)).await;
        let mut file = "";
        for line in text_of(&page, "matches_text").lines() {
            match line.strip_prefix("  ") {
                Some(line) => {
                    assert!(seen.insert((file.to_owned(), line.to_owned())), "{line} is shown twice");
                }
                None => file = line,
            }
        }
        next = page["next_offset"].as_u64();
    }
    assert_eq!(seen.len(), 1800, "all but those of the key");
}
