//! `search_files`.

use std::collections::BTreeSet;
use std::process::Command;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use super::{Tools, error, text};
use crate::fixture::{Fixture, SECRET};

crate::everywhere!(
    lines_come_with_totals_and_pages,
    files_are_found_by_name_newest_first,
    counts_and_names_of_files_with_matches,
    secrets_do_not_show,
    mistakes_are_explained,
    totals_are_right_whatever_page_is_asked_for,
);

async fn totals_are_right_whatever_page_is_asked_for(fixture: &Fixture) {
    let tools = Tools::new(fixture).await;
    tools.sh("for n in $(seq 1 67); do printf 'one hit\\nno\\nanother hit\\n' > f$n; done; for n in $(seq 1 200); do echo hit $n; done > z").await;
    for (limit, offset) in [(50, 0), (3, 2), (1, 300), (400, 0)] {
        let search = json!({ "pattern": "hit", "limit": limit, "offset": offset });
        let found = tools.search.call(search).await;
        assert_eq!(
            (&found["total_count"], &found["total_is_at_least"]),
            (&json!(334), &Value::Null),
            "{limit}"
        );
        assert_eq!(found["truncated"] == true, limit < 400, "{found}");
    }
    let counts = tools.search.call(json!({ "pattern": "hit", "output_mode": "count", "limit": 5 })).await;
    assert_eq!((&counts["total_count"], counts["counts"].as_object().unwrap().len()), (&json!(334), 5));
    let files = tools.search.call(json!({ "pattern": "hit", "output_mode": "files_only", "limit": 5 })).await;
    assert_eq!((&files["total_count"], &files["next_offset"]), (&json!(68), &json!(5)));
}

async fn lines_come_with_totals_and_pages(fixture: &Fixture) {
    let tools = Tools::new(fixture).await;
    tools.sh("mkdir -p s/t .h; for n in 1 2 3 4 5 6 7; do echo hit $n; echo miss; done > s/a.txt; echo hit 8 > s/t/b.py; echo hit > .h/x; echo hit > s/i; echo i > s/.ignore").await;
    let all = tools.search.call(json!({ "pattern": "hit \\d", "path": "s" })).await;
    assert_eq!((all["total_count"].as_u64(), &all["truncated"]), (Some(8), &Value::Null), "{all}");
    assert_eq!(all["matches_format"], "path-grouped");
    let grouped = text(&all, "matches_text");
    assert!(
        grouped.starts_with("s/a.txt\n  1: hit 1\n  3: hit 2\n") && grouped.ends_with("s/t/b.py\n  1: hit 8"),
        "{grouped}"
    );
    let page = tools.search.call(json!({ "pattern": "hit", "path": "s", "limit": 3, "offset": 6 })).await;
    assert_eq!((page["total_count"].as_u64(), &page["truncated"]), (Some(8), &Value::Null), "{page}");
    assert_eq!(page["matches"][1], json!({ "path": "s/t/b.py", "line": 1, "content": "hit 8" }));
    let first = tools.search.call(json!({ "pattern": "hit", "path": "s", "limit": 3 })).await;
    assert_eq!((&first["truncated"], &first["next_offset"]), (&json!(true), &json!(3)));
    let near = tools
        .search
        .call(json!({ "pattern": "hit 4", "path": "s", "context": 1, "file_glob": "*.txt" }))
        .await;
    assert_eq!(near["total_count"], 1);
    let lines: Vec<u64> =
        near["matches"].as_array().unwrap().iter().map(|hit| hit["line"].as_u64().unwrap()).collect();
    assert_eq!(lines, [6, 7, 8]);
    let long = format!("hit{}", "é".repeat(600));
    tools.put("long", &long).await;
    let cut = tools.search.call(json!({ "pattern": "hité", "path": "long" })).await;
    assert_eq!(text(&cut["matches"][0], "content").chars().count(), 501);
}

async fn files_are_found_by_name_newest_first(fixture: &Fixture) {
    let tools = Tools::new(fixture).await;
    tools.sh("mkdir -p d .github; touch -d '2020-01-01' old.py; touch -d '2022-01-01' d/mid.py; touch -d '2024-01-01' new.py; touch a.txt .github/ci.yml").await;
    let found = tools.search.call(json!({ "pattern": "*.py", "target": "files" })).await;
    assert_eq!(
        (&found["files"], &found["total_count"]),
        (&json!(["new.py", "d/mid.py", "old.py"]), &json!(3))
    );
    let page =
        tools.search.call(json!({ "pattern": "*.py", "target": "files", "limit": 1, "offset": 1 })).await;
    assert_eq!(
        (&page["files"], &page["total_count"], &page["next_offset"]),
        (&json!(["d/mid.py"]), &json!(3), &json!(2))
    );
    let bare =
        tools.search.call(json!({ "pattern": "mid.py", "target": "files", "path": tools.at(".") })).await;
    assert!(
        bare["files"][0].as_str().unwrap().ends_with("/w/./d/mid.py")
            || bare["files"][0] == tools.at("d/mid.py"),
        "{bare}"
    );
    let hidden = tools.search.call(json!({ "pattern": ".github/*", "target": "files" })).await;
    assert_eq!(hidden["files"], json!([".github/ci.yml"]));
}

async fn counts_and_names_of_files_with_matches(fixture: &Fixture) {
    let tools = Tools::new(fixture).await;
    tools.sh("printf 'x\\nx\\n' > a; echo x > b; echo y > c").await;
    let counts = tools.search.call(json!({ "pattern": "x", "output_mode": "count" })).await;
    assert_eq!((&counts["counts"], &counts["total_count"]), (&json!({ "a": 2, "b": 1 }), &json!(3)));
    let files = tools.search.call(json!({ "pattern": "x", "output_mode": "files_only", "limit": 1 })).await;
    assert_eq!((&files["files"], &files["truncated"]), (&json!(["a"]), &json!(true)));
    for expected in [Value::Null, Value::Null] {
        let again = tools.search.call(json!({ "pattern": "y" })).await;
        assert_eq!(again["_warning"], expected);
    }
    assert!(tools.search.call(json!({ "pattern": "y" })).await["_warning"].is_string());
    assert!(error(&tools.search.call(json!({ "pattern": "y" })).await).starts_with("BLOCKED"));
    tools.sh("echo y >> c").await;
    assert_eq!(
        tools.search.call(json!({ "pattern": "y" })).await["total_count"],
        2,
        "there is something new"
    );
}

async fn secrets_do_not_show(fixture: &Fixture) {
    let tools = Tools::new(fixture).await;
    tools.sh(&format!("echo 'find {SECRET}' > a; echo 'find me' > server.key; echo 'find X' > .env")).await;
    let found = tools.search.call(json!({ "pattern": "find" })).await;
    assert_eq!((&found["total_count"], &found["_omitted"]), (&json!(1), &json!(1)), "{found}");
    assert!(
        text(&found["matches"][0], "content").starts_with("find «redacted:")
            && !found.to_string().contains(SECRET)
    );
    for path in [".env", "server.key", "/dev", "/proc"] {
        assert!(
            tools.search.call(json!({ "pattern": "find", "path": path })).await["error"].is_string(),
            "{path}"
        );
    }
    let names = tools.search.call(json!({ "pattern": "*.key", "target": "files" })).await;
    assert_eq!((&names["files"], &names["_omitted"]), (&json!([]), &json!(1)));
}

async fn mistakes_are_explained(fixture: &Fixture) {
    let tools = Tools::new(fixture).await;
    tools.sh("echo x > a").await;
    assert!(error(&tools.search.call(json!({ "pattern": "(" })).await).contains("pattern"));
    assert!(error(&tools.search.call(json!({ "pattern": "a\\nb" })).await).contains("one by one"));
    assert!(error(&tools.search.call(json!({ "pattern": "x", "path": "gone" })).await).contains("\"gone\""));
    assert!(error(&tools.search.call(json!({ "pattern": "[", "target": "files" })).await).contains("glob"));
}

/// A regular expression that means the same to grep and to us.
fn pattern() -> impl Strategy<Value = String> {
    let atom = prop_oneof![
        4 => "[abc]".prop_map(|c| c),
        1 => Just(".".to_owned()),
        1 => Just("[ab]".to_owned()),
        1 => Just("[^a]".to_owned()),
        1 => Just("\\.".to_owned()),
        1 => Just(" ".to_owned()),
    ];
    let item = (atom, prop_oneof![4 => Just(""), 1 => Just("*"), 1 => Just("+"), 1 => Just("?")])
        .prop_map(|(atom, often)| format!("{atom}{often}"));
    let branch = (prop::bool::weighted(0.2), prop::collection::vec(item, 1..4), prop::bool::weighted(0.2))
        .prop_map(|(start, items, end)| {
            format!("{}{}{}", if start { "^" } else { "" }, items.concat(), if end { "$" } else { "" })
        });
    prop::collection::vec(branch, 1..3).prop_map(|branches| branches.join("|"))
}

/// Paths and line numbers of a result.
fn found(value: &Value) -> BTreeSet<(String, u64)> {
    if let Some(hits) = value["matches"].as_array() {
        return hits
            .iter()
            .map(|hit| (text(hit, "path").to_owned(), hit["line"].as_u64().unwrap()))
            .collect();
    }
    let mut path = "";
    let mut found = BTreeSet::new();
    for line in text(value, "matches_text").lines() {
        match line.strip_prefix("  ") {
            Some(hit) => {
                found.insert((path.to_owned(), hit.split(':').next().unwrap().parse().unwrap()));
            }
            None => path = line,
        }
    }
    found
}

#[test]
fn it_finds_what_grep_finds() {
    let fixture = Fixture::local();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let tools = runtime.block_on(Tools::new(&fixture));
    let file = prop::collection::vec("[abc. ]{0,8}", 0..12);
    let tree = prop::collection::btree_map("([ab]/){0,2}[cd]{1,2}\\.(txt|py)", file, 1..8);
    let mut runner = TestRunner::new(Config { cases: 120, failure_persistence: None, ..Config::default() });
    let checked = runner.run(&(tree, pattern()), |(tree, pattern)| {
        let dir = tools.dir.join("tree");
        let _ = std::fs::remove_dir_all(&dir);
        for (name, lines) in &tree {
            let path = dir.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, lines.join("\n") + "\n").unwrap();
        }
        for glob in [None, Some("*.py")] {
            let mut grep = Command::new("grep");
            grep.arg("-rnE").args(glob.map(|glob| format!("--include={glob}"))).args(["-e", &pattern, "."]);
            let printed = grep.current_dir(&dir).env("LC_ALL", "C").output().unwrap();
            let printed = String::from_utf8(printed.stdout).unwrap();
            let expected: BTreeSet<(String, u64)> = printed
                .lines()
                .map(|line| {
                    let mut parts = line.splitn(3, ':');
                    let path = parts.next().unwrap().trim_start_matches("./").to_owned();
                    (format!("tree/{path}"), parts.next().unwrap().parse().unwrap())
                })
                .collect();
            let mut search = json!({ "pattern": pattern, "path": "tree", "limit": 2000 });
            if let Some(glob) = glob {
                search["file_glob"] = glob.into();
            }
            tools.search.tool.tell("conversation", hermes_tools::Moment::TurnBegins);
            let result = runtime.block_on(tools.search.call(search.clone()));
            prop_assert_eq!(result["total_count"].as_u64(), Some(expected.len() as u64), "{}", result);
            prop_assert_eq!(&found(&result), &expected);
            // Pages put together are the whole.
            let mut together = BTreeSet::new();
            let mut offset = 0;
            loop {
                search["limit"] = 3.into();
                search["offset"] = offset.into();
                let page = runtime.block_on(tools.search.call(search.clone()));
                let part = found(&page);
                prop_assert!(part.len() <= 3 && part.is_disjoint(&together));
                together.extend(part);
                match page["next_offset"].as_u64() {
                    Some(next) => offset = next,
                    None => break,
                }
            }
            prop_assert_eq!(&together, &expected);
        }
        Ok(())
    });
    checked.unwrap();
}
