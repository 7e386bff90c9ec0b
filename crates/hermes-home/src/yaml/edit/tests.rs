//! What an edit may touch, by example and by random files.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;

use super::*;
use proptest::prelude::*;
use serde_json::json;

fn path(dotted: &str) -> Vec<&str> {
    dotted.split('.').collect()
}

fn set_to(text: &str, key: &str, value: &NewValue) -> String {
    set(text, &path(key), value).unwrap()
}

#[test]
fn only_the_value_changes() {
    let text = "# top\nterminal:   # where\n  timeout:   60   # seconds\n\n  cwd: '.'\nmodel: \"a\"\n";
    assert_eq!(
        set_to(text, "terminal.timeout", &json!(90)),
        "# top\nterminal:   # where\n  timeout:   90   # seconds\n\n  cwd: '.'\nmodel: \"a\"\n"
    );
    assert_eq!(set_to("cwd: '.'  # x\n", "cwd", &json!("it's")), "cwd: 'it''s'  # x\n");
    assert_eq!(set_to("m: \"a\"\n", "m", &json!("b")), "m: \"b\"\n");
}

#[test]
fn a_missing_key_is_added_to_its_section() {
    let text = "terminal:\n    backend: local\n    # timeout: 60\nagent:\n  max_turns: 5\n";
    assert_eq!(
        set_to(text, "terminal.timeout", &json!(9)),
        "terminal:\n    backend: local\n    timeout: 9\n    # timeout: 60\nagent:\n  max_turns: 5\n"
    );
    assert_eq!(set_to("a: 1", "b.c", &json!("x")), "a: 1\nb:\n  c: x\n");
    assert_eq!(set_to("", "b.c", &json!(true)), "b:\n  c: true\n");
    assert_eq!(set_to("# hi\n", "b", &json!([])), "# hi\nb: []\n");
    assert_eq!(set_to("a:\nb: 1\n", "a.x", &json!(1)), "a:\n  x: 1\nb: 1\n");
    assert_eq!(set_to("a: ~  # c\nb: 1\n", "a.x", &json!(1)), "a:   # c\n  x: 1\nb: 1\n");
    assert_eq!(set_to("a: {}\n", "a.x.y", &json!(1)), "a: {x: {y: 1}}\n");
    assert_eq!(set_to("a: {b: 1}\n", "a.x", &json!("p q")), "a: {b: 1, x: p q}\n");
    assert_eq!(set_to("a:\r\n  b: 1\r\nc: 2\r\n", "a.d", &json!(3)), "a:\r\n  b: 1\r\n  d: 3\r\nc: 2\r\n");
}

#[test]
fn an_empty_value_is_filled_in_behind_the_colon() {
    assert_eq!(set_to("a:\nb: 1\n", "a", &json!(2)), "a: 2\nb: 1\n");
    assert_eq!(set_to("a: # later\nb: 1\n", "a", &json!(2)), "a: 2 # later\nb: 1\n");
    assert_eq!(set_to("a:", "a", &json!("v")), "a: v");
}

#[test]
fn blocks_give_way_to_one_line() {
    let text = "a:\n  v: # mounts\n    - x\n    - y\n  # next\n  w: 1\n";
    assert_eq!(set_to(text, "a.v", &json!(["z"])), "a:\n  v: [\"z\"] # mounts\n  # next\n  w: 1\n");
    assert_eq!(set_to("a:\n- x\n- y\nb: 1\n", "a", &json!([])), "a: []\nb: 1\n");
    assert_eq!(set_to("a: |\n  one\n  two\nb: 1\n", "a", &json!("t")), "a: t\nb: 1\n");
    assert_eq!(set_to("a: [1,\n  2]\nb: 1\n", "a", &json!([3])), "a: [3]\nb: 1\n");
    assert_eq!(set_to("a: [1, 2]\n", "a.1", &json!(5)), "a: [1, 5]\n");
}

#[test]
fn what_is_shared_is_not_touched() {
    assert!(matches!(set("a: &x 1\nb: *x\n", &["a"], &json!(2)), Err(EditError::Shared { line: 1, .. })));
    assert_eq!(set_to("a: &x 1\nb: *x\n", "b", &json!(2)), "a: &x 1\nb: 2\n");
    assert!(matches!(set("a: &x {k: 1}\nb: *x\n", &["b", "k"], &json!(2)), Err(EditError::Shared { .. })));
    let merged = "base: &x\n  k: 1\nb:\n  <<: *x\n";
    assert_eq!(set_to(merged, "b.k", &json!(2)), "base: &x\n  k: 1\nb:\n  <<: *x\n  k: 2\n");
    assert!(matches!(unset("a: &x 1\nb: *x\n", &["a"]), Err(EditError::Shared { .. })));
}

#[test]
fn a_scalar_in_the_way_is_named() {
    let err = set("model: gpt\n", &["model", "provider"], &json!("x")).unwrap_err();
    assert_eq!(err, EditError::NotAMapping { key: "model".into(), line: 1, found: "text" });
    assert!(matches!(set("- a\n", &["x"], &json!(1)), Err(EditError::NotAMapping { .. })));
    assert!(matches!(set("a: [1]\n", &["a", "4"], &json!(1)), Err(EditError::NoSuchEntry { .. })));
}

#[test]
fn unset_removes_the_line_and_what_it_leaves_empty() {
    let off = |text: &str, key: &str| unset(text, &path(key)).unwrap();
    assert_eq!(off("a: 1\nb: 2 # x\nc: 3\n", "b").unwrap(), "a: 1\nc: 3\n");
    assert_eq!(off("a:\n  b: 1\nc: 3\n", "a.b").unwrap(), "c: 3\n");
    assert_eq!(off("a:\n  b:\n    - 1\n    - 2\n  d: 1\n", "a.b").unwrap(), "a:\n  d: 1\n");
    assert_eq!(off("a: {b: 1, c: 2}\n", "a.b").unwrap(), "a: {c: 2}\n");
    assert_eq!(off("a: {b: 1, c: 2}\n", "a.c").unwrap(), "a: {b: 1}\n");
    assert_eq!(off("a: 1\n", "b"), None);
    assert_eq!(off("", "b"), None);
    assert_eq!(off("a: 1", "a").unwrap(), "");
}

/// Lines of a file as people write them, with the dotted keys that hold scalars.
fn random_file() -> impl Strategy<Value = (String, Vec<String>)> {
    let scalar = prop_oneof![
        "[a-z]{1,8}",
        "[0-9]{1,4}",
        "'[a-z #:]{0,8}'",
        "\"[a-z #:]{0,8}\"",
        Just("yes".to_owned()),
        Just(String::new()),
        Just("[a, 'b, c', 3]".to_owned()),
        Just("{x: 1, y: [2]}".to_owned()),
        Just("|\n      text # no comment\n      more".to_owned()),
        Just("\n    - one # first\n    - two".to_owned()),
        Just("äöü → 漢字".to_owned()),
    ];
    let entry = (
        scalar,
        prop_oneof![Just(""), Just("  # note: x")],
        prop_oneof![Just(""), Just("\n"), Just("  # own line\n")],
    );
    let section = (proptest::collection::vec(entry, 1..5), 1..4usize);
    proptest::collection::vec(section, 1..5).prop_map(|sections| {
        let (mut text, mut keys) = ("# made by hand\n".to_owned(), Vec::new());
        for (s, (entries, blanks)) in sections.iter().enumerate() {
            let _ = writeln!(text, "section{s}:{}", " ".repeat(blanks - 1));
            for (k, (value, comment, between)) in entries.iter().enumerate() {
                let block = value.contains('\n');
                let gap = if value.starts_with('\n') || value.is_empty() { "" } else { " " };
                let tail = if block { "" } else { comment };
                let _ = write!(text, "  key{k}:{gap}{value}{tail}\n{between}");
                keys.push(format!("section{s}.key{k}"));
            }
        }
        (text, keys)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn set_changes_only_its_own_lines((text, keys) in random_file(), pick in any::<prop::sample::Index>(), value in "[ -~]{0,12}") {
        let key = pick.get(&keys);
        let edited = set(&text, &path(key), &json!(value)).map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
        let doc = parse(&edited).map_err(|e| TestCaseError::fail(e.to_string()))?;
        prop_assert_eq!(to_json(&doc, doc.get(&path(key))), json!(value));
        // Every line that is not part of the old value is still there, in order.
        let before = parse(&text).map_err(|e| TestCaseError::fail(e.to_string()))?;
        let node = before.get(&path(key)).ok_or_else(|| TestCaseError::fail("lost"))?;
        let key_line = text[..node.span.start].trim_end().rfind('\n').map_or(0, |i| i + 1);
        prop_assert!(edited.starts_with(&text[..key_line.min(node.span.start)]), "{}\n--\n{}", text, edited);
        let rest = &text[(node.end().max(node.span.start))..];
        let rest = rest.find('\n').map_or("", |i| &rest[i..]);
        prop_assert!(edited.ends_with(rest), "{}\n--\n{}", text, edited);
    }

    #[test]
    fn a_new_key_adds_lines_and_removes_none((text, _) in random_file(), value in "[ -~]{0,12}") {
        let edited = set(&text, &["section0", "fresh"], &json!(value)).map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
        let mut lines = edited.lines();
        for line in text.lines() {
            prop_assert!(lines.any(|l| l == line), "lost {:?}\n{}\n--\n{}", line, text, edited);
        }
        prop_assert_eq!(unset(&edited, &["section0", "fresh"]).map_err(|e| TestCaseError::fail(e.to_string()))?, Some(text));
    }

    #[test]
    fn random_text_is_edited_or_refused_but_never_panics(text in "[ \\n\\-:#'\"&*|>\\[\\]{},a-c0-9é]{0,60}", key in "[abc](\\.[abc0])?") {
        let _ = set(&text, &path(&key), &json!("v"));
        let _ = unset(&text, &path(&key));
    }
}
