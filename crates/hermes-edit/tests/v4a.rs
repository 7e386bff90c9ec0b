//! What patches of several files do, seen from outside.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::collections::HashMap;

use hermes_edit::v4a::{Change, HunkError, Patch, PatchError};

fn plan(files: &[(&str, &str)], patch: &str) -> Result<Vec<Change>, PatchError> {
    let files: HashMap<&str, &str> = files.iter().copied().collect();
    Patch::parse(patch)?.plan(|path| Ok::<_, String>(files.get(path).map(ToString::to_string)))
}

/// The new text of the one file `f` after the patch body.
#[track_caller]
fn updated(text: &str, body: &str) -> String {
    match plan(&[("f", text)], &format!("*** Begin Patch\n*** Update File: f\n{body}\n*** End Patch")) {
        Ok(changes) => match changes.as_slice() {
            [Change::Update { new, .. }] => new.clone(),
            other => panic!("{other:?}"),
        },
        Err(error) => panic!("{error}"),
    }
}

#[track_caller]
fn hunk_error(text: &str, body: &str) -> HunkError {
    match plan(&[("f", text)], &format!("*** Update File: f\n{body}")) {
        Err(PatchError::Hunk { reason, .. }) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn all_four_kinds_in_one_patch() {
    let patch = "*** Begin Patch\n*** Update File: a\n@@ f @@\n-x\n+y\n*** Add File: n\n+one\n+\n+two\n\
                 *** Delete File: d\n*** Move File: m -> k/m2\n*** End Patch\n";
    let changes = plan(&[("a", "f\nx\n"), ("d", "gone"), ("m", "moved\n")], patch).unwrap();
    assert_eq!(
        changes,
        [
            Change::Update { path: "a".into(), old: "f\nx\n".into(), new: "f\ny\n".into() },
            Change::Add { path: "n".into(), new: "one\n\ntwo\n".into() },
            Change::Delete { path: "d".into(), old: "gone".into() },
            Change::Move {
                from: "m".into(),
                to: "k/m2".into(),
                old: "moved\n".into(),
                new: "moved\n".into()
            },
        ]
    );
    assert_eq!(Patch::parse(patch).unwrap().paths(), ["a", "n", "d", "m", "k/m2"]);
}

#[test]
fn an_update_can_move_its_file() {
    let patch = "*** Update File: a\n*** Move to: b\n@@\n-x\n+y\n";
    let changes = plan(&[("a", "x\n")], patch).unwrap();
    assert_eq!(
        changes,
        [Change::Move { from: "a".into(), to: "b".into(), old: "x\n".into(), new: "y\n".into() }]
    );
}

#[test]
fn paths_that_lead_upwards_are_refused_however_the_header_is_written() {
    for header in [
        "*** Update File: ../x",
        "***Update File:../x",
        "***Add File: a/../../x",
        "*** Delete File: a/..",
        "*** Move File: ../x -> b",
        "*** Move File: a -> ../b",
        "***Move File:a->b\\..\\c",
        "*** Update File: a\n*** Move to: ../b",
        "*** Add File:",
        "*** Add File: a\0b",
    ] {
        let error = Patch::parse(header).expect_err(header);
        assert!(matches!(error, PatchError::Path { .. }), "{header}: {error:?}");
    }
    assert!(Patch::parse("*** Delete File: a..b/...").is_ok());
}

#[test]
fn nothing_is_planned_if_one_file_does_not_fit() {
    let patch = "*** Add File: new\n+x\n*** Update File: a\n@@\n-x\n+y\n@@\n-not there at all\n+z\n";
    let error = plan(&[("a", "x\nb\n")], patch).unwrap_err();
    assert!(
        matches!(&error, PatchError::Hunk { path, hunk: 2, reason: HunkError::NotFound { .. } } if path == "a")
    );
    assert!(error.to_string().starts_with("'a', hunk 2: its lines are not in the file"), "{error}");
}

#[test]
fn files_must_be_there_or_not() {
    let missing = |patch| plan(&[("a", "x\n"), ("b", "")], patch).unwrap_err();
    assert_eq!(missing("*** Delete File: z").to_string(), "'z': there is no such file");
    assert_eq!(missing("*** Move File: z -> y"), PatchError::Gone { path: "z".into() });
    assert_eq!(missing("*** Update File: z\n@@\n-x\n+y"), PatchError::Missing { path: "z".into() });
    assert_eq!(missing("*** Add File: a\n+x"), PatchError::Exists { path: "a".into() });
    assert_eq!(missing("*** Move File: a -> b"), PatchError::Exists { path: "b".into() });
    assert_eq!(missing("*** Delete File: a\n*** Delete File: ./a"), PatchError::Gone { path: "./a".into() });
    let unreadable = Patch::parse("*** Delete File: a").unwrap().plan(|_| Err("it is a directory"));
    assert!(unreadable.unwrap_err().to_string().contains("it is a directory"));
}

#[test]
fn later_parts_see_what_earlier_ones_did() {
    let patch =
        "*** Add File: n\n+x\n*** Update File: n\n@@\n-x\n+y\n*** Move File: n -> k\n*** Delete File: k\n";
    let changes = plan(&[], patch).unwrap();
    assert_eq!(changes.last(), Some(&Change::Delete { path: "k".into(), old: "y\n".into() }));
}

#[test]
fn empty_lines_without_prefix_are_lines() {
    assert_eq!(updated("a\n\nb\n\nc\n", "@@\n a\n\n-b\n+B\n\n c\n\n"), "a\n\nB\n\nc\n");
    assert_eq!(updated("x\na\n\n\nb\n", "@@\n-a\n\n\n-b\n+c"), "x\n\n\nc\n");
}

#[test]
fn a_hint_chooses_among_equal_places() {
    let text = "class A:\n  def run(self):\n    return 1\n\nclass B:\n  def run(self):\n    return 1\n";
    let b = "class A:\n  def run(self):\n    return 1\n\nclass B:\n  def run(self):\n    return 2\n";
    assert_eq!(updated(text, "@@ class B: @@\n-    return 1\n+    return 2"), b);
    assert_eq!(updated(text, "@@ class B:\n@@   def run(self):\n-    return 1\n+    return 2"), b);
    assert_eq!(updated(text, "@@ -7,1 +7,1 @@\n-    return 1\n+    return 2"), b);
    assert_eq!(
        hunk_error(text, "@@\n-    return 1\n+    return 2"),
        HunkError::Several { lines: vec![3, 7] }
    );
    assert_eq!(
        hunk_error(text, "@@ def run(self): @@\n-    return 1\n+    return 2"),
        HunkError::Several { lines: vec![3, 7] },
        "a hint that is there twice tells nothing"
    );
}

#[test]
fn a_hint_reaches_only_so_far() {
    let text = format!("start\n{}x\nmid\nx\n", "filler line\n".repeat(300));
    assert!(matches!(hunk_error(&text, "@@ start\n-x\n+y"), HunkError::Several { .. }));
    assert!(updated(&text, "@@ mid\n-x\n+y").ends_with("x\nmid\ny\n"));
}

#[test]
fn the_end_mark_and_the_order_choose_too() {
    assert_eq!(updated("x\na\nx\n", "@@\n-x\n+y\n*** End of File"), "x\na\ny\n");
    assert_eq!(updated("x\nm\nx\n", "@@\n-m\n+M\n@@\n-x\n+y"), "x\nM\ny\n");
}

#[test]
fn lines_without_neighbours_go_below_the_hint_or_to_the_end() {
    assert_eq!(updated("use a;\nfn f() {}\n", "@@ use a;\n+use b;"), "use a;\nuse b;\nfn f() {}\n");
    assert_eq!(updated("a\n", "+b"), "a\nb\n");
    assert_eq!(updated("a", "+b"), "a\nb", "a file without final line end stays so");
    assert_eq!(updated("", "+b"), "b\n");
    assert_eq!(updated("a\nb\n", "@@ -1,0 +2 @@\n+x"), "a\nx\nb\n");
    assert!(matches!(hunk_error("a\n", "@@ nowhere\n+b"), HunkError::NoHint { .. }));
    assert!(matches!(hunk_error("a\na\n", "@@ a\n+b"), HunkError::SeveralHints { .. }));
}

#[test]
fn line_ends_of_the_file_are_kept_and_those_of_the_patch_do_not_matter() {
    assert_eq!(updated("a\r\nb\r\nc\r\n", "@@\n a\n-b\n+x\n+y"), "a\r\nx\r\ny\r\nc\r\n");
    assert_eq!(updated("a\nb\n", "@@\r\n a\r\n-b\r\n+x\r"), "a\nx\n");
    assert_eq!(updated("a\r\nb\nc\r\n", "@@\n b\n-c\n+d"), "a\r\nb\nd\r\n");
}

#[test]
fn a_missing_final_line_end_can_be_said() {
    assert_eq!(updated("a\nb", "@@\n-b\n+c"), "a\nc");
    assert_eq!(updated("a\nb", "@@\n-b\n\\ No newline at end of file\n+b"), "a\nb\n");
    assert_eq!(updated("a\nb\n", "@@\n-b\n+c\n\\ No newline at end of file"), "a\nc");
    let added = plan(&[], "*** Add File: n\n+x\n\\ No newline at end of file").unwrap();
    assert_eq!(added, [Change::Add { path: "n".into(), new: "x".into() }]);
}

#[test]
fn fences_and_prose_around_a_patch() {
    for patch in [
        "```\n*** Update File: f\n@@\n-a\n+b\n```",
        "```diff\n*** Begin Patch\n*** Update File: f\n@@\n-a\n+b\n*** End Patch\n```\n",
        "Here it is:\n*** Begin Patch\n*** Update File: f\n@@\n-a\n+b\n*** End Patch\nDone.",
        "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n*** End Patch\nEOF\n",
        "\u{feff}*** Begin Patch\r\n*** Update File: f\r\n@@\r\n-a\r\n+b\r\n*** End Patch\r\n",
    ] {
        let changes = plan(&[("f", "a\n")], patch).unwrap_or_else(|error| panic!("{patch}: {error}"));
        assert_eq!(
            changes,
            [Change::Update { path: "f".into(), old: "a\n".into(), new: "b\n".into() }],
            "{patch}"
        );
    }
}

#[test]
fn a_patch_that_changes_nothing_is_an_error() {
    assert_eq!(plan(&[("f", "a\nb\n")], "*** Update File: f\n@@\n a\n b\n"), Err(PatchError::NoChange));
    assert_eq!(plan(&[("f", "a\nb\n")], "*** Update File: f\n@@\n-a\n+a\n"), Err(PatchError::NoChange));
    assert_eq!(Patch::parse("").unwrap_err(), PatchError::Empty);
    assert_eq!(Patch::parse("*** Begin Patch\n*** End Patch").unwrap_err(), PatchError::Empty);
    // Context alone is left out even where it does not fit.
    assert_eq!(updated("a\nb\n", "@@\n nothing like this\n@@\n-b\n+c"), "a\nc\n");
}

#[test]
fn lines_that_fit_nowhere_are_named() {
    let line = |patch: &str| match Patch::parse(patch) {
        Err(PatchError::Syntax { line, .. }) => line,
        other => panic!("{patch}: {other:?}"),
    };
    assert_eq!(line("hello\n*** Update File: f"), 1);
    assert_eq!(line("*** Add File: f\n+a\nb"), 3);
    assert_eq!(line("*** Delete File: f\nwhy"), 2);
    assert_eq!(line("*** Rename File: f"), 1);
    assert_eq!(line("*** Move File: f"), 1);
    assert_eq!(line("*** Begin Patch\n*** End Patch\n*** Delete File: f"), 3);
}

#[test]
fn forgiving_matches_keep_the_file_and_indent_what_comes() {
    assert_eq!(
        updated("class A:\n    def f(self):\n        pass\n", "@@\n def f(self):\n-    pass\n+    return 1"),
        "class A:\n    def f(self):\n        return 1\n"
    );
    assert_eq!(updated("say “hi”  now\nx\n", "@@\n say \"hi\" now\n-x\n+y"), "say “hi”  now\ny\n");
    assert_eq!(updated("a   \nb\n", "@@\n a\n-b\n+  c"), "a   \n  c\n");
    assert_eq!(updated("a\nb\n", "@@\na\n-b\n+c"), "a\nc\n", "a line without prefix stays");
    assert_eq!(updated("@@count = 0\nb\n", "@@\n@@count = 0\n-b\n+c"), "@@count = 0\nc\n");
}
