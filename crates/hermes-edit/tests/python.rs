//! Numbers and verdicts that Python's own modules give, asked in one batch each.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod support;

use std::fmt::Write as _;

use hermes_edit::{check, ratio};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use support::{program, python};

/// The same cases on every run.
fn cases<S: Strategy>(strategy: &S, count: usize) -> Vec<S::Value> {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
    (0..count).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect()
}

#[test]
fn the_ratio_is_that_of_difflib() {
    let Some(_) = program("python3") else { return };
    let text =
        || prop_oneof!["[ab]{0,12}", "[a-d \n]{0,60}", "\\PC{0,20}", "[a-z]{150,260}", "[a-c]{180,420}"];
    let related = (text(), text(), any::<prop::sample::Index>())
        .prop_map(|(a, b, at)| (a.clone(), a.chars().take(at.index(a.len() + 1)).chain(b.chars()).collect()));
    let cases = cases(&prop_oneof![(text(), text()), related], 1500);
    let mut input = String::new();
    for (a, b) in &cases {
        writeln!(input, "{}", serde_json::json!([a, b])).unwrap();
    }
    let program = "import sys, json, difflib\n\
        for line in sys.stdin:\n    a, b = json.loads(line)\n    \
        print(repr(difflib.SequenceMatcher(None, a, b).ratio()))";
    let theirs = python(program, &input);
    assert_eq!(theirs.len(), cases.len());
    for ((a, b), expected) in cases.iter().zip(theirs) {
        let expected: f64 = expected.parse().unwrap();
        assert!((ratio(a, b) - expected).abs() < 1e-12, "{} instead of {expected}: {a:?} {b:?}", ratio(a, b));
    }
}

#[test]
fn json_is_what_python_reads_as_json() {
    let Some(_) = program("python3") else { return };
    let broken = "(\\{|\\}|\\[|\\]|,|:|\"a\"|\"\\\\u00e9\"|\"\\\\x\"|1|-0\\.5e3|01|\\.5|1\\.|1e|true|null|NaN|-| |\n){0,9}";
    let cases = cases(&prop_oneof![broken.boxed(), json().boxed()], 3000);
    let mut input = String::new();
    for case in &cases {
        writeln!(input, "{}", serde_json::json!(case)).unwrap();
    }
    let program = "import sys, json\n\
        for line in sys.stdin:\n    try:\n        json.loads(json.loads(line))\n        print('yes')\n    \
        except ValueError:\n        print('no')";
    let theirs = python(program, &input);
    assert!(theirs.iter().any(|word| word == "yes") && theirs.iter().any(|word| word == "no"));
    for (case, expected) in cases.iter().zip(theirs) {
        let problem = check("x.json", case);
        assert_eq!(if problem.is_none() { "yes" } else { "no" }, expected, "{case:?}: {problem:?}");
    }
}

fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof!["(true|null|-?[1-9][0-9]{0,3}|0|1\\.5|2e-3)", "\"[a-z ]{0,5}\""];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4)
                .prop_map(|items| format!("[{}]", items.join(" , "))),
            proptest::collection::vec(inner, 0..4).prop_map(|items| {
                let pairs: Vec<_> = items.iter().map(|item| format!("\"k\": {item}")).collect();
                format!("{{{}}}", pairs.join(",\n"))
            }),
        ]
    })
}
