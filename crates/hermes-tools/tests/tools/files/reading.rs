//! `read_file`.

use hermes_model::ToolStatus;
use hermes_tools::Moment;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;

use super::{Tools, error, text};
use crate::fixture::{Fixture, SECRET};

crate::everywhere!(
    lines_are_numbered_and_counted,
    pages_go_on_where_the_last_ended,
    odd_bytes_and_line_ends_become_text,
    what_is_no_text_is_refused_with_a_hint,
    a_missing_file_brings_similar_names,
    the_same_part_is_shown_once,
    secrets_are_masked_and_files_of_secrets_refused,
    notebooks_are_shown_as_cells,
);

async fn lines_are_numbered_and_counted(fixture: &Fixture) {
    let tools = Tools::new(fixture).await;
    tools.sh("printf 'one\\n\\nthree' > a; : > empty; ln -s a link").await;
    let whole = tools.get("a").await;
    assert_eq!(
        whole,
        json!({ "content": "1|one\n2|\n3|three", "total_lines": 3, "file_size": 10, "truncated": false,
                "is_binary": false, "is_image": false })
    );
    assert_eq!(tools.get("~/w/link").await["status"], "unchanged", "it is the same file");
    let empty = tools.get("empty").await;
    assert_eq!((empty["content"].as_str(), empty["total_lines"].as_u64()), (Some(""), Some(0)));
    let beyond = tools.read.call(json!({ "path": "a", "offset": 9 })).await;
    assert!(text(&beyond, "hint").contains("only 3 lines"), "{beyond}");
}

async fn pages_go_on_where_the_last_ended(fixture: &Fixture) {
    let tools = Tools::new(fixture).await;
    tools.sh("seq 1 30000 > n; head -c 3000 /dev/zero | tr '\\0' x > long; seq 1 9 >> long").await;
    let first = tools.get("n").await;
    assert_eq!((first["total_lines"].as_u64(), first["next_offset"].as_u64()), (Some(30_000), Some(501)));
    assert_eq!((first["truncated_by"].as_str(), first["truncated"].as_bool()), (Some("lines"), Some(true)));
    assert!(text(&first, "content").ends_with("\n500|500"));
    let next = tools.read.call(json!({ "path": "n", "offset": 29_999, "limit": 5 })).await;
    assert_eq!(
        (next["content"].as_str(), next["truncated"].as_bool()),
        (Some("29999|29999\n30000|30000"), Some(false))
    );
    let long = tools.read.call(json!({ "path": "long", "limit": 1 })).await;
    assert_eq!(text(&long, "content").len(), 2 + 2000 + "... [truncated]".len());
}

async fn odd_bytes_and_line_ends_become_text(fixture: &Fixture) {
    let tools = Tools::new(fixture).await;
    tools.sh("printf '\\357\\273\\277caf\\303\\251\\r\\nx\\377y\\r\\n' > odd").await;
    assert_eq!(text(&tools.get("odd").await, "content"), "1|café\n2|x\u{fffd}y");
}

async fn what_is_no_text_is_refused_with_a_hint(fixture: &Fixture) {
    let tools = Tools::new(fixture).await;
    tools.sh("printf 'a\\0b' > data; mkfifo pipe; mkdir -p sub; ln -s /dev/zero zero; ln -s /proc/self/environ env").await;
    let binary = tools.read.run(json!({ "path": "data" })).await;
    assert_eq!(binary.status, ToolStatus::Failed);
    assert_eq!(tools.get("data").await["is_binary"], true);
    tools.sh("printf '\\211PNG\\r\\n\\032\\n\\0\\0' > picture; cp picture a.PNG; echo text > b.png; echo text > c.zip").await;
    for picture in ["picture", "a.PNG"] {
        let image = tools.get(picture).await;
        assert!(image["is_image"] == true && error(&image).contains("vision_analyze"), "{image}");
    }
    for misnamed in ["b.png", "c.zip"] {
        assert_eq!(tools.get(misnamed).await["content"], "1|text", "{misnamed}");
    }
    assert!(error(&tools.get("sub").await).contains("target=\"files\""));
    for path in ["pipe", "zero", "env", "/dev/zero", "/proc/1/environ", "/proc/self/fd/0"] {
        let result = tools.get(path).await;
        assert!(result["error"].is_string(), "{path}: {result}");
    }
}

async fn a_missing_file_brings_similar_names(fixture: &Fixture) {
    let tools = Tools::new(fixture).await;
    tools.sh("touch Config.toml config.yaml other .env").await;
    let missing = tools.get("config.toml").await;
    let similar: Vec<&str> =
        missing["similar_files"].as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect();
    assert_eq!(similar, [tools.at("Config.toml"), tools.at("config.yaml")]);
    assert!(tools.get("nowhere/x").await["similar_files"].is_null());
}

async fn the_same_part_is_shown_once(fixture: &Fixture) {
    let tools = Tools::new(fixture).await;
    tools.sh("echo one > a").await;
    assert!(tools.get("a").await["content"].is_string());
    let again = tools.get("a").await;
    assert_eq!(
        (again["status"].as_str(), again["content_returned"].as_bool()),
        (Some("unchanged"), Some(false))
    );
    assert!(error(&tools.get("a").await).starts_with("BLOCKED"));
    let stub = tools.put("b", &again.to_string()).await;
    assert!(error(&stub).contains("not the file's content"), "{stub}");
    // Same second, same size: another state all the same.
    tools.sh("echo two > a").await;
    assert_eq!(text(&tools.get("a").await, "content"), "1|two");
    assert_eq!(tools.get("a").await["status"], "unchanged");
    tools.read.tool.tell("conversation", Moment::HistoryShortened);
    assert_eq!(text(&tools.get("a").await, "content"), "1|two", "the model has lost it");
}

async fn secrets_are_masked_and_files_of_secrets_refused(fixture: &Fixture) {
    let tools = Tools::new(fixture).await;
    tools.sh(&format!("echo 'key = {SECRET}' > a; echo A=1 > .env; ln -s .env innocent; mkdir -p ~/.ssh; echo x > ~/.ssh/id; ln -s ~/.ssh dir")).await;
    let shown = tools.get("a").await;
    assert!(text(&shown, "content").starts_with("1|key = «redacted:"), "{shown}");
    assert!(text(&shown, "hint").contains("never write it back"));
    for path in [".env", "innocent", "~/.ssh/id", "dir/id"] {
        assert!(error(&tools.get(path).await).contains("logins or keys"), "{path}");
    }
    // A key that began above the first line is still one.
    let key = format!(
        "-----BEGIN RSA PRIVATE KEY-----\n{}-----END RSA PRIVATE KEY-----\n",
        "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWY=\n".repeat(20)
    );
    tools.put("notes.txt", &key).await;
    let part = tools.read.call(json!({ "path": "notes.txt", "offset": 5, "limit": 3 })).await;
    assert_eq!(part["content"], "5|\n6|\n7|");
}

async fn notebooks_are_shown_as_cells(fixture: &Fixture) {
    let tools = Tools::new(fixture).await;
    let notebook = json!({ "cells": [{ "cell_type": "code", "source": ["x = 1\n", "x"], "outputs": [] }] });
    tools.put("n.ipynb", &notebook.to_string()).await;
    let shown = tools.get("n.ipynb").await;
    assert_eq!(text(&shown, "content"), "1|# --- cell 1 (code) ---\n2|x = 1\n3|x");
}

#[test]
fn any_page_of_any_file_is_what_its_lines_are() {
    let fixture = Fixture::local();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let tools = runtime.block_on(Tools::new(&fixture));
    let file = tools.dir.join("f");
    let line = prop_oneof![
        Just(Vec::new()),
        proptest::collection::vec(any::<u8>().prop_filter("text", |b| *b >= 0x20), 0..30)
    ];
    let cases = (proptest::collection::vec(line, 0..30), any::<bool>(), any::<bool>(), 1u64..12, 1u64..12);
    let mut runner = TestRunner::new(Config { cases: 150, failure_persistence: None, ..Config::default() });
    let checked = runner.run(&cases, |(lines, crlf, last, offset, limit)| {
        let end: &[u8] = if crlf { b"\r\n" } else { b"\n" };
        let mut bytes = lines.join(end);
        if last && !lines.is_empty() {
            bytes.extend_from_slice(end);
        }
        std::fs::write(&file, &bytes).unwrap();
        tools.read.tool.tell("conversation", Moment::HistoryShortened);
        let shown =
            runtime.block_on(tools.read.call(json!({ "path": "f", "offset": offset, "limit": limit })));
        // A last line without anything in it is no line.
        let mut model: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        if model.last().is_some_and(|line| line.is_empty()) {
            model.pop();
        }
        let expected: Vec<String> = model
            .iter()
            .enumerate()
            .skip(offset as usize - 1)
            .take(limit as usize)
            .map(|(n, line)| {
                let line = line.strip_suffix(b"\r").unwrap_or(line);
                let text = String::from_utf8_lossy(line);
                format!("{}|{}", n + 1, if n == 0 { text.trim_start_matches('\u{feff}') } else { &text })
            })
            .collect();
        prop_assert_eq!(text(&shown, "content"), expected.join("\n"));
        prop_assert_eq!(shown["total_lines"].as_u64(), Some(model.len() as u64));
        prop_assert_eq!(shown["file_size"].as_u64(), Some(bytes.len() as u64));
        let more = offset + limit <= model.len() as u64;
        prop_assert_eq!(shown["truncated"].as_bool(), Some(more));
        prop_assert_eq!(shown["next_offset"].as_u64(), more.then_some(offset + limit));
        Ok(())
    });
    checked.unwrap();
}
