//! Words whose value we claim to know have that value in bash.

use hermes_guard::shell::ast::{CommandKind, Word};
use hermes_guard::shell::{Field, Piece, Value, Variables, parse};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::Config;

use super::bash;

/// Assignments that both sides know.
const SETUP: &str = "a=rm b='two words' c= d='-r f*' e=abcABC n=a";

/// Pieces that are put side by side.
const PIECES: [&str; 66] = [
    "x",
    "rm",
    "-rf",
    "/",
    "é",
    "'q r'",
    "\"\"",
    "''",
    "\"q  r\"",
    "\\ ",
    "\\$x",
    "\\\n",
    "$'a\\tb'",
    "$'\\x41\\101\\u0042\\'\\q'",
    "$\"t\"",
    "\"a\\\"b\\c\\$\"",
    "$a",
    "${a}",
    "\"$a\"",
    "$b",
    "\"$b\"",
    "${c}",
    "\"$c\"",
    "${c:-rm}",
    "${c-rm}",
    "${u:-rm}",
    "\"${u:-a  b}\"",
    "${u:-a  b}",
    "${u:-'a  b'}",
    "\"${u:-'a  b'}\"",
    "${a:+set}",
    "${u:+set}",
    "${u=dd}",
    "\"${d}\"",
    "$d",
    "${#b}",
    "${!n}",
    "${e#abc}",
    "${e%BC}",
    "${e/b/X}",
    "${e//A}",
    "${e^^}",
    "${e,}",
    "${e:1:2}",
    "${e:3}",
    "$(echo rm)",
    "`echo rm`",
    "\"$(echo 'a  b')\"",
    "$(echo 'a  b')",
    "$(printf %s rm)",
    "$(printf '%s-%s\\n' a b c)",
    "$(printf 'r\\155')",
    "$(echo -e 'r\\x6d')",
    "$(echo -n \"$(echo r)m\")",
    "$IFS",
    "${IFS}",
    "\"$IFS\"",
    "{a,b}",
    "{a,{b,c}d,}",
    "{1..3}",
    "{c..a}",
    "{}",
    "{a",
    "a,b}",
    "=",
    "#",
];

const STARTS: [&str; 7] = ["~", "~/x", "$HOME", "${HOME}/y", "\"$HOME\"", "~:", "k="];

fn word() -> impl Strategy<Value = String> {
    let pieces = prop::collection::vec(select(&PIECES[..]), 1..5).prop_map(|pieces| pieces.concat());
    prop_oneof![6 => pieces.clone(), 1 => (select(&STARTS[..]), pieces).prop_map(|(start, rest)| format!("{start}{rest}"))]
}

fn known() -> Variables {
    let mut variables = Variables::new();
    for (name, value) in
        [("a", "rm"), ("b", "two words"), ("c", ""), ("d", "-r f*"), ("e", "abcABC"), ("n", "a")]
    {
        variables.set(name, Field::from_text(value));
    }
    variables
}

/// The one argument of `show`.
fn argument(text: &str) -> Option<Word> {
    let script = parse(&format!("show {text}\n")).ok()?;
    match &script.list.items[0].chain.first.stages[0].command.kind {
        CommandKind::Simple(simple) if simple.words.len() == 2 => Some(simple.words[1].clone()),
        _ => None,
    }
}

proptest! {
    #![proptest_config(Config { cases: 4, failure_persistence: None, max_shrink_iters: 40, ..Config::default() })]

    #[test]
    fn bash_agrees(words in prop::collection::vec(word(), 200)) {
        let words: Vec<(String, Value)> = words
            .into_iter()
            .filter_map(|text| argument(&text).map(|word| (text, known().resolve(&word))))
            .collect();
        let texts: Vec<String> = words.iter().map(|(text, _)| text.clone()).collect();
        let mut claims = 0;
        for ((text, value), actual) in words.iter().zip(bash::arguments(SETUP, &texts)) {
            let Value::Known(fields) = value else { continue };
            let claimed: Option<Vec<String>> = fields.iter().map(|field| field.path("/home/someone")).collect();
            // A pattern that matches no file stays as it is, and in an empty directory none matches.
            let Some(claimed) = claimed else { continue };
            claims += 1;
            prop_assert_eq!(claimed, actual, "{:?} is {:?}", text, value);
        }
        prop_assert!(claims * 2 > words.len(), "only {claims} claims for {} words", words.len());
    }
}

fn resolved(text: &str) -> Value {
    known().resolve(&argument(text).unwrap())
}

#[test]
fn what_is_unknown_is_said_to_be() {
    let text = |text: &str| Piece::Text(text.to_owned());
    let partly = |pieces: Vec<Piece>| Value::Partly(vec![Field { pieces }]);
    assert_eq!(resolved("$unset"), Value::Unknown);
    assert_eq!(resolved("$(date)"), Value::Unknown);
    assert_eq!(resolved("$1"), Value::Unknown);
    assert_eq!(resolved("${PATH:-x}"), Value::Unknown);
    assert_eq!(resolved("/$unset"), partly(vec![text("/"), Piece::Unknown]));
    assert_eq!(resolved("\"$a$(id)\""), partly(vec![text("rm"), Piece::Unknown]));
    assert_eq!(
        resolved("/*"),
        Value::Known(vec![Field { pieces: vec![text("/"), Piece::Glob("*".to_owned())] }])
    );
    assert_eq!(
        resolved("~root/x"),
        Value::Known(vec![Field { pieces: vec![Piece::HomeOf("root".into()), text("/x")] }])
    );
    assert_eq!(resolved("~{/,}").fields()[0].shown(), "~/");
    assert_eq!(resolved("$a{b,c}"), Value::Unknown);
    assert_eq!(resolved("\"~\"").texts().unwrap(), ["~"]);
}

#[test]
fn a_fixed_word_needs_no_variables() {
    let fixed = |text: &str| argument(text).unwrap().fixed();
    assert_eq!(fixed("r\\m").as_deref(), Some("rm"));
    assert_eq!(fixed("\"r\"'m'").as_deref(), Some("rm"));
    assert_eq!(fixed("$'\\162m'").as_deref(), Some("rm"));
    assert_eq!(fixed("{a,b}"), None);
    assert_eq!(fixed("$a"), None);
    assert_eq!(fixed("~"), None);
    assert_eq!(fixed("*"), None);
}
