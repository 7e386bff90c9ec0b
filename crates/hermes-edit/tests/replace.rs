//! What replacing does, seen from outside.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use hermes_edit::replace::{Occurrences, ReplaceError, Replaced, Strategy, replace};

fn one(text: &str, old: &str, new: &str) -> Replaced {
    replace(text, old, new, Occurrences::Only).unwrap_or_else(|error| panic!("{error}"))
}

fn refused(text: &str, old: &str, new: &str) -> ReplaceError {
    replace(text, old, new, Occurrences::Only).expect_err("must be refused")
}

#[track_caller]
fn check(text: &str, old: &str, new: &str, strategy: Strategy, expected: &str) {
    let replaced = one(text, old, new);
    assert_eq!((replaced.strategy, replaced.count), (strategy, 1));
    assert_eq!(replaced.text, expected);
}

#[test]
fn overlapping_matches_are_counted_once() {
    let all = replace("aaaa", "aa", "b", Occurrences::All).unwrap();
    assert_eq!((all.text.as_str(), all.count), ("bb", 2));
    assert_eq!(one("aaa", "aa", "b").text, "ba");
}

#[test]
fn several_places_are_an_error_that_names_the_lines() {
    let error = refused("x\ny\nx\n\nx\n", "x", "z");
    assert_eq!(error, ReplaceError::Several { strategy: Strategy::Exact, lines: vec![1, 3, 5] });
    assert!(error.to_string().contains("3 times") && error.to_string().contains("1, 3, 5"), "{error}");
    let many = refused(&"x\n".repeat(30), "x", "z").to_string();
    assert!(many.contains("9, 10 and 20 more"), "{many}");
}

#[test]
fn empty_and_equal_texts_are_refused() {
    assert_eq!(refused("a", "", "b"), ReplaceError::EmptyOld);
    assert_eq!(refused("a", "a", "a"), ReplaceError::Same);
    assert!(matches!(refused("a\n\nb", "   ", "c"), ReplaceError::NotFound { .. }));
}

#[test]
fn lines_are_found_without_their_indentation_and_get_it_back() {
    check(
        "class A:\n    def f(self):\n        return 1\n",
        "def f(self):\n    return 1",
        "def f(self):\n    if x:\n        return 2\n    return 1",
        Strategy::LineTrimmed,
        "class A:\n    def f(self):\n        if x:\n            return 2\n        return 1\n",
    );
}

#[test]
fn tabs_of_the_file_are_kept() {
    check(
        "func f() {\n\tif a {\n\t\tb()\n\t}\n}\n",
        "if a {\n    b()\n}",
        "if a {\n    c()\n}",
        Strategy::LineTrimmed,
        "func f() {\n\tif a {\n\t\tc()\n\t}\n}\n",
    );
}

#[test]
fn blanks_after_a_match_stay() {
    check("f(a,   b)   # why\n", "f(a, b)", "g(a)", Strategy::WhitespaceNormalized, "g(a)   # why\n");
    check("x  =  1 ;y", "x = 1", "x = 2", Strategy::WhitespaceNormalized, "x = 2 ;y");
}

#[test]
fn windows_line_ends_stay() {
    check("a\r\nb\r\nc\r\n", "a\nb", "a\nx\ny", Strategy::Exact, "a\r\nx\r\ny\r\nc\r\n");
    check("a\nb\nc\n", "a\r\nb", "a\r\nx", Strategy::Exact, "a\nx\nc\n");
    check("a\r\nb\nc\r\n", "b", "d", Strategy::Exact, "a\r\nd\nc\r\n");
    check("if a:\r\n    b\r\n", "b\n", "c\nd\n", Strategy::Exact, "if a:\r\n    c\r\nd\r\n");
    check("\ta \r\n\tb\r\n", "a\nb\n", "c\n", Strategy::LineTrimmed, "\tc\r\n");
    check("one", "one", "one\r\ntwo", Strategy::Exact, "one\r\ntwo");
}

#[test]
fn line_ends_can_be_changed_on_purpose() {
    let all = replace("a\r\nb\r\n", "\r\n", "\n", Occurrences::All).unwrap();
    assert_eq!((all.text.as_str(), all.count), ("a\nb\n", 2));
}

#[test]
fn escapes_written_out_are_understood() {
    check("a\n\tb\nc\n", "a\\n\\tb", "a\\n\\td", Strategy::EscapeNormalized, "a\n\td\nc\n");
    // The new text has real lines, so its `\n` is meant as it is.
    check("a\nb\n", "a\\nb", "print('\\n')\nb", Strategy::EscapeNormalized, "print('\\n')\nb\n");
}

#[test]
fn written_tabs_become_tabs_only_where_the_file_has_them() {
    check("\ta\n", "  a", "\\tb", Strategy::LineTrimmed, "\tb\n");
    check("    a\n    b\n", "a\nb", "f('\\t')\nb", Strategy::LineTrimmed, "    f('\\t')\n    b\n");
}

#[test]
fn escaped_quotes_that_the_file_does_not_have_are_refused() {
    let error = refused("x\n  say('hi')  now\n", "say(\\'hi\\') now", "say(\\'ho\\') now");
    assert!(matches!(error, ReplaceError::EscapeDrift { mark: "\\'", line: 2 }), "{error:?}");
    // Where the file has them, they are right.
    check(
        "  a = 'it\\'s'  \n",
        "a  = 'it\\'s'",
        "b = 'it\\'s'",
        Strategy::WhitespaceNormalized,
        "  b = 'it\\'s'  \n",
    );
}

#[test]
fn typography_of_the_file_survives_in_what_does_not_change() {
    check(
        "Say “hello” — it’s nice…\n",
        "Say \"hello\" -- it's nice...",
        "Say \"goodbye\" -- it's nice...",
        Strategy::UnicodeNormalized,
        "Say “goodbye” — it’s nice…\n",
    );
    check(
        "a\u{a0}b\n    c – d\n",
        "a b\nc - d",
        "a b\nc - e",
        Strategy::UnicodeNormalized,
        "a\u{a0}b\n    c – e\n",
    );
}

#[test]
fn a_block_is_found_by_its_ends() {
    let text = "fn a() {\n    let x = compute(1, 2);\n    log(x);\n}\nfn b() {\n}\n";
    check(
        text,
        "fn a() {\n    let y = compute(1, 3);\n    log(y);\n}",
        "fn a() {\n    log(0);\n}",
        Strategy::BlockAnchor,
        "fn a() {\n    log(0);\n}\nfn b() {\n}\n",
    );
}

#[test]
fn half_of_the_lines_are_enough_if_nothing_else_is_near() {
    let text = "alpha = load_configuration(path)\nbeta = 1\ngamma = 2\n\nzzz\n";
    let replaced = one(text, "alpha = load_configurations(path)\nsomething else", "x");
    assert_eq!(replaced.strategy, Strategy::ContextAware);
    assert_eq!(replaced.text, "x\ngamma = 2\n\nzzz\n");
}

#[test]
fn a_close_runner_up_stops_the_guess() {
    let text = "value_one = compute(a)\nother\nvalue_two = compute(a)\n";
    let error = refused(text, "value_six = compute(a)", "x");
    assert_eq!(error, ReplaceError::TooClose { best: 1, other: 3 });
    assert!(
        replace(text, "value_six = compute(a)", "x", Occurrences::All).is_err(),
        "guesses are never repeated"
    );
}

#[test]
fn what_is_not_there_comes_with_suggestions() {
    let text: String =
        (0..40).map(|n| format!("line number {n}\n")).collect::<Vec<_>>().concat() + "fn unusual_name() {\n";
    let error = refused(&text, "fn unusual_thing(a: u32) -> Result {\n    body\n}", "x");
    let ReplaceError::NotFound { similar } = &error else { panic!("{error:?}") };
    assert!(!similar.is_empty() && similar.len() <= 3);
    assert_eq!(similar[0].line, 39);
    assert_eq!(similar[0].text, "line number 38\nline number 39\nfn unusual_name() {");
    assert!(error.to_string().contains("41|fn unusual_name() {"), "{error}");
    assert_eq!(refused("", "x", "y"), ReplaceError::NotFound { similar: Vec::new() });
}

#[test]
fn the_last_line_stays_without_line_end() {
    check("a\n    b", "b  \n", "c\n", Strategy::LineTrimmed, "a\n    c");
}

#[test]
fn all_places_of_a_forgiving_rule() {
    let all = replace("  a\n\tb\nx\na\n b\n", "a \nb", "c\nd", Occurrences::All).unwrap();
    assert_eq!((all.strategy, all.count), (Strategy::LineTrimmed, 2));
    assert_eq!(all.text, "  c\n\td\nx\nc\n d\n");
}
