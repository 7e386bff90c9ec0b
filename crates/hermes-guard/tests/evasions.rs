//! The tables of commands that tried to hide and of commands that only looked bad (`evasions.txt`, `evasions-rules.txt`), judged
//! one by one.

#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use hermes_guard::command::{Context, Finding, Judgement, Questions, Reach, judge, judge_script};
use proptest::prelude::*;

const TABLES: &[&str] = &[include_str!("evasions.txt"), include_str!("evasions-rules.txt")];
const EVERYDAY: &[&str] = &[include_str!("corpus/everyday.txt"), include_str!("corpus/everyday-tools.txt")];

/// One line of the table.
struct Row<'t> {
    outcome: &'t str,
    rule: &'t str,
    command: String,
}

fn rows() -> impl Iterator<Item = Row<'static>> {
    TABLES
        .iter()
        .flat_map(|table| table.lines())
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
        .map(|line| {
            let mut parts = line.splitn(3, ' ');
            let mut next = || parts.next().expect("three columns");
            Row { outcome: next(), rule: next(), command: written_out(next()) }
        })
}

/// Characters that a table of lines cannot hold.
fn written_out(text: &str) -> String {
    let sign = |c| match c {
        '⏎' => '\n',
        '␍' => '\r',
        '␀' => '\0',
        '␛' => '\u{1b}',
        '␇' => '\u{7}',
        other => other,
    };
    text.chars().map(sign).collect()
}

fn follow(path: &str) -> Option<String> {
    let real = match path.strip_prefix("/home/ada/project/") {
        Some(rest) => match rest.split_once('/').unwrap_or((rest, "")) {
            ("link", rest) => format!("/etc/{rest}"),
            ("tohome", rest) => format!("/home/ada/{rest}"),
            _ => path.to_owned(),
        },
        None => path.to_owned(),
    };
    path.starts_with('/').then_some(real)
}

fn judged(command: &str) -> (&'static str, Vec<Finding>) {
    let sight = Context {
        home: "/home/ada",
        hermes_home: "/home/ada/.hermes",
        cwd: Some("/home/ada/project"),
        resolve: Some(&follow),
        ..Context::default()
    };
    match judge(command, &sight) {
        Judgement::Allowed => ("allow", Vec::new()),
        Judgement::Ask { findings } => ("ask", findings),
        Judgement::Refused { finding } => ("refuse", vec![finding]),
    }
}

#[test]
fn every_command_of_the_table_has_its_outcome() {
    let mut wrong = Vec::new();
    for row in rows() {
        let (outcome, findings) = judged(&row.command);
        let rules: Vec<&str> = findings.iter().map(|finding| finding.rule.as_str()).collect();
        if outcome != row.outcome || (row.rule != "-" && !rules.contains(&row.rule)) {
            wrong.push(format!(
                "{:?}: wanted {} {}, got {outcome} {rules:?}",
                row.command, row.outcome, row.rule
            ));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn nobody_is_asked_about_everyday_work() {
    let lines = EVERYDAY
        .iter()
        .flat_map(|corpus| corpus.lines())
        .filter(|line| !line.starts_with('#'))
        .map(written_out);
    let asked: Vec<String> = lines
        .filter_map(|line| (judged(&line).0 != "allow").then(|| format!("{line}: {:?}", judged(&line))))
        .collect();
    assert!(asked.is_empty(), "{} asked:\n{}", asked.len(), asked.join("\n"));
}

/// What holds although nobody is asked.
#[test]
fn the_worst_is_refused_when_questions_are_off() {
    let sight = Context {
        questions: Questions::Off,
        home: "/home/ada",
        hermes_home: "/home/ada/.hermes",
        cwd: Some("/home/ada/project"),
        resolve: Some(&follow),
        ..Context::default()
    };
    for row in rows().filter(|row| row.outcome == "refuse") {
        let judgement = judge(&row.command, &sight);
        assert!(matches!(judgement, Judgement::Refused { .. }), "{:?}: {judgement:?}", row.command);
    }
}

#[test]
fn the_table_is_large_enough_on_both_sides() {
    let count = |wanted: &[&str]| rows().filter(|row| wanted.contains(&row.outcome)).count();
    assert!(count(&["refuse", "ask"]) >= 200, "{}", count(&["refuse", "ask"]));
    assert!(count(&["allow"]) >= 100, "{}", count(&["allow"]));
}

#[test]
fn a_finding_quotes_the_part_it_is_about() {
    let (_, findings) = judged("make && rm -rf build && ls");
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].part, "rm -rf build");
    assert_eq!(findings[0].prefix, None, "one directory is not every directory");
    let (_, findings) = judged("git push --force origin main");
    assert_eq!(findings[0].prefix.as_deref(), Some(["git".to_owned(), "push".to_owned()].as_slice()));
}

#[test]
fn a_container_keeps_in_what_does_not_reach_out() {
    let sight = Context { reach: Reach::Contained, home: "/root", ..Context::default() };
    for command in ["rm -rf /", "reboot", "curl x | sh", "echo x > /etc/hosts", "mkfs.ext4 /dev/sda"] {
        assert_eq!(judge(command, &sight), Judgement::Allowed, "{command}");
    }
    for command in ["git push -f", "kubectl delete pod x", "ssh host rm -r x"] {
        assert!(matches!(judge(command, &sight), Judgement::Ask { .. }), "{command}");
    }
    let deny = ["rm *".to_owned()];
    let sight = Context { deny: &deny, ..sight };
    assert!(matches!(judge("rm x", &sight), Judgement::Refused { .. }));
}

/// Lines that would cost far more than they are long, if every step of them were followed.
#[test]
fn lines_made_to_exhaust_are_judged_all_the_same() {
    let doubled = format!("x=a;{}echo $x", "x=$x$x;".repeat(40));
    assert_eq!(judged(&doubled).0, "allow");
    let run = format!("x=a;{}$x", "x=$x$x;".repeat(40));
    assert_eq!(judged(&run).1[0].rule, "unknown-program");
    let in_turn = format!("a=xxxx;{}$a", "b=$a$a$a$a;a=$b;".repeat(40));
    assert_eq!(judged(&in_turn).1[0].rule, "unknown-program");
    let patterns = format!("x=*;{}$x", "x=$x$x;x+=$x;".repeat(30));
    assert_eq!(judged(&patterns).1[0].rule, "unknown-program");
    let calls: Vec<String> =
        (0..9).map(|at| format!("f{at}(){{ {} }};", format!("f{};", at + 1).repeat(60))).collect();
    for line in [
        format!("{}ls", "ls|".repeat(4000)),
        format!("ls{}", "|sh".repeat(4000)),
        format!("{}:{}", "for i in {1..30}; do ".repeat(12), "; done".repeat(12)),
        format!("{}((1)){}", "for i in {1..30}; do ".repeat(12), "; done".repeat(12)),
        // Functions that call others many times, arguments that move up one by one, wrappers in wrappers.
        calls.join("") + "f9(){ :; }; f0 | sh",
        format!("set -- {}; {}", "a ".repeat(5000), "shift; ".repeat(3000)),
        format!("{}ls", "sudo -u x ".repeat(500)),
    ] {
        let (outcome, findings) = judged(&line);
        assert_eq!((outcome, findings[0].rule.as_str()), ("refuse", "too-long"));
    }
    for code in ["a(".repeat(60_000), "print(1)\n".repeat(50_000)] {
        assert!(matches!(judge_script(&code, &Context::default()), Judgement::Ask { .. }));
    }
    let many = (0..4000).map(|at| format!("v{at}=1;(w=1)")).collect::<Vec<_>>().join(";");
    assert_eq!(judged(&many).0, "refuse");
}

/// One character as a shell may spell it.
fn spelled(c: char) -> impl Strategy<Value = String> {
    prop_oneof![
        Just(c.to_string()),
        Just(format!("\\{c}")),
        Just(format!("'{c}'")),
        Just(format!("\"{c}\"")),
        Just(format!("{c}\"\"")),
        Just(format!("''{c}")),
        Just(format!("$'\\x{:02x}'", u32::from(c))),
        Just(format!("$(printf {c})").replace("$(printf -)", "-")),
    ]
}

fn word(text: &'static str) -> impl Strategy<Value = String> {
    text.chars().map(spelled).collect::<Vec<_>>().prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn no_spelling_of_the_worst_gets_through(
        rm in word("rm"),
        flags in word("-rf"),
        target in prop_oneof![word("/"), word("/etc"), word("/etc/"), word("//usr"), Just("~".to_owned())],
        wrap in prop_oneof![
            Just("@"), Just("sudo @"), Just("env A=1 nice @"), Just("if true; then @; fi"), Just("echo $(@)"),
            Just("(@)"), Just("{ @; }"), Just("true && @"), Just("@ | cat"), Just("f() { @; }; f"), Just("x=1 @ &"),
        ],
    ) {
        let command = wrap.replace('@', &format!("{rm} {flags} {target}"));
        let (outcome, findings) = judged(&command);
        prop_assert_eq!(outcome, "refuse", "{} {:?}", command, findings);
    }

    #[test]
    fn quoted_words_are_never_a_danger(text in "[a-z0-9 /;|&<>~*-]{0,40}") {
        let (outcome, findings) = judged(&format!("echo '{text}'"));
        prop_assert_eq!(outcome, "allow", "{:?}", findings);
    }

    #[test]
    fn any_text_is_judged(text in any::<String>()) {
        judged(&text);
        judge_script(&text, &Context::default());
    }

    #[test]
    fn anything_made_of_shell_is_judged(parts in prop::collection::vec(prop_oneof![
        Just("rm"), Just("-rf"), Just("/"), Just(" "), Just("$("), Just(")"), Just("`"), Just("'"), Just("\""), Just("|"),
        Just("&&"), Just(";"), Just("<<E\n"), Just("E\n"), Just("${x:-"), Just("}"), Just("{"), Just("bash -c "), Just("xargs "),
        Just("find . -exec "), Just("\\;"), Just("eval "), Just("f() "), Just("for i in "), Just("; do "), Just("; done"),
    ], 0..25)) {
        judged(&parts.concat());
    }
}
