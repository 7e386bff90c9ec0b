//! Scripts that follow the grammar of bash, and texts that nearly do.

use proptest::prelude::*;
use proptest::sample::select;

const WORDS: [&str; 46] = [
    "a",
    "ls",
    "-rf",
    "/etc/passwd",
    "x=1",
    "a#b",
    "then",
    "esac",
    "in",
    "]]",
    "'single quoted'",
    "\"double $x quoted\"",
    "\"`b`\"",
    "$'ansi\\n\\x41'",
    "$\"translated\"",
    "back\\ slash",
    "li\\\nne",
    "$x",
    "$1",
    "$@",
    "$?",
    "${x}",
    "${x:-$y}",
    "\"${x:-'it'}\"",
    "${x#*/}",
    "${x%%.c}",
    "${x//a/b}",
    "${#x}",
    "${!x}",
    "${x[1]}",
    "${x[@]}",
    "${x:1:2}",
    "${x^^}",
    "${x@Q}",
    "`b c`",
    "$((1 + (2)))",
    "$[1+2]",
    "<(b)",
    ">(c)",
    "~/x",
    "~user",
    "*.c",
    "[a-z]?",
    "{a,b}",
    "{1..3}",
    "é",
];

const REDIRECTS: [&str; 14] = [
    ">o",
    ">>o",
    "<i",
    "2>e",
    "2>&1",
    ">&2",
    "<&3",
    "&>o",
    "&>>o",
    ">|o",
    "<>o",
    "<<<\"$x y\"",
    "{fd}>o",
    "3<&-",
];

const TESTS: [&str; 14] = [
    "-f a",
    "! -d $x",
    "a == b*",
    "$x != \"y z\"",
    "a =~ ^(b|c)+$",
    "a -eq 1",
    "a < b",
    "$x",
    "( a && b )",
    "-z $x && -n $y",
    "a = @(b|c)",
    "a || b && c",
    "-v x[1]",
    "a -nt $(b)",
];

/// Between two commands of a list; some carry a here-document for the command before.
const SEPARATORS: [&str; 9] = [
    "; ",
    "\n",
    " & ",
    " # comment\n",
    "\n\n",
    " <<E\nbody $x $(b) `c`\nE\n",
    " <<'E' >o\nit's $( not\nE\n",
    " <<-E\n\tindented\n\tE\n",
    ";\n",
];

/// A word.
pub fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => select(&WORDS[..]).prop_map(str::to_owned),
        1 => (select(&WORDS[..]), select(&WORDS[..])).prop_map(|(a, b)| format!("{a}{b}")),
    ]
}

fn simple() -> impl Strategy<Value = String> {
    let assignment = select(&["x=", "x=1", "y+=\"$x\"", "z=(1 '2' [3]=c)", "x[1]=$y", "x=$(b)"][..]);
    (
        prop::collection::vec(assignment, 0..2),
        prop_oneof![select(&["a", "ls", "echo", "\"q\"", "$c", "/bin/d"][..]).prop_map(str::to_owned)],
        prop::collection::vec(
            prop_oneof![5 => word(), 2 => select(&REDIRECTS[..]).prop_map(str::to_owned)],
            0..4,
        ),
    )
        .prop_map(|(assignments, name, rest)| {
            let words: Vec<String> =
                assignments.into_iter().map(str::to_owned).chain([name]).chain(rest).collect();
            words.join(" ")
        })
}

/// A list that ends with a separator, so that a reserved word may follow.
fn list(command: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    prop::collection::vec((command, select(&SEPARATORS[..])), 1..3)
        .prop_map(|items| items.into_iter().map(|(command, end)| command + end).collect())
}

fn redirected(compound: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let redirect = select(&["", "", " >o", " 2>&1 <i"][..]);
    (compound, redirect).prop_map(|(compound, redirect)| compound + redirect)
}

/// A command of any kind.
pub fn command() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        8 => simple(),
        1 => select(&TESTS[..]).prop_map(|test| format!("[[ {test} ]]")),
        1 => select(&["((x = 1))", "((x < (2)))", "declare -A m=([a]=1 [b]=2)", "x=1", ">o"][..]).prop_map(str::to_owned),
    ];
    leaf.prop_recursive(3, 24, 3, |inner| {
        let inner = inner.boxed();
        let list = list(inner.clone()).boxed();
        let two = (list.clone(), list.clone());
        prop_oneof![
            redirected(list.clone().prop_map(|l| format!("{{ {l}}}"))),
            redirected(list.clone().prop_map(|l| format!("( {l})"))),
            redirected(two.clone().prop_map(|(a, b)| format!("if {a}then {b}fi"))),
            (two.clone(), list.clone(), list.clone())
                .prop_map(|((a, b), c, d)| format!("if {a}then {b}elif {c}then\n{b}else {d}fi")),
            redirected(two.clone().prop_map(|(a, b)| format!("while {a}do {b}done"))),
            two.prop_map(|(a, b)| format!("until {a}do {b}done")),
            (word(), list.clone()).prop_map(|(w, l)| format!("for x in {w} b; do {l}done")),
            list.clone().prop_map(|l| format!("for x\ndo {l}done")),
            list.clone().prop_map(|l| format!("for ((i = 0; i < 3; i++)); do {l}done")),
            list.clone().prop_map(|l| format!("select x in a; do {l}done")),
            (word(), list.clone(), select(&[";;", ";&", ";;&"][..]))
                .prop_map(|(w, l, e)| format!("case {w} in (a|b*) {l}{e} *) {l}esac")),
            redirected(list.clone().prop_map(|l| format!("f() {{ {l}}}"))),
            list.clone().prop_map(|l| format!("function g\n( {l})")),
            list.clone().prop_map(|l| format!("coproc N {{ {l}}}")),
            (inner.clone(), inner.clone(), select(&[" && ", " || ", " &&\n"][..]))
                .prop_map(|(a, b, link)| format!("{a}{link}{b}")),
            (simple(), inner.clone(), select(&[" | ", " |& ", " |\n"][..]))
                .prop_map(|(a, b, pipe)| a + pipe + &b),
            (select(&["! ", "time ", "time -p "][..]), inner.clone()).prop_map(|(p, c)| format!("{p}{c}")),
            list.clone().prop_map(|l| format!("echo \"$( {l})\" x")),
            list.prop_map(|l| format!("y=$( {l}) cat <( {l})")),
        ]
    })
}

/// A whole script.
pub fn script() -> impl Strategy<Value = String> {
    list(command())
}

/// What mutations put in.
const TOKENS: [&str; 60] = [
    "a", "x=1", "|", "|&", "&", "&&", "||", ";", ";;", ";&", "\n", "(", ")", "((", "))", "{", "}", "[[",
    "]]", "!", "time", "-p", "if", "then", "elif", "else", "fi", "for", "in", "do", "done", "while", "case",
    "esac", "select", "function", "coproc", "f()", ">x", "2>&1", "<", ">", "{fd}>x", "2>", "<<<x", "<(",
    "# c\n", "\\\n", "\\", "$", "$(", "${", "\"", "'", "$'", "=(", "declare", "==", "=~", "x[",
];

/// A change to a text: where (as a share of its length), how much is removed, what is put in.
type Edit = (f64, usize, &'static str, &'static str);

fn edit() -> impl Strategy<Value = Edit> {
    (0.0..1.0, 0usize..4, select(&TOKENS[..]), select(&["", " "][..]))
}

fn apply(text: &str, (place, removed, token, space): Edit) -> String {
    let chars: Vec<char> = text.chars().collect();
    let at = ((chars.len() as f64) * place) as usize;
    let rest = chars.iter().skip(at + removed);
    chars
        .iter()
        .take(at)
        .copied()
        .chain(format!("{space}{token}{space}").chars())
        .chain(rest.copied())
        .collect()
}

/// A script with a few changes, or tokens in any order.
pub fn nearly_script() -> impl Strategy<Value = String> {
    let changed = (script(), prop::collection::vec(edit(), 1..4))
        .prop_map(|(text, edits)| edits.into_iter().fold(text, |text, edit| apply(&text, edit)));
    let soup = prop::collection::vec((select(&TOKENS[..]), select(&["", " ", " ", "\n"][..])), 1..10)
        .prop_map(|tokens| tokens.into_iter().flat_map(|(token, space)| [token, space]).collect());
    prop_oneof![3 => changed, 1 => soup]
}
