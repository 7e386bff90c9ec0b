//! What the property tests share: generated texts, and programs to compare with.

#![allow(clippy::unwrap_used, clippy::expect_used, dead_code, reason = "tests; each uses a part")]

use std::io::Write;
use std::process::{Command, Stdio};

use proptest::prelude::*;

/// A program that must answer `--version`; the test is skipped visibly where it is missing.
pub fn program(name: &'static str) -> Option<&'static str> {
    let answers = Command::new(name).arg("--version").stdin(Stdio::null()).output();
    let answers = answers.map_err(|error| error.to_string()).and_then(|output| {
        if output.status.success() { Ok(name) } else { Err(format!("'{name} --version' fails")) }
    });
    hermes_testkit::need(name, answers)
}

/// Runs a Python program once with all cases on its input, and gives the lines it prints.
pub fn python(program: &str, input: &str) -> Vec<String> {
    let mut child = Command::new("python3")
        .args(["-c", program])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 starts");
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "python3 failed");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// Lines with many repetitions, blanks of all kinds and words that are nearly the same.
pub fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => Just(String::new()),
        6 => "[ab]{1,2}",
        3 => "[ \t]{0,3}(foo|bar|}|return x)[ \t]{0,2}",
        2 => "[a-c ]{3,12}",
        1 => "(- x|\\+ y|@@ z|\\\\ w|--- a|\\*\\*\\* b)",
        1 => "[“”‘’–—…'\"a .-]{1,6}",
    ]
}

pub fn lines(most: usize) -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec(line(), 0..most)
}

/// Two texts of which the second is the first after some edits.
pub fn edited(most: usize) -> impl Strategy<Value = (Vec<String>, Vec<String>)> {
    let edit = (any::<prop::sample::Index>(), 0..4_usize, proptest::collection::vec(line(), 0..4));
    (lines(most), proptest::collection::vec(edit, 0..5)).prop_map(|(old, edits)| {
        let mut new = old.clone();
        for (at, gone, come) in edits {
            let start = at.index(new.len() + 1);
            let end = (start + gone).min(new.len());
            new.splice(start..end, come);
        }
        (old, new)
    })
}

/// Lines as a text.
pub fn joined(lines: &[String], line_end: &str, last: bool) -> String {
    let mut text = lines.join(line_end);
    if last && !lines.is_empty() {
        text.push_str(line_end);
    }
    text
}
